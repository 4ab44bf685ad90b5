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
from .learner import Learner, TrainState
from .replay import Replay

Phase = Callable[[str], AbstractContextManager[None]]


def play_round(
    learner: Learner, config: Config, state: TrainState, phase: Phase
) -> tuple[TrainState, Row]:
    """One round of self-play and learning, and what can be said of it."""
    start = time.monotonic()
    play, num_updates = config.play, config.learn.num_updates
    with phase("compiling and playing the first games"):
        state = jax.block_until_ready(learner.play(state))
    finished_games = _num_finished(state.replay, play.num_moves)
    losses = []
    with phase("compiling and making the first update"):
        state, metrics = jax.block_until_ready(learner.update(state))
    losses.append(metrics)
    for _ in range(num_updates - 1):
        state, metrics = learner.update(state)
        losses.append(metrics)
    mean = {name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]}
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
