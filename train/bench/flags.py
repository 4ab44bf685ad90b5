"""`duozero bench` on the command line. JAX is imported only once the arguments are understood."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..config import resolve
from ..flags import Parser, add_settings, given_settings, number, one_of, several
from ..overlay import read_toml, unknown
from ..process import start_jax

Given = tuple[Namespace, Callable[[], Any]]
"""What was typed, and what makes a benchmark of it."""
PLANNERS = ("alphazero", "muzero")
POLICIES = ("gumbel", "puct")


def prepare(parser: Parser, arguments: Sequence[str]) -> Callable[[], int]:
    """Checks everything about a benchmark; what it returns runs it.

    Raises:
        ValueError: for whatever a user got wrong. Nothing has been compiled by then.
    """
    if not arguments:
        raise ValueError(f"a benchmark is needed; known: {', '.join(BENCHMARKS)}")
    if arguments[0].startswith("-"):
        known = "; ".join(f"{name}: {what}" for name, (_, what) in BENCHMARKS.items())
        parser.add_argument("benchmark", metavar="BENCHMARK", help=known)
        parser.read(arguments)
    name, *rest = arguments
    if name not in BENCHMARKS:
        raise ValueError(unknown("benchmark", name, BENCHMARKS))
    read, what = BENCHMARKS[name]
    parser = Parser(f"bench {name}", "", what)
    parser.add_argument("--json", metavar="FILE", help="keep the numbers there, for a program")
    parser.add_argument(
        "--repeats",
        type=number(int, 1, 10_000),
        metavar="N",
        default=5,
        help="measurements of everything [5]",
    )
    given, prepare = read(parser, rest)
    start_jax()
    from .base import execute, refuse_file

    path = None if given.json is None else Path(given.json)
    if path is not None:
        refuse_file(path)
    prepared = prepare()
    return lambda: execute(prepared, path)


def _search(parser: Parser, arguments: Sequence[str]) -> Given:
    _add_game(parser, "gomoku_6x6_4")
    _add_choice(parser, "planner", (*PLANNERS, "both"), "alphazero")
    _add_choice(parser, "policy", (*POLICIES, "both"), "both")
    what = "null (does nothing: only tree and rules are timed), mlp, cnn, resnet, resnet_SIZE"
    parser.add_argument("--network", default="null", metavar="NAME", help=f"{what} [null]")
    _add_numbers(parser, "batch", "1,32,256", "games searched at once")
    _add_numbers(parser, "simulations", "32,128", "nodes a move")
    parser.add_argument(
        "--max-depth", type=number(int, 1), metavar="N", help="deepest node [no limit]"
    )
    parser.add_argument("--seed", type=number(int), default=0, metavar="N", help="[0]")
    given = parser.read(arguments)

    def prepare():
        from . import searches

        planners = PLANNERS if given.planner == "both" else (given.planner,)
        policies = POLICIES if given.policy == "both" else (given.policy,)
        settings = searches.Settings(
            given.game, given.network, given.max_depth, given.repeats, given.seed
        )
        return searches.prepare(settings, planners, policies, given.batch, given.simulations)

    return given, prepare


def _run(parser: Parser, arguments: Sequence[str], name: str) -> Given:
    _add_game(parser, "connect_four")
    parser.add_argument("--planner", metavar="|".join(PLANNERS), help="[alphazero]")
    parser.add_argument("--config", metavar="FILE.toml", help="settings, which flags override")
    add_settings(parser, leave_out=("game", "planner"))
    given = parser.read(arguments)
    file = read_toml(Path(given.config)) if given.config else {}
    config = resolve(given.game, given.planner, file, given_settings(given))

    def prepare():
        from . import selfplay, updates

        of = {"selfplay": selfplay, "train": updates}[name]
        return of.prepare(config, given.repeats)

    return given, prepare


BENCHMARKS = {
    "search": (_search, "our search engine against mctx, with the same network"),
    "selfplay": (
        partial(_run, name="selfplay"),
        "self-play on all devices and on one, and where its time goes",
    ),
    "train": (partial(_run, name="train"), "how many positions a second are learned from"),
}
NAMES = "|".join(BENCHMARKS)


def _add_game(parser: Parser, default: str) -> None:
    about = f"see `duozero games` [{default}]"
    parser.add_argument("--game", metavar="GAME", default=default, help=about)


def _add_choice(parser: Parser, name: str, known: Sequence[str], default: str) -> None:
    parser.add_argument(
        f"--{name}",
        type=one_of(name, known),
        default=default,
        metavar="|".join(known),
        help=f"[{default}]",
    )


def _add_numbers(parser: Parser, name: str, default: str, what: str) -> None:
    parser.add_argument(
        f"--{name}",
        type=several(number(int, 1)),
        default=default,
        metavar="N,N,...",
        help=f"{what} [{default}]",
    )
