"""Perfect play of small games, computed from their rules."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..games.base import Game
from ..planners.base import transition


class Solution(NamedTuple):
    """Every position that can be reached from the start, told apart by its observation.

    Attributes:
        game: the rules.
        state: leaves `[N, ...]`; position 0 is the start.
        ended: `[N]` bool.
        child: `[N, A]` int32, the position after an action; -1 where it is illegal or ended.
        action_values: `[N, A]` float32, game value of each action for the player to move; -inf
            where `child` is -1.
        value: `[N]` float32, game value for the player to move; 0 where the game has ended.
        reward, discount: `[N, A]` of each action, for the player to move.
    """

    game: Game
    state: Any
    ended: np.ndarray
    child: np.ndarray
    action_values: np.ndarray
    value: np.ndarray
    reward: np.ndarray
    discount: np.ndarray

    @property
    def undecided(self) -> np.ndarray:
        """Indices of the positions in which there is a move to make."""
        return np.flatnonzero(~self.ended)

    @property
    def optimal(self) -> np.ndarray:
        """`[N, A]` bool, the actions that keep the game value; none where the game has ended."""
        return (self.child >= 0) & (self.action_values >= self.value[:, None])


def solve(game: Game, max_positions: int = 100_000) -> Solution:
    """Solves a game of perfect information by walking through all of it.

    States that are observed alike are one position, once it is certain that they are: that the
    same moves are legal in them, gain the same, and lead to what is again observed alike.

    Raises:
        ValueError: if there are more than `max_positions` states; if observations hide what
            the game depends on; if a position can come back; or if it has no legal move.
    """
    state, child, reward, discount = _as_observed(game, _explore(game, max_positions))
    ended = state.terminated | state.truncated
    if (~ended & (child < 0).all(axis=1)).any():
        raise ValueError(f"{game.id} has a position without a legal move that has not ended")
    value = np.zeros(len(ended), np.float32)
    action_values = np.full(child.shape, -np.inf, np.float32)
    known = np.zeros(len(ended), bool)
    while not known.all():
        ready = ~known & ((child < 0) | known[child]).all(axis=1)
        if not ready.any():
            raise ValueError(f"{game.id} is not solved: it can come back to an earlier position")
        worth = reward[ready] + discount[ready] * value[child[ready]]
        action_values[ready] = np.where(child[ready] >= 0, worth, -np.inf)
        value[ready] = np.where(ended[ready], 0.0, action_values[ready].max(axis=1))
        known |= ready
    return Solution(game, state, ended, child, action_values, value, reward, discount)


class _Graph(NamedTuple):
    """States `[S, ...]`, and `child`, `reward` and `discount` `[S, A]` as in `Solution`."""

    state: Any
    child: np.ndarray
    reward: np.ndarray
    discount: np.ndarray


def _as_observed(game: Game, graph: _Graph) -> _Graph:
    """One position for all states that are observed alike, in the order in which they were found.

    Raises:
        ValueError: if such states are not alike in all that counts.
    """
    number: dict[bytes, int] = {}
    observation = graph.state.observation
    same = np.array([number.setdefault(_key(row), len(number)) for row in observation])
    first = np.unique(same, return_index=True)[1]
    child = np.where(graph.child >= 0, same[graph.child], -1).astype(np.int32)
    gains = (np.where(child >= 0, gain, 0) for gain in (graph.reward, graph.discount))
    ended = graph.state.terminated | graph.state.truncated
    for fact in (child, ended, *gains):
        if (fact != fact[first[same]]).any():
            raise ValueError(f"{game.id} is not solved: its observations hide what it depends on")
    return jax.tree.map(lambda x: x[first], graph._replace(child=child))


def _explore(game: Game, max_states: int) -> _Graph:
    """All states from the start on."""

    @jax.jit
    def expand(state):
        def one(state):
            actions = jnp.arange(game.num_actions)
            children = jax.vmap(lambda action: game.step(state, action))(actions)
            reward, discount = jax.vmap(lambda child: transition(state, child))(children)
            legal = state.legal_action_mask & ~(state.terminated | state.truncated)
            return children, reward, discount, legal

        return jax.vmap(one)(state)

    level = jax.tree.map(lambda x: np.asarray(x)[None], jax.jit(game.init)(jax.random.key(0)))
    index = {_whole(level, 1)[0].tobytes(): 0}
    states, rows = [level], []
    while len(level.observation):
        children, reward, discount, legal = jax.tree.map(np.asarray, batched(expand, level))
        child = np.full(legal.shape, -1, np.int32)
        whole, fresh = _whole(children, 2), []
        for at in zip(*np.nonzero(legal), strict=True):
            key = whole[at].tobytes()
            if key not in index:
                index[key] = len(index)
                fresh.append(at)
            child[at] = index[key]
        if len(index) > max_states:
            raise ValueError(f"{game.id} has more than {max_states} positions to solve")
        rows.append((child, reward, discount))
        where = tuple(np.array(fresh, int).reshape(-1, 2).T)
        level = jax.tree.map(lambda x, where=where: x[where], children)
        states.append(level)
    state = jax.tree.map(lambda *x: np.concatenate(x), *states)
    child, reward, discount = (np.concatenate(x) for x in zip(*rows, strict=True))
    return _Graph(state, child, reward, discount)


def _whole(state: Any, num_axes: int) -> np.ndarray:
    """All of each state but the reward of the move before it, in bytes: `[..., size]`."""
    leaves = [np.ascontiguousarray(x) for x in jax.tree.leaves(state.replace(rewards=None))]
    shape = leaves[0].shape[:num_axes]
    flat = (x.reshape(*shape, math.prod(x.shape[num_axes:])) for x in leaves)
    return np.concatenate([x.view(np.uint8) for x in flat if x.size], axis=-1)


def true_values(solution: Solution, state: Any) -> np.ndarray:
    """`[...]`, the game value for the player to move of positions `[..., *]` of a solved game.

    NaN for positions that it does not know: of a game that began otherwise.
    """
    index = {_key(row): at for at, row in enumerate(solution.state.observation)}
    observation = np.asarray(state.observation)
    shape = observation.shape[: observation.ndim - len(solution.game.observation_shape)]
    rows = observation.reshape(-1, *solution.game.observation_shape)
    values = np.append(solution.value, np.nan)
    return values[[index.get(_key(row), -1) for row in rows]].reshape(shape)


def _key(observation: np.ndarray) -> bytes:
    return observation.tobytes()


def batched(fn: Callable, state: Any, size: int = 1024) -> Any:
    """Applies `fn` to `[N, ...]` in pieces of one size, so that it is compiled once."""
    num = len(state.observation)
    pieces = []
    for first in range(0, num, size):
        index = np.minimum(np.arange(first, first + size), num - 1)
        piece = jax.tree.map(np.asarray, fn(jax.tree.map(lambda x, index=index: x[index], state)))
        keep = min(size, num - first)
        pieces.append(jax.tree.map(lambda x, keep=keep: x[:keep], piece))
    return jax.tree.map(lambda *x: np.concatenate(x), *pieces)
