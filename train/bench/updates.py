"""A run's own updates: how many it makes a second, in either loop."""

from collections.abc import Callable
from dataclasses import replace

import jax

from ..build import build_learner, build_mesh, build_model, build_planner
from ..catalogue import game_named
from ..config import Config
from ..loss import Metrics
from ..memory import check_memory
from ..report import table
from .base import Bench, Numbers, Tell, of_run, paragraph, run_title
from .timing import in_turn, medians, rate

LOOPS = {"turn": "one after the other", "scan": "in one program"}
"""How the updates of a round are made; `build_learner` chooses."""
MOST_UPDATES = 8
"""Per measurement: the slower loop may be many times slower."""


def prepare(config: Config, repeats: int) -> Bench:
    """Updates of the network from replayed games.

    Raises:
        ValueError: for settings that cannot be run here.
    """
    game = game_named(config.game)
    planner = build_planner(game, build_model(game, config), config)
    mesh = build_mesh(config.play.num_games, config.learn.batch_size)
    # An update costs the same whatever it learns from, so the games are played fast and badly.
    hasty = replace(config, search=replace(config.search, num_simulations=1))
    learners = {
        name: build_learner(planner, hasty, mesh, scan_updates=name == "scan") for name in LOOPS
    }
    learner = learners["turn"]
    check_memory(planner, learner, config)
    num_updates = min(config.learn.num_updates, MOST_UPDATES)

    def measure(tell: Tell) -> Numbers:
        tell("compiling and playing games to learn from")
        state = jax.block_until_ready(learner.play(learner.init(jax.random.key(config.seed))))

        def updates(name: str) -> Callable[[], Metrics]:
            def run():
                nonlocal state
                state, metrics = learners[name].learn(state, num_updates)
                return metrics

            return run

        runs = {name: updates(name) for name in LOOPS}
        for name, run in runs.items():
            tell(f"compiling the updates {LOOPS[name]}")
            jax.block_until_ready(run())
        tell("timing")
        seconds = in_turn(runs, repeats)
        return {
            "seconds": seconds,
            "updates": num_updates,
            "updates_per_second": {name: rate(num_updates, x) for name, x in seconds.items()},
            "positions_per_second": {
                name: rate(num_updates * config.learn.batch_size, x) for name, x in seconds.items()
            },
        }

    return of_run("train", config, repeats, measure, _as_text)


def _as_text(config: Config, repeats: int, found: Numbers) -> str:
    rows = [["", *LOOPS.values()]]
    for what, label in (("updates", "updates/s"), ("positions", "positions learned/s")):
        rows.append([label, *map(str, found[f"{what}_per_second"].values())])
    size = f"{config.learn.batch_size} positions an update"
    unroll = f", {config.learn.num_unroll_steps} moves each" if config.planner == "muzero" else ""
    title = paragraph(f"{run_title(config)}; {size}{unroll}")
    spread = (
        f"{medians(repeats)} of {found['updates']} updates made in turn "
        "[lowest..highest]. Training makes them in one program, but one after the other where "
        "a convolution is learned on a CPU."
    )
    return f"{title}\n\n{table(rows)}\n\n{paragraph(spread)}"
