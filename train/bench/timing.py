"""How long programs take: compiled apart from being run, and run strictly in turn."""

import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.experimental.compilation_cache import compilation_cache

LEAST_SECONDS = 0.1
"""A measurement repeats a program until it has taken about this long."""


class Spread(NamedTuple):
    """What was measured several times."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.text(short)

    def text(self, write: Callable[[float], str]) -> str:
        """`median [low..high]`, each number as `write` does it."""
        return f"{write(self.median)} [{write(self.low)}..{write(self.high)}]"


class Program(NamedTuple):
    """A compiled function and its arguments.

    Attributes:
        run: `() -> outputs`, which may not be ready yet.
        compile_seconds: of XLA alone, without tracing.
        temp_bytes: memory it takes besides arguments and outputs; None where XLA does not say.
    """

    run: Callable[[], Any]
    compile_seconds: float
    temp_bytes: int | None


def compiled(function: Callable, *args: Any) -> Program:
    """Compiles `function` for `args` and nothing else."""
    lowered = jax.jit(function).lower(*args)
    start = time.perf_counter()
    program = lowered.compile()
    seconds = time.perf_counter() - start
    analysis = program.memory_analysis()
    temp_bytes = getattr(analysis, "temp_size_in_bytes", None)
    return Program(lambda: program(*args), seconds, temp_bytes)


def in_turn(programs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds per call of each program, `repeats` times: a, b, a, b, and so on.

    A machine that is busy for a while then favours none of them. Each is called once before.
    """
    calls = {name: math.ceil(LEAST_SECONDS / _seconds(run, 1)) for name, run in programs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, run in programs.items():
            seconds[name].append(_seconds(run, calls[name]))
    return seconds


def _seconds(run: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        jax.block_until_ready(run())
    return (time.perf_counter() - start) / calls


def spread(values: Iterable[float]) -> Spread:
    """The median, the smallest and the largest of `values`."""
    values = list(values)
    return Spread(statistics.median(values), min(values), max(values))


def medians(repeats: int) -> str:
    """What the figures of a table are, as the words that its explanation begins with."""
    return "Single measurements" if repeats == 1 else f"Medians of {repeats} measurements"


def rate(count: float, seconds: list[float]) -> Spread:
    """How many a second, where `count` took each of `seconds`."""
    return spread(count / x for x in seconds)


def ratio(slower: list[float], faster: list[float]) -> Spread:
    """How many times faster one program is: of the medians, and the extremes of the pairs."""
    pairs = spread(a / b for a, b in zip(slower, faster, strict=True))
    return pairs._replace(median=statistics.median(slower) / statistics.median(faster))


def short(number: float) -> str:
    """Three digits of a number: 1.23M, 456k, 78.9, 0.12."""
    number = float(f"{number:.3g}")
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def times(number: float) -> str:
    """How many times as much, in two or three digits: 0.97, 1.25, 12.5."""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}"


def machine() -> dict[str, Any]:
    """What the programs run on."""
    first = jax.devices()[0]
    return {
        "platform": first.platform,
        "device": first.device_kind,
        "devices": len(jax.devices()),
        "jax": jax.__version__,
    }


@contextmanager
def on_one_core() -> Iterator[None]:
    """Holds every thread of this process on one core, where the system can (Linux).

    The threads of one CPU device share its matrix products, and would use all cores.
    """
    before: dict[int, set[int]] = {}
    for task in Path("/proc/self/task").glob("*") if hasattr(os, "sched_setaffinity") else ():
        with suppress(OSError):  # A thread that has just ended.
            before[int(task.name)] = os.sched_getaffinity(int(task.name))
    try:
        for thread, cores in before.items():
            with suppress(OSError):
                os.sched_setaffinity(thread, {min(cores)})
        yield
    finally:
        for thread, cores in before.items():
            with suppress(OSError):
                os.sched_setaffinity(thread, cores)


@contextmanager
def without_compilation_cache() -> Iterator[None]:
    """Compiles everything anew, so that the time it takes can be told."""
    before = jax.config.jax_enable_compilation_cache  # pyright: ignore[reportAttributeAccessIssue]
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # JAX asks once whether there is a cache, and remembers.
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
        compilation_cache.reset_cache()
