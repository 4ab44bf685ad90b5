"""Real games gone on with from random plies, for a learned model to be held against."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..games.base import Game, State
from .config import PlayConfig
from .players import random_player

Array = jax.Array
Act = Callable[[Array, State], Array]
"""`(keys [N], state [N, ...]) -> action [N]`."""
STRAIGHT = PlayConfig()
"""All moves are the player's own."""


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
    explore: PlayConfig = STRAIGHT,
    settled: Act | None = None,
) -> Walks:
    """Games of one player against itself, each left at a random ply and then followed for `depth`.

    Args:
        game: the rules.
        act: how both sides move: at random, perfectly, or as in self-play.
        key: of all randomness.
        num: N; every ply that was played before a game's end is as likely.
        depth: D.
        max_plies: a game is followed no further to begin with.
        explore: which moves are random, and after how many both sides have `settled`.
        settled: how they move from then on; None for as before.
    """
    start_key, pick_key, opening_key, random_key, key = jax.random.split(key, 5)
    at_random, settled = random_player(), settled or act
    opening = np.asarray(jax.random.randint(opening_key, (num,), 0, explore.opening_plies + 1))
    step = jax.jit(jax.vmap(game.step))
    state = jax.vmap(game.init)(jax.random.split(start_key, num))
    states, actions, lengths = [state], [], np.zeros(num, int)
    for ply in range(max_plies + depth):
        ended = np.asarray(state.terminated | state.truncated)
        lengths += ~ended & (ply < max_plies)
        if ended.all() and len(actions) >= depth + lengths.max():
            break
        keys = jax.random.split(jax.random.fold_in(key, ply), num)
        moves = act if ply < explore.temperature_plies else settled
        action = np.asarray(moves(keys, state))
        if ply < explore.opening_plies or explore.random_moves:
            roll_key, move_key = jax.random.split(jax.random.fold_in(random_key, ply))
            roll = np.asarray(jax.random.uniform(roll_key, (num,))) < explore.random_moves
            move = at_random(jax.random.split(move_key, num), state)
            action = np.where((ply < opening) | roll, move, action)
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
