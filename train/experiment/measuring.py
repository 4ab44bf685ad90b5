"""What all parts of a comparison measure with."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import strength as strength_lib
from .budget import Budget
from .contenders import CROSS, Contender
from .strength import Measured
from .truth import Truth

ALONE, SEARCH = "network alone", "with search"
GAPS = {
    "AlphaZero above MuZero": ("AlphaZero", "MuZero"),
    "price of the learned model": (CROSS, "MuZero"),
    "price of training through it": ("AlphaZero", CROSS),
}
"""What each part of the difference is called, and whose strengths it is between."""


@dataclass(frozen=True)
class Measuring:
    """What all parts measure with.

    Attributes:
        game: its name.
        budget: see `budget.Budget`.
        opening_plies: of every match.
        contenders: AlphaZero, MuZero and the cross, after training.
        runs: by planner the run folders, one for each seed.
        truth: the positions that are known; None where there are none.
        pulse: called often; may end a part by raising.
    """

    game: str
    budget: Budget
    opening_plies: int
    contenders: list[Contender]
    runs: dict[str, list[Path]]
    truth: Truth | None
    pulse: Callable[[], None]

    def main(
        self, contender: Contender, simulations: int | None = None, rungs: tuple[int, ...] = ()
    ) -> Measured:
        """Strength as one number: against the truth where it is known, else the ladder."""
        self.pulse()
        if self.truth is not None:
            return strength_lib.kept(contender, self.truth, self.budget.num_openings, simulations)
        return self.ladder(contender, simulations, rungs)

    def ladder(
        self, contender: Contender, simulations: int | None = None, rungs: tuple[int, ...] = ()
    ) -> Measured:
        """Points per game against the pure tree searches of the budget."""
        self.pulse()
        sizes = (rungs or self.budget.rungs, self.budget.num_openings, self.opening_plies)
        return strength_lib.ladder(contender, *sizes, simulations)


def snapshots(directory: Path) -> dict[int, Path]:
    """The networks that a run has kept along its training, by round."""
    files = sorted((directory / "networks").glob("round_*.npz"))
    return {int(path.stem.removeprefix("round_")): path for path in files}
