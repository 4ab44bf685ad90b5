"""Both planners trained over seeds and compared in every way, in one folder that can be resumed."""

import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...games.connect_four import ConnectFour
from ...planners import rollout
from .. import connect_four_positions, folder, run
from ..catalogue import game_named
from ..lock import entered
from ..memory import check_search
from ..prepared import Run
from ..progress import Report
from ..together import train_all
from .contenders import contenders
from .measuring import Measuring
from .numbers import plain
from .page import html, markdown
from .parts import PARTS
from .settings import NAME, Settings, refuse_changes
from .story import story, summary
from .strength import AT_ONCE
from .truth import truth_of


class Stopped(Exception):
    """A wish to stop, in the midst of a part."""


@dataclass(frozen=True)
class Experiment:
    """A comparison, checked; nothing is written yet.

    Attributes:
        settings: what it is made with.
        runs: by planner, one for each seed.
        directory: holds all of it.
    """

    settings: Settings
    runs: dict[str, list[Run]]
    directory: Path


def prepare(settings: Settings, directory: Path, resume: bool = False) -> Experiment:
    """Checks all runs of a comparison, and touches nothing.

    Args:
        settings: what it is made with.
        directory: for all of it; must not exist, or hold the same comparison if `resume`.
        resume: go on; what is finished is not done again.

    Raises:
        ValueError: for settings that cannot be run, or a folder that cannot be used.
    """
    game, budget = game_named(settings.game), settings.budget
    if game.num_players != 2:
        raise ValueError(f"{settings.game} is not for two players; a comparison is of matches")
    if resume:
        refuse_changes(directory, settings)
    else:
        folder.refuse_existing(directory, "add --resume to go on, or choose another with --run")
    if isinstance(game, ConnectFour):  # A damaged file is refused before anything begins.
        connect_four_positions.read(game, directory)
    check_search(rollout(game), max(budget.rungs), budget.num_openings)
    runs = {}
    for planner in settings.configs:
        runs[planner] = []
        for seed in budget.seeds:
            place = directory / "runs" / f"{planner}_{seed}"
            config = settings.config(planner, seed)
            runs[planner].append(run.prepare(config, place, resume and place.exists()))
        agent, nodes = runs[planner][0].agent, settings.configs[planner].search.num_nodes
        check_search(agent.planner, max(budget.simulations), max(budget.num_openings, AT_ONCE))
        check_search(agent.planner, nodes, budget.num_walks)
    return Experiment(settings, runs, directory)


def execute(
    experiment: Experiment, report: Report, should_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Trains and measures what is not done yet, writes the report; the results, None if stopped."""
    settings = experiment.settings.to_toml()
    with entered(experiment.directory, NAME, settings):
        folder.write(experiment.directory / NAME, settings)
        return _executed(experiment, report, should_stop)


def _executed(
    experiment: Experiment, report: Report, should_stop: Callable[[], bool]
) -> dict[str, Any] | None:
    directory = experiment.directory
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
    results: dict[str, Any] = {"settings": experiment.settings.numbers(), "seconds": {}}
    measuring = None
    for name, (what, measure) in PARTS.items():
        path = parts / f"{name}.json"
        if not path.exists():
            pulse()
            start = time.monotonic()
            measuring = measuring or measuring_of(experiment, pulse)
            pieces = _Pieces(parts, name)
            with report.phase(what):
                found = plain(measure(replace(measuring, keep=pieces.keep)))
            _store(path, max(time.monotonic() - start, pieces.seconds), found)
        stored = _read(path)
        results[name] = stored["found"]
        results["seconds"][what] = stored["seconds"]
    return results


class _Pieces:
    """Pieces of a part that takes long, kept beside it, and the seconds that they took in all."""

    def __init__(self, directory: Path, part: str):
        self._directory, self._part = directory, part
        self.seconds = 0.0

    def keep(self, name: str, measure: Callable[[], Any]) -> Any:
        """What `measure` finds, or found when the part was begun before."""
        path = self._directory / f"{self._part}_{folder.safe(name)}.json"
        if not path.exists():
            start = time.monotonic()
            found = plain(measure())
            _store(path, time.monotonic() - start, found)
        stored = _read(path)
        self.seconds += stored["seconds"]
        return stored["found"]


def _store(path: Path, seconds: float, found: Any) -> None:
    folder.write(path, _as_stored({"seconds": seconds, "found": found}))


def _as_stored(part: dict[str, Any]) -> str:
    """A part as the text of its file, which tells whether it is still what was measured."""
    return json.dumps(part | {"crc32": zlib.crc32(json.dumps(part).encode())}) + "\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text()
        stored = json.loads(text)
        part = {"seconds": stored["seconds"], "found": stored["found"]}
        sound = _as_stored(part) == text
    except (ValueError, KeyError, TypeError, RecursionError):
        sound, part = False, {}
    if not sound:
        raise OSError(f"{path} is damaged; without that file, it is measured anew")
    return part


def measuring_of(experiment: Experiment, pulse: Callable[[], None] = lambda: None) -> Measuring:
    """What the parts measure with, from the trained runs of a comparison.

    Raises:
        OSError: if what they have left is damaged.
    """
    settings, directory = experiment.settings, experiment.directory
    runs = {planner: [one.directory for one in runs] for planner, runs in experiment.runs.items()}
    try:
        trained = contenders(runs["alphazero"], runs["muzero"])
        truth = truth_of(settings.game, directory)
    except ValueError as error:
        raise OSError(str(error)) from error
    sizes = settings.budget, settings.opening_plies
    return Measuring(settings.game, *sizes, trained, runs, truth, pulse)


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
