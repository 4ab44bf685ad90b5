"""Many runs trained in whatever way is fastest: those of one recipe together, where that pays."""

from collections.abc import Callable

import jax

from . import folder, run
from .memory import fits_memory
from .prepared import Run
from .progress import Report
from .run import TrainedRun


def train_all(
    runs: list[Run], report: Report, should_stop: Callable[[], bool]
) -> list[TrainedRun] | None:
    """Trains what is not trained yet; returns all in the order of `runs`, None if interrupted.

    Runs that are stopped together go on together, bit for bit. Their strength is not measured.
    """
    trained = {one.directory: _finished(one) for one in runs if _is_finished(one)}
    for group in _groups([one for one in runs if one.directory not in trained]):
        for part in [group] if vectorised(group[0], len(group)) else [[one] for one in group]:
            found = run.execute_together(part, report, should_stop, measured=False)
            if not found[0].finished:
                return None
            trained |= {one.run.directory: one for one in found}
    return [trained[one.directory] for one in runs]


def vectorised(alike: Run, num_seeds: int) -> bool:
    """Whether as many runs like this one are to be trained as one program.

    Not on a CPU, whose cores a single run keeps busy: 3 seeds of 128 games of tic_tac_toe take a
    tenth longer together than in turn, and convolutions, grouped by seed, twice as long.
    """
    if num_seeds == 1 or jax.devices()[0].platform == "cpu":
        return False
    return fits_memory(alike.agent.planner, alike.learner, alike.config, num_seeds)


def _groups(runs: list[Run]) -> list[list[Run]]:
    """Runs that differ in their seeds only, and have as many rounds behind them."""
    groups: dict = {}
    for one in runs:
        groups.setdefault((one.recipe, one.num_done), []).append(one)
    return list(groups.values())


def _is_finished(one: Run) -> bool:
    return one.num_done == one.config.num_rounds and (one.directory / "report.json").exists()


def _finished(one: Run) -> TrainedRun:
    """What the folder of a finished run holds; nothing is written."""
    assert one.restored is not None
    rows = folder.read_rows(one.directory)[: one.num_done]
    return TrainedRun(one, one.restored.state, rows, True)
