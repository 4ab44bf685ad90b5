"""Strength along training, under budgets that can be called equal."""

from typing import NamedTuple

import numpy as np

from ..config import Config
from ..folder import Row
from .intervals import Estimate
from .strength import Measured

BUDGETS = ("positions", "network calls", "seconds")


class Curve(NamedTuple):
    """A planner along its training, at `T` networks that were kept.

    Attributes:
        name: of the contender.
        spent: by budget `[S, T]`, what each seed had spent by then.
        measured: strength at each of them.
    """

    name: str
    spent: dict[str, np.ndarray]
    measured: list[Measured]


class Even(NamedTuple):
    """Both planners after the same expense.

    Attributes:
        budget: one of `BUDGETS`.
        amount: what both have spent: all that the thriftier one ever does.
        strength: by contender.
        apart: how much the first is above the second.
    """

    budget: str
    amount: float
    strength: dict[str, Estimate]
    apart: Estimate


def network_calls(config: Config, row: Row) -> float:
    """Positions that the network has looked at, in self-play and in learning, by a round.

    A search looks at its root and at every node that it adds; an update at every position of its
    batch and, unrolled, at the moves after it. (Its gradient costs about twice as much again.)
    """
    unrolled = config.learn.num_unroll_steps if config.planner == "muzero" else 0
    reanalysed = 1 + config.learn.reanalyse
    searched = row["positions"] * (1 + config.search.num_simulations) * reanalysed
    return searched + row["updates"] * config.learn.batch_size * (1 + unrolled)


def spent(config: Config, rows: list[Row], rounds: list[int]) -> dict[str, np.ndarray]:
    """`[T]` by budget, of one run after so many rounds; measuring is no expense."""
    at = [rows[number - 1] for number in rounds]
    return {
        "positions": np.array([row["positions"] for row in at], float),
        "network calls": np.array([network_calls(config, row) for row in at]),
        "seconds": np.array([row["seconds"] for row in at]),
    }


def even(first: Curve, second: Curve) -> list[Even]:
    """Strength after equal expense, by straight lines between what was measured.

    A budget is left out if that is less than the first network cost that either has kept.
    """
    found = []
    for budget in BUDGETS:
        most = [curve.spent[budget][:, -1].mean() for curve in (first, second)]
        amount = float(min(most))
        if any((curve.spent[budget][:, 0] > amount).any() for curve in (first, second)):
            continue
        pair = [at(curve, budget, amount) for curve in (first, second)]
        found.append(
            Even(
                budget,
                amount,
                {c.name: m.estimate for c, m in zip((first, second), pair, strict=True)},
                pair[0].above(pair[1]),
            )
        )
    return found


def at(curve: Curve, budget: str, amount: float) -> Measured:
    """A planner's strength once each seed had spent `amount`.

    Before the first network that was kept, and after the last, it is as strong as that.
    """
    rows = []
    for seed, x in enumerate(curve.spent[budget]):
        place = np.interp(amount, x, np.arange(len(x)))
        low, share = int(place), place - int(place)
        high = min(low + 1, len(x) - 1)
        one, other = (curve.measured[i].by_seed[seed] for i in (low, high))
        rows.append((1 - share) * one + share * other)
    return Measured(rows, curve.measured[0].clusters)
