"""What a person sees while a run trains: phases by name, then a bar; plain lines in a file."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column

Row = dict[str, Any]


class Report(Protocol):
    """Told of everything that happens during training."""

    def begin(self, title: str, done: int, total: int) -> None: ...
    def phase(self, name: str) -> Any: ...
    def round(self, row: Row) -> None: ...
    def end(self) -> None: ...


class Silent:
    """Says nothing."""

    def begin(self, title: str, done: int, total: int) -> None: ...

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        yield

    def round(self, row: Row) -> None: ...

    def end(self) -> None: ...


@dataclass
class Lines:
    """A plain line for every phase, and for a round every `seconds`."""

    seconds: float = 30.0
    total: int = 0
    said: float = 0.0

    def begin(self, title: str, done: int, total: int) -> None:
        self.total, self.said = total, time.monotonic()
        print(title, flush=True)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        print(f"  {name}: ", end="", flush=True)
        try:
            yield
        except BaseException:
            print(flush=True)
            raise
        print(f"{time.monotonic() - start:.1f} s", flush=True)

    def round(self, row: Row) -> None:
        last = row["round"] == self.total
        if last or time.monotonic() - self.said > self.seconds:
            self.said = time.monotonic()
            line = f"  round {row['round']}/{self.total}  {summary(row)}  {strength(row)}"
            print(line.rstrip(), flush=True)

    def end(self) -> None: ...


@dataclass
class Bar:
    """A live bar with the newest numbers, for a terminal."""

    console: Console = field(default_factory=Console)
    progress: Progress | None = None

    def begin(self, title: str, done: int, total: int) -> None:
        self.console.print(title, highlight=False, markup=False)
        progress = Progress(
            BarColumn(12),
            TextColumn("{task.completed}/{task.total}", table_column=_whole()),
            TimeElapsedColumn(table_column=_whole()),
            TextColumn("left", table_column=_whole()),
            TimeRemainingColumn(table_column=_whole()),
            # Last, as the one part that a narrow terminal may cut.
            TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1)),
            console=self.console,
            expand=True,
        )
        progress.add_task("", total=total, completed=done)
        self.progress = progress

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        if self.progress is not None and self.progress.live.is_started:
            self.progress.update(self.progress.task_ids[0], description=f"{name} ...")
            yield
        else:
            with self.console.status(f"{name} ..."):
                yield
        self.console.print(f"  {name}: {time.monotonic() - start:.1f} s", highlight=False)

    def round(self, row: Row) -> None:
        assert self.progress is not None
        self.progress.start()
        if worth := strength(row):
            self.console.print(f"  round {row['round']}: {worth}", highlight=False)
        task = self.progress.task_ids[0]
        self.progress.update(task, completed=row["round"], description=summary(row))

    def end(self) -> None:
        if self.progress is not None:
            self.progress.stop()


def _whole() -> Column:
    return Column(no_wrap=True, min_width=4)


def for_terminal() -> Report:
    """A bar where a person watches, else lines."""
    return Bar() if sys.stdout.isatty() else Lines()


def summary(row: Row) -> str:
    """One round in a few words."""
    losses = {key.removeprefix("loss/"): row[key] for key in row if key.startswith("loss/")}
    parts = [f"{row['positions_per_second']:,.0f} positions/s", f"{row['games']:,} games"]
    parts += [
        f"{name} {losses[name]:.3f}"
        for name in ("policy", "value", "reward", "discount")
        if losses.get(name)
    ]
    return "  ".join(parts)


def strength(row: Row) -> str:
    """The strength that a round has measured, in words; nothing where none was."""
    if "strength/kept" in row:
        return (
            f"keeps the value in {row['strength/kept']:.2%} of positions, "
            f"loses {row['strength/lost_lines']:,} lines"
        )
    scores = [key for key in row if key.startswith("strength/mcts") and key.count("/") == 1]
    said = [f"{row[key]:.1%} against {key.removeprefix('strength/')}" for key in scores[-1:]]
    if "strength/losing_moves" in row:
        said += [f"{row['strength/losing_moves']:.1%} of moves lose value"]
    return ", ".join(said)
