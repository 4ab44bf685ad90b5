"""Self-play: what is recorded is what happened, in games that depend on their own keys alone."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make
from duozero.train.config import PlayConfig
from duozero.train.selfplay import self_play, start
from toys import Bonus, Walk, any_move

NUM_GAMES, NUM_MOVES = 16, 24
PLAIN = PlayConfig(num_moves=NUM_MOVES)


def play(game, explore=PLAIN, seed=0, keys=None, rounds=1):
    """`(games before, games after, trajectory)` of random games."""
    if keys is None:
        keys = jax.random.split(jax.random.key(seed), NUM_GAMES)
    before = jax.jit(jax.vmap(functools.partial(start, game, play=explore)))(keys)
    run = jax.jit(lambda version, games: self_play(game, any_move(), {}, version, games, explore))
    games, moves = before, None
    for round in range(rounds):
        games, moves = run(jnp.int32(round), games)
    return before, games, jax.device_get(moves)


@pytest.fixture(scope="module", params=["tic_tac_toe", "bonus", "walk"])
def toy(request):
    toys = {"bonus": Bonus, "walk": Walk}
    return toys[request.param]() if request.param in toys else make(request.param)


@pytest.fixture(scope="module")
def played(toy):
    return play(toy)


def test_the_record_is_what_the_rules_say_of_the_moves(toy, played):
    before, _, moves = played
    step = jax.jit(jax.vmap(toy.step))
    state = before.state
    for t in range(NUM_MOVES):
        np.testing.assert_array_equal(moves.observation[t], state.observation)
        mover = np.asarray(state.current_player)
        assert np.take_along_axis(
            np.asarray(state.legal_action_mask), moves.action[t][:, None], axis=1
        ).all()
        child = step(state, jnp.asarray(moves.action[t]))
        over = np.asarray(child.terminated)
        gain = np.asarray(child.rewards)[np.arange(NUM_GAMES), mover]
        np.testing.assert_array_equal(moves.reward[t], gain)
        sign = np.where(np.asarray(child.current_player) == mover, 1, -1)
        np.testing.assert_array_equal(moves.discount[t], np.where(over, 0, sign))
        # A game that has ended is followed by a fresh one.
        fresh = before.state
        state = jax.tree.map(
            lambda new, old, over=over: jnp.where(
                over.reshape(-1, *[1] * (old.ndim - 1)), new, old
            ),
            fresh,
            child,
        )
        if t + 1 < NUM_MOVES:
            # Who starts is drawn anew, and does not show.
            seen = moves.observation[t + 1][over]
            np.testing.assert_array_equal(seen, np.asarray(fresh.observation)[over])
    assert (moves.discount == 0).sum() > NUM_GAMES


def test_a_search_is_never_asked_about_an_ended_game(toy, played):
    _, games, moves = played
    assert not games.state.terminated.any()
    first = np.asarray(toy.init(jax.random.key(0)).observation)
    again = moves.observation[1:][moves.discount[:-1] == 0]
    np.testing.assert_array_equal(again, np.broadcast_to(first, again.shape))


def test_plies_are_counted_from_the_start_of_each_game(played):
    _, games, moves = played
    since = NUM_MOVES - 1 - (moves.discount == 0)[::-1].argmax(axis=0)
    expected = np.where((moves.discount == 0).any(axis=0), NUM_MOVES - 1 - since, NUM_MOVES)
    np.testing.assert_array_equal(games.ply, expected)


def test_every_game_has_randomness_of_its_own(played):
    _, games, moves = played
    assert len({tuple(lane) for lane in moves.action.T}) == NUM_GAMES
    assert len(set(moves.action[0])) > 1
    keys = jax.random.key_data(games.key)
    assert len(np.unique(np.asarray(keys), axis=0)) == NUM_GAMES


def test_a_game_depends_on_its_own_key_alone(tic_tac_toe):
    seeds = jnp.arange(NUM_GAMES)
    _, _, moves = play(tic_tac_toe, keys=jax.vmap(jax.random.key)(seeds))
    _, _, other = play(tic_tac_toe, keys=jax.vmap(jax.random.key)(seeds[::-1]))
    np.testing.assert_array_equal(moves.action, other.action[:, ::-1])


def test_the_version_of_the_parameters_is_recorded(tic_tac_toe):
    for rounds in (1, 3):
        assert (play(tic_tac_toe, rounds=rounds)[2].version == rounds - 1).all()


def test_games_open_with_up_to_as_many_random_moves_as_are_asked_for(tic_tac_toe):
    before, _, moves = play(tic_tac_toe, PlayConfig(num_moves=NUM_MOVES, opening_plies=3))
    opening = np.asarray(before.opening)
    assert set(opening) == {0, 1, 2, 3}
    first_end = (moves.discount == 0).argmax(axis=0)
    for lane in range(NUM_GAMES):
        explored = moves.explored[: first_end[lane] + 1, lane]
        np.testing.assert_array_equal(explored, np.arange(len(explored)) < opening[lane])


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.0), (0.25, 0.25), (1.0, 1.0)])
def test_the_share_of_random_moves_is_the_one_asked_for(tic_tac_toe, share, expected):
    _, _, moves = play(tic_tac_toe, PlayConfig(num_moves=NUM_MOVES, random_moves=share))
    assert abs(moves.explored.mean() - expected) < 0.08


def test_the_temperature_falls_after_as_many_plies_as_are_asked_for(tic_tac_toe):
    _, _, moves = play(tic_tac_toe, PlayConfig(num_moves=NUM_MOVES, temperature_plies=2))
    ply = np.zeros(NUM_GAMES)
    for t in range(NUM_MOVES):
        np.testing.assert_array_equal(moves.search_value[t], ply < 2)
        ply = np.where(moves.discount[t] == 0, 0, ply + 1)
