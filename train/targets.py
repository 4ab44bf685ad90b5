"""From trajectories to training samples, for both planners. Discounts are data throughout."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ..games.base import Symmetries
from .selfplay import Trajectory

Array = jax.Array


class Sample(NamedTuple):
    """One position and the `K` moves after it; batched with a leading axis `N`.

    Attributes:
        observation: `[*observation_shape]`.
        later: `[K, *observation_shape]`, after each move; of another game past the end.
        action: `[K]` int32.
        policy: `[K + 1, num_actions]` search policies.
        value: `[K + 1]` returns for the player to move; 0 past the end of the game.
        reward: `[K]` for the player who moved; 0 past the end of the game.
        discount: `[K]`; 0 from the move that ended the game on.
        alive: `[K + 1]` float32; 0 past the end of the game.
        weight: `[]`, of its loss.
    """

    observation: Array
    later: Array
    action: Array
    policy: Array
    value: Array
    reward: Array
    discount: Array
    alive: Array
    weight: Array


def lambda_return(moves: Trajectory, lambda_: float) -> Array:
    """Returns `G[t] = r[t] + d[t] ((1 - lambda) v[t + 1] + lambda G[t + 1])`, time-major `[T, B]`.

    With `lambda_` 1 it is the outcome of the game for the player to move at t (the last moves of
    an unfinished game bootstrap from their search values v), with 0 one step and a search. Where
    the move was random, `G[t] = v[t]`: what a blunder led to is no verdict on the position before
    it.
    """

    def backward(following, move):
        value, target = following
        reward, discount, search_value, explored = move
        target = reward + discount * ((1 - lambda_) * value + lambda_ * target)
        target = jnp.where(explored, search_value, target)
        return (search_value, target), target

    last = moves.search_value[-1]
    # A move that ended its game is known in full even where it is the newest.
    newest = jnp.where((moves.discount[-1] == 0) & ~moves.explored[-1], moves.reward[-1], last)
    steps = (moves.reward, moves.discount, moves.search_value, moves.explored)
    earlier = jax.tree.map(lambda x: x[:-1], steps)
    _, returns = jax.lax.scan(backward, (last, newest), earlier, reverse=True)
    return jnp.concatenate([returns, newest[None]])


def n_step_return(moves: Trajectory, num_steps: int) -> Array:
    """The return of the next `num_steps` rewards, then the search value there; `[T, B]`.

    Games that end sooner count as they ended; random moves cut as in `lambda_return`.
    """
    value = moves.search_value
    for _ in range(num_steps):
        following = jnp.concatenate([value[1:], jnp.zeros_like(value[:1])])
        value = moves.reward + moves.discount * following
        unknown = moves.explored.at[-1].max(moves.discount[-1] != 0)
        value = jnp.where(unknown, moves.search_value, value)
    return value


def cut(window: Trajectory, value: Array, weight: Array) -> Sample:
    """Makes a sample of `K + 1` consecutive moves of one game, which may end on the way.

    Past the end the game is absorbing: no reward, no value, no policy to learn. (The moves found
    there are those of the next game; they stand for arbitrary moves in an ended one.)
    """
    goes_on = (window.discount[:-1] != 0).astype(jnp.float32)
    alive = jnp.concatenate([jnp.ones(1), jnp.cumprod(goes_on)])
    return Sample(
        observation=window.observation[0],
        later=window.observation[1:],
        action=window.action[:-1],
        policy=window.action_weights,
        value=value * alive,
        reward=window.reward[:-1] * alive[:-1],
        discount=window.discount[:-1] * alive[:-1],
        alive=alive,
        weight=weight,
    )


def augment(symmetries: Symmetries, key: Array, sample: Sample) -> Sample:
    """Shows each of `N` samples under a symmetry of its own, drawn uniformly.

    The moves of the unroll are mapped with the observation, so the learned model sees the
    same game turned.
    """
    num_samples = sample.action.shape[0]
    which = jax.random.randint(key, (num_samples,), 0, len(symmetries.action))

    def turn(which, one: Sample) -> Sample:
        action = jnp.asarray(symmetries.action)[which]
        cells = jnp.asarray(symmetries.observation)[which]
        seen = [x.reshape(-1, cells.size)[:, cells] for x in (one.observation, one.later)]
        return one._replace(
            observation=seen[0].reshape(one.observation.shape),
            later=seen[1].reshape(one.later.shape),
            action=action[one.action],
            policy=jnp.zeros_like(one.policy).at[:, action].set(one.policy),
        )

    return jax.vmap(turn)(which, sample)
