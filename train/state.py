"""What changes during training."""

from typing import Any

import jax
from flax import struct

from ..models.base import Params
from .control import Control
from .replay import Replay
from .selfplay import Games

Array = jax.Array


class TrainState(struct.PyTreeNode):
    """Everything that changes during training; what a checkpoint holds.

    Attributes:
        params: the network being trained.
        average: exponential moving average of `params`: it plays, and is what is evaluated.
        opt_state: optax's.
        replay: see `replay.Replay`.
        games: `[B]` games in progress.
        key: randomness of the updates; the games have their own.
        num_updates: `[]` int32, so far.
        num_positions: `[]` int32, played so far.
        control: of the learning rate, see `control.Control`; None where a schedule rules.
    """

    params: Params
    average: Params
    opt_state: Any
    replay: Replay
    games: Games
    key: Array
    num_updates: Array
    num_positions: Array
    control: Control | None = None
