"""Keeping what an earlier search found below the position now reached.

Only a planner whose nodes are positions can do it: the root of a learned model must be represented
anew. Users have asked mctx for it since 2023.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..games.base import State
from .tree import UNVISITED, Tree, of_each_game

Array = jax.Array


def subtree(tree: Tree, root: Array, found: Array, num_rows: int) -> Tree:
    """The nodes below node `root` of each game, with all their statistics, moved to the front.

    Rows that stay empty have no visits. If there are more than `num_rows` nodes, the youngest are
    left out: they count as unvisited, while the nodes above them keep what was backed up.

    Args:
        tree: `[N + 1, B, ...]`.
        root: `[B]` int32, the node that becomes row 0.
        found: `[B]` bool; nothing is kept of the other games.
        num_rows: rows of the new tree.
    """
    size, batch = tree.visits.shape
    lanes = jnp.arange(batch)
    index = jnp.broadcast_to(jnp.arange(size, dtype=jnp.int32)[:, None], (size, batch))
    child = jnp.where(tree.children == UNVISITED, size, tree.children)
    parent = jnp.broadcast_to(index[..., None], child.shape)
    ancestor = index.at[child, lanes[None, :, None]].set(parent, mode="drop")
    ancestor = ancestor.at[root, lanes].set(root)
    for _ in range((size - 1).bit_length()):  # Each pass doubles how far up a node looks.
        ancestor = of_each_game(ancestor, ancestor.T).T
    # Nodes stand below their parents in the tree, and they still do once the others are gone.
    below = (ancestor == root[None]) & found[None]
    place = jnp.where(below, jnp.cumsum(below, axis=0, dtype=jnp.int32) - 1, num_rows)
    source = jnp.zeros((num_rows, batch), jnp.int32).at[place, lanes[None]].set(index, mode="drop")
    filled = jnp.arange(num_rows)[:, None] < below.sum(axis=0)[None]
    moved = jax.tree.map(lambda rows: of_each_game(rows, source.T).swapaxes(0, 1), tree)
    child = place[jnp.maximum(moved.children, 0), lanes[None, :, None]]
    there = (moved.children != UNVISITED) & (child < num_rows) & filled[..., None]
    return moved._replace(
        children=jnp.where(there, child, UNVISITED),
        visits=jnp.where(filled, moved.visits, 0.0),
    )


def below_position(
    tree: Tree, state: State, position_fn: Callable[[Any], State], num_rows: int
) -> Tree:
    """`subtree` below the node that holds `state` `[B, ...]`, the most visited of equals.

    Positions are compared as they are, so that moves of an opponent, a take-back or a fresh game
    in the same place of the batch need not be told: a position that is not in the tree starts
    from nothing.

    Raises:
        ValueError: if the tree is of another game, planner or number of games.
    """
    rows, shape = jax.tree.flatten(position_fn(tree.embeddings))
    here, same_shape = jax.tree.flatten(state.replace(observation=None))
    if shape != same_shape or [x.shape[1:] for x in rows] != [x.shape for x in here]:
        raise ValueError(
            "a tree of other games than are to be searched: as many games are needed, of one kind, "
            "in the same places of the batch"
        )
    equal = [
        (row == now[None]).reshape(*tree.visits.shape, -1).all(axis=-1)
        for row, now in zip(rows, here, strict=True)
    ]
    visits = jnp.where(functools.reduce(jnp.logical_and, equal), tree.visits, 0.0)
    root = jnp.argmax(visits, axis=0).astype(jnp.int32)
    return subtree(tree, root, visits.max(axis=0) > 0, num_rows)


def nothing(search: Callable[..., Any], params: Any, keys: Array, state: State) -> Tree:
    """A tree that no search has visited, shaped as those of `search` for these roots."""
    shapes = jax.eval_shape(search, params, keys, state).tree
    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
