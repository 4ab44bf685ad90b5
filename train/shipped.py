"""Ships networks: `python -m duozero.train.shipped RUN [RUN ...]` writes `shipped/` from runs."""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from . import checkpoint, network_file
from .config import differences, preset
from .folder import stored_config, write
from .report import table
from .trained import load

MOST_BYTES_EACH = 2_000_000
MOST_BYTES = 10_000_000
"""Of all files together: everyone who installs the package gets them."""

ABOUT = "Ships the networks of finished runs that were trained with the shipped settings."
HEAD = """# Shipped networks

Players for `--against alphazero` and `--against muzero`; `duozero play GAME` plays against
AlphaZero where there is one. Each file holds the averaged parameters of a finished run, its
settings, and what is said here; `python -m duozero.train.shipped` writes the files, and this page
from them. The recipe, with the program at the commit, trains such a network again (other processors
round differently, and train another one).

"""


def ship(runs: Sequence[Path], commit: str, reached: str) -> list[Path]:
    """Writes the network files of `runs`, and what is said of all files; returns those written.

    Args:
        runs: folders of finished runs, made with the settings shipped for their game.
        commit: of the program that trained them.
        reached: how strong they are, in words.

    Raises:
        ValueError: for a run that is not finished or has other settings, or a file that is too
            large. Nothing has been written by then.
    """
    files = dict(_file(run, commit, reached) for run in runs)
    kept = [path for path in network_file.all_shipped() if path not in files]
    for path, contents in files.items():
        if len(contents) > MOST_BYTES_EACH:
            raise ValueError(
                f"{path.name} has {_size(len(contents))}; {_size(MOST_BYTES_EACH)} fit"
            )
    total = sum(path.stat().st_size for path in kept) + sum(map(len, files.values()))
    if total > MOST_BYTES:
        raise ValueError(f"all files together have {_size(total)}; {_size(MOST_BYTES)} fit")
    for path, contents in files.items():
        write(path, contents)
    write(network_file.SHIPPED / "README.md", readme())
    return list(files)


def _file(run: Path, commit: str, reached: str) -> tuple[Path, bytes]:
    """The name and the contents of the network file of a run."""
    config, done = stored_config(run), checkpoint.latest(run)
    # Measuring does not touch training.
    free = ("seed", "evaluate_every", "checkpoint_every", "snapshot_every", "evaluate")
    recipe = preset(config.game, config.planner)
    recipe = dataclasses.replace(recipe, **{name: getattr(config, name) for name in free})
    if unlike := differences(recipe, config):
        raise ValueError(f"{run} was not trained as shipped: {'; '.join(unlike)}")
    if done < config.num_rounds or not (run / "report.json").is_file():
        raise ValueError(f"{run} is not finished: {done} of {config.num_rounds} rounds are stored")
    params = load(run).params
    contents = network_file.to_bytes(config, params, done, commit, reached)
    return network_file.shipped_path(config.game, config.planner), contents


def readme() -> str:
    """What is said of the shipped files, from what they hold."""
    rows = [["game", "planner", "recipe", "seed", "commit", "reached", "size"]]
    for path in network_file.all_shipped():
        config, _, _, commit, reached = network_file.load(path)
        recipe = f"`duozero train {config.game} --planner {config.planner} --seed {config.seed}`"
        size = _size(path.stat().st_size)
        rows.append([config.game, config.planner, recipe, str(config.seed), commit, reached, size])
    return HEAD + table(rows) + "\n"


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1000:,.0f} kB"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit code 2 and one line for what cannot be shipped."""
    parser = argparse.ArgumentParser("python -m duozero.train.shipped", description=ABOUT)
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a finished run's folder")
    parser.add_argument("--commit", required=True, help="of the program that trained them")
    parser.add_argument("--reached", required=True, metavar="TEXT", help="how strong they are")
    given = parser.parse_args(arguments)
    try:
        for path in ship(given.runs, given.commit, given.reached):
            print(f"{path} ({_size(path.stat().st_size)})")
    except (ValueError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
