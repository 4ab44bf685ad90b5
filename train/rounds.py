"""One round of training, and what can be said of it."""

import functools
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import jax
import jax.numpy as jnp
import numpy as np

from .config import Config
from .folder import Row
from .learner import Learner
from .replay import Replay
from .state import TrainState

Phase = Callable[[str], AbstractContextManager[None]]


def play_round(
    learner: Learner, config: Config, state: TrainState, phase: Phase
) -> tuple[TrainState, list[Row]]:
    """One round of self-play and learning, and what can be said of it, a row for each seed.

    The speed is that of all seeds together: positions of one in its share of the time.
    """
    start = time.monotonic()
    play = config.play
    with phase("compiling and playing the first games"):
        state = jax.block_until_ready(learner.play(state))
    games = _num_finished(state.replay, play.num_moves)
    with phase("compiling and making the first updates"):
        state, losses = jax.block_until_ready(learner.learn(state, config.learn.num_updates))
    columns = {name: np.asarray(loss).reshape(len(loss), -1).T for name, loss in losses.items()}
    counts = zip(*map(np.ravel, (state.num_positions, state.num_updates, games)), strict=True)
    speed = state.num_positions.size * play.num_games * play.num_moves / (time.monotonic() - start)
    return state, [
        {
            "round": 0,
            "positions": int(num_positions),
            "updates": int(num_updates),
            "games": int(num_games),
            "seconds": 0.0,
            "positions_per_second": speed,
            **{name: float(np.nanmean(column[seed])) for name, column in columns.items()},
        }
        for seed, (num_positions, num_updates, num_games) in enumerate(counts)
    ]


@functools.partial(jax.jit, static_argnums=1)
def _num_finished(replay: Replay, num_moves: int) -> jax.Array:
    """Games that ended during the newest `num_moves` moves, `[]`, or `[S]` of several seeds."""
    if replay.position.ndim:
        return jax.vmap(lambda each: _num_finished(each, num_moves))(replay)
    discount = replay.moves.discount
    newest = (replay.position - 1 - jnp.arange(num_moves)) % len(discount)
    return (discount[newest] == 0).sum()
