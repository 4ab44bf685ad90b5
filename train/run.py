"""A training run in its folder: trained, interrupted, resumed, reported."""

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import jax

from ..models import num_parameters
from . import folder
from .checkpoint import Best, Checkpoints
from .config import Config
from .folder import Row
from .measure import challenge
from .prepared import Restored, Run, prepare
from .progress import Report, Silent, strength
from .rounds import play_round
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
    config, directory = run.config, run.directory
    folder.write_config(directory, config)
    fresh = Restored(run.learner.init(jax.random.key(config.seed)), 0, None)
    state, done, best = run.restored or fresh
    rows = folder.keep_rows(directory, done)
    earlier = rows[-1] if rows else {"seconds": 0.0, "games": 0}
    title = f"{config.planner} learns {config.game} in {directory}"
    title += f", from round {done + 1}" if done else ""
    report.begin(title, done, config.num_rounds)
    start = time.monotonic() - earlier["seconds"]
    finished = True
    with Checkpoints(directory, config) as checkpoints:
        for number in range(done + 1, config.num_rounds + 1):
            phase = report.phase if number == done + 1 else _no_phase
            state, row = play_round(run.learner, config, state, phase)
            row |= {"round": number, "games": earlier["games"] + row["games"]}
            if _due(config.evaluate_every, number, config.num_rounds):
                shown = report if not _seen(rows, done) else Silent()
                best, measured = _measured(run, state, best, number, rows, shown)
                row |= measured
            row["seconds"] = time.monotonic() - start
            folder.append_row(directory, row)
            rows.append(row)
            earlier = row
            report.round(row)
            finished = number == config.num_rounds or not should_stop()
            if not finished or _due(config.checkpoint_every, number, config.num_rounds):
                checkpoints.save(number, state, state.average, best)
            if not finished:
                break
    report.end()
    trained = TrainedRun(run, state, rows, finished)
    if finished:
        _write_report(trained)
    return trained


def _measured(
    run: Run,
    state: TrainState,
    best: Best | None,
    number: int,
    rows: list[Row],
    report: Report | Silent,
) -> tuple[Best | None, Row]:
    """What the averaged network is worth; a copy of it, so that training cannot be touched."""
    params = jax.device_get(state.average)
    with report.phase("compiling and measuring the strength"):
        worth = run.measure(params, rows)
        best, score = challenge(best, params, number, run.agent, run.config)
        return best, worth | score


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
    final: dict[str, Any] = {k: v for k, v in row.items() if k.startswith(("strength/", "loss/"))}
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
    title = f"# {numbers['planner']} on {numbers['game']}, seed {numbers['seed']}\n\n"
    lines = [
        f"| {name} | {value:.4g} |" if isinstance(value, float) else f"| {name} | {value} |"
        for name, value in numbers.items()
        if name != "config"
    ]
    table = "\n".join(["| | |", "|---|---|", *lines])
    folder.write(trained.run.directory / "report.md", title + table + "\n")
