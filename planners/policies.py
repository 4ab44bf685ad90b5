"""Whole searches: the engine with one score for the root and one for the other nodes."""

from functools import partial
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import mctx

from .base import mask_logits
from .engine import search
from .scores import (
    QTransform,
    by_parent_and_siblings,
    completed_by_mix_value,
    gumbel_interior_score,
    gumbel_root_score,
    halving_score,
    halving_table,
    puct_score,
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
) -> PolicyOutput:
    """Full Gumbel MuZero (https://openreview.net/forum?id=bERaNdoegnO).

    The action is the winner of sequential halving, the weights are `softmax(logits + q)`. Equals
    `mctx.gumbel_muzero_policy` where that draws the same `gumbel`.

    Args:
        params, key, root, recurrent_fn, num_simulations, invalid_actions, max_depth: see `search`.
        gumbel: `[B, A]` Gumbel noise; zeros for the strongest play.
        max_num_considered_actions: the most actions that sequential halving begins with.
        qtransform: weighs values against logits.
    """
    chex.assert_equal_shape([gumbel, root.prior_logits])
    table = jnp.asarray(halving_table(max_num_considered_actions, num_simulations))
    tree = search(
        *(params, key, root, recurrent_fn, num_simulations),
        root_score_fn=partial(
            gumbel_root_score, gumbel=gumbel, considered_visits=table, qtransform=qtransform
        ),
        interior_score_fn=partial(gumbel_interior_score, qtransform=qtransform),
        max_depth=max_depth,
        invalid_actions=invalid_actions,
    )
    node = tree.root
    qvalues = qtransform(node)
    scores = halving_score(node, gumbel, qvalues, node.visit_counts.max(axis=-1))
    weights = jax.nn.softmax(mask_logits(node.prior_logits + qvalues, node.legal))
    return PolicyOutput(best_legal(node, scores), weights, tree)


def puct_policy(
    params: Any,
    key: Array,
    root: mctx.RootFnOutput,
    recurrent_fn: mctx.RecurrentFn,
    num_simulations: int,
    *,
    c_init: float = 1.25,
    c_base: float = 19652.0,
    qtransform: QTransform = by_parent_and_siblings,
    invalid_actions: Array | None = None,
    max_depth: int | None = None,
    tie_break: bool = False,
) -> PolicyOutput:
    """PUCT search of AlphaZero and MuZero (https://arxiv.org/abs/1911.08265, appendix B).

    The action is the most visited, the weights are the visits' proportions. Root noise is the
    caller's: see `mix_noise`. Equals `mctx.muzero_policy` with `tie_break` and the key that mctx
    hands to its search, `jax.random.split(key, 3)[2]`.

    Args:
        params, key, root, recurrent_fn, num_simulations, invalid_actions, max_depth: see `search`.
        c_init, c_base: how much is explored, and how that grows with visits.
        qtransform: brings values to the scale of the prior probabilities, [0, 1].
        tie_break: break ties at random rather than by the lowest action; costs a third more.
    """
    score_fn = partial(puct_score, c_init=c_init, c_base=c_base, qtransform=qtransform)
    tree = search(
        *(params, key, root, recurrent_fn, num_simulations),
        root_score_fn=score_fn,
        interior_score_fn=score_fn,
        max_depth=max_depth,
        invalid_actions=invalid_actions,
        keyed=tie_break,
    )
    weights = tree.summary().visit_probs
    return PolicyOutput(best_legal(tree.root, weights), weights, tree)


def mix_noise(prior_logits: Array, noise: Array, fraction: float = 0.25) -> Array:
    """Logits of `(1 - fraction) * prior + fraction * noise`; `noise` `[B, A]`, say Dirichlet."""
    probs = (1.0 - fraction) * jax.nn.softmax(prior_logits) + fraction * noise
    return jnp.log(jnp.maximum(probs, jnp.finfo(probs.dtype).tiny))
