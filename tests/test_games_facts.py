"""Facts about single games: known counts, pictures, draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import GAMES, make, symmetries


def take(states, index):
    return jax.tree.map(lambda x: x[index], states)


def count(game, depth, chunk=1024):
    """Numbers of lines of play, of lines that end, and of positions, after 1 to `depth` moves."""
    all_actions = jnp.arange(game.num_actions)
    expand = jax.jit(jax.vmap(jax.vmap(game.step, in_axes=(None, 0)), in_axes=(0, None)))
    states = jax.tree.map(lambda x: np.asarray(x)[None], game.init(jax.random.key(0)))
    lines = np.ones(1, int)
    counts = []
    for _ in range(depth):
        legal = states.legal_action_mask & ~states.terminated[:, None]
        # Padded to whole chunks, so that one shape is compiled.
        index = np.arange(-(-len(lines) // chunk) * chunk).reshape(-1, chunk) % len(lines)
        children = [jax.device_get(expand(take(states, i), all_actions)) for i in index]
        children = jax.tree.map(lambda *x: np.concatenate(x), *children)
        children = take(take(children, np.arange(len(legal))), legal)
        packed = np.packbits(children.observation.reshape(legal.sum(), -1), axis=1)
        _, first, kind = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        lines = np.bincount(kind, weights=np.repeat(lines, legal.sum(axis=1))).astype(int)
        states = take(children, first)
        counts.append((lines.sum(), lines[states.terminated].sum(), len(lines)))
    return np.array(counts).T.tolist()


def test_tic_tac_toe_has_255168_games_and_5478_positions():
    lines, ended, positions = count(make("tic_tac_toe"), depth=9)
    assert lines == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert sum(ended) == 255168
    assert sum(positions) + 1 == 5478


def test_connect_four_has_the_known_numbers_of_lines_and_positions():
    lines, ended, positions = count(make("connect_four"), depth=7)
    assert lines == [7, 49, 343, 2401, 16807, 117649, 823536]
    assert positions == [7, 49, 238, 1120, 4263, 16422, 54859]  # OEIS A212693
    assert ended[:6] == [0] * 6 and ended[6] > 0


def test_a_race_has_as_many_lines_as_there_are_ways_to_add_up():
    lines, ended, positions = count(make("race_to_9_4"), depth=9)
    assert sum(ended) == 208  # Tetranacci number.
    assert positions[0] == 4


def after(game, *moves):
    """The position after these moves from the start."""
    state, step = game.init(jax.random.key(0)), jax.jit(game.step)
    for move in moves:
        state = step(state, jnp.int32(game.string_to_action(move)))
    return state


def test_connect_four_is_seen_by_who_moves():
    state = after(make("connect_four"), "4", "4", "1")
    own, other = np.moveaxis(np.asarray(state.observation), -1, 0)
    assert np.argwhere(own).tolist() == [[4, 3]]
    assert np.argwhere(other).tolist() == [[5, 0], [5, 3]]


def test_connect_four_is_drawn_with_its_columns_numbered():
    game = make("connect_four")
    assert game.to_string(after(game, "4", "4", "1")).splitlines()[3:] == [
        "    .  .  .  .  .  .  .",
        "    .  .  .  O  .  .  .",
        "    X  .  .  X  .  .  .",
        "    1  2  3  4  5  6  7",
    ]


def test_a_full_column_is_closed():
    state = after(make("connect_four"), *"333333")
    assert state.legal_action_mask.tolist() == [True, True, False, True, True, True, True]


def test_gomoku_is_seen_by_who_moves_with_the_last_move():
    state = after(make("gomoku_5x4_3"), "a1", "e4", "b2")
    own, other, last = np.moveaxis(np.asarray(state.observation), -1, 0)
    assert np.argwhere(own).tolist() == [[0, 4]]
    assert np.argwhere(other).tolist() == [[2, 1], [3, 0]]
    assert np.argwhere(last).tolist() == [[2, 1]]


def test_gomoku_is_drawn_with_the_last_move_in_brackets():
    game = make("gomoku_5x4_3")
    assert game.to_string(after(game, "a1", "e4", "b2")).splitlines() == [
        " 4  .  .  .  .  O",
        " 3  .  .  .  .  .",
        " 2  . [X] .  .  .",
        " 1  X  .  .  .  .",
        "    a  b  c  d  e",
    ]


def test_a_race_cannot_overshoot_and_is_won_on_the_target():
    game = make("race_to_9_4")
    state = after(game, "4", "3")
    assert game.to_string(state) == "total 7 of 9"
    assert state.legal_action_mask.tolist() == [True, True, False, False]
    won = jax.jit(game.step)(state, jnp.int32(1))
    assert won.terminated and won.rewards[state.current_player] == 1
    assert np.flatnonzero(won.observation).tolist() == [9]


def test_squares_have_eight_symmetries_and_other_boards_fewer():
    sizes = {name: len(symmetries(make(name)).action) for name in [*GAMES, "gomoku_5x4_3"]}
    assert sizes == {
        "tic_tac_toe": 8,
        "connect_four": 2,
        "gomoku_6x6_4": 8,
        "gomoku_8x8_5": 8,
        "gomoku_15x15_5": 8,
        "race_to_21": 1,
        "gomoku_5x4_3": 4,
    }


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "gomoku_6x6_4", "gomoku_5x4_3"])
def test_a_full_board_without_a_line_is_a_draw(name):
    game = make(name)
    height, width, _ = game.observation_shape
    row, column = np.indices((height, width))
    board = (row + column // 2) % 2
    board[0, 0] = -1
    state = game.init(jax.random.key(0))
    state = state.replace(board=jnp.int8(board).reshape(state.board.shape))
    state = jax.jit(game.step)(state, jnp.int32(0))
    assert state.terminated and not state.rewards.any()
