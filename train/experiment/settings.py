"""What a comparison is made with, kept in its folder. Does not import JAX."""

import tomllib
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import tomli_w

from ..config import Config, differences, preset
from ..limits import check
from ..overlay import as_dict, overlay, unknown
from .budget import BUDGETS, Budget

NAME = "comparison.toml"
MOST_PLIES = 1_000


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
        tables = {planner: as_dict(self.config(planner, 0)) for planner in self.configs}
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
        return _settings(tomllib.loads(path.read_text()))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _settings(found: dict[str, Any]) -> Settings:
    """What `Settings.to_toml` has written.

    Raises:
        ValueError: naming the first field that is not there, or not as it must be.
    """
    names = [field.name for field in fields(Budget)]
    tables = ("budget", "alphazero", "muzero")
    budget, *_ = (_held(found, name, dict, "a table") for name in tables)
    sizes: dict[str, Any] = {
        name: _held(budget, name, int | list, "a number or several") for name in names
    }
    plies = _held(found, "opening_plies", int, "a whole number")
    if not 0 <= plies <= MOST_PLIES:
        raise ValueError(f"opening_plies = {plies}; it must be from 0 to {MOST_PLIES}")
    name = _held(found, "budget_name", str, "a text")
    if name not in BUDGETS:
        raise ValueError(unknown("budget", name, BUDGETS))
    configs = {planner: check(overlay(Config(), found[planner])) for planner in tables[1:]}
    sizes = {name: tuple(x) if isinstance(x, list) else x for name, x in sizes.items()}
    return Settings(name, Budget(**sizes), configs, plies)


def _held(table: dict[str, Any], name: str, kind: Any, what: str) -> Any:
    if name not in table:
        raise ValueError(f"it lacks {name}")
    if not isinstance(table[name], kind) or isinstance(table[name], bool):
        raise ValueError(f"{name} = {table[name]!r}; {what} is needed")
    return table[name]


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
