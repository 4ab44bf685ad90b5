"""What the command line, and only it, does to its process: devices and Ctrl-C."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def start_devices() -> None:
    """One device per core, where JAX has not been told otherwise: XLA runs a search on one core."""
    import jax

    if jax.config.jax_num_cpu_devices < 0:  # pyright: ignore[reportAttributeAccessIssue]
        with suppress(RuntimeError):  # JAX has started, in a notebook say, and keeps what it has.
            affinity = getattr(os, "sched_getaffinity", None)
            cores = len(affinity(0)) if affinity else os.cpu_count()
            jax.config.update("jax_num_cpu_devices", cores or 1)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Turns the first Ctrl-C into a wish to stop; a second one ends at once."""
    wishes = []

    def wish(signum, frame):
        if wishes:
            raise KeyboardInterrupt
        wishes.append(signum)
        print("\nfinishing this round, then saving; Ctrl-C again ends at once", file=sys.stderr)

    before = signal.signal(signal.SIGINT, wish)
    try:
        yield lambda: bool(wishes)
    finally:
        signal.signal(signal.SIGINT, before)
