"""What a setting is worth: the same training with and without it, over several seeds."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from . import folder, run
from .config import Config
from .prepared import Run
from .progress import Report
from .report import paragraphs, table

AS_SHIPPED = "as it is"
NOT_TRAINING = ("game", "seed", "evaluate_every", "checkpoint_every", "snapshot_every", "evaluate")


@dataclass(frozen=True)
class Ablation:
    """Runs to train, checked.

    Attributes:
        runs: by the change that they make, one for each seed; the first makes none.
        directory: holds all of them, and the table.
    """

    runs: dict[str, list[Run]]
    directory: Path


class Effect(NamedTuple):
    """One measure under one change, over the seeds.

    Attributes:
        mean: over the seeds.
        change: the mean difference to the runs without the change, seed by seed; for those
            themselves their mean.
        half: half the width of the 95 % interval of `change` (Student's t over the seeds).
    """

    mean: float
    change: float
    half: float


def prepare(
    config: Config, changes: dict[str, Config], seeds: list[int], directory: Path
) -> Ablation:
    """Checks every run, and touches nothing; runs that are there already are gone on with.

    Args:
        config: what all changes are held against.
        changes: by name, settings that differ from it in how they train.
        seeds: each is trained with every change.
        directory: for the runs.

    Raises:
        ValueError: for settings that cannot be run, or a folder that cannot be used.
    """
    for name, changed in changes.items():
        if any(getattr(changed, what) != getattr(config, what) for what in NOT_TRAINING):
            raise ValueError(f"{name} is no change of training; {', '.join(NOT_TRAINING)} are not")
    _refuse_alike({AS_SHIPPED: config} | changes)
    runs = {}
    for name, changed in ({AS_SHIPPED: config} | changes).items():
        runs[name] = []
        for seed in dict.fromkeys(seeds):
            place = directory / f"{folder.safe(name)}_{seed}"
            final = replace(changed, seed=seed, evaluate_every=0)
            runs[name].append(run.prepare(final, place, resume=place.exists()))
    return Ablation(runs, directory)


def _refuse_alike(configs: dict[str, Config]) -> None:
    """Refuses changes that come to the same, or to the same folder.

    Raises:
        ValueError: naming both.
    """
    by_config: dict[Config, str] = {}
    by_place: dict[str, str] = {}
    for name, config in configs.items():
        if (same := by_config.setdefault(config, name)) == AS_SHIPPED != name:
            raise ValueError(f"{name} changes nothing; these are the settings already")
        if same != name:
            raise ValueError(f"{same} and {name} are the same change; each is trained once")
        if (other := by_place.setdefault(folder.safe(name), name)) != name:
            raise ValueError(
                f"{other} and {name} would share the folder {folder.safe(name)}; "
                "write a value in another way (100 for 1e+2)"
            )


def execute(ablation: Ablation, report: Report, should_stop: Callable[[], bool]) -> str | None:
    """Trains what is not trained yet, and stores and returns the table; None if interrupted."""
    for of_a_seed in zip(*ablation.runs.values(), strict=True):
        for one in of_a_seed:
            done = one.restored.num_rounds if one.restored else 0
            if done == one.config.num_rounds and (one.directory / "report.json").exists():
                continue
            if not run.execute(one, report, should_stop).finished:
                return None
    found = _outcomes(ablation)
    effects = compare(found)
    text = as_text(ablation, effects)
    folder.write(ablation.directory / "ablation.md", text)
    numbers = {name: {m: e._asdict() for m, e in by.items()} for name, by in effects.items()}
    stored = json.dumps({"runs": found, "effects": numbers}, indent=1)
    folder.write(ablation.directory / "ablation.json", stored + "\n")
    return text


def _outcomes(ablation: Ablation) -> dict[str, list[dict[str, float]]]:
    """The final measures of every run.

    Raises:
        OSError: if a report is damaged.
    """
    places = [one.directory / "report.json" for runs in ablation.runs.values() for one in runs]
    by_place = {path: _outcome(path) for path in places}
    every = {measure for outcome in by_place.values() for measure in outcome}
    for path, outcome in by_place.items():
        if every - outcome.keys():
            raise OSError(f"{path} is damaged; without that file, it is written anew")
    return {
        name: [by_place[one.directory / "report.json"] for one in runs]
        for name, runs in ablation.runs.items()
    }


def _outcome(path: Path) -> dict[str, float]:
    """The final measures in a report, those that can be read."""
    try:
        report = json.loads(path.read_text())
    except (ValueError, RecursionError):
        return {}
    measures = report if isinstance(report, dict) else {}
    measures = {
        k: v for k, v in measures.items() if k.startswith("strength/") and k.count("/") == 1
    }
    measures.pop("strength/lines", None)
    return {k: v for k, v in measures.items() if isinstance(v, int | float)}


def compare(found: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, Effect]]:
    """Every measure under every change, against those of the first, seed by seed."""
    base = next(iter(found.values()))
    effects: dict[str, dict[str, Effect]] = {}
    for name, outcomes in found.items():
        effects[name] = {}
        for measure in base[0]:
            values = np.array([one[measure] for one in outcomes])
            without = np.array([one[measure] for one in base])
            change = values if outcomes is base else values - without
            effects[name][measure] = Effect(values.mean(), change.mean(), half_width(change))
    return effects


def half_width(values: np.ndarray) -> float:
    """Of the 95 % interval of the mean of a sample, by Student's t; NaN for a single value."""
    if len(values) < 2:
        return float("nan")
    return float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)


def as_text(ablation: Ablation, effects: dict[str, dict[str, Effect]]) -> str:
    """The table for people, in Markdown."""
    runs = next(iter(ablation.runs.values()))
    config = runs[0].config
    measures = next(iter(effects.values()))
    head = ["change", *(m.removeprefix("strength/").replace("_", " ") for m in measures)]
    rows = [[name, *(_cell(name, m, e) for m, e in by.items())] for name, by in effects.items()]
    seeds = ", ".join(str(each.config.seed) for each in runs)
    return (
        f"# {config.planner} on {config.game}, {config.num_rounds} rounds, seeds {seeds}\n\n"
        f"{table([head, *rows])}\n\n{paragraphs(EXPLAIN.format(seeds=len(runs)))}\n"
    )


def _cell(name: str, measure: str, effect: Effect) -> str:
    scale, digits = (1, 1) if measure == "strength/lost_lines" else (100, 2)
    mean, change, half = (scale * x for x in effect)
    if name == AS_SHIPPED:
        low, high = max(mean - half, 0), mean + half
        high = high if scale == 1 else min(high, 100)
        return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
    low, high = change - half, change + half
    return f"{mean:.{digits}f}, {change:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


EXPLAIN = (
    "Means over {seeds} seeds; the first row with a 95 % interval, the others with their "
    "difference to the first, seed by seed, and its interval (Student's t). Where that holds 0, "
    "the two cannot be told apart. Shares in percent."
)
