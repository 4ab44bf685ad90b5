"""Laws of the rules, over every game."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import GAMES, Game, make, symmetries, value_range
from duozero.games.tic_tac_toe import TicTacToe

LANES = 32
FIELDS = {
    "current_player": ((), jnp.int32),
    "rewards": ((2,), jnp.float32),
    "terminated": ((), jnp.bool_),
    "truncated": ((), jnp.bool_),
}


class Played(NamedTuple):
    """Random games past their end: `states` `[T + 1, LANES]`, `actions` `[T, LANES]`."""

    states: tuple
    actions: np.ndarray
    ended: np.ndarray
    priorities: np.ndarray


@pytest.fixture(scope="module", params=[*GAMES, "gomoku_5x4_3", "race_to_9_4"])
def game(request):
    return make(request.param)


@pytest.fixture(scope="module")
def step(game):
    return jax.jit(game.step)


@pytest.fixture(scope="module")
def play(game):
    """Plays, in every lane, the legal action of highest priority (`[T, LANES, A]`)."""

    def turn(state, priorities):
        action = jnp.where(state.legal_action_mask, priorities, -1).argmax(axis=-1)
        return jax.vmap(game.step)(state, action), (state, action)

    @jax.jit
    def play(keys, priorities):
        last, (states, actions) = jax.lax.scan(turn, jax.vmap(game.init)(keys), priorities)
        return jax.tree.map(lambda x, y: jnp.concatenate([x, y[None]]), states, last), actions

    def to_host(priorities):
        keys = jax.random.split(jax.random.key(0), LANES)
        return jax.device_get(play(keys, jnp.asarray(priorities)))

    return to_host


@pytest.fixture(scope="module")
def played(game, play):
    num_plies = int(np.prod(game.observation_shape[:2])) + 2
    shape = (num_plies, LANES, game.num_actions)
    # Permutations, so that there are no ties for a symmetry to break differently.
    priorities = np.random.default_rng(0).random(shape).argsort(axis=-1).astype(np.int32)
    states, actions = play(priorities)
    return Played(states, actions, states.terminated | states.truncated, priorities)


def at(states, *index):
    return jax.tree.map(lambda x: jnp.asarray(x[index]), states)


def test_it_is_a_game(game):
    assert isinstance(game, Game)
    assert game.num_players == 2
    assert value_range(game) == (-1.0, 1.0)


def test_its_id_makes_it_again(game):
    assert make(game.id).id == game.id


def test_fields_have_the_promised_shapes_and_dtypes(game):
    state = jax.eval_shape(game.init, jax.random.key(0))
    expected = {
        **FIELDS,
        "observation": (game.observation_shape, jnp.bool_),
        "legal_action_mask": ((game.num_actions,), jnp.bool_),
    }
    for name, field in expected.items():
        assert (getattr(state, name).shape, getattr(state, name).dtype) == field, name


def test_a_move_keeps_shapes_and_dtypes(game):
    before = jax.eval_shape(game.init, jax.random.key(0))
    after = jax.eval_shape(game.step, before, jax.ShapeDtypeStruct((), jnp.int32))
    assert before == after


def test_the_key_draws_who_starts(played):
    assert set(played.states.current_player[0]) == {0, 1}


def test_who_starts_does_not_show_in_the_opening_position(played):
    assert (played.states.observation[0] == played.states.observation[0, 0]).all()
    assert played.states.legal_action_mask[0].all()


def test_random_games_end(played):
    assert not played.ended[0].any()
    assert played.ended[-1].all()


def test_an_ended_game_stays_ended(played):
    before = jax.tree.map(lambda x: x[:-1][played.ended[:-1]], played.states)
    after = jax.tree.map(lambda x: x[1:][played.ended[:-1]], played.states)
    assert not after.rewards.any()
    jax.tree.map(np.testing.assert_array_equal, before.replace(rewards=after.rewards), after)


def test_every_action_is_legal_once_the_game_has_ended(played):
    assert played.states.legal_action_mask[played.ended].all()


def test_there_is_always_a_legal_action(played):
    assert played.states.legal_action_mask.any(axis=-1).all()


def test_rewards_sum_to_zero(played):
    assert not played.states.rewards.sum(axis=-1).any()


def test_rewards_come_only_with_the_end(played):
    assert not played.states.rewards[~played.ended].any()


def test_players_alternate_while_the_game_lasts(played):
    player = played.states.current_player
    assert (player[1:] != player[:-1])[~played.ended[:-1]].all()


def test_only_who_moved_can_win(played):
    mover = played.states.current_player[:-1]
    reward = np.take_along_axis(played.states.rewards[1:], mover[..., None], axis=-1)
    assert (reward >= 0).all()


def test_an_illegal_move_loses_at_once(game, step, played):
    refused = np.argwhere(~played.states.legal_action_mask.all(axis=-1))
    assert len(refused)
    for time, lane in refused[:: len(refused) // 5 + 1]:
        state = at(played.states, time, lane)
        after = step(state, state.legal_action_mask.argmin())
        assert after.terminated and after.legal_action_mask.all()
        assert after.rewards[state.current_player] == -1
        assert after.rewards.sum() == 0
        assert not step(after, jnp.int32(0)).rewards.any()


def test_an_action_that_does_not_exist_loses_at_once(game, step, played):
    state = at(played.states, 0, 0)
    for action in (-1, game.num_actions, 10**6):
        after = step(state, jnp.int32(action))
        assert after.terminated and after.rewards[state.current_player] == -1


def test_a_batched_move_equals_a_single_one(game, step, played):
    for lane in range(3):
        for time in range(0, len(played.actions), len(played.actions) // 7):
            after = step(at(played.states, time, lane), jnp.int32(played.actions[time, lane]))
            expected = at(played.states, time + 1, lane)
            jax.tree.map(np.testing.assert_array_equal, after, expected)


def test_equal_observations_have_equal_futures(game, played):
    """A solver may therefore know positions by their observations."""
    futures = {}
    mover = played.states.current_player
    for time, lane in np.argwhere(~played.ended[:-1]):
        here, there = (time, lane), (time + 1, lane)
        position = played.states.observation[here].tobytes()
        mask = played.states.legal_action_mask[here].tobytes()
        assert futures.setdefault(position, mask) == mask
        future = (
            played.states.observation[there].tobytes(),
            bool(played.ended[there]),
            float(played.states.rewards[there][mover[here]]),
        )
        assert futures.setdefault((position, int(played.actions[here])), future) == future


def test_actions_survive_being_written_and_read(game):
    for action in range(game.num_actions):
        text = game.action_to_string(action)
        assert game.string_to_action(text) == action
        assert game.string_to_action(f" {text.upper()} ") == action


class Shouted(TicTacToe):
    """Two of its moves, B and b, are told apart by a capital alone."""

    def action_to_string(self, action):
        return "ABbDEFGHI"[action]


def test_moves_may_be_written_in_capitals_and_are_read_as_written_first():
    read = Shouted().string_to_action
    assert [read(text) for text in ("A", "a", "B", "b", "i ")] == [0, 0, 1, 2, 8]
    with pytest.raises(ValueError, match="no move ' B' in"):
        read(" B")


@pytest.mark.parametrize("text", ["", "z99", "-1", "0", "a 1", "²", "a\nb"])
def test_a_move_that_nobody_can_make_is_refused_in_one_line(game, text):
    with pytest.raises(ValueError, match=f"in {game.id}; moves are written") as refusal:
        game.string_to_action(text)
    assert "\n" not in str(refusal.value)


def test_symmetries_form_a_group(game):
    observation, action = symmetries(game)
    assert observation.dtype == action.dtype == np.int32
    pairs = [(o.tobytes(), a.tobytes()) for o, a in zip(observation, action, strict=True)]
    assert len(set(pairs)) == len(pairs)
    assert (action[0] == np.arange(game.num_actions)).all()
    assert (observation[0] == np.arange(np.prod(game.observation_shape))).all()
    for first in range(len(pairs)):
        for then in range(len(pairs)):
            image = observation[first][observation[then]], action[then][action[first]]
            assert tuple(part.tobytes() for part in image) in pairs


def test_a_mapped_game_is_the_image_of_the_game(game, play, played):
    observation, action = symmetries(game)
    chosen = np.arange(LANES) % len(action)
    mapped = np.empty_like(played.priorities)
    mask = np.empty_like(played.states.legal_action_mask)
    seen = played.states.observation.reshape(len(mask), LANES, -1)
    image = np.empty_like(seen)
    for lane, s in enumerate(chosen):
        mapped[:, lane, action[s]] = played.priorities[:, lane]
        mask[:, lane, action[s]] = played.states.legal_action_mask[:, lane]
        image[:, lane] = seen[:, lane, observation[s]]
    states, actions = play(mapped)
    np.testing.assert_array_equal(actions, action[chosen, played.actions])
    np.testing.assert_array_equal(states.legal_action_mask, mask)
    np.testing.assert_array_equal(states.observation.reshape(seen.shape), image)
    np.testing.assert_array_equal(states.rewards, played.states.rewards)
    np.testing.assert_array_equal(states.terminated, played.states.terminated)


def test_every_position_can_be_drawn(game, played):
    for time in (0, 3, -1):
        assert game.to_string(at(played.states, time, 0))
