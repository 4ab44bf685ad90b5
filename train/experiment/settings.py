"""What a comparison is made with, kept in its folder. Does not import JAX."""

import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from ..config import Config, differences, preset
from ..limits import check
from ..overlay import overlay
from .budget import Budget

NAME = "comparison.toml"


@dataclass(frozen=True)
class Settings:
    """What must not change when a comparison is gone on with.

    Attributes:
        budget_name: one of `budget.BUDGETS`.
        budget: what is trained and measured.
        configs: how each planner is trained; the seeds are the budget's, and nothing is measured
            during training.
        opening_plies: random moves before each game of a match.
    """

    budget_name: str
    budget: Budget
    configs: dict[str, Config]
    opening_plies: int = 2

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.configs["alphazero"].game

    def config(self, planner: str, seed: int) -> Config:
        """The settings of one run."""
        config = self.configs[planner]
        every = max(1, -(-config.num_rounds // self.budget.snapshots))
        return replace(config, seed=seed, evaluate_every=0, snapshot_every=every)

    def numbers(self) -> dict[str, Any]:
        """What the report says of them."""
        names: dict[str, Any] = {"game": self.game, "budget": self.budget_name}
        names["changed"] = {planner: self._changed(planner) for planner in self.configs}
        return names | _lists(asdict(self.budget)) | {"opening_plies": self.opening_plies}

    def _changed(self, planner: str) -> list[str]:
        """What of a planner's settings is not the budget's."""
        config = self.config(planner, 0)
        measured = {name: getattr(config, name) for name in ("evaluate_every", "snapshot_every")}
        shipped = preset(self.game, planner, self.budget_name)
        return differences(replace(shipped, **measured), config)

    def to_toml(self) -> str:
        """As a file that `stored` reads back."""
        tables = {planner: asdict(self.config(planner, 0)) for planner in self.configs}
        head = {"budget_name": self.budget_name, "opening_plies": self.opening_plies}
        return tomli_w.dumps(head | {"budget": _lists(asdict(self.budget))} | tables)


def _lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(x) if isinstance(x, tuple) else x for name, x in values.items()}


def stored(directory: Path) -> Settings:
    """Those of the comparison in a folder.

    Raises:
        ValueError: if there is none, or they are damaged.
    """
    path = directory / NAME
    if not path.is_file():
        raise ValueError(f"there is no comparison to resume in {directory}")
    try:
        found = tomllib.loads(path.read_text())
        sizes: dict[str, Any] = {
            name: tuple(x) if isinstance(x, list) else x for name, x in found["budget"].items()
        }
        planners = ("alphazero", "muzero")
        configs = {planner: check(overlay(Config(), found[planner])) for planner in planners}
        return Settings(found["budget_name"], Budget(**sizes), configs, int(found["opening_plies"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def refuse_changes(directory: Path, settings: Settings) -> None:
    """Refuses to go on with another comparison than the one in a folder.

    Raises:
        ValueError: naming what differs, or if there is none.
    """
    old, new = (_flat(tomllib.loads(x.to_toml())) for x in (stored(directory), settings))
    changed = [
        f"{name} = {new.get(name)!r} instead of {old.get(name)!r}"
        for name in new | old
        if new.get(name) != old.get(name)
    ]
    if changed:
        raise ValueError(f"{directory} is another comparison: {'; '.join(changed)}")


def _flat(table: dict[str, Any], where: str = "") -> dict[str, Any]:
    found = {}
    for name, value in table.items():
        inside = isinstance(value, dict)
        found |= _flat(value, f"{where}{name}.") if inside else {where + name: value}
    return found
