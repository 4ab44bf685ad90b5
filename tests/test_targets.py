"""Targets against plain Python, and on games small enough to write down."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make, symmetries
from duozero.train.selfplay import Trajectory
from duozero.train.targets import Sample, augment, cut, lambda_return, n_step_return
from hypothesis import given
from hypothesis import strategies as st

T, B, A = 6, 2, 3


def moves(reward, discount, search_value, explored=None):
    """A trajectory of `T` moves in one game or in `[T, B]`."""
    fields = [np.asarray(x, np.float32) for x in (reward, discount, search_value)]
    reward, discount, search_value = (x[:, None] if x.ndim == 1 else x for x in fields)
    shape = reward.shape
    explored = np.zeros(shape, bool) if explored is None else np.reshape(explored, shape)
    number = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    return Trajectory(
        observation=jnp.asarray(number)[..., None],
        action=jnp.asarray(number, jnp.int32) % A,
        reward=jnp.asarray(reward),
        discount=jnp.asarray(discount),
        action_weights=jnp.asarray(np.stack([number, number + 1, number + 2], -1)),
        search_value=jnp.asarray(search_value),
        explored=jnp.asarray(explored),
        version=jnp.zeros(shape, jnp.int32),
    )


values = st.floats(-1, 1, width=32).map(lambda x: round(x, 3))
tables = st.tuples(
    *(st.lists(kind, min_size=T * B, max_size=T * B) for kind in (values, values)),
    st.lists(st.sampled_from([0.0, 1.0, -1.0]), min_size=T * B, max_size=T * B),
    st.lists(st.booleans(), min_size=T * B, max_size=T * B),
)


def table(drawn):
    reward, value, discount, explored = (np.array(x).reshape(T, B) for x in drawn)
    return moves(reward, discount, value, explored)


def numbers(played):
    """Reward, discount, search value and explored, on the host."""
    parts = (played.reward, played.discount, played.search_value, played.explored)
    return [np.asarray(x) for x in parts]


@given(tables, st.sampled_from([0.0, 0.5, 1.0]))
def test_the_lambda_return_is_its_definition(drawn, lambda_):
    played = table(drawn)
    got = np.asarray(jitted_lambda(played, lambda_))
    r, d, v, explored = numbers(played)
    for b in range(B):
        following = 0.0
        for t in reversed(range(T)):
            unfinished = t == T - 1 and d[t, b] != 0
            if explored[t, b] or unfinished:
                following = v[t, b]
            else:
                after = v[t + 1, b] if t < T - 1 else 0.0
                following = r[t, b] + d[t, b] * ((1 - lambda_) * after + lambda_ * following)
            np.testing.assert_allclose(got[t, b], following, atol=1e-5)


@given(tables, st.sampled_from([1, 2, 5]))
def test_the_n_step_return_is_its_definition(drawn, num_steps):
    played = table(drawn)
    got = np.asarray(jitted_n_step(played, num_steps))
    r, d, v, explored = numbers(played)

    def value(t, b, steps):
        unfinished = t == T - 1 and d[t, b] != 0
        if steps == 0 or explored[t, b] or unfinished:
            return v[t, b]
        return r[t, b] + (d[t, b] * value(t + 1, b, steps - 1) if d[t, b] else 0.0)

    for t in range(T):
        for b in range(B):
            np.testing.assert_allclose(got[t, b], value(t, b, num_steps), atol=1e-5)


jitted_lambda = jax.jit(lambda_return)
jitted_n_step = jax.jit(n_step_return, static_argnums=1)
outcome = functools.partial(lambda_return, lambda_=1.0)


def test_the_winner_of_three_plies_is_right_at_each_of_them():
    """The first player moves, the second answers, the first wins."""
    played = moves(reward=[0, 0, 1], discount=[-1, -1, 0], search_value=[0.3, 0.2, 0.1])
    np.testing.assert_array_equal(outcome(played)[:, 0], [1, -1, 1])
    np.testing.assert_array_equal(n_step_return(played, 3)[:, 0], [1, -1, 1])


def test_who_loses_by_their_own_move_is_wrong_at_each_of_them():
    played = moves(reward=[0, 0, -1], discount=[-1, -1, 0], search_value=[0.3, 0.2, 0.1])
    np.testing.assert_array_equal(outcome(played)[:, 0], [-1, 1, -1])


def test_an_extra_turn_keeps_the_point_of_view():
    played = moves(reward=[0.25, 0, 0.5], discount=[1, -1, 0], search_value=[0, 0, 0])
    np.testing.assert_array_equal(outcome(played)[:, 0], [-0.25, -0.5, 0.5])


def test_a_drawn_game_is_worth_exactly_nothing():
    played = moves(reward=[0, 0, 0], discount=[-1, -1, 0], search_value=[0.9, -0.9, 0.9])
    np.testing.assert_array_equal(outcome(played), 0)
    np.testing.assert_array_equal(n_step_return(played, 5), 0)


def test_what_came_of_a_random_move_is_not_learned():
    played = moves([0, 0, 0, 1], [-1, -1, -1, 0], [0.1, 0.2, 0.3, 0.4], [False, True, False, False])
    np.testing.assert_allclose(outcome(played)[:, 0], [-0.2, 0.2, -1, 1])


def test_a_game_does_not_see_the_next_one():
    first = moves([0, 1, 0, 0], [-1, 0, -1, -1], [0, 0, 0.5, 0.5])
    other = moves([0, 1, 0, 0], [-1, 0, -1, 0], [0, 0, -0.5, -0.5])
    np.testing.assert_array_equal(outcome(first)[:2], outcome(other)[:2])
    assert not (outcome(first)[2:] == outcome(other)[2:]).all()


def test_an_unfinished_game_ends_in_what_the_search_said():
    played = moves([0, 0], [-1, -1], [0.3, 0.7])
    np.testing.assert_allclose(outcome(played)[:, 0], [-0.7, 0.7])


def window(discount):
    length = len(discount)
    played = moves(0.5 * np.ones(length), discount, np.zeros(length))
    played = jax.tree.map(lambda x: x[:, 0], played)
    return cut(played, jnp.ones(length), jnp.float32(1))


def test_a_window_past_the_end_is_absorbing():
    sample = window([-1, 0, -1, -1])
    np.testing.assert_array_equal(sample.alive, [1, 1, 0, 0])
    np.testing.assert_array_equal(sample.value, [1, 1, 0, 0])
    np.testing.assert_array_equal(sample.reward, [0.5, 0.5, 0])
    np.testing.assert_array_equal(sample.discount, [-1, 0, 0])


def test_a_window_within_a_game_is_left_as_it_is():
    sample = window([-1, 1, -1, 0])
    np.testing.assert_array_equal(sample.alive, 1)
    np.testing.assert_array_equal(sample.reward, [0.5] * 3)
    np.testing.assert_array_equal(sample.discount, [-1, 1, -1])
    np.testing.assert_array_equal(sample.action, [0, 1, 2])
    np.testing.assert_array_equal(sample.policy[:, 0], np.arange(4))


def test_with_no_unroll_a_window_is_one_position():
    sample = window([0])
    assert sample.action.shape == sample.reward.shape == (0,)
    np.testing.assert_array_equal(sample.alive, [1])
    np.testing.assert_array_equal(sample.value, [1])


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("gomoku_5x4_3", "race_to_21")]


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", *OTHERS])
def test_a_turned_sample_is_a_sample_of_the_turned_game(name):
    """Observation, moves and policies are mapped by one symmetry: the turned moves, played from
    the turned position, end in the turned end, and the policy still prefers the move played."""
    game = make(name)
    step = jax.jit(jax.vmap(game.step))
    num_samples, num_moves = 32, 3
    state = jax.vmap(game.init)(jax.random.split(jax.random.key(0), num_samples))
    keys = jax.random.split(jax.random.key(1), num_moves)
    states, actions = [state], []
    for key in keys:
        noise = jax.random.uniform(key, state.legal_action_mask.shape)
        actions.append(jnp.where(state.legal_action_mask, noise, -1).argmax(-1).astype(jnp.int32))
        state = step(state, actions[-1])
        states.append(state)
    action = jnp.stack(actions, axis=1)
    policy = jax.nn.one_hot(jnp.concatenate([action, action[:, :1]], axis=1), game.num_actions)
    numbers = jnp.zeros((num_samples, num_moves + 1))
    later = jnp.stack([state.observation for state in states[1:]], axis=1)
    sample = cut_sample(states[0].observation, action, policy, numbers, later)
    turned = augment(symmetries(game), jax.random.key(2), sample)
    np.testing.assert_array_equal(turned.policy[:, :-1].argmax(-1), turned.action)
    np.testing.assert_array_equal(turned.policy.sum(-1), 1)
    maps = symmetries(game)
    flat = np.asarray(states[-1].observation).reshape(num_samples, -1)
    state = states[0]
    for k in range(num_moves):
        state = step(state, turned.action[:, k])
        if not np.asarray(state.terminated).any():
            np.testing.assert_array_equal(turned.later[:, k], state.observation)
    reached = np.asarray(state.observation).reshape(num_samples, -1)
    images = flat[:, maps.observation]
    assert (images == reached[:, None]).all(-1).any(-1).all()
    if len(maps.action) > 1:
        assert (np.asarray(turned.action) != np.asarray(action)).any()


def test_every_symmetry_is_drawn_and_turns_the_observation_with_the_moves(tic_tac_toe):
    """From one stone in each cell: where the stone goes, the move onto its cell goes too."""
    maps = symmetries(tic_tac_toe)
    num_samples = 128
    cell = jnp.arange(num_samples) % 9
    observation = jnp.zeros((num_samples, 9, 2)).at[jnp.arange(num_samples), cell, 0].set(1)
    policy = jax.nn.one_hot(cell, 9)[:, None]
    action = cell[:, None].astype(jnp.int32)
    sample = cut_sample(
        observation.reshape(-1, 3, 3, 2), action, jnp.tile(policy, (1, 2, 1)), jnp.zeros((128, 2))
    )
    turned = augment(maps, jax.random.key(0), sample)
    stone = turned.observation.reshape(num_samples, 9, 2)[..., 0].argmax(-1)
    np.testing.assert_array_equal(stone, turned.action[:, 0])
    np.testing.assert_array_equal(stone, turned.policy[:, 0].argmax(-1))
    corners = {int(s) for s, c in zip(stone, cell, strict=True) if c == 0}
    assert corners == {0, 2, 6, 8}


def cut_sample(observation, action, policy, numbers, later=None):
    """Samples with nothing in them that a symmetry leaves alone."""
    if later is None:
        later = observation[:, None]
    terms = (policy, numbers, numbers[:, 1:], numbers[:, 1:], numbers)
    return Sample(observation, later, action, *terms, weight=jnp.ones(len(action)))
