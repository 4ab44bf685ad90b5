"""The folder of a run: its settings, its measurements, its report. Does not import JAX."""

import contextlib
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .config import Config, differences, from_toml

Row = dict[str, Any]


def default_folder(config: Config) -> Path:
    """`runs/<game>_<planner>_<seed>`, safe for file systems."""
    return Path("runs") / f"{safe(config.game)}_{config.planner}_{config.seed}"


def safe(name: str) -> str:
    """`name` without slashes, colons and the like."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)


def refuse_existing(directory: Path, how: str) -> None:
    """Refuses a folder that is already there: nothing is ever written over.

    Raises:
        ValueError: if it is; `how` tells of the ways out.
    """
    if directory.exists() or directory.is_symlink():
        raise ValueError(f"{directory} exists and is left as it is; {how}")


def stored_config(directory: Path) -> Config:
    """The settings of the run in `directory`.

    Raises:
        ValueError: if there is no run, or its settings cannot be used.
    """
    if not directory.is_dir():
        is_file = f"{directory} is a file, not a run folder"
        raise ValueError(is_file if directory.exists() else f"there is no run folder {directory}")
    path = directory / "config.toml"
    if not path.is_file():
        inside = sorted(str(path.parent) for path in directory.glob("*/config.toml"))
        hint = f"; {' and '.join(inside)} are" if inside else ""
        raise ValueError(f"{directory} is not a run folder, it holds no config.toml{hint}")
    return from_toml(path.read_bytes(), path)


def refuse_changes(directory: Path, config: Config) -> None:
    """Refuses to go on with other settings than those stored; only more rounds are allowed.

    Raises:
        ValueError: naming what differs.
    """
    old = stored_config(directory)
    changed = differences(old, config)
    if config.num_rounds >= old.num_rounds:
        changed = [change for change in changed if not change.startswith("num_rounds")]
    if changed:
        raise ValueError(
            f"{directory} cannot go on with other settings: {'; '.join(changed)} "
            "(only num_rounds may grow)"
        )


def begin(directory: Path, name: str, settings: str) -> None:
    """Creates the folder with the settings in it, or not at all."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _beside(directory) as part:
        part.mkdir()
        write(part / name, settings)
        os.replace(part, directory)


def append_row(directory: Path, row: Row) -> None:
    """Adds the measurements of a round."""
    with open(directory / "metrics.jsonl", "a") as file:
        file.write(json.dumps(row) + "\n")


def read_rows(directory: Path) -> list[Row]:
    """The measurements of all rounds, up to the first that is damaged or out of turn."""
    path = directory / "metrics.jsonl"
    rows = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not _is_row(row) or row["round"] != len(rows) + 1:
            break
        rows.append(row)
    return rows


def _is_row(row: Any) -> bool:
    """Whether all that is always measured is there; what is learned from may be NaN."""
    if not isinstance(row, dict) or not all(isinstance(x, int | float) for x in row.values()):
        return False
    always = ("round", "positions", "updates", "games", "seconds")
    return all(0 <= row.get(name, math.nan) < math.inf for name in always)


def keep_rows(directory: Path, num_rounds: int) -> list[Row]:
    """Drops the measurements of rounds that no checkpoint remembers; returns the others."""
    rows = [row for row in read_rows(directory) if row["round"] <= num_rounds]
    write(directory / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return rows


def write(path: Path, contents: str | bytes) -> None:
    """Writes a file whole or not at all."""
    with _beside(path) as part:
        part.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        os.replace(part, path)


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A place for what will be moved to `path`, on the same disk, that nobody else can mean."""
    try:
        with tempfile.TemporaryDirectory(prefix=".part-", dir=path.parent) as directory:
            yield Path(directory) / path.name
    except OSError as error:  # By the name that the caller knows.
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
