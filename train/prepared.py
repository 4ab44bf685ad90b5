"""A run before it is trained: checked, restored where it goes on, and nothing written yet."""

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from . import checkpoint, folder
from .agent import Agent, make_agent
from .build import build_learner, build_mesh
from .catalogue import game_named
from .checkpoint import Best
from .config import Config, check
from .learner import Learner
from .measure import Measure, make_measure
from .memory import check_memory
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

    @property
    def num_done(self) -> int:
        """The rounds behind it."""
        return self.restored.num_rounds if self.restored else 0

    @property
    def recipe(self) -> Config:
        """Its settings without the seed: runs of one recipe can be trained together."""
        return replace(self.config, seed=0)


def prepare(config: Config, directory: Path, resume: bool = False) -> Run:
    """Checks that a run can be trained, and touches nothing.

    Raises:
        ValueError: see `train`.
    """
    config = check(config)
    if resume:
        folder.refuse_changes(directory, config)
    else:
        folder.refuse_existing(directory, "add --resume to go on, or choose another with --run")
    agent, learner = _built(_training_only(config))
    check_memory(agent.planner, learner, config)
    restored = _restored(directory, learner, config) if resume else None
    measure = make_measure(agent, config, directory)
    return Run(config, directory, agent, learner, measure, restored)


def learner_of_all(runs: list[Run]) -> Learner:
    """What trains runs of one recipe as one program, see `make_learner`."""
    return _built(_training_only(runs[0].config), len(runs))[1]


def _training_only(config: Config) -> Config:
    """The same settings for all runs that are played and learned alike."""
    return replace(config, seed=0, evaluate_every=0, checkpoint_every=1, snapshot_every=0)


@functools.lru_cache(maxsize=16)
def _built(config: Config, num_seeds: int = 0) -> tuple[Agent, Learner]:
    """What plays and what learns; compiled once for runs alike, say a run and its resumption."""
    agent = make_agent(game_named(config.game), config)
    mesh = build_mesh(config.play.num_games, config.learn.batch_size)
    return agent, build_learner(agent.planner, config, mesh, num_seeds=num_seeds)


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
            f"metrics.jsonl of {directory} is damaged in line {len(rows) + 1}; "
            f"what was measured in {done} rounds is needed to go on from the newest checkpoint"
        )
    state = learner.init(jax.random.key(config.seed))
    stored = checkpoint.restore(directory, "state", state, config)
    placed = jax.tree.map(lambda x, fresh: jax.device_put(x, fresh.sharding), stored, state)
    best = None
    if checkpoint.holds(directory, "best"):
        like = Best(state.average, np.array(0, np.int32))
        best = jax.tree.map(np.asarray, checkpoint.restore(directory, "best", like, config))
    return Restored(placed, done, best)
