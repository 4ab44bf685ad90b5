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


def gumbel(
    planner: Planner,
    num_simulations: int = 32,
    *,
    max_num_considered_actions: int = 16,
    value_scale: float = 0.1,
    normalize: Literal["range", "minmax"] = "range",
    max_depth: int | None = None,
) -> Search:
    """Gumbel MuZero's search (https://openreview.net/forum?id=bERaNdoegnO).

    Args:
        planner: what the tree steps through.
        num_simulations: nodes added to the tree per move.
        max_num_considered_actions: how many root actions sequential halving starts from.
        value_scale: weight of the values against the prior, for values in [0, 1].
        normalize: scale values by the game's declared range, or by what is in the tree (with a
            learned model the latter turns noise into certainty wherever all moves are equal).
        max_depth: deepest node; None for no limit.
    """
    low, high = value_range(planner.game)
    qtransform = functools.partial(
        mctx.qtransform_completed_by_mix_value,
        value_scale=value_scale if normalize == "minmax" else value_scale / (high - low),
        rescale_values=normalize == "minmax",
    )

    def search(params, keys, state, temperature=0.0):
        root_keys, search_keys = split(keys)
        output = mctx.gumbel_muzero_policy(
            params,
            search_keys[0],
            planner.root_fn(params, root_keys, state),
            planner.recurrent_fn,
            num_simulations=num_simulations,
            invalid_actions=~state.legal_action_mask,
            max_depth=max_depth,
            qtransform=qtransform,
            max_num_considered_actions=max_num_considered_actions,
            gumbel_scale=jnp.broadcast_to(temperature, keys.shape)[:, None],
        )
        summary = output.search_tree.summary()
        return Plan(
            output.action,
            output.action_weights,
            summary.value,
            summary.visit_counts,
            summary.qvalues,
        )

    return search


def split(keys: Array) -> tuple[Array, Array]:
    """Two independent keys from each of `keys [B]`."""
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]
