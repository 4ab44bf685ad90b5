"""Whole searches: the engine with one score for the root and one for the other nodes."""

from functools import partial
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import mctx

from .base import mask_logits
from .engine import ScoreFn, search
from .scores import (
    QTransform,
    completed_by_mix_value,
    gumbel_interior_score,
    gumbel_root_score,
    halving_score,
    halving_table,
)
from .tree import Tree, best_legal

Array = jax.Array


class PolicyOutput(NamedTuple):
    """`action` `[B]` int32, `action_weights` `[B, A]` that sum to one, and the `tree`."""

    action: Array
    action_weights: Array
    tree: Tree


def gumbel_policy(
    params: Any,
    key: Array,
    root: mctx.RootFnOutput,
    recurrent_fn: mctx.RecurrentFn,
    num_simulations: int,
    *,
    gumbel: Array,
    max_num_considered_actions: int = 16,
    qtransform: QTransform = completed_by_mix_value,
    invalid_actions: Array | None = None,
    max_depth: int | None = None,
    reserve: int = 0,
    kept: Tree | None = None,
) -> PolicyOutput:
    """Full Gumbel MuZero (https://openreview.net/forum?id=bERaNdoegnO).

    The action is the winner of sequential halving, the weights are `softmax(logits + q)`. Equals
    `mctx.gumbel_muzero_policy` where that draws the same `gumbel`.

    Args:
        params, key, root, recurrent_fn, num_simulations: see `engine.search`.
        invalid_actions, max_depth, reserve, kept: likewise.
        gumbel: `[B, A]` Gumbel noise; zeros for the strongest play.
        max_num_considered_actions: the most actions that sequential halving begins with.
        qtransform: weighs values against logits.
    """
    chex.assert_equal_shape([gumbel, root.prior_logits])
    num_considered = min(max_num_considered_actions, gumbel.shape[1])
    table = jnp.asarray(halving_table(num_considered, num_simulations))
    earlier = jnp.zeros(gumbel.shape) if kept is None else kept.root.visit_counts
    tree = search(
        *(params, key, root, recurrent_fn, num_simulations),
        root_score_fn=partial(
            gumbel_root_score,
            gumbel=gumbel,
            considered_visits=table,
            earlier_counts=earlier,
            qtransform=qtransform,
        ),
        interior_score_fn=partial(gumbel_interior_score, qtransform=qtransform),
        max_depth=max_depth,
        invalid_actions=invalid_actions,
        reserve=reserve,
        kept=kept,
    )
    node = tree.root
    qvalues = qtransform(node)
    counts = node.visit_counts - earlier
    scores = halving_score(node, counts, gumbel, qvalues, counts.max(axis=-1))
    weights = jax.nn.softmax(mask_logits(node.prior_logits + qvalues, node.legal))
    return PolicyOutput(best_legal(node, scores), weights, tree)


def visit_policy(
    params: Any,
    key: Array,
    root: mctx.RootFnOutput,
    recurrent_fn: mctx.RecurrentFn,
    num_simulations: int,
    *,
    score_fn: ScoreFn,
    invalid_actions: Array | None = None,
    max_depth: int | None = None,
    tie_break: bool = False,
    reserve: int = 0,
    kept: Tree | None = None,
) -> PolicyOutput:
    """A search by one score at every node; the action is the most visited.

    The weights are the visits' proportions. With `scores.puct_score` it is the search of AlphaZero
    and MuZero (https://arxiv.org/abs/1911.08265, appendix B) and equals `mctx.muzero_policy` with
    `tie_break` and the key that mctx hands to its search, `jax.random.split(key, 3)[2]`; with
    `scores.ucb1_score` it is UCT. Root noise is the caller's: see `mix_noise`.

    Args:
        params, key, root, recurrent_fn, num_simulations: see `engine.search`.
        invalid_actions, max_depth, reserve, kept: likewise.
        score_fn: what the actions of a node are chosen by.
        tie_break: hand keys to the score, to break ties at random; costs a third more.
    """
    tree = search(
        *(params, key, root, recurrent_fn, num_simulations),
        root_score_fn=score_fn,
        interior_score_fn=score_fn,
        max_depth=max_depth,
        invalid_actions=invalid_actions,
        keyed=tie_break,
        reserve=reserve,
        kept=kept,
    )
    weights = tree.summary().visit_probs
    return PolicyOutput(best_legal(tree.root, weights), weights, tree)


def mix_noise(prior_logits: Array, noise: Array, fraction: float = 0.25) -> Array:
    """Logits of `(1 - fraction) * prior + fraction * noise`; `noise` `[B, A]`, say Dirichlet."""
    probs = (1.0 - fraction) * jax.nn.softmax(prior_logits) + fraction * noise
    return jnp.log(jnp.maximum(probs, jnp.finfo(probs.dtype).tiny))
