"""A search tree for a batch of games, stored node by node.

The contract is mctx's (https://github.com/google-deepmind/mctx). The node made by simulation `i`
has index `i + 1` in every game, so growing the tree writes one row of each array; what a parent
knows of its children is read through their indices and stored nowhere else. `B` is the batch, `N`
the number of simulations, `A` the number of actions.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

Array = jax.Array
UNVISITED = -1


class Node(NamedTuple):
    """One node of each game, which need not be the same one, as a score sees it.

    Attributes:
        visit_counts: `[B, A]` float32, visits through each action.
        qvalues: `[B, A]`, reward + discount * value of the child, for the player to move at this
            node; 0 where the action is unvisited.
        prior_logits: `[B, A]`, the network's; the lowest finite value marks illegal actions.
        visits: `[B]` float32, visits of the node itself, its own evaluation included.
        value: `[B]`, mean of what was backed up, for the player to move.
        raw_value: `[B]`, the network's, for the player to move.
    """

    visit_counts: Array
    qvalues: Array
    prior_logits: Array
    visits: Array
    value: Array
    raw_value: Array

    @property
    def legal(self) -> Array:
        """`[B, A]` bool."""
        return self.prior_logits > jnp.finfo(self.prior_logits.dtype).min


class Summary(NamedTuple):
    """The root after a search: `visit_counts`, `visit_probs`, `qvalues` `[B, A]`; `value` `[B]`.

    Values are for the player to move at the root.
    """

    visit_counts: Array
    visit_probs: Array
    value: Array
    qvalues: Array


class Tree(NamedTuple):
    """The trees of a batch, node-major.

    At the depth limit a leaf is evaluated again at each visit: the new node then takes the old
    one's place in `children`, and the old one is no longer part of the tree.

    Attributes:
        children: `[N + 1, B, A]` int32, index of the node behind an action, or `UNVISITED`.
        prior_logits: `[N + 1, B, A]`, of the node.
        visits: `[N + 1, B]` float32.
        values: `[N + 1, B]`, for the player to move at the node.
        raw_values: `[N + 1, B]`, the network's, for the player to move at the node.
        rewards: `[N + 1, B]`, of the move into the node, for the player who made it.
        discounts: `[N + 1, B]`, of the move into the node: turns a value of the node into one for
            the player who made the move; 0 if the move ended the game.
        embeddings: `[N + 1, B, ...]`, any pytree.
    """

    children: Array
    prior_logits: Array
    visits: Array
    values: Array
    raw_values: Array
    rewards: Array
    discounts: Array
    embeddings: Any

    def node(self, index: Array) -> Node:
        """The statistics of node `index` `[B]`."""
        children = of_each_game(self.children, index)
        child = jnp.maximum(children, 0)
        reward, discount, value, visits = (
            of_each_game(x, child) for x in (self.rewards, self.discounts, self.values, self.visits)
        )
        visited = children != UNVISITED
        return Node(
            visit_counts=jnp.where(visited, visits, 0.0),
            qvalues=jnp.where(visited, reward + discount * value, 0.0),
            prior_logits=of_each_game(self.prior_logits, index),
            visits=of_each_game(self.visits, index),
            value=of_each_game(self.values, index),
            raw_value=of_each_game(self.raw_values, index),
        )

    @property
    def root(self) -> Node:
        """The statistics of the root."""
        return self.node(jnp.zeros(self.visits.shape[1], jnp.int32))

    def summary(self) -> Summary:
        """What mctx's `Tree.summary` says of the root."""
        root = self.root
        total = root.visit_counts.sum(axis=-1, keepdims=True)
        uniform = 1.0 / root.visit_counts.shape[-1]
        probs = jnp.where(total > 0, root.visit_counts / jnp.maximum(total, 1.0), uniform)
        return Summary(root.visit_counts, probs, root.value, root.qvalues)


def best_legal(node: Node, scores: Array) -> Array:
    """The legal action `[B]` int32 with the highest of `scores` `[B, A]`, the first of equals."""
    scores = jnp.where(node.legal, scores, -jnp.inf)
    # Two plain reductions are faster than an argmax, whose reduction is over pairs.
    best = scores == scores.max(axis=-1, keepdims=True)
    last = scores.shape[-1] - 1
    return jnp.where(best, jnp.arange(last + 1, dtype=jnp.int32)[None], last).min(axis=-1)


def of_each_game(rows: Array, index: Array) -> Array:
    """`rows[index[b, ...], b]` for each game b; `rows [N + 1, B, ...]`, `index [B, ...]`."""
    lanes = jnp.arange(index.shape[0]).reshape(-1, *[1] * (index.ndim - 1))
    return rows[index, lanes]
