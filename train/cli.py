"""The command line. JAX is imported only once the arguments are understood."""
# Hence the imports inside functions, here and in bench/flags.py alone.

import functools
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from . import folder
from .bench import flags as bench
from .config import Config, resolve
from .flags import Parser, add_settings, given_settings, number, read_changes, several
from .limits import check
from .overlay import overlay, read_toml, unknown
from .process import interruptible, start_jax

Action = Callable[[], int]
SIMULATIONS = {
    "type": number(int, 1),
    "metavar": "N",
    "help": "nodes a move, instead of the run's own",
}
REUSE: dict[str, Any] = {
    "action": "store_true",
    "help": "the run goes on from the tree of its last move (alphazero)",
}
PLAYERS = (
    "random, greedy-centre, mcts, mcts:N, perfect, alphazero or muzero (shipped with some games), "
    "a run folder, best:RUN or FILE.npz, network: before any of these four (without search)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code: 2 and one line for what a user got wrong."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # A name or a move may be no valid text.
                stream.reconfigure(errors="backslashreplace")
        try:
            action = _prepare(arguments)
        except (ValueError, OSError) as error:
            return _refuse(error)
        return action()
    except BrokenPipeError:  # Whoever read our output, `head` say, has left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _refuse(error)
    except SystemExit as leave:  # argparse, after --help.
        return int(leave.code or 0)
    except KeyboardInterrupt:
        return 130


def _refuse(error: Exception) -> int:
    print(f"duozero: {' '.join(str(error).split())}", file=sys.stderr)
    return 2


def _prepare(arguments: Sequence[str]) -> Action:
    """Checks everything about a command; what it returns does the work.

    Raises:
        ValueError: for whatever a user got wrong. Nothing has been written by then.
    """
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _help
    command, *rest = arguments
    if command not in COMMANDS:
        raise ValueError(unknown("command", command, COMMANDS))
    prepare, usage, description = COMMANDS[command]
    return prepare(Parser(command, usage, description), rest)


def _help() -> int:
    print("usage: duozero COMMAND ...\n\nAlphaZero and MuZero as one program.\n")
    for name, (_, _, description) in COMMANDS.items():
        print(f"  {name:<10}{description}")
    print("\n`duozero COMMAND --help` tells more.")
    return 0


def _games(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.read(arguments)
    from .catalogue import print_games

    return print_games


def _train(parser: Parser, arguments: Sequence[str]) -> Action:
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


def _compare(parser: Parser, arguments: Sequence[str]) -> Action:
    _add_training(parser, "runs/compare_GAME_SEED")
    _add_match(parser)
    given = parser.read(arguments)
    first = resolve(given.game, "alphazero", _file(given), given_settings(given))
    name = f"compare_{folder.safe(first.game)}_{first.seed}"
    directory = Path(given.run) if given.run else Path("runs") / name
    pair = [_configured(given, name, directory / name) for name in ("alphazero", "muzero")]
    start_jax()
    from . import compare
    from .progress import for_terminal

    openings = (given.openings, given.opening_plies)
    prepared = compare.prepare([config for config, _ in pair], directory, given.resume, *openings)

    def act() -> int:
        with interruptible() as should_stop:
            text = compare.execute(prepared, for_terminal(), should_stop)
        if text is None:
            again = (
                f"--resume --run {directory} --openings {openings[0]} --opening-plies {openings[1]}"
            )
            print(f"saved; go on with: duozero compare {given.game} {again}")
            return 130
        print(f"\n{text}\nsaved in {directory}")
        return 0

    return act


def _ablate(parser: Parser, arguments: Sequence[str]) -> Action:
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
    config = resolve(given.game, given.planner, _file(given), given_settings(given))
    changes = {text: check(overlay(config, read_changes(text))) for text in given.change}
    name = f"ablate_{folder.safe(config.game)}_{config.planner}"
    directory = Path(given.run) if given.run else Path("runs") / name
    start_jax()
    from . import ablate
    from .progress import for_terminal

    prepared = ablate.prepare(config, changes, given.seeds, directory)

    def act() -> int:
        with interruptible() as should_stop:
            text = ablate.execute(prepared, for_terminal(), should_stop)
        if text is None:
            print("saved; the same command goes on with it")
            return 130
        print(f"\n{text}\nsaved in {directory}")
        return 0

    return act


def _evaluate(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.add_argument("run", metavar="RUN", help="the folder of a run")
    parser.add_argument("--against", metavar="PLAYER", required=True, help=PLAYERS)
    _add_match(parser)
    parser.add_argument("--simulations", **SIMULATIONS)
    parser.add_argument("--reuse", **REUSE)
    best = "the best network of the run, not the newest"
    parser.add_argument("--best", action="store_true", help=best)
    parser.add_argument("--seed", type=number(int), metavar="N", default=0, help="of the match [0]")
    parser.add_argument("--json", action="store_true", help="print the numbers for a program")
    given = parser.read(arguments)
    folder.stored_config(Path(given.run))
    start_jax()
    from . import evaluate

    sizes = (given.openings, given.opening_plies, given.simulations, given.seed)
    prepared = evaluate.prepare(Path(given.run), given.against, *sizes, given.reuse, given.best)
    return lambda: evaluate.execute(prepared, given.json)


def _play(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.add_argument("game", metavar="GAME", help="see `duozero games`")
    default = "alphazero where it is shipped, else mcts:400"
    parser.add_argument("--against", metavar="PLAYER", help=f"{PLAYERS} [{default}]")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--first", action="store_true", help="you move first [by chance]")
    who.add_argument("--second", action="store_true", help="you move second [by chance]")
    parser.add_argument("--simulations", **SIMULATIONS)
    parser.add_argument("--reuse", **REUSE)
    parser.add_argument(
        "--seed", type=number(int), metavar="N", help="the same seed gives the same game"
    )
    given = parser.read(arguments)
    start_jax()
    from . import play

    first = True if given.first else False if given.second else None
    settings = (first, given.simulations, given.seed, given.reuse)
    session = play.prepare(given.game, given.against, *settings)
    return lambda: play.execute(session)


COMMANDS = {
    "games": (_games, "", "list the games, and what the shipped settings reach"),
    "train": (_train, "GAME", "train AlphaZero or MuZero"),
    "evaluate": (_evaluate, "RUN --against PLAYER", "hold a trained run against another player"),
    "compare": (_compare, "GAME", "train both, let them meet, hold both against perfect play"),
    "ablate": (
        _ablate,
        "GAME --change SETTING=VALUE",
        "train with and without a change of settings",
    ),
    "play": (_play, "GAME", "play in the terminal against any player"),
    "bench": (bench.prepare, bench.NAMES, "time the search, self-play or training here"),
}


def _add_training(parser: Parser, default_run: str) -> None:
    parser.add_argument("game", metavar="GAME", help="see `duozero games`")
    parser.add_argument("--run", metavar="DIR", help=f"where it is kept [{default_run}]")
    parser.add_argument("--resume", action="store_true", help="go on with the run in that folder")
    parser.add_argument("--config", metavar="FILE.toml", help="settings, which flags override")
    add_settings(parser, leave_out=("game", "planner"))


def _add_match(parser: Parser) -> None:
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


def console() -> None:
    """`main` as the command of a shell."""
    code = main()
    if code == 130:  # XLA crashes where Python's own end comes upon it while it compiles.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    console()
