"""Real games gone on with from random plies, for a learned model to be held against."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..games.base import Game, State
from .players import random_player

Array = jax.Array
Act = Callable[[Array, State], Array]
"""`(keys [N], state [N, ...]) -> action [N]`."""


class Walks(NamedTuple):
    """Real games gone on with from `N` positions, for `D` moves; an ended game stays as it is.

    Attributes:
        state: `[D + 1, N, ...]`.
        action: `[D, N]` int32.
    """

    state: State
    action: Array


def walk(
    game: Game,
    act: Act,
    key: Array,
    num: int,
    depth: int,
    max_plies: int = 100,
    opening_plies: int = 0,
) -> Walks:
    """Games of one player against itself, each left at a random ply and then followed for `depth`.

    Args:
        game: the rules.
        act: how both sides move: at random, perfectly, or as in self-play.
        key: of all randomness.
        num: N; every ply that was played before a game's end is as likely.
        depth: D.
        max_plies: a game is followed no further to begin with.
        opening_plies: each game begins with 0 to this many random moves.
    """
    start_key, pick_key, opening_key, random_key, key = jax.random.split(key, 5)
    at_random = random_player()
    opening = np.asarray(jax.random.randint(opening_key, (num,), 0, opening_plies + 1))
    step = jax.jit(jax.vmap(game.step))
    state = jax.vmap(game.init)(jax.random.split(start_key, num))
    states, actions, lengths = [state], [], np.zeros(num, int)
    for ply in range(max_plies + depth):
        ended = np.asarray(state.terminated | state.truncated)
        lengths += ~ended & (ply < max_plies)
        if ended.all() and len(actions) >= depth + lengths.max():
            break
        keys = jax.random.split(jax.random.fold_in(key, ply), num)
        action = np.asarray(act(keys, state))
        if ply < opening_plies:
            keys = jax.random.split(jax.random.fold_in(random_key, ply), num)
            action = np.where(ply < opening, at_random(keys, state), action)
        actions.append(action)
        state = step(state, jnp.asarray(actions[-1]))
        states.append(state)
    first = np.asarray(jax.random.randint(pick_key, (num,), 0, jnp.asarray(lengths)))
    time = first + np.arange(depth + 1)[:, None]
    lanes = np.arange(num)
    whole = jax.tree.map(lambda *x: np.stack(x), *states)
    return Walks(
        jax.tree.map(lambda x: jnp.asarray(x[time, lanes]), whole),
        jnp.asarray(np.stack(actions)[time[:-1], lanes]),
    )
