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
) -> tuple[TrainState, Row]:
    """One round of self-play and learning, and what can be said of it."""
    start = time.monotonic()
    play = config.play
    with phase("compiling and playing the first games"):
        state = jax.block_until_ready(learner.play(state))
    finished_games = _num_finished(state.replay, play.num_moves)
    with phase("compiling and making the first updates"):
        state, losses = jax.block_until_ready(learner.learn(state, config.learn.num_updates))
    mean = {name: float(np.nanmean(loss)) for name, loss in losses.items()}
    speed = play.num_games * play.num_moves / (time.monotonic() - start)
    return state, {
        "round": 0,
        "positions": int(state.num_positions),
        "updates": int(state.num_updates),
        "games": int(finished_games),
        "seconds": 0.0,
        "positions_per_second": speed,
        **mean,
    }


@functools.partial(jax.jit, static_argnums=1)
def _num_finished(replay: Replay, num_moves: int) -> jax.Array:
    """Games that ended during the newest `num_moves` moves."""
    discount = replay.moves.discount
    newest = (replay.position - 1 - jnp.arange(num_moves)) % len(discount)
    return (discount[newest] == 0).sum()
