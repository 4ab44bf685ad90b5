"""A run under way: where it goes on from, and what is written into its folder."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ..models import Params
from . import folder, network_file
from .checkpoint import Best, Checkpoints, latest
from .config import to_toml
from .folder import Row
from .learner import Learner
from .lock import entered
from .measure import challenge
from .prepared import Run, learner_of_all
from .seeds import joined
from .state import TrainState


@dataclass
class Course:
    """One run under way.

    Attributes:
        run: what is trained.
        rows: the measurements of every round so far.
        best: the best network so far; None before the first measurement of strength.
        checkpoints: of its folder.
        seconds: of training before this time.
    """

    run: Run
    rows: list[Row]
    best: Best | None
    checkpoints: Checkpoints
    seconds: float

    def measure(self, number: int, average: Params) -> Row:
        """What the averaged network is worth; a copy of it, so that training cannot be touched."""
        params = jax.device_get(average)
        worth = self.run.measure(params, self.rows)
        self.best, score = challenge(self.best, params, number, self.run.agent, self.run.config)
        return worth | score

    def add(self, number: int, row: Row, seconds: float) -> None:
        """Writes the measurements of a round, after so many seconds of training this time."""
        earlier = self.rows[-1]["games"] if self.rows else 0
        row |= {"round": number, "games": earlier + row["games"], "seconds": self.seconds + seconds}
        folder.append_row(self.run.directory, row)
        self.rows.append(row)

    def snapshot(self, number: int, average: Params) -> None:
        """Keeps the averaged network as a file."""
        directory = self.run.directory / "networks"
        directory.mkdir(exist_ok=True)
        path = directory / f"round_{number:05d}.npz"
        network_file.save(path, self.run.config, average, number)

    def save(self, number: int, state: TrainState) -> None:
        """Writes a checkpoint."""
        self.checkpoints.save(number, state, state.average, self.best)


@contextlib.contextmanager
def under_way(run: Run) -> Iterator[Course]:
    """Opens the folder of a run; measurements that no checkpoint remembers are dropped.

    Raises:
        OSError: if another process trains it, or has done so since it was prepared.
    """
    settings = "config.toml", to_toml(run.config)
    with entered(run.directory, *settings):
        if (done := latest(run.directory)) != run.num_done:
            raise OSError(f"{run.directory} was trained to round {done} meanwhile; start again")
        folder.write(run.directory / settings[0], settings[1])
        rows = folder.keep_rows(run.directory, run.num_done)
        best = run.restored.best if run.restored else None
        with Checkpoints(run.directory, run.config) as checkpoints:
            yield Course(run, rows, best, checkpoints, rows[-1]["seconds"] if rows else 0.0)


def begin(runs: list[Run]) -> tuple[Learner, TrainState]:
    """What trains `runs`, and the state that they go on from, of all of them if they are several.

    A single run is trained by its own learner.
    """
    if len(runs) == 1:
        (run,) = runs
        if run.restored:
            return run.learner, run.restored.state
        return run.learner, run.learner.init(jax.random.key(run.config.seed))
    learner = learner_of_all(runs)
    state = learner.init(jax.vmap(jax.random.key)(jnp.array([run.config.seed for run in runs])))
    restored = [run.restored.state for run in runs if run.restored]
    return learner, joined(restored, state) if restored else state
