"""A training run in its folder: trained, interrupted, resumed, reported."""

import contextlib
import functools
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import jax

from ..models import num_parameters
from . import folder
from .config import Config
from .course import Course, begin, under_way
from .folder import Row
from .prepared import Run, prepare
from .progress import Report, Silent, strength
from .report import table
from .rounds import play_round
from .seeds import each_seed
from .state import TrainState


class TrainedRun(NamedTuple):
    """What training has come to.

    Attributes:
        run: what was trained.
        state: all of it after the last round; `state.average` is the network that plays.
        rows: the measurements of every round.
        finished: False if it was interrupted.
    """

    run: Run
    state: TrainState
    rows: list[Row]
    finished: bool


def train(
    config: Config,
    directory: Path | str,
    resume: bool = False,
    report: Report | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> TrainedRun:
    """Trains a run in its folder, from the start or from its newest checkpoint.

    The outcome depends on `config` alone, however often the run was interrupted.

    Args:
        config: its settings.
        directory: its folder; must not exist, or hold the same run if `resume`.
        resume: go on from the newest checkpoint.
        report: is told of phases and rounds; None for silence.
        should_stop: asked after each round; True saves and returns.

    Raises:
        ValueError: for settings that cannot be run, or a folder that cannot be used.
    """
    return execute(prepare(config, Path(directory), resume), report or Silent(), should_stop)


def execute(run: Run, report: Report, should_stop: Callable[[], bool]) -> TrainedRun:
    """Trains what was prepared; see `train`."""
    return execute_together([run], report, should_stop)[0]


def execute_together(
    runs: list[Run], report: Report, should_stop: Callable[[], bool], measured: bool = True
) -> list[TrainedRun]:
    """Trains as one program runs that differ in their seeds only, with as many rounds behind them.

    Each ends up in its own folder as if it had been trained alone, up to the rounding of floats,
    and can be gone on with alone. Its seconds and its speed are its share: the time of all divided
    by how many they are, without that of measuring strength, which is left out altogether unless
    `measured`. `report` is told of the first.
    """
    config, done = runs[0].config, runs[0].num_done
    assert all((run.recipe, run.num_done) == (runs[0].recipe, done) for run in runs)
    learner, state = begin(runs)
    each = functools.partial(each_seed, len(runs))
    finished = True
    with contextlib.ExitStack() as stack:
        courses = [stack.enter_context(under_way(run)) for run in runs]
        report.begin(_title(runs), done, config.num_rounds)
        start = time.monotonic()
        for number in range(done + 1, config.num_rounds + 1):
            phase = report.phase if number == done + 1 else _no_phase
            state, rows = play_round(learner, config, state, phase)
            seconds = (time.monotonic() - start) / len(runs)
            if measured and _due(config.evaluate_every, number, config.num_rounds):
                shown = report if not _seen(courses[0].rows, done) else Silent()
                with shown.phase("compiling and measuring the strength"):
                    for course, row, average in zip(
                        courses, rows, each(state.average), strict=True
                    ):
                        row |= course.measure(number, average)
                start = time.monotonic() - seconds * len(runs)
            for course, row in zip(courses, rows, strict=True):
                course.add(number, row, seconds)
            report.round(courses[0].rows[-1])
            finished = number == config.num_rounds or not should_stop()
            _keep(courses, number, state, finished)
            if not finished:
                break
    report.end()
    trained = [
        TrainedRun(c.run, s, c.rows, finished) for c, s in zip(courses, each(state), strict=True)
    ]
    for one in trained if finished else ():
        _write_report(one)
    return trained


def _title(runs: list[Run]) -> str:
    config, done = runs[0].config, runs[0].num_done
    seeds = ", seeds " + ", ".join(str(run.config.seed) for run in runs) + ","
    title = f"{config.planner} learns {config.game}{seeds if len(runs) > 1 else ''}"
    title += f" in {', '.join(str(run.directory) for run in runs)}"
    return title + (f", from round {done + 1}" if done else "")


def _keep(courses: list[Course], number: int, state: TrainState, finished: bool) -> None:
    """Writes the networks and checkpoints that are due, or all checkpoints of what is stopped."""
    config = courses[0].run.config
    # Networks first: a round that a checkpoint remembers is not trained again.
    if config.snapshot_every and _due(config.snapshot_every, number, config.num_rounds):
        for course, average in zip(courses, each_seed(len(courses), state.average), strict=True):
            course.snapshot(number, average)
    if not finished or _due(config.checkpoint_every, number, config.num_rounds):
        for course, one in zip(courses, each_seed(len(courses), state), strict=True):
            course.save(number, one)


def _seen(rows: list[Row], done: int) -> bool:
    """Whether strength was measured since the run was begun or resumed."""
    return any(strength(row) for row in rows[done:])


def _due(every: int, number: int, last: int) -> bool:
    return number == last or bool(every and number % every == 0)


@contextlib.contextmanager
def _no_phase(name: str):
    del name
    yield


def summary(trained: TrainedRun) -> Row:
    """The final report as numbers."""
    run, row = trained.run, trained.rows[-1]
    kinds = ("strength/", "loss/", "best/")
    final: dict[str, Any] = {k: v for k, v in row.items() if k.startswith(kinds)}
    return {
        "game": run.config.game,
        "planner": run.config.planner,
        "seed": run.config.seed,
        "rounds": row["round"],
        "seconds": row["seconds"],
        "positions": row["positions"],
        "games": row["games"],
        "updates": row["updates"],
        "parameters": num_parameters(trained.state.params),
        "devices": len(jax.devices()),
        "device": jax.devices()[0].device_kind,
        **final,
        "config": asdict(run.config),
    }


def closing(trained: TrainedRun) -> str:
    """The outcome in one line."""
    row = trained.rows[-1]
    worth = strength({k: v for row in trained.rows for k, v in row.items()})
    return (
        f"{trained.run.config.planner} played {row['positions']:,} positions in "
        f"{row['seconds']:.0f} s; {worth or 'its strength was not measured'}"
    )


def _write_report(trained: TrainedRun) -> None:
    numbers = summary(trained)
    folder.write(trained.run.directory / "report.json", json.dumps(numbers, indent=1) + "\n")
    whole = [
        [name, f"{value:.4g}" if isinstance(value, float) else f"{value}"]
        for name, value in numbers.items()
        if name != "config"
    ]
    curve = [
        [f"{row['round']}", f"{row['positions']:,}", f"{row['seconds']:.0f}", strength(row)]
        for row in trained.rows
        if strength(row)
    ]
    parts = [
        f"# {numbers['planner']} on {numbers['game']}, seed {numbers['seed']}",
        table([["", ""], *whole]),
    ]
    if curve:
        parts.append(table([["round", "positions", "seconds", "strength"], *curve]))
    folder.write(trained.run.directory / "report.md", "\n\n".join(parts) + "\n")
