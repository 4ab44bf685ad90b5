"""How strong contenders are: against the truth where it is known, and against a fixed ladder."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..agent import mcts
from ..arena import match_key, points
from ..judgement import Judgement, judge, moves_of
from ..oracles import Solution
from ..players import Player
from .contenders import Contender
from .intervals import OPENINGS, Clusters, Estimate, difference, error, estimate
from .truth import Truth

AT_ONCE = 100
"""Positions that are thought about in one batch."""


class Measured(NamedTuple):
    """A contender's strength as one number a cluster, in [0, 1].

    Attributes:
        by_seed: for each seed `[N]`: whether the move keeps the game value in each position, or
            the points per game from each opening.
        clusters: what those stand for.
    """

    by_seed: list[np.ndarray]
    clusters: Clusters

    @property
    def estimate(self) -> Estimate:
        return estimate(self.by_seed, self.clusters, share=True)

    def above(self, other: "Measured") -> Estimate:
        """The difference to another contender under the same seeds, positions and openings."""
        return difference(self.by_seed, other.by_seed, self.clusters)


class Plies(NamedTuple):
    """Move and value against the truth, by moves made before the position.

    Attributes:
        ply: `[P]`.
        kept: of each ply, the share of moves that keep the game value.
        value_error: of each ply, the mean of |value - true value|.
    """

    ply: list[int]
    kept: list[Estimate]
    value_error: list[Estimate]


def kept(contender: Contender, truth: Truth, simulations: int | None = None) -> Measured:
    """Whether moves keep the game value, in every position of `truth`."""
    rows = [
        truth.keeps(contender.think(seed, truth.state, AT_ONCE, simulations).action)
        for seed in range(len(contender.params))
    ]
    return Measured(rows, _clusters(truth))


def _clusters(truth: Truth) -> Clusters:
    return Clusters(sampled=not truth.whole, shared=True)


def by_ply(
    contender: Contender, truth: Truth, simulations: int | None = None
) -> tuple[Measured, Plies]:
    """The same, and ply by ply with the error of the value."""
    thoughts = [
        contender.think(seed, truth.state, AT_ONCE, simulations)
        for seed in range(len(contender.params))
    ]
    good = [truth.keeps(thought.action) for thought in thoughts]
    wrong = [np.abs(thought.value - truth.value) for thought in thoughts]
    plies = np.unique(truth.ply)
    at = lambda rows, ply: [row[truth.ply == ply] for row in rows]  # noqa: E731
    found = Plies(
        ply=plies.tolist(),
        kept=[estimate(at(good, ply), _clusters(truth), share=True) for ply in plies],
        value_error=[error(at(wrong, ply), _clusters(truth)) for ply in plies],
    )
    return Measured(good, _clusters(truth)), found


def ladder(
    contender: Contender,
    rungs: Sequence[int],
    num_openings: int,
    opening_plies: int,
    simulations: int | None = None,
) -> Measured:
    """Points per game against pure tree searches with so many playouts, over all of them alike.

    Each seed plays from openings of its own, and every contender of that seed from the same.

    Raises:
        ValueError: if there are no rungs.
    """
    if not rungs:
        raise ValueError("a ladder needs rungs: numbers of playouts")
    rows = []
    for seed in range(len(contender.params)):
        player = contender.player(seed, simulations)
        opponents = [mcts(contender.game, rung) for rung in rungs]
        rows.append(
            np.mean(
                [
                    meet(contender, player, other, seed, num_openings, opening_plies)
                    for other in opponents
                ],
                axis=0,
            )
        )
    return Measured(rows, OPENINGS)


def meet(
    contender: Contender,
    player: Player,
    opponent: Player,
    seed: int,
    num_openings: int,
    opening_plies: int,
) -> np.ndarray:
    """Points per game of a contender's player from each of the openings of a seed, `[D]`."""
    key = match_key(seed)
    return points(contender.game, player, opponent, key, num_openings, opening_plies)


def judgements(
    contender: Contender, solution: Solution, simulations: int | None = None
) -> list[Judgement]:
    """Every seed against the solution: lost lines prove who can be made to err."""
    return [
        judge(
            solution,
            moves_of(contender.player(seed, simulations), solution, match_key(seed), AT_ONCE),
        )
        for seed in range(len(contender.params))
    ]
