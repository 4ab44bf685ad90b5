"""A training run in its folder: prepared, trained, interrupted, resumed."""

import contextlib
import functools
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..models import num_parameters
from . import checkpoint, folder
from .agent import Agent, make_agent
from .build import build_learner, build_mesh
from .catalogue import game_named
from .checkpoint import Best, Checkpoints
from .config import Config, check
from .folder import Row
from .learner import Learner
from .measure import Measure, challenge, make_measure
from .memory import check_memory
from .progress import Report, Silent, strength
from .rounds import play_round
from .state import TrainState


class Restored(NamedTuple):
    """What a run goes on from.

    Attributes:
        state: all of training.
        num_rounds: the rounds behind it.
        best: the best network so far; None before the first measurement of strength.
    """

    state: TrainState
    num_rounds: int
    best: Best | None


@dataclass(frozen=True)
class Run:
    """A run that can be trained: everything is checked, nothing is written yet.

    Attributes:
        config: its settings.
        directory: its folder.
        agent: how it plays.
        learner: how it learns.
        measure: how strong it is.
        restored: what its folder holds; None to start anew.
    """

    config: Config
    directory: Path
    agent: Agent
    learner: Learner
    measure: Measure
    restored: Restored | None


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


def prepare(config: Config, directory: Path, resume: bool = False) -> Run:
    """Checks that a run can be trained, and touches nothing.

    Raises:
        ValueError: see `train`.
    """
    check(config)
    if resume:
        folder.refuse_changes(directory, config)
    else:
        folder.refuse_existing(directory, "add --resume to go on, or choose another with --run")
    agent, learner = _built(replace(config, seed=0, evaluate_every=0, checkpoint_every=1))
    check_memory(agent.planner, learner, config)
    restored = _restored(directory, learner, config) if resume else None
    measure = make_measure(agent, config, directory)
    return Run(config, directory, agent, learner, measure, restored)


@functools.lru_cache(maxsize=16)
def _built(config: Config) -> tuple[Agent, Learner]:
    """What plays and what learns; compiled once for runs alike, say a run and its resumption."""
    agent = make_agent(game_named(config.game), config)
    mesh = build_mesh(config.play.num_games, config.learn.batch_size)
    return agent, build_learner(agent.planner, config, mesh)


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


def _restored(directory: Path, learner: Learner, config: Config) -> Restored | None:
    """What to go on from; None if no round was finished.

    Raises:
        ValueError: if what is stored is damaged, or of another run.
    """
    done, rows = checkpoint.latest(directory), folder.read_rows(directory)
    if not done and (directory / "report.json").exists():
        raise ValueError(f"{directory} holds a report and no checkpoint to go on from")
    if not done:
        return None
    if len(rows) < done:
        raise ValueError(
            f"metrics.jsonl of {directory} is damaged: it tells of {len(rows)} rounds, "
            f"the newest checkpoint is of round {done}"
        )
    state = learner.init(jax.random.key(config.seed))
    stored = checkpoint.restore(directory, "state", state, config)
    placed = jax.tree.map(lambda x, fresh: jax.device_put(x, fresh.sharding), stored, state)
    best = None
    if checkpoint.holds(directory, "best"):
        like = Best(state.average, np.array(0, np.int32))
        best = jax.tree.map(np.asarray, checkpoint.restore(directory, "best", like, config))
    return Restored(placed, done, best)


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
