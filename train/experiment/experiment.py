"""Both planners trained over seeds and compared in every way, in one folder that can be resumed."""

import json
import time
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from .. import folder, run
from ..catalogue import game_named
from ..config import Config
from ..memory import check_search
from ..prepared import Run
from ..progress import Report
from ..together import train_all
from .budget import Budget
from .contenders import contenders
from .measuring import Measuring
from .numbers import plain
from .page import html, markdown
from .parts import PARTS
from .story import story, summary
from .truth import truth_of

SETTINGS = "comparison.toml"


class Stopped(Exception):
    """A wish to stop, in the midst of a part."""


@dataclass(frozen=True)
class Experiment:
    """A comparison, checked; nothing is written yet.

    Attributes:
        game: its name.
        budget_name, budget: what is trained and measured.
        opening_plies: of every match.
        runs: by planner, one for each seed.
        directory: holds all of it.
    """

    game: str
    budget_name: str
    budget: Budget
    opening_plies: int
    runs: dict[str, list[Run]]
    directory: Path

    @property
    def settings(self) -> dict[str, Any]:
        """What must not change when it is gone on with."""
        names = {"game": self.game, "budget": self.budget_name}
        sizes = {
            name: list(x) if isinstance(x, tuple) else x for name, x in asdict(self.budget).items()
        }
        return names | sizes | {"opening_plies": self.opening_plies}


def prepare(
    configs: dict[str, Config],
    budget_name: str,
    budget: Budget,
    directory: Path,
    resume: bool = False,
    opening_plies: int = 2,
) -> Experiment:
    """Checks all runs of a comparison, and touches nothing.

    Args:
        configs: by planner; their seeds are the budget's.
        budget_name, budget: what is trained and measured.
        directory: for all of it; must not exist, or hold the same comparison if `resume`.
        resume: go on; what is finished is not done again.
        opening_plies: random moves before each game of a match.

    Raises:
        ValueError: for settings that cannot be run, or a folder that cannot be used.
    """
    game = configs["alphazero"].game
    if game_named(game).num_players != 2:
        raise ValueError(f"{game} is not for two players; a comparison is of matches")
    if not resume:
        folder.refuse_existing(directory, "add --resume to go on, or choose another with --run")
    elif not (directory / SETTINGS).is_file():
        raise ValueError(f"there is no comparison to resume in {directory}")
    runs = {}
    for planner, config in configs.items():
        every = max(1, -(-config.num_rounds // budget.snapshots))
        config = replace(config, evaluate_every=0, snapshot_every=every)
        runs[planner] = []
        for seed in budget.seeds:
            place = directory / "runs" / f"{planner}_{seed}"
            final = replace(config, seed=seed)
            runs[planner].append(run.prepare(final, place, resume and place.exists()))
        agent = runs[planner][0].agent
        check_search(agent.planner, max(budget.simulations), budget.num_openings)
    experiment = Experiment(game, budget_name, budget, opening_plies, runs, directory)
    if resume:
        _refuse_changes(experiment)
    return experiment


def _refuse_changes(experiment: Experiment) -> None:
    path = experiment.directory / SETTINGS
    try:
        stored = tomllib.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    changed = [
        f"{name} = {value!r} instead of {stored.get(name)!r}"
        for name, value in experiment.settings.items()
        if stored.get(name) != value
    ]
    if changed:
        raise ValueError(f"{experiment.directory} is another comparison: {'; '.join(changed)}")


def execute(
    experiment: Experiment, report: Report, should_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Trains and measures what is not done yet, writes the report; the results, None if stopped."""
    directory = experiment.directory
    directory.mkdir(parents=True, exist_ok=True)
    folder.write(directory / SETTINGS, tomli_w.dumps(experiment.settings))
    for runs in experiment.runs.values():
        for one in runs:  # All, so that what is resumed needs no settings repeated.
            folder.write_config(one.directory, one.config)
    for runs in experiment.runs.values():
        if train_all(runs, report, should_stop) is None:
            return None

    def pulse() -> None:
        if should_stop():
            raise Stopped

    try:
        results = _measured(experiment, report, pulse)
    except Stopped:
        return None
    write(results, directory)
    return results


def _measured(experiment: Experiment, report: Report, pulse: Callable[[], None]) -> dict[str, Any]:
    """Every part, those that are there already as they are."""
    parts = experiment.directory / "parts"
    parts.mkdir(exist_ok=True)
    results: dict[str, Any] = {"settings": experiment.settings, "seconds": {}}
    measuring = None
    for name, (what, measure) in PARTS.items():
        path = parts / f"{name}.json"
        if not path.exists():
            pulse()
            start = time.monotonic()
            measuring = measuring or measuring_of(experiment, pulse)
            with report.phase(what):
                found = plain(measure(measuring))
            stored = {"seconds": time.monotonic() - start, "found": found}
            folder.write(path, json.dumps(stored) + "\n")
        stored = _read(path)
        results[name] = stored["found"]
        results["seconds"][what] = stored["seconds"]
    return results


def _read(path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(path.read_text())
        return {"seconds": float(stored["seconds"]), "found": stored["found"]}
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{path} is damaged; without that file, it is measured anew") from None


def measuring_of(experiment: Experiment, pulse: Callable[[], None] = lambda: None) -> Measuring:
    """What the parts measure with, from the trained runs of a comparison."""
    runs = {planner: [one.directory for one in runs] for planner, runs in experiment.runs.items()}
    return Measuring(
        game=experiment.game,
        budget=experiment.budget,
        opening_plies=experiment.opening_plies,
        contenders=contenders(runs["alphazero"], runs["muzero"]),
        runs=runs,
        truth=truth_of(experiment.game, experiment.directory),
        pulse=pulse,
    )


def write(results: dict[str, Any], directory: Path) -> None:
    """The report in all its forms, from the numbers."""
    (directory / "figures").mkdir(exist_ok=True)
    title = f"AlphaZero and MuZero on {results['settings']['game']}"
    blocks = story(results, directory)
    folder.write(directory / "results.json", json.dumps(results, indent=1) + "\n")
    folder.write(directory / "report.md", markdown(title, blocks))
    folder.write(directory / "report.html", html(title, blocks, directory))


def as_text(results: dict[str, Any]) -> str:
    """The outcome for a terminal."""
    title = f"AlphaZero and MuZero on {results['settings']['game']}"
    return markdown(title, summary(results))
