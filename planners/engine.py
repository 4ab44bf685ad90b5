"""The loop that grows the search trees of a batch of games, level by level for all of them at once.

The contract is mctx's (https://github.com/google-deepmind/mctx); `B` is the batch, `N` the number
of simulations, `A` the number of actions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import mctx

from .base import mask_logits
from .tree import UNVISITED, Node, Tree, best_legal, of_each_game

Array = jax.Array
ScoreFn = Callable[[Node, Array | None], Array]
"""Scores the actions of a node, `(node, keys) -> [B, A]`; the highest legal one is taken."""


def search(
    params: Any,
    key: Array,
    root: mctx.RootFnOutput,
    recurrent_fn: mctx.RecurrentFn,
    num_simulations: int,
    *,
    root_score_fn: ScoreFn,
    interior_score_fn: ScoreFn,
    max_depth: int | None = None,
    invalid_actions: Array | None = None,
    keyed: bool = False,
    reserve: int = 0,
    kept: Tree | None = None,
) -> Tree:
    """Grows a tree by `num_simulations` nodes under each root.

    No game's answer depends on the others in its batch, and a batch may be spread over devices
    with `jax.shard_map`. A finished game is searched on like any other: its `discount` of 0 keeps
    what follows from counting.

    Args:
        params: handed to `recurrent_fn`.
        key: one key; each simulation hands a fresh one to `recurrent_fn`, derived as in mctx.
        root: `prior_logits [B, A]`, `value [B]` for the player to move, `embedding [B, ...]`.
        recurrent_fn: `(params, key, action [B], embedding) -> (mctx.RecurrentFnOutput, embedding)`;
            its reward is for the player who moved, its value for the player to move next.
        num_simulations: N, at least 1.
        root_score_fn: scores the root's actions.
        interior_score_fn: scores the actions of every other node.
        max_depth: the most moves from the root to a leaf; unlimited by default.
        invalid_actions: `[B, A]`, nonzero where the root's actions are not to be visited.
        keyed: hand a key for each game, `[B]`, to the scores, derived as in mctx; None otherwise.
        reserve: R, rows of the tree set aside for nodes of an earlier search; it has R + 1 + N.
        kept: `[R + 1, B, ...]`, what `reuse.subtree` kept of that search; where its root has been
            visited, the search goes on from there.
    """
    logits, value = jnp.asarray(root.prior_logits), jnp.asarray(root.value)
    chex.assert_rank([logits, value], [2, 1])
    if invalid_actions is not None:
        chex.assert_equal_shape([logits, invalid_actions])
        logits = mask_logits(logits, jnp.equal(invalid_actions, 0))
    deepest = reserve + num_simulations
    max_depth = deepest if max_depth is None else min(max_depth, deepest)

    def simulate(leaf, carry):
        key, tree = carry
        key, descend_key, expand_key = jax.random.split(key, 3)
        keys = jax.random.split(descend_key, value.size) if keyed else None
        descent = _descend(tree, leaf, keys, root_score_fn, interior_score_fn, max_depth)
        tree = _expand(tree, leaf, descent, params, expand_key, recurrent_fn)
        return key, _backup(tree, leaf, descent)

    first = reserve + 1
    tree = _plant(logits, value, root.embedding, first + num_simulations)
    if kept is not None:
        tree = _graft(tree, kept)
    return jax.lax.fori_loop(first, first + num_simulations, simulate, (key, tree))[1]


class _Descent(NamedTuple):
    """A walk from the root in every game at once; games whose walk is over wait for the others.

    Attributes:
        level: `[]` int32, moves made by the longest walk.
        depth: `[B]` int32, moves made by each walk.
        parent, action, child: `[B]` int32, the last move made; child may be `UNVISITED`.
        walking: `[B]` bool, the walk goes on from child.
        path: `[max_depth + 1, B]` int32, the node after each number of moves.
        keys: `[B]` or None.
    """

    level: Array
    depth: Array
    parent: Array
    action: Array
    child: Array
    walking: Array
    path: Array
    keys: Array | None


def _descend(
    tree: Tree,
    leaf: Array,
    keys: Array | None,
    root_score_fn: ScoreFn,
    interior_score_fn: ScoreFn,
    max_depth: int,
) -> _Descent:
    """Walks down by the highest scores to an action not yet visited, or to `max_depth`."""

    def move(walk: _Descent, score_fn: ScoreFn) -> _Descent:
        keys, score_keys = walk.keys, None
        if keys is not None:
            keys, score_keys = jax.vmap(lambda key: tuple(jax.random.split(key)))(keys)
        # What a game that waits reads here is not used.
        parent = jnp.maximum(walk.child, 0)
        node = tree.node(parent)
        action = best_legal(node, score_fn(node, score_keys))
        child = tree.children[parent, jnp.arange(parent.shape[0]), action]
        level = walk.level + 1
        walking = walk.walking & (child != UNVISITED) & (level < max_depth)
        return _Descent(
            level=level,
            depth=walk.depth + walk.walking,
            parent=jnp.where(walk.walking, parent, walk.parent),
            action=jnp.where(walk.walking, action, walk.action),
            child=jnp.where(walk.walking, child, walk.child),
            walking=walking,
            path=walk.path.at[level].set(jnp.where(walking, child, leaf)),
            keys=keys,
        )

    zeros = jnp.zeros(tree.visits.shape[1], jnp.int32)
    path = jnp.zeros((max_depth + 1, zeros.size), jnp.int32)
    start = _Descent(jnp.int32(0), zeros, zeros, zeros, zeros, zeros == 0, path, keys)
    return jax.lax.while_loop(
        lambda walk: walk.walking.any(),
        lambda walk: move(walk, interior_score_fn),
        move(start, root_score_fn),
    )


def _plant(prior_logits: Array, value: Array, embedding: Any, num_nodes: int) -> Tree:
    """A tree of the root alone; rows not yet made repeat it, so that reading them is harmless."""

    def rows(x):
        return jnp.broadcast_to(x, (num_nodes, *x.shape))

    return Tree(
        children=rows(jnp.full(prior_logits.shape, UNVISITED, jnp.int32)),
        prior_logits=rows(prior_logits),
        visits=rows(jnp.ones_like(value)),
        values=rows(value),
        raw_values=rows(value),
        rewards=rows(jnp.zeros_like(value)),
        discounts=rows(jnp.zeros_like(value)),
        embeddings=jax.tree.map(rows, embedding),
    )


def _graft(tree: Tree, kept: Tree) -> Tree:
    """Puts an earlier tree in the first rows of a new one, but for roots it knows nothing of.

    The new root's prior, with its noise and its legal actions, and its embedding stay.
    """
    known = kept.visits[0] > 0

    def put(rows, earlier):
        where = known.reshape(1, -1, *[1] * (rows.ndim - 2))
        return rows.at[: len(earlier)].set(jnp.where(where, earlier, rows[: len(earlier)]))

    def put_below_root(rows, earlier):
        return put(rows, earlier).at[0].set(rows[0])

    return Tree(
        children=put(tree.children, kept.children),
        prior_logits=put_below_root(tree.prior_logits, kept.prior_logits),
        visits=put(tree.visits, kept.visits),
        values=put(tree.values, kept.values),
        raw_values=put(tree.raw_values, kept.raw_values),
        rewards=put(tree.rewards, kept.rewards),
        discounts=put(tree.discounts, kept.discounts),
        embeddings=jax.tree.map(put_below_root, tree.embeddings, kept.embeddings),
    )


def _expand(
    tree: Tree,
    leaf: Array,
    descent: _Descent,
    params: Any,
    key: Array,
    recurrent_fn: mctx.RecurrentFn,
) -> Tree:
    """Makes node `leaf` of every game behind the last move of its walk."""
    lanes = jnp.arange(descent.parent.shape[0])
    parent, action = descent.parent, descent.action
    embedding = jax.tree.map(lambda x: of_each_game(x, parent), tree.embeddings)
    output, embedding = recurrent_fn(params, key, action, embedding)
    chex.assert_equal_shape([output.prior_logits, tree.prior_logits[0]])
    chex.assert_equal_shape([output.value, output.reward, output.discount, tree.values[0]])
    earlier = of_each_game(tree.visits, jnp.maximum(descent.child, 0))

    def put(rows, row):
        return jax.lax.dynamic_update_index_in_dim(rows, row.astype(rows.dtype), leaf, 0)

    return tree._replace(
        children=tree.children.at[parent, lanes, action].set(leaf),
        prior_logits=put(tree.prior_logits, output.prior_logits),
        visits=put(tree.visits, jnp.where(descent.child == UNVISITED, 0.0, earlier) + 1.0),
        values=put(tree.values, output.value),
        raw_values=put(tree.raw_values, output.value),
        rewards=put(tree.rewards, output.reward),
        discounts=put(tree.discounts, output.discount),
        embeddings=jax.tree.map(put, tree.embeddings, embedding),
    )


def _backup(tree: Tree, leaf: Array, descent: _Descent) -> Tree:
    """Adds the leaf's value to the mean of every node above it, deepest level first."""
    lanes = jnp.arange(descent.depth.shape[0])

    def ascend(carry):
        level, value, visits, values = carry
        child, parent = descent.path[level], descent.path[level - 1]
        on_path = level <= descent.depth
        reward, discount = (of_each_game(x, child) for x in (tree.rewards, tree.discounts))
        value = jnp.where(on_path, reward + discount * value, value)
        count, mean = (of_each_game(x, parent) for x in (visits, values))
        # A game whose walk was shorter writes back what it read.
        mean = jnp.where(on_path, (mean * count + value) / (count + 1.0), mean)
        visits = visits.at[parent, lanes].set(count + on_path)
        return level - 1, value, visits, values.at[parent, lanes].set(mean)

    start = descent.level, tree.values[leaf], tree.visits, tree.values
    _, _, visits, values = jax.lax.while_loop(lambda carry: carry[0] > 0, ascend, start)
    return tree._replace(visits=visits, values=values)
