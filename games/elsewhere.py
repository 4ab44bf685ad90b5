"""Games from outside the repository: a user's own module, or pgx."""

import difflib
import importlib
import operator
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .base import Game

_CONTRACT = ("id", "num_players", "num_actions", "observation_shape", "init", "step")


def from_module(name: str) -> Game:
    """The game that `name`, `package.module:Class`, leads to.

    What is named may be a class, another callable without arguments, or a game. The module may
    lie in the current directory.

    Raises:
        ValueError: if importing or calling fails, or if the outcome is not a game.
    """
    module, _, attribute = name.partition(":")
    with _current_directory():
        try:
            found = operator.attrgetter(attribute)(importlib.import_module(module))
            game: Any = found() if callable(found) else found
        except Exception as error:
            # The module is the user's, so anything may be raised; the cause stays attached.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(
                f"no game {name!r}, expected package.module:Class; {reason}"
            ) from error
    if missing := [part for part in _CONTRACT if not hasattr(game, part)]:
        raise ValueError(
            f"{name!r} gives a {type(game).__name__}, which is not a game: "
            f"it has no {', '.join(missing)}"
        )
    return game


def from_pgx(name: str, known: Sequence[str]) -> Game:
    """The environment of pgx called `name`.

    Raises:
        ValueError: if pgx has none or is not installed; names the nearest of its and `known`.
    """
    try:
        import pgx  # type: ignore[import-not-found]
    except ImportError:
        environments = ()
    else:
        environments = pgx.available_envs()
        if name in environments:
            return pgx.make(name)
    near = difflib.get_close_matches(name.lower(), [*known, *environments], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise ValueError(
        f"unknown game {name!r}{hint} known: {', '.join(known)}; "
        "of any size: gomoku_WxH_N, race_to_T_M; your own: package.module:Class"
        f"; the ids of pgx{'' if environments else ' (not installed)'}"
    )


@contextmanager
def _current_directory() -> Iterator[None]:
    """Lets imports find modules of the current directory, which console scripts do not search."""
    importlib.invalidate_caches()
    path = os.getcwd()
    sys.path.insert(0, path)
    try:
        yield
    finally:
        if path in sys.path:
            sys.path.remove(path)
