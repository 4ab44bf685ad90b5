"""How a search chooses among the actions of a node: small functions to recombine.

A score is built on a value transform, which is built on what an unvisited action counts as. Each
has mctx's meaning where mctx has it; recombine them with `functools.partial`. Nothing here draws
noise: what a score needs of it is an argument. A `node` is one node of each game, its values for
the player to move there.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from .tree import Node

Array = jax.Array
FillFn = Callable[[Node], Array]
"""What an unvisited action counts as, `node -> [B]`, for the player to move at the node."""
QTransform = Callable[[Node], Array]
"""The values of the actions as a score sees them, `node -> [B, A]`."""


def zero_value(node: Node) -> Array:
    """0, a draw, for unvisited actions."""
    return jnp.zeros_like(node.value)


def node_value(node: Node) -> Array:
    """The node's mean value for unvisited actions."""
    return node.value


def raw_value(node: Node) -> Array:
    """The network's value of the node for unvisited actions."""
    return node.raw_value


def mixed_value(node: Node) -> Array:
    """The network's value mixed with the visited actions' qvalues, which the prior weighs.

    Appendix D of "Policy improvement by planning with Gumbel"
    (https://openreview.net/forum?id=bERaNdoegnO).
    """
    visited = node.visit_counts > 0
    # A visited action without prior must not end in 0 / 0.
    prior = jax.nn.softmax(node.prior_logits)
    prior = jnp.where(visited, jnp.maximum(prior, jnp.finfo(prior.dtype).tiny), 0.0)
    mass = prior.sum(axis=-1, keepdims=True)
    weighted = (prior * node.qvalues / jnp.where(visited, mass, 1.0)).sum(axis=-1)
    total = node.visit_counts.sum(axis=-1)
    return (node.raw_value + total * weighted) / (total + 1.0)


def raw_qvalues(node: Node, *, fill_fn: FillFn = zero_value) -> Array:
    """The qvalues as they are, unvisited actions filled by `fill_fn`."""
    return _filled(node, fill_fn(node))


def policy_value(node: Node, action_weights: Array) -> Array:
    """What a policy `[B, A]` is worth: its mean of the qvalues, those unvisited as `mixed_value`.

    The mean that was backed up to the root, in contrast, counts every move that sequential halving
    tried and dropped: where one move in many wins, it says that the position is even.
    """
    return (action_weights * raw_qvalues(node, fill_fn=mixed_value)).sum(axis=-1)


def by_range(
    node: Node, *, value_range: tuple[float, float] = (-1.0, 1.0), fill_fn: FillFn | None = None
) -> Array:
    """Brings the game's range `(low, high)` to [0, 1]; unvisited actions count as low (mctx)."""
    low, high = value_range
    fill = jnp.full_like(node.value, low) if fill_fn is None else fill_fn(node)
    return (_filled(node, fill) - low) / (high - low)


def by_parent_and_siblings(node: Node, *, epsilon: float = 1e-8) -> Array:
    """Brings the node's value and its actions' to [0, 1] by their extremes; unvisited are 0.

    mctx's default for PUCT, for returns of unknown range.
    """
    around = _filled(node, node.value)
    low = jnp.minimum(node.value, around.min(axis=-1))
    high = jnp.maximum(node.value, around.max(axis=-1))
    return (_filled(node, low) - low[:, None]) / jnp.maximum(high - low, epsilon)[:, None]


def completed_by_mix_value(
    node: Node,
    *,
    value_scale: float = 0.1,
    maxvisit_init: float = 50.0,
    rescale_values: bool | tuple[float, float] = True,
    fill_fn: FillFn = mixed_value,
    epsilon: float = 1e-8,
) -> Array:
    """Returns `(maxvisit_init + max(visit_counts)) * value_scale * q`; mctx's default for Gumbel.

    `rescale_values` brings q to [0, 1]: True by the smallest and largest of the node (mctx), a pair
    `(low, high)` by the game's range. False leaves q as it is.
    """
    q = _filled(node, fill_fn(node))
    if isinstance(rescale_values, tuple):
        low, high = rescale_values
        q = (q - low) / (high - low)
    elif rescale_values:
        low, high = q.min(axis=-1, keepdims=True), q.max(axis=-1, keepdims=True)
        q = (q - low) / jnp.maximum(high - low, epsilon)
    return (maxvisit_init + node.visit_counts.max(axis=-1, keepdims=True)) * value_scale * q


def puct_score(
    node: Node,
    keys: Array | None = None,
    *,
    c_init: float = 1.25,
    c_base: float = 19652.0,
    qtransform: QTransform = by_parent_and_siblings,
) -> Array:
    """PUCT (MuZero, appendix B); keys, where the search hands them out, break ties at random."""
    c = c_init + jnp.log((node.visits + c_base + 1.0) / c_base)
    prior = jax.nn.softmax(node.prior_logits)
    explore = (jnp.sqrt(node.visits) * c)[:, None] * prior / (node.visit_counts + 1.0)
    scores = qtransform(node) + explore
    if keys is None:
        return scores
    return scores + 1e-7 * jax.vmap(lambda key: jax.random.uniform(key, scores.shape[1:]))(keys)


def ucb1_score(
    node: Node,
    keys: Array | None = None,
    *,
    c: float = 2.0**0.5,
    qtransform: QTransform = raw_qvalues,
) -> Array:
    """UCB1 as in UCT (https://doi.org/10.1007/11871842_29): no prior, every action once first."""
    del keys
    counts, total = node.visit_counts, node.visit_counts.sum(axis=-1, keepdims=True)
    explore = jnp.sqrt(jnp.log(jnp.maximum(total, 1.0)) / jnp.maximum(counts, 1.0))
    scores = qtransform(node) + c * explore
    return jnp.where(counts > 0, scores, jnp.finfo(scores.dtype).max)


def gumbel_root_score(
    node: Node,
    keys: Array | None = None,
    *,
    gumbel: Array,
    considered_visits: Array,
    earlier_counts: Array,
    qtransform: QTransform = completed_by_mix_value,
) -> Array:
    """Sequential halving over the actions with the largest `gumbel + logits + q`.

    `considered_visits` is the table that `halving_table` makes, `gumbel` is `[B, A]`. Visits that
    an earlier search made, `earlier_counts` `[B, A]`, inform the values but are not counted.
    """
    del keys
    num_considered = jnp.minimum(considered_visits.shape[0] - 1, node.legal.sum(axis=-1))
    counts = node.visit_counts - earlier_counts
    visit = considered_visits[num_considered, counts.sum(axis=-1).astype(jnp.int32)]
    return halving_score(node, counts, gumbel, qtransform(node), visit)


def halving_score(node: Node, counts: Array, gumbel: Array, qvalues: Array, visit: Array) -> Array:
    """`gumbel + logits + qvalues` of actions whose `counts` are `visit` `[B]`, -inf for others."""
    logits = node.prior_logits - node.prior_logits.max(axis=-1, keepdims=True)
    # The least likely action still beats all those that do not compete.
    scores = jnp.maximum(gumbel + logits + qvalues, -1e9)
    return jnp.where(counts == visit[:, None], scores, -jnp.inf)


def halving_table(max_num_considered_actions: int, num_simulations: int) -> np.ndarray:
    """Sequential halving as a table: how often an action that competes has been visited.

    Row m is for m considered actions, column i for simulation i: all of them get equally many
    visits, then the better half, and so on. `[max_num_considered_actions + 1, num_simulations]`.
    """
    table = np.zeros((max_num_considered_actions + 1, num_simulations), np.float32)
    for num_actions, row in enumerate(table):
        if num_actions <= 1:
            row[:] = np.arange(num_simulations)
            continue
        num_rounds = int(np.ceil(np.log2(num_actions)))
        start, visit, competing = 0, 0, num_actions
        while start < num_simulations:
            for _ in range(max(1, num_simulations // (num_rounds * competing))):
                row[start : start + competing] = visit
                start, visit = start + competing, visit + 1
            competing = max(2, competing // 2)
    return table


def gumbel_interior_score(
    node: Node, keys: Array | None = None, *, qtransform: QTransform = completed_by_mix_value
) -> Array:
    """Brings the visits into proportion with `softmax(logits + q)`, without noise."""
    del keys
    target = jax.nn.softmax(node.prior_logits + qtransform(node))
    return target - node.visit_counts / (1.0 + node.visit_counts.sum(axis=-1, keepdims=True))


def _filled(node: Node, fill: Array) -> Array:
    return jnp.where(node.visit_counts > 0, node.qvalues, fill[:, None])
