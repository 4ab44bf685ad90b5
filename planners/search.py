"""Batched tree search with any planner, by two policies: Gumbel and PUCT."""
# pyright: reportCallIssue=false

import functools
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import mctx

from ..games.base import State, value_range
from ..models.base import Params
from .base import Planner

Array = jax.Array


class Plan(NamedTuple):
    """What a search found at its roots (`B` games, `A` actions).

    Attributes:
        action: `[B]` int32, the move to play.
        action_weights: `[B, A]`, the improved policy: what the network should have said.
        search_value: `[B]`, for the player to move.
        visit_counts: `[B, A]` int32.
        qvalues: `[B, A]`, for the player to move; 0 where an action was not visited.
    """

    action: Array
    action_weights: Array
    search_value: Array
    visit_counts: Array
    qvalues: Array


class Search(Protocol):
    """`(params, keys [B], state [B, ...], temperature [B] or scalar) -> Plan`.

    Each game has a key of its own. `temperature` scales the exploration of the move: at 0 the
    best move is played and the search is deterministic; at 1 it is drawn as in self-play.
    """

    def __call__(
        self, params: Params, keys: Array, state: State, temperature: Array | float = 0.0
    ) -> Plan: ...
