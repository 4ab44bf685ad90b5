"""mctx's own searches behind our settings: the reference that our engine is held against."""
# mctx's records are of chex, of whose fields and methods pyright knows nothing.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mctx

from ..games.base import value_range
from .base import Planner
from .policies import PolicyOutput

Array = jax.Array


def gumbel_policy(*where: Any, settings: dict[str, Any], **common: Any) -> PolicyOutput:
    """`mctx.gumbel_muzero_policy` with `settings` of its value transform; the tree is mctx's."""
    qtransform = functools.partial(mctx.qtransform_completed_by_mix_value, **settings)
    output = mctx.gumbel_muzero_policy(*where, qtransform=qtransform, **common)
    return PolicyOutput(output.action, output.action_weights, output.search_tree)


def puct_policy(*where: Any, planner: Planner, normalize: str, **common: Any) -> PolicyOutput:
    """`mctx.muzero_policy` without root noise, which is the caller's; the tree is mctx's."""
    qtransform = _qtransform(planner, normalize)
    output = mctx.muzero_policy(*where, qtransform=qtransform, dirichlet_fraction=0.0, **common)
    return PolicyOutput(output.action, output.action_weights, output.search_tree)


def _qtransform(planner: Planner, normalize: str) -> Callable[..., Array]:
    if normalize == "range":
        return functools.partial(_by_range, value_range=value_range(planner.game))
    by_extremes = mctx.qtransform_by_parent_and_siblings
    return {"minmax": by_extremes, "none": lambda tree, node: tree.qvalues(node)}[normalize]


def _by_range(tree: mctx.Tree, node: Array, value_range: tuple[float, float]) -> Array:
    low, high = value_range
    visited = tree.children_visits[node] > 0
    q = jnp.where(visited, tree.qvalues(node), tree.node_values[node])
    return (q - low) / (high - low)
