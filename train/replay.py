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
    size = jnp.minimum(replay.size + num_moves, capacity)
    return _valued(Replay(stored, replay.value, size, position), return_fn)


def rewrite(
    replay: Replay, time: Array, policy: Array, search_value: Array, return_fn: ReturnFn
) -> Replay:
    """Puts what a later search found in place of what an earlier one did.

    Args:
        replay: the buffer.
        time: `[R]` places in the ring.
        policy: `[R, B, num_actions]`.
        search_value: `[R, B]`.
        return_fn: makes every value target anew, from the new search values too.
    """
    moves = replay.moves._replace(
        action_weights=replay.moves.action_weights.at[time].set(policy),
        search_value=replay.moves.search_value.at[time].set(search_value),
    )
    return _valued(replay.replace(moves=moves), return_fn)


def _valued(replay: Replay, return_fn: ReturnFn) -> Replay:
    """The buffer with its value targets made anew."""
    # Rolled so that the newest move comes last; what is not yet filled comes first, where a
    # return, which looks forward only, cannot see it.
    numbers = _numbers(replay.moves)
    in_order = jax.tree.map(lambda x: jnp.roll(x, -replay.position, axis=0), numbers)
    return replay.replace(value=jnp.roll(return_fn(in_order), replay.position, axis=0))


def _numbers(moves: Trajectory) -> Trajectory:
    """Leaves out what no return depends on, which is most of the memory."""
    empty = moves.action[..., :0]
    return moves._replace(observation=empty, action_weights=empty, state=None)


def sample(
    replay: Replay,
    key: Array,
    num_samples: int,
    num_unroll_steps: int,
    priority: float = 0.0,
    end_share: float = 0.0,
) -> Sample:
    """Draws positions, with replacement, and the K moves after each: `[num_samples]`.

    Windows run across the ends of games (see `targets.cut`) but never across the seam of the
    ring. There must be more than K moves stored.

    With `priority` 0 all positions are drawn alike; otherwise in proportion to
    `|search value - value target| ** priority` (MuZero, appendix G), and their losses are weighed
    by the inverse, in units of the largest in the batch, so that the gradient keeps its direction
    (https://arxiv.org/abs/1511.05952, with beta 1).

    Of the samples, the last `end_share` are drawn from the windows within whose K moves a game
    ends, all alike, while any are stored. A model of long games hardly sees an end otherwise; what
    it learns of a move is not distorted, as the same move always ends the game or never. With K 0
    there are none.
    """
    capacity = len(replay.value)
    num_ends = round(end_share * num_samples) if num_unroll_steps else 0
    num_others = num_samples - num_ends
    if priority:
        surprise = jnp.abs(replay.moves.search_value - replay.value) + 1e-3
        age, game, chance = _draw(replay, key, num_others, num_unroll_steps, surprise**priority)
        rarity = 1 / chance
        weight = rarity / rarity.max(initial=0.0)
    else:
        age_key, game_key = jax.random.split(key)
        age = jax.random.randint(age_key, (num_others,), 0, replay.size - num_unroll_steps)
        game = jax.random.randint(game_key, (num_others,), 0, replay.value.shape[1])
        weight = jnp.ones(num_others)
    if num_ends:
        over = replay.moves.discount == 0
        near = sum(jnp.roll(over, -k, axis=0) for k in range(num_unroll_steps))
        # Where there are none, the small chances are all there is.
        chance = jnp.where(near > 0, 1.0, 1e-12)
        ending = _draw(replay, jax.random.fold_in(key, 1), num_ends, num_unroll_steps, chance)
        age, game = (jnp.concatenate(x) for x in zip((age, game), ending[:2], strict=True))
        weight = jnp.concatenate([weight, jnp.ones(num_ends)])
    first = replay.position - replay.size + age
    time = (first[:, None] + jnp.arange(num_unroll_steps + 1)[None]) % capacity
    stored = replay.moves._replace(state=None), replay.value
    moves, value = jax.tree.map(lambda x: x[time, game[:, None]], stored)
    return jax.vmap(cut)(moves, value, weight)


def _draw(
    replay: Replay, key: Array, num_samples: int, num_unroll_steps: int, chance: Array
) -> tuple[Array, Array, Array]:
    """Positions drawn in proportion to `chance` `[C, B]`, of those with K moves after them.

    Returns ages counted from the oldest move, games, and chances: `[num_samples]` each.
    """
    capacity, num_games = replay.value.shape
    age = (jnp.arange(capacity) - replay.position + replay.size) % capacity
    chance = jnp.where((age < replay.size - num_unroll_steps)[:, None], chance, 0.0)
    # In two steps, as a sum over all would lose the small ones to rounding.
    rows = jnp.cumsum(chance.sum(axis=1))
    roll = jax.random.uniform(key, (2, num_samples), maxval=1 - 1e-6)  # Never the very end.
    time = jnp.searchsorted(rows, roll[0] * rows[-1], side="right").clip(max=capacity - 1)
    within = jnp.cumsum(chance[time], axis=1)
    game = (within <= roll[1][:, None] * within[:, -1:]).sum(axis=1).clip(max=num_games - 1)
    return age[time], game, chance[time, game]
