"""What changes during training, and the sizes of it."""

from typing import Any, NamedTuple

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


class LearnerConfig(NamedTuple):
    """Sizes of one round of training.

    Attributes:
        num_games: B, games played at once.
        num_moves: T, moves of each game per round.
        replay_moves: C, moves kept per game.
        batch_size: N, positions per update.
        ema_decay: of the parameter average, per update; 0 plays with the newest.
        value_weight: of the value's loss.
        consistency_weight: of that of the embeddings; the model must then be `consistent`.
        priority: exponent of a position's surprise in how often it is drawn; 0 for all alike.
        end_share: share of the positions drawn that a game's end follows within K moves; 0 for all
            alike.
        reanalyse_moves: R, moves of each game searched anew per round.
        kl_target: how far the policy should move in a round; 0 for no control of the rate.
        augment: learn from every symmetry that the game declares.
        reuse: self-play's searches go on from the tree before; `search` must be made for it.
        scan_updates: make the updates of a round in one program.
    """

    num_games: int = 128
    num_moves: int = 16
    replay_moves: int = 512
    batch_size: int = 256
    ema_decay: float = 0.0
    value_weight: float = 1.0
    consistency_weight: float = 0.0
    priority: float = 0.0
    end_share: float = 0.0
    reanalyse_moves: int = 0
    kl_target: float = 0.0
    augment: bool = True
    reuse: bool = False
    scan_updates: bool = False
