"""What all parts of a comparison measure with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..trained import load
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
        keep: `(name, measure) -> found` of a piece of a part; may know it from an earlier time.
    """

    game: str
    budget: Budget
    opening_plies: int
    contenders: list[Contender]
    runs: dict[str, list[Path]]
    truth: Truth | None
    pulse: Callable[[], None]
    keep: Callable[[str, Callable[[], Any]], Any] = lambda name, measure: measure()

    def main(self, contender: Contender, simulations: int | None = None) -> Measured:
        """Strength as one number: against the truth where it is known, else the ladder."""
        self.pulse()
        if self.truth is not None:
            return strength_lib.kept(contender, self.truth, simulations)
        return self.ladder(contender, simulations)

    def ladder(self, contender: Contender, simulations: int | None = None) -> Measured:
        """Points per game against the pure tree searches of the budget."""
        self.pulse()
        sizes = (self.budget.rungs, self.budget.num_openings, self.opening_plies)
        return strength_lib.ladder(contender, *sizes, simulations)

    def along(self, contender: Contender) -> dict[int, Contender]:
        """The planner as it was along its training, by round.

        Raises:
            OSError: if its networks are not there, or damaged.
        """
        files = [_networks(path) for path in self.runs[contender.config.planner]]
        found = {}
        for number in sorted(set.intersection(*map(set, files))):
            try:
                params = [load(of_seed[number]).params for of_seed in files]
            except ValueError as error:
                raise OSError(str(error)) from error
            found[number] = replace(contender, params=params)
        if not found:
            folders = ", ".join(map(str, self.runs[contender.config.planner]))
            raise OSError(f"no networks are kept in {folders}")
        return found


def _networks(directory: Path) -> dict[int, Path]:
    """The files that a run has kept along its training, by round."""
    files = sorted((directory / "networks").glob("round_*.npz"))
    return {int(path.stem.removeprefix("round_")): path for path in files}
