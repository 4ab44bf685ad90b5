"""Games from outside the repository: a user's own module, or pgx."""

import difflib
import importlib
import math
import operator
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from .base import Game, symmetries, value_range

_METHODS = ("init", "step")
_CONTRACT = ("id", "num_players", "num_actions", "observation_shape", *_METHODS)
FAULTS = (Exception, SystemExit)
"""What a user's module may raise: anything, and it may try to leave."""


def from_module(name: str) -> Game:
    """The game that `name`, `package.module:Class`, leads to.

    What is named may be the class of a game, which is called without arguments, or a game; nothing
    else is called. The module may lie in the current directory.

    Raises:
        ValueError: if importing or calling fails, or if there is no game.
    """
    module, _, attribute = name.partition(":")
    with _current_directory():
        try:
            found: Any = operator.attrgetter(attribute)(importlib.import_module(module))
            is_class = isinstance(found, type) and not _lacks(found, _METHODS)
            game = found() if is_class else found
            missing = _lacks(game, _CONTRACT)
        except FAULTS as error:
            raise ValueError(
                f"no game {name!r}, expected package.module:Class; {_reason(error)}"
            ) from error
    if isinstance(game, type):
        lacks = ", ".join(_lacks(game, _METHODS))
        raise ValueError(f"{name!r} is a class, but of no game: it has no {lacks}")
    if missing:
        raise ValueError(
            f"{name!r} is a {type(game).__name__}, which is neither a game nor the class of one: "
            f"it has no {', '.join(missing)}"
        )
    _try_out(name, game)
    return game


def _lacks(found: Any, parts: Sequence[str]) -> list[str]:
    return [part for part in parts if not hasattr(found, part)]


def _reason(error: BaseException) -> str:
    """What went wrong in the code of others, in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _try_out(name: str, game: Any) -> None:
    """Starts and traces a game that others wrote, so that its faults show here, by its name.

    Raises:
        ValueError: if it cannot be played, or is not what it declares.
    """
    try:
        fault = next(_faults(game), None)
    except FAULTS as error:
        raise ValueError(f"{name!r} cannot be played; {_reason(error)}") from error
    if fault:
        raise ValueError(f"{name!r} {' '.join(fault.split())}")


def _faults(game: Any) -> Iterator[str]:
    """What is wrong with a game, each fault found only once those before it are mended."""
    hash(game)  # What is compiled for a game is kept by the game.
    sizes = [("num_actions", game.num_actions), ("num_players", game.num_players)]
    sizes += [("observation_shape", size) for size in game.observation_shape]
    for part, size in sizes:
        if not (isinstance(size, int | np.integer) and size > 0):
            yield f"declares {part} with {size!r}; a whole number above 0 is needed"
    low, high = map(float, value_range(game))
    if not -math.inf < low < high < math.inf:
        yield f"declares the range of values {low} to {high}; it is empty or has no end"

    state = jax.eval_shape(game.init, jax.eval_shape(lambda: jax.random.key(0)))
    maps, size = symmetries(game), math.prod(game.observation_shape)
    declared = [
        ("observation", state.observation, tuple(game.observation_shape)),
        ("legal_action_mask", state.legal_action_mask, (game.num_actions,)),
        ("rewards", state.rewards, (game.num_players,)),
        ("current_player", state.current_player, ()),
        ("terminated", state.terminated, ()),
        ("truncated", state.truncated, ()),
        ("symmetries.observation", maps.observation, (len(maps.action), size)),
        ("symmetries.action", maps.action, (len(maps.action), game.num_actions)),
    ]
    wrong = [
        f"{part} {found.shape}, not {shape}"
        for part, found, shape in declared
        if found.shape != shape
    ]
    if wrong:
        yield f"has shapes other than declared: {'; '.join(wrong)}"
    if not np.can_cast(state.observation.dtype, np.float64):
        yield f"is observed in numbers of type {state.observation.dtype}; real ones are needed"
    for part in maps._fields:
        rows = np.asarray(getattr(maps, part))
        if not len(rows) or (np.sort(rows) != np.arange(rows.shape[1])).any():
            yield f"declares symmetries.{part} with a row that is no permutation, or without rows"
    after = jax.eval_shape(game.step, state, jax.ShapeDtypeStruct((), "int32"))
    one, other = ([(x.shape, x.dtype) for x in jax.tree.leaves(s)] for s in (state, after))
    if one != other or jax.tree.structure(state) != jax.tree.structure(after):
        yield "changes the shape or type of its state by a move"
    start = jax.jit(game.init)(jax.random.key(0))
    if start.terminated | start.truncated or not start.legal_action_mask.any():
        yield "has ended at its start, or has no legal move there"


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
        f"; the ids of pgx{'' if environments else ' (not installed: pip install pgx)'}"
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
