"""What a search tried in one game, read off its tree for people; the principal variation."""

from typing import NamedTuple

import jax
import numpy as np

from ..games.base import Game
from ..games.elsewhere import FAULTS
from .tree import UNVISITED, Tree


class Move(NamedTuple):
    """A move that a search has tried, and what it found.

    Attributes:
        action: the move; -1 for the root, which no move leads to.
        visits: how often the search went through it.
        qvalue: what it is worth for the player who makes it, from this move on.
        prior: its probability before the search, noise included at the root.
        node: index in the tree of the node behind it.
        mover: 1 if the player to move at the root makes it, -1 if the opponent does.
        discount: 1 if the same player moves next, -1 if the turn passes, 0 if the game ends; a
            learned model predicts a mean of the three.
    """

    action: int
    visits: int
    qvalue: float
    prior: float
    node: int
    mover: int
    discount: float

    @property
    def value(self) -> float:
        """What the move is worth for the player to move at the root, from this move on."""
        return self.mover * self.qvalue

    @property
    def ended(self) -> bool:
        """Whether the game ends here: what follows would count for less than half."""
        return abs(self.discount) < 0.5


def principal_variation(tree: Tree | None, index: int, first: int | None = None) -> list[Move]:
    """The most visited moves of game `index`, from the root to the last one that was tried.

    `first`, where it was tried, is the action to begin with: the plan's, say, which by Gumbel need
    not be the most visited.

    Of equally visited moves the one that is worth more to its player is taken, then the first: a
    Gumbel search often ends with two finalists of equal visits. The line stops where the game
    ends, though a search goes on.
    """
    one = of_game(tree, index)
    line, move = [], root_move(one)
    while tried := moves_after(one, move):
        move = next((m for m in tried if not line and m.action == first), tried[0])
        line.append(move)
    return line


def line_text(game: Game, variation: list[Move]) -> str:
    """A line of moves as text, `d3 (212 visits, +0.61)  c2 (97 visits, +0.55)`.

    All values are for the player to move at the root, whoever makes the move.
    """
    return "  ".join(
        f"{written(game, move.action)} ({counted(move.visits)}, {signed(move.value)})"
        for move in variation
    )


def of_game(tree: Tree | None, index: int) -> Tree:
    """The tree of one game without its embeddings, `[N + 1, ...]`, out of JAX.

    Raises:
        ValueError: if there is none, as in the plans of mctx.
    """
    if tree is None:
        raise ValueError('this plan has no tree; only searches with engine="duozero" keep theirs')
    rows = jax.device_get(tree._replace(embeddings=()))
    return jax.tree.map(lambda x: x[:, index], rows)


def root_move(tree: Tree) -> Move:
    """The root of the tree of one game, as if its player had moved there and moved again."""
    return Move(-1, int(tree.visits[0]), float(tree.values[0]), 1.0, 0, 1, 1.0)


def moves_after(tree: Tree, move: Move) -> list[Move]:
    """The moves tried after `move` in the tree of one game, the principal one first."""
    if move.ended:
        return []
    mover = move.mover if move.discount > 0 else -move.mover
    logits = np.asarray(tree.prior_logits[move.node], np.float64)
    weights = np.exp(logits - logits.max())
    prior = weights / weights.sum()
    children = np.asarray(tree.children[move.node])
    moves = []
    for action in np.flatnonzero(children != UNVISITED):
        node = int(children[action])
        discount = float(tree.discounts[node])
        qvalue = float(tree.rewards[node]) + discount * float(tree.values[node])
        visits = int(tree.visits[node])
        moves.append(Move(int(action), visits, qvalue, float(prior[action]), node, mover, discount))
    return sorted(moves, key=lambda found: (-found.visits, -found.qvalue))


def written(game: Game, action: int) -> str:
    """How the game writes a move; games from elsewhere may only number them, or fail at it."""
    try:
        return clean(getattr(game, "action_to_string", str)(action))
    except FAULTS:
        return str(action)


def clean(text: object) -> str:
    """One line, without what cannot be printed."""
    return "".join(char for char in " ".join(str(text).split()) if char.isprintable())


def counted(visits: int) -> str:
    """A number of visits, in words."""
    return f"{visits} visit{'' if visits == 1 else 's'}"


def signed(value: float) -> str:
    """A value with its sign; nothing is worth -0.00."""
    return f"{round(value, 2) + 0.0:+.2f}"
