"""Random playouts, and the planner that thinks with them alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.games import make
from duozero.planners.rollout import random_action, random_playout
from toys import Bonus, Walk


def after(game, *moves):
    """The position after these actions, from the start, as a batch of one."""
    state, step = game.init(jax.random.key(0)), jax.jit(game.step)
    for move in moves:
        state = step(state, jnp.int32(move))
    return jax.tree.map(lambda x: x[None], state)


def repeat(state, number):
    return jax.tree.map(lambda x: jnp.repeat(x, number, axis=0), state)


def playouts(game, state, number, seed=0):
    keys = jax.random.split(jax.random.key(seed), number)
    return jax.jit(lambda keys, state: random_playout(game, keys, state))(
        keys, repeat(state, number)
    )


def test_a_random_action_is_uniform_over_what_is_legal():
    keys = jax.random.split(jax.random.key(0), 3000)
    mask = jnp.array([False, True, True, False, True])
    actions = jax.jit(jax.vmap(random_action, (0, None)))(keys, mask)
    counts = np.bincount(actions, minlength=5)
    assert counts[~np.asarray(mask)].sum() == 0
    assert (abs(counts[np.asarray(mask)] - 1000) < 120).all()


def test_a_forced_end_has_one_value():
    game = make("race_to_21")
    forced = after(game, 2, 2, 2, 2, 2, 2, 1)  # 20: the player to move says 21.
    np.testing.assert_array_equal(playouts(game, forced, 4), 1)


def test_a_playout_is_worth_what_random_play_is_on_average():
    """At 19 the one who says 21 or forces 20 has even chances: +1 or -1."""
    game = make("race_to_21")
    values = playouts(game, after(game, 2, 2, 2, 2, 2, 2, 0), 2000)
    assert set(np.unique(values)) == {-1, 1}
    assert abs(float(values.mean())) < 0.07


def test_rewards_on_the_way_and_extra_turns_count_for_the_player_to_move():
    """At 8 of 10 the same player has moved again; 1 leads to the loss of the rest, 2 takes it."""
    game = Bonus(10)
    state = after(game, 2, 2, 1)  # 8, a multiple of 4: another turn.
    values = playouts(game, state, 1000)
    assert set(np.unique(values)) == {-0.75, 0.75}
    assert abs(float(values.mean())) < 0.08


def test_one_player_gets_all_there_is():
    game = Walk()
    values = playouts(game, after(game, 2), 500)
    assert values.min() >= 0 and values.max() <= 0.5
    assert abs(float(values.mean()) - 0.25) < 0.03


def test_an_ended_game_is_worth_nothing():
    game = make("tic_tac_toe")
    won = after(game, 0, 3, 1, 4, 2)
    assert won.terminated.all()
    np.testing.assert_array_equal(playouts(game, won, 2), 0)


@pytest.fixture(scope="module")
def visits(tic_tac_toe):
    search = planners.gumbel(planners.rollout(tic_tac_toe), 16)
    plan = jax.jit(lambda keys, state: search({}, keys, state).visit_counts)

    def visits(seeds):
        state = repeat(after(tic_tac_toe, 0), len(seeds))
        return np.asarray(plan(jax.vmap(jax.random.key)(jnp.array(seeds)), state))

    return visits


@pytest.mark.slow
def test_what_a_search_finds_depends_on_its_own_key_alone(visits):
    together, others = visits([1, 2, 3, 4]), visits([5, 2, 7, 4])
    np.testing.assert_array_equal(together[1::2], others[1::2])
    assert (together[::2] != others[::2]).any()


def test_equal_keys_find_the_same_and_others_something_else(visits):
    counts = visits([1, 1, 2, 3])
    np.testing.assert_array_equal(counts[0], counts[1])
    assert (counts[0] != counts[2:]).any()
