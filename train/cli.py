"""The command line. JAX is imported only once the arguments are understood."""
# Hence the imports inside functions: here, in training_flags.py and in bench/flags.py.

import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from . import folder
from . import training_flags as training
from .bench import flags as bench
from .flags import Parser, number
from .overlay import unknown
from .process import start_jax

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
    "a run folder, best:RUN or FILE.npz; network: before any of the last five (without search)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code: 2 and one line for what a user got wrong."""
    code = _run(sys.argv[1:] if arguments is None else list(arguments))
    try:
        if sys.stdout:  # None where it was closed from the start.
            sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it again.
        return code or (1 if isinstance(error, BrokenPipeError) else _refuse(error))
    return code


def _run(arguments: list[str]) -> int:
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
        return 1
    except OSError as error:
        return _refuse(error)
    except SystemExit as leave:  # argparse, after --help; or a game of the user's.
        return leave.code or 0 if isinstance(leave.code, int | None) else _refuse(leave)
    except KeyboardInterrupt:
        return 130


def _refuse(error: BaseException) -> int:
    said = str(error)
    if isinstance(error, OSError) and error.strerror:  # Without the number that comes first.
        said = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    print(f"duozero: {' '.join(said.split())}", file=sys.stderr)
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
    start_jax()
    from .catalogue import print_games

    return print_games


def _evaluate(parser: Parser, arguments: Sequence[str]) -> Action:
    parser.add_argument("run", metavar="RUN", help="the folder of a run, or a network FILE.npz")
    parser.add_argument("--against", metavar="PLAYER", required=True, help=PLAYERS)
    training.add_match(parser)
    parser.add_argument("--simulations", **SIMULATIONS)
    parser.add_argument("--reuse", **REUSE)
    best = "the best network of the run, not the newest"
    parser.add_argument("--best", action="store_true", help=best)
    parser.add_argument("--seed", type=number(int), metavar="N", default=0, help="of the match [0]")
    parser.add_argument("--json", action="store_true", help="print the numbers for a program")
    given = parser.read(arguments)
    run = Path(given.run)
    is_file = run.suffix == ".npz" and not run.is_dir()
    if is_file and given.best:
        raise ValueError(f"--best is of a run folder; {run} holds one network")
    if not is_file:
        folder.stored_config(run)
    start_jax()
    from . import evaluate

    sizes = (given.openings, given.opening_plies, given.simulations, given.seed)
    prepared = evaluate.prepare(run, given.against, *sizes, given.reuse, given.best)
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
    "train": (training.train, "GAME", "train AlphaZero or MuZero"),
    "evaluate": (
        _evaluate,
        "RUN --against PLAYER",
        "hold a trained network against another player",
    ),
    "compare": (
        training.compare,
        "GAME",
        "train both over seeds, compare them in every way, write a report",
    ),
    "ablate": (
        training.ablate,
        "GAME --change SETTING=VALUE",
        "train with and without a change of settings",
    ),
    "play": (_play, "GAME", "play in the terminal against any player"),
    "bench": (bench.prepare, bench.NAMES, "time the search, self-play or training here"),
}


def console() -> None:
    """`main` as the command of a shell."""
    code = main()
    if code == 130:  # XLA crashes where Python's own end comes upon it while it compiles.
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    console()
