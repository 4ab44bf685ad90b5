"""The replay is a bounded queue from which windows are cut."""

import collections
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.train import replay
from duozero.train.selfplay import Trajectory
from hypothesis import given
from hypothesis import strategies as st

NUM_GAMES = 2
LENGTHS = (1, 3, 4)


def moves(first, num_moves):
    """Numbered moves of games that never end: number, game and version tell a move."""
    number = jnp.arange(first, first + num_moves, dtype=jnp.float32)[:, None]
    number = jnp.broadcast_to(number, (num_moves, NUM_GAMES))
    game = jnp.broadcast_to(jnp.arange(NUM_GAMES)[None], number.shape)
    return Trajectory(
        observation=jnp.stack([number, game.astype(jnp.float32)], axis=-1),
        action=number.astype(jnp.int32),
        reward=number,
        discount=jnp.ones_like(number),
        action_weights=jnp.ones((*number.shape, 3)) / 3,
        search_value=number,
        explored=jnp.zeros(number.shape, jnp.bool_),
        version=number.astype(jnp.int32),
    )


def search_values(moves):
    return moves.search_value


push = jax.jit(functools.partial(replay.push, return_fn=search_values))
sample = jax.jit(replay.sample, static_argnums=(2, 3, 4, 5))


@given(st.sampled_from([4, 7]), st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=6))
def test_it_is_a_bounded_queue(capacity, lengths):
    queue = collections.deque(maxlen=capacity)
    buffer, count = replay.init(moves(0, 1), capacity), 0
    for length in lengths:
        buffer = push(buffer, moves(count, length))
        queue.extend(range(count, count + length))
        count += length
    assert int(buffer.size) == len(queue)
    newest_last = np.roll(buffer.moves.action, -int(buffer.position), axis=0)[-len(queue) :]
    np.testing.assert_array_equal(newest_last, np.tile(np.array(queue)[:, None], NUM_GAMES))
    np.testing.assert_array_equal(np.roll(buffer.value, -int(buffer.position), 0)[-1], count - 1)


@pytest.mark.parametrize("num_pushes", [1, 2, 3, 4])
def test_windows_are_moves_in_a_row_of_one_game_and_never_cross_the_seam(num_pushes):
    buffer = replay.init(moves(0, 1), 7)
    for i in range(num_pushes):
        buffer = push(buffer, moves(4 * i, 4))
    drawn = sample(buffer, jax.random.key(num_pushes), 256, 2)
    first = np.asarray(drawn.observation[:, 0], int)
    np.testing.assert_array_equal(drawn.action, first[:, None] + np.arange(2))
    np.testing.assert_array_equal(drawn.value, first[:, None] + np.arange(3))
    oldest = max(0, 4 * num_pushes - 7)
    # Every window that fits is drawn, from every game, and no other.
    assert set(first) == set(range(oldest, 4 * num_pushes - 2))
    assert set(np.asarray(drawn.observation[:, 1], int)) == set(range(NUM_GAMES))


def test_value_targets_are_made_anew_when_more_is_known():
    def outcome(moves):
        """The sum of what follows."""
        return jnp.cumsum(moves.reward[::-1], axis=0)[::-1]

    buffer = replay.init(moves(0, 1), 8)
    for first in (0, 3):
        buffer = replay.push(buffer, moves(first, 3), outcome)
    np.testing.assert_array_equal(buffer.value[:6, 0], [15, 15, 14, 12, 9, 5])


def test_more_than_fits_is_refused():
    with pytest.raises(ValueError, match="4 moves a game do not fit a replay of 3"):
        replay.init(moves(0, 4), 3)


def surprised(surprise):
    """A ring of 8 moves that holds 11, with the given difference of value target and search."""
    buffer = replay.init(moves(0, 1), 8)
    for first, length in ((0, 4), (4, 4), (8, 3)):
        buffer = push(buffer, moves(first, length))
    return buffer.replace(value=buffer.moves.search_value + surprise)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_a_surprise_is_drawn_in_proportion_and_weighed_by_the_inverse(exponent):
    rng = np.random.default_rng(0)
    surprise = rng.choice([-0.9, -0.1, 0.3, 0.6], (8, NUM_GAMES))
    drawn = sample(surprised(surprise), jax.random.key(0), 20_000, 2, exponent)
    number, game = np.asarray(drawn.observation, int).T
    np.testing.assert_array_equal(drawn.action, number[:, None] + np.arange(2))
    # Stored are moves 3 to 10, in the ring at 3 .. 7, 0 .. 2; windows of three begin at 3 to 8.
    assert set(number) == set(range(3, 9))
    priority = (np.abs(surprise) + 1e-3)[np.arange(3, 9) % 8] ** exponent
    counts = np.zeros_like(priority)
    np.add.at(counts, (number - 3, game), 1)
    np.testing.assert_allclose(counts / counts.sum(), priority / priority.sum(), atol=0.012)
    expected = priority.min() / priority[number - 3, game]
    np.testing.assert_allclose(drawn.weight, expected, rtol=1e-4)


def test_drawn_alike_all_weigh_one():
    assert (np.asarray(sample(surprised(0.0), jax.random.key(0), 32, 2).weight) == 1).all()


def ended(*ends):
    """A ring of 8 moves that holds numbers 3 to 10, in which moves `(number, game)` end games."""
    buffer = surprised(0.0)
    discount = buffer.moves.discount
    for number, game in ends:
        discount = discount.at[number % 8, game].set(0.0)
    return buffer.replace(moves=buffer.moves._replace(discount=discount))


def test_a_share_of_the_positions_is_drawn_from_before_the_ends_of_games():
    # Windows of K = 2 begin at 3 to 8: move 3 ends in one of them, 7 in two, 10 in none.
    drawn = sample(ended((3, 0), (7, 1), (10, 1)), jax.random.key(0), 20_000, 2, 0.0, 0.25)
    number, game = np.asarray(drawn.observation, int).T
    near, counts = np.unique(np.stack([number, game])[:, -5_000:], axis=1, return_counts=True)
    assert near.T.tolist() == [[3, 0], [6, 1], [7, 1]]
    np.testing.assert_allclose(counts / 5_000, 1 / 3, atol=0.03)
    assert (np.asarray(drawn.discount)[-5_000:] == 0).any(axis=1).all()
    others = np.bincount(number[:-5_000] - 3, minlength=6) / 15_000
    np.testing.assert_allclose(others, 1 / 6, atol=0.02)
    assert (np.asarray(drawn.weight) == 1).all()


def test_where_no_game_has_ended_all_are_drawn_alike():
    drawn = sample(ended((10, 1)), jax.random.key(0), 4_000, 2, 0.0, 1.0)
    counts = np.bincount(np.asarray(drawn.observation, int)[:, 0] - 3, minlength=6)
    np.testing.assert_allclose(counts / 4_000, 1 / 6, atol=0.03)


def test_without_a_learned_model_ends_are_not_sought():
    same = (sample(ended((7, 1)), jax.random.key(0), 64, 0, 0.0, share) for share in (0.0, 0.9))
    jax.tree.map(np.testing.assert_array_equal, *same)
