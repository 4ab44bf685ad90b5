"""A benchmark is run: cell by cell, each told of, stored and in the end printed."""

import difflib
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from .. import folder
from ..config import Config
from .timing import Spread, machine, without_compilation_cache

Numbers = dict[str, Any]
Tell = Callable[[str], None]
WIDTH = 100


@dataclass(frozen=True)
class Bench:
    """A benchmark whose settings are checked; nothing has been compiled yet.

    Attributes:
        name: of the benchmark.
        settings: as they are stored.
        cells: by name, what measures each; it is handed a function that tells of its progress.
        as_text: the tables for what the cells have found so far.
    """

    name: str
    settings: Numbers
    cells: dict[str, Callable[[Tell], Numbers]]
    as_text: Callable[[list[Numbers]], str]


def refuse_file(path: Path) -> None:
    """Refuses a file that could not be written.

    Raises:
        ValueError: if it is a directory, or in none.
    """
    if path.is_dir():
        raise ValueError(f"--json {path} is a directory; a file is needed, {path / 'bench.json'}")
    if path.exists() and not path.is_file() or path.is_symlink():
        raise ValueError(f"--json {path} is no plain file, and would be replaced by one")
    if not path.parent.is_dir():
        nearest = next(above for above in path.parents if above.is_dir())
        missing = path.relative_to(nearest).parts[0]
        inside = [entry.name for entry in nearest.iterdir() if entry.is_dir()]
        near = difflib.get_close_matches(missing, inside, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "name a file in one that exists"
        raise ValueError(f"--json {path}: there is no directory {nearest / missing}; {hint}")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--json {path}: nothing can be written in {path.parent}")


def execute(bench: Bench, path: Path | None) -> int:
    """Runs all cells; what is finished is stored and printed even if the others are not."""
    here, found = machine(), []
    print(
        f"{here['platform']}: {here['devices']} x {here['device']}, jax {here['jax']}", flush=True
    )
    try:
        with _progress() as tell, without_compilation_cache():
            for number, (name, measure) in enumerate(bench.cells.items(), 1):
                title = f"{number}/{len(bench.cells)} {name}"
                found.append(measure(lambda what, title=title: tell(f"{title}: {what}")))
                if path is not None:
                    _store(path, bench, here, found)
        return 0
    except KeyboardInterrupt:
        return 130
    finally:
        if found:
            print(f"\n{bench.as_text(found)}", flush=True)


def _store(path: Path, bench: Bench, here: Numbers, found: list[Numbers]) -> None:
    numbers = {
        "benchmark": bench.name,
        "machine": here,
        "settings": bench.settings,
        "finished": len(found) == len(bench.cells),
        "cells": [_plain(cell) for cell in found],
    }
    folder.write(path, json.dumps(numbers, indent=1) + "\n")


def _plain(value: Any) -> Any:
    """Spreads as tables by name: JSON would make lists of them."""
    if isinstance(value, Spread):
        return value._asdict()
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


@contextmanager
def _progress() -> Iterator[Tell]:
    """One live line where a person watches, else a line each; never on the standard output."""
    if not sys.stderr.isatty():
        yield lambda what: print(f"  {what}", file=sys.stderr, flush=True)
        return
    with Console(stderr=True).status("") as status:
        yield lambda what: status.update(escape(what))


def of_run(
    name: str,
    config: Config,
    repeats: int,
    measure: Callable[[Tell], Numbers],
    as_text: Callable[[Config, int, Numbers], str],
) -> Bench:
    """A benchmark of one cell, with the settings of a run."""
    return Bench(
        name,
        {"repeats": repeats, **asdict(config)},
        {f"{config.planner}, {config.game}": measure},
        lambda found: as_text(config, repeats, found[0]),
    )


def run_title(config: Config) -> str:
    """What runs, above a table."""
    return f"{config.planner} on {config.game}, network: {config.model.kind}, untrained"


def paragraph(text: str) -> str:
    """`text` in lines that fit beside the tables."""
    return textwrap.fill(text, WIDTH)
