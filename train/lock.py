"""Folders that one process at a time writes into. Does not import JAX."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import filelock

from . import folder

NAME = ".lock"


@contextlib.contextmanager
def entered(directory: Path, name: str, settings: str) -> Iterator[None]:
    """Creates a folder, with the settings in it, where there is none; keeps others out meanwhile.

    The lock is the operating system's: what dies lets go of it. Its file stays, and says nothing.

    Raises:
        OSError: if somebody else is in there; nothing has been written then.
    """
    if not directory.exists():
        folder.begin(directory, name, settings)
    lock = filelock.FileLock(directory / NAME)
    try:
        with contextlib.suppress(NotImplementedError):  # A file system that has no locks.
            lock.acquire(timeout=0)
    except filelock.Timeout:
        raise OSError(f"another process is at work in {directory}; nothing was changed") from None
    try:
        yield
    finally:
        lock.release()
