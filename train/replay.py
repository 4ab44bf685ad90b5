"""A ring buffer of trajectories on the device, from which windows are cut when sampled."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import struct

from .selfplay import Trajectory
from .targets import Sample, cut

Array = jax.Array
ReturnFn = Callable[[Trajectory], Array]


class Replay(struct.PyTreeNode):
    """The last `C` moves of each of `B` games.

    Attributes:
        moves: leaves `[C, B, ...]`.
        value: `[C, B]` value targets, made anew after each push: games end after they were stored.
        size: `[]` int32, moves stored per game.
        position: `[]` int32, where the next move goes.
    """

    moves: Trajectory
    value: Array
    size: Array
    position: Array


def init(example: Trajectory, capacity: int) -> Replay:
    """An empty buffer of `capacity` moves per game for trajectories shaped like `example`.

    Raises:
        ValueError: if one push would not fit.
    """
    num_moves, num_games = example.action.shape
    if num_moves > capacity:
        raise ValueError(f"{num_moves} moves a game do not fit a replay of {capacity} moves a game")
    moves = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape[1:]), x.dtype), example)
    return Replay(moves, jnp.zeros((capacity, num_games)), jnp.int32(0), jnp.int32(0))


def push(replay: Replay, moves: Trajectory, return_fn: ReturnFn) -> Replay:
    """Overwrites the oldest moves with `moves` `[T, B]` and makes every value target anew."""
    capacity = replay.value.shape[0]
    num_moves = moves.action.shape[0]
    index = (replay.position + jnp.arange(num_moves)) % capacity
    stored = jax.tree.map(lambda old, new: old.at[index].set(new), replay.moves, moves)
    position = (replay.position + num_moves) % capacity
    # Rolled so that the newest move comes last; what is not yet filled comes first, where a
    # return, which looks forward only, cannot see it.
    in_order = jax.tree.map(lambda x: jnp.roll(x, -position, axis=0), _numbers(stored))
    value = jnp.roll(return_fn(in_order), position, axis=0)
    return Replay(stored, value, jnp.minimum(replay.size + num_moves, capacity), position)


def _numbers(moves: Trajectory) -> Trajectory:
    """Leaves out what no return depends on, which is most of the memory."""
    empty = moves.action[..., :0]
    return moves._replace(observation=empty, action_weights=empty)


def sample(replay: Replay, key: Array, num_samples: int, num_unroll_steps: int) -> Sample:
    """Draws positions uniformly, with replacement, and the K moves after each: `[num_samples]`.

    Windows run across the ends of games (see `targets.cut`) but never across the seam of the
    ring. There must be more than K moves stored.
    """
    age_key, game_key = jax.random.split(key)
    capacity, num_games = replay.value.shape
    age = jax.random.randint(age_key, (num_samples,), 0, replay.size - num_unroll_steps)
    game = jax.random.randint(game_key, (num_samples,), 0, num_games)
    first = replay.position - replay.size + age
    time = (first[:, None] + jnp.arange(num_unroll_steps + 1)[None]) % capacity
    window = jax.tree.map(lambda x: x[time, game[:, None]], (replay.moves, replay.value))
    return jax.vmap(cut)(*window)
