"""The contract between a planner, the search that steps it and the loss that trains it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx

from ..games.base import Game, State
from ..models.base import Model, Params

Array = jax.Array


class Prediction(NamedTuple):
    """What the network says about a root and the `K` moves after it, before any decoding.

    Attributes:
        logits: `[B, K + 1, num_actions]` policy logits.
        value: `[B, K + 1, V]` output of the value head, for the player to move at that step.
        reward: `[B, K, R]` output of the reward head, for the player who made move k.
        discount: `[B, K, 3]` logits of the discount after move k (`heads.DISCOUNTS`).
        embedding: `[B, K, ...]`, after move k.
    """

    logits: Array
    value: Array
    reward: Array
    discount: Array
    embedding: Array


@dataclass(frozen=True)
class Planner:
    """What a search tree steps through, as pure functions (`B` = batch).

    Attributes:
        game: the rules; a learned planner asks them for shapes only.
        model: the network; None for a planner that has nothing to learn.
        init: `key -> params`.
        root_fn: `(params, keys [B], state [B, ...]) -> mctx.RootFnOutput`.
        recurrent_fn: `(params, key, action [B], embedding [B, ...])
            -> (mctx.RecurrentFnOutput, embedding)`. Rewards are for the player who moved, values
            for the player to move; the discount is 0 after the last move, -1 when the turn
            passes, 1 when the same player moves again.
        unroll_fn: `(params, observation [B, ...], action [B, K]) -> Prediction`, the
            differentiable twin of the two above, for the loss.
        num_unroll_steps: K, the number of moves `unroll_fn` predicts past the root.
        position_fn: `embedding -> state` without its observation; None where an embedding is no
            position, and a tree cannot be used again after a move.
    """

    game: Game
    model: Model | None
    init: Callable[[Array], Params]
    root_fn: Callable[[Params, Array, State], mctx.RootFnOutput]
    recurrent_fn: Callable[..., tuple[mctx.RecurrentFnOutput, Any]]
    unroll_fn: Callable[[Params, Array, Array], Prediction] | None
    num_unroll_steps: int
    position_fn: Callable[[Any], State] | None = None


class Transition(NamedTuple):
    """What one move did, from the point of view of the player who made it.

    Attributes:
        reward: `[]` float32.
        discount: `[]` float32: 0 the game is over, 1 the same player moves again, -1 the other.
    """

    reward: Array
    discount: Array


def transition(state: State, child: State) -> Transition:
    """Reads reward and discount off two consecutive positions of one game."""
    mover = state.current_player
    sign = jnp.where(child.current_player == mover, 1.0, -1.0)
    over = child.terminated | child.truncated
    return Transition(child.rewards[mover], jnp.where(over, 0.0, sign))


def mask_logits(logits: Array, legal_action_mask: Array) -> Array:
    """Gives illegal actions the lowest finite logit; both `[..., num_actions]`."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    return jnp.where(legal_action_mask, logits, jnp.finfo(logits.dtype).min)
