"""`duozero train`, `compare` and `ablate` on the command line: what trains.

JAX is imported only once the arguments are understood.
"""

import functools
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from . import folder
from .config import Config, resolve
from .experiment.budget import BUDGETS
from .experiment.settings import Settings, stored
from .flags import (
    Parser,
    add_settings,
    given_settings,
    number,
    one_of,
    read_changes,
    several,
)
from .limits import check
from .overlay import overlay, read_toml
from .process import interruptible, start_jax

Action = Callable[[], int]


def train(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.add_argument("--planner", metavar="alphazero|muzero", help="[alphazero]")
    _add_training(parser, "runs/GAME_PLANNER_SEED")
    given = parser.read(arguments)
    config, directory = _configured(given, given.planner, None)
    start_jax()
    from . import run
    from .progress import for_terminal

    prepared = run.prepare(config, directory, given.resume)

    def act() -> int:
        with interruptible() as should_stop:
            trained = run.execute(prepared, for_terminal(), should_stop)
        if trained.finished:
            print(f"{run.closing(trained)}\nsaved in {directory}")
            return 0
        again = f"--planner {config.planner} --resume --run {directory}"
        print(f"saved; go on with: duozero train {config.game} {again}")
        return 130

    return act


def compare(parser: Parser, arguments: Sequence[str]) -> Action:
    names = " | ".join(BUDGETS)
    parser.add_argument("game", metavar="GAME", help="see `duozero games`")
    parser.add_argument(
        "--budget",
        type=one_of("budget", list(BUDGETS)),
        metavar="NAME",
        help=f"{names}: minutes, half an hour, hours, on a small game [quick]",
    )
    seeds = "instead of the budget's"
    parser.add_argument("--seeds", type=several(number(int)), metavar="N,N,...", help=seeds)
    parser.add_argument("--run", metavar="DIR", help="where it is kept [runs/compare_GAME_BUDGET]")
    parser.add_argument("--resume", action="store_true", help="go on with what is in that folder")
    parser.add_argument("--config", metavar="FILE.toml", help="settings, which flags override")
    left_out = ("game", "planner", "seed", "evaluate_every", "snapshot_every")
    add_settings(parser, leave_out=left_out)
    given = parser.read(arguments)
    name = given.budget or "quick"
    directory = Path(given.run or f"runs/compare_{folder.safe(given.game)}_{name}")
    settings = _comparison(given, directory if given.resume else None)
    start_jax()
    from .experiment import experiment
    from .progress import for_terminal

    prepared = experiment.prepare(settings, directory, given.resume)

    def act() -> int:
        with interruptible() as should_stop:
            results = experiment.execute(prepared, for_terminal(), should_stop)
        if results is None:
            print(f"saved; go on with: duozero compare {given.game} --resume --run {directory}")
            return 130
        print(f"\n{experiment.as_text(results)}\nmore in {directory / 'report.html'}")
        return 0

    return act


def _comparison(given: Namespace, directory: Path | None) -> Settings:
    """What is compared; what is gone on with starts from what its folder holds."""
    old = stored(directory) if directory else None
    name = given.budget or (old.budget_name if old else "quick")
    budget = old.budget if old and name == old.budget_name else BUDGETS[name]
    if given.seeds:
        budget = replace(budget, seeds=tuple(dict.fromkeys(given.seeds)))
    file, flags = _file(given), given_settings(given)
    file.pop("game", None)  # As in `resolve`.
    configs = {}
    for planner in ("alphazero", "muzero"):
        layers = ({"game": given.game}, file, {"planner": planner}, flags)
        configs[planner] = (
            check(functools.reduce(overlay, layers, old.configs[planner]))
            if old
            else resolve(given.game, planner, file, flags, name)
        )
    return Settings(name, budget, configs)


def ablate(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.add_argument("game", metavar="GAME", help="see `duozero games`")
    parser.add_argument("--planner", metavar="alphazero|muzero", help="[alphazero]")
    parser.add_argument(
        "--change",
        metavar="A.B=X,C.D=Y",
        action="append",
        required=True,
        help="settings to change together; give it once for every row of the table",
    )
    parser.add_argument(
        "--seeds", type=several(number(int)), metavar="N,N,...", default="0,1,2", help="[0,1,2]"
    )
    parser.add_argument("--run", metavar="DIR", help="where all is kept, and gone on with")
    parser.add_argument("--config", metavar="FILE.toml", help="settings, which flags override")
    add_settings(parser, leave_out=("game", "planner", "seed", "evaluate_every"))
    given = parser.read(arguments)
    if twice := [text for text in given.change if given.change.count(text) > 1]:
        raise ValueError(f"--change {twice[0]} is given twice; each is trained once")
    config = resolve(given.game, given.planner, _file(given), given_settings(given))
    changes = {text: check(overlay(config, read_changes(text))) for text in given.change}
    name = f"ablate_{folder.safe(config.game)}_{config.planner}"
    directory = Path(given.run) if given.run else Path("runs") / name
    start_jax()
    from . import ablate as ablation
    from .progress import for_terminal

    prepared = ablation.prepare(config, changes, given.seeds, directory)

    def act() -> int:
        with interruptible() as should_stop:
            text = ablation.execute(prepared, for_terminal(), should_stop)
        if text is None:
            print("saved; the same command goes on with it")
            return 130
        print(f"\n{text}\nsaved in {directory}")
        return 0

    return act


def _add_training(parser: Parser, default_run: str) -> None:
    parser.add_argument("game", metavar="GAME", help="see `duozero games`")
    parser.add_argument("--run", metavar="DIR", help=f"where it is kept [{default_run}]")
    parser.add_argument("--resume", action="store_true", help="go on with the run in that folder")
    parser.add_argument("--config", metavar="FILE.toml", help="settings, which flags override")
    add_settings(parser, leave_out=("game", "planner"))


def add_match(parser: Parser) -> None:
    parser.add_argument(
        "--openings",
        type=number(int, 1),
        default=100,
        metavar="N",
        help="random openings, each played from both seats [100]",
    )
    parser.add_argument(
        "--opening-plies",
        type=number(int, 0, 1000),
        default=2,
        metavar="N",
        help="length of an opening [2]",
    )


def _file(given: Namespace) -> dict:
    return read_toml(Path(given.config)) if given.config else {}


def _configured(
    given: Namespace, planner: str | None, directory: Path | None
) -> tuple[Config, Path]:
    """The settings of a run and its folder; a resumed run starts from those it has stored."""
    file, flags = _file(given), given_settings(given)
    config = resolve(given.game, planner, file, flags)
    begun = given.resume and (directory is None or directory.exists())
    directory = directory or Path(given.run or folder.default_folder(config))
    if begun:
        named = {"game": given.game} | ({"planner": planner} if planner else {})
        layers = (named, {k: v for k, v in file.items() if k not in ("game", "planner")}, flags)
        config = functools.reduce(overlay, layers, folder.stored_config(directory))
    return config, directory
