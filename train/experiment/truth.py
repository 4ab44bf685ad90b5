"""Positions whose true value is known: all of a small game, or a solver's sample."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ...games.connect_four import ConnectFour
from .. import connect_four_positions
from ..catalogue import game_named, solution_of
from ..connect_four_oracle import Solver
from ..oracles import Solution, true_values


class Truth(NamedTuple):
    """What perfect play makes of `N` positions in which there is a move to make.

    Attributes:
        state: `[N, ...]`.
        ply: `[N]`, moves made before it.
        value: `[N]`, for the player to move.
        action_values: `[N, A]` of each move for the player to move; -inf where it is illegal.
        whole: whether these are all the positions of the game, not a sample.
        what: which positions these are, in words.
    """

    state: Any
    ply: np.ndarray
    value: np.ndarray
    action_values: np.ndarray
    whole: bool
    what: str

    def keeps(self, action: np.ndarray) -> np.ndarray:
        """`[N]`, 1 where the move in each position keeps its game value, else 0."""
        chosen = np.take_along_axis(self.action_values, action[:, None].astype(int), axis=1)[:, 0]
        return (chosen >= self.value).astype(float)

    def some(self, num: int) -> "Truth":
        """At most `num` of the positions, always the same ones."""
        if num >= len(self.ply):
            return self
        at = np.sort(np.random.default_rng(0).permutation(len(self.ply))[:num])
        state = jax.tree.map(lambda x: x[at], self.state)
        rows = (self.ply[at], self.value[at], self.action_values[at])
        return Truth(state, *rows, False, f"{num} of {self.what}")


def truth_of(game: str, directory: Path) -> Truth | None:
    """The positions that the game called `game` is judged by; None where nothing is known.

    Those of Connect Four are kept in `directory`, see `connect_four_positions.of_run`.

    Raises:
        ValueError: if what is kept there is damaged.
    """
    rules = game_named(game)
    if isinstance(rules, ConnectFour):
        positions = connect_four_positions.of_run(rules, directory)
        if not positions:
            return None
        scores = [[-np.inf if s is None else np.sign(s) for s in p.scores] for p in positions]
        state = connect_four_positions.replay(rules, [p.moves for p in positions])
        ply = np.array([len(p.moves) for p in positions])
        values = np.array(scores)
        what = f"{len(ply)} positions from random play, 100 of each of the solver's six kinds"
        return Truth(state, ply, values.max(axis=1), values, False, what)
    solution = solution_of(game)
    return None if solution is None else whole(solution)


def whole(solution: Solution) -> Truth:
    """All undecided positions of a solved game."""
    where = solution.undecided
    return Truth(
        state=jax.tree.map(lambda x: x[where], solution.state),
        ply=_plies(solution)[where],
        value=solution.value[where],
        action_values=solution.action_values[where],
        whole=True,
        what=f"all {len(where):,} undecided positions",
    )


def _plies(solution: Solution) -> np.ndarray:
    """`[N]`, the fewest moves that lead to each position."""
    ply = np.full(len(solution.ended), -1)
    frontier, moves = np.array([0]), 0
    while len(frontier):
        ply[frontier] = moves
        following = np.unique(solution.child[frontier])
        frontier, moves = following[(following >= 0) & (ply[following] < 0)], moves + 1
    return ply


def valuer(game: str) -> Callable[[Any], np.ndarray] | None:
    """`state [..., *] -> true value [...]` for the player to move; None where none is known.

    Games that have ended are worth 0.
    """
    rules, solution = game_named(game), solution_of(game)
    if solution is not None:
        return lambda state: true_values(solution, state)
    if not isinstance(rules, ConnectFour):
        return None
    try:
        solver = Solver()
    except ValueError:
        return None

    def value(state):
        over, boards = np.asarray(state.terminated), np.asarray(state.board)
        found = np.zeros(over.shape)
        for at in zip(*np.nonzero(~over), strict=True):
            found[at] = np.sign(solver.value_on(boards[at]))
        return found

    return value
