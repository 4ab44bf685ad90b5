"""What the command line, and only it, does to its process: devices, compiled programs, Ctrl-C."""

import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import platformdirs

MOST_BYTES = 2**30
"""Of compiled programs; those not used for longest go first."""


def start_jax() -> None:
    """Devices and compiled programs as the command line wants them.

    One device per core, where JAX has not been told otherwise: XLA runs a search on one core.

    Raises:
        ValueError: if the devices that JAX has been told of are not there.
    """
    import jax

    if jax.config.jax_num_cpu_devices < 0:  # pyright: ignore[reportAttributeAccessIssue]
        with suppress(RuntimeError):  # JAX has started, in a notebook say, and keeps what it has.
            affinity = getattr(os, "sched_getaffinity", None)
            cores = len(affinity(0)) if affinity else os.cpu_count()
            jax.config.update("jax_num_cpu_devices", cores or 1)
    _keep_programs()
    sys.unraisablehook = _unraisable
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        asked = jax.config.jax_platforms  # pyright: ignore[reportAttributeAccessIssue]
        why = str(error) or "no such device is here (set JAX_PLATFORMS='' to take what there is)"
        raise ValueError(f"JAX does not start with JAX_PLATFORMS={asked}: {why}") from None


def _unraisable(found: Any) -> None:
    """Says nothing of threads of tensorstore's that outlive a checkpoint that cannot be read."""
    if not (isinstance(found.exc_value, RuntimeError) and "loop is closed" in str(found.exc_value)):
        sys.__unraisablehook__(found)


def _keep_programs() -> None:
    """Keeps compiled programs for the next start; `DUOZERO_CACHE` says where, or `off`."""
    import jax

    folder = os.environ.get("DUOZERO_CACHE") or platformdirs.user_cache_path("duozero") / "programs"
    if folder == "off" or jax.config.jax_compilation_cache_dir:  # pyright: ignore
        return
    with suppress(OSError):  # A home that cannot be written to only costs time.
        # A program compiled for one processor may not run on another that shares the home.
        folder = Path(folder) / platform.node()
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            return
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
        jax.config.update("jax_compilation_cache_max_size", MOST_BYTES)


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
