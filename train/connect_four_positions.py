"""Positions of Connect Four with the true score of every move, kept in the folder of a run."""

import functools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..games.connect_four import ConnectFour, ConnectFourState
from . import folder
from .connect_four_oracle import KINDS, MAX_MOVES, NUM_COLUMNS, STAGES, Position, Solver, kind_of

NAME = "oracle_positions.json"
NUM_PER_KIND = 100
SEED = 0


def replay(game: ConnectFour, positions: Sequence[str]) -> ConnectFourState:
    """The states `[N, ...]` after these moves; ended, too, where a move breaks the rules."""
    actions = np.zeros((len(positions), MAX_MOVES), np.int32)
    for row, moves in zip(actions, positions, strict=True):
        row[: len(moves)] = [int(column) - 1 for column in moves]
    return _replayer(game)(actions, np.array([len(moves) for moves in positions], np.int32))


@functools.lru_cache(maxsize=8)
def _replayer(game: ConnectFour) -> Any:
    def one(actions, length):
        start = game.init(jax.random.key(0))
        move = lambda ply, state: game.step(state, actions[ply])  # noqa: E731
        return jax.lax.fori_loop(0, length, move, start)

    return jax.jit(jax.vmap(one))


def sample(game: ConnectFour, solver: Solver, num_per_kind: int = NUM_PER_KIND) -> list[Position]:
    """The same positions every time, `num_per_kind` of each kind, in the order of `KINDS`.

    They come from uniformly random moves, to a ply drawn uniformly within a stage, and are
    undecided, with two or more legal moves, of which some lose game value and some do not. None
    is another one again, or its mirror image.
    """
    rng = random.Random(SEED)
    found: dict[tuple[str, str], list[Position]] = {kind: [] for kind in KINDS}
    seen: set[bytes] = set()
    for stage, plies in STAGES.items():
        mine = [kind for kind in KINDS if kind[0] == stage]
        while any(len(found[kind]) < num_per_kind for kind in mine):
            drawn = [random_moves(rng, rng.choice(plies)) for _ in range(256)]
            for moves in fresh(game, drawn, seen):
                kind = kind_of(moves, solver.value(moves))
                if len(found[kind]) < num_per_kind:
                    position = Position(moves, solver.scores(moves))
                    found[kind] += [position] if position.telling else []
    return [position for positions in found.values() for position in positions]


def random_moves(rng: random.Random, num_moves: int) -> str:
    """Columns that are not full, uniformly; whether somebody wins on the way is not looked at."""
    moves = ""
    for _ in range(num_moves):
        moves += rng.choice([c for c in "1234567" if moves.count(c) < 6])
    return moves


def key_of(board: np.ndarray) -> bytes:
    """The same for a board `[6, 7]` and its mirror image."""
    return min(board.tobytes(), board[:, ::-1].tobytes())


def fresh(game: ConnectFour, drawn: list[str], seen: set[bytes]) -> list[str]:
    """Those that are undecided, offer a choice and were not `seen`, nor their mirror images."""
    state = replay(game, drawn)
    choice = np.asarray(state.legal_action_mask).sum(axis=1) > 1
    fresh = []
    for moves, board, fits in zip(
        drawn, np.asarray(state.board), choice & ~np.asarray(state.terminated), strict=True
    ):
        key = key_of(board)
        if fits and key not in seen:
            seen.add(key)
            fresh.append(moves)
    return fresh


def of_run(game: ConnectFour, directory: Path) -> list[Position]:
    """The positions that a run is held against: those in its folder, or solved and kept there.

    Empty where neither they nor the solver are there.

    Raises:
        ValueError: if the file is damaged.
        OSError: if they cannot be kept.
    """
    positions = read(game, directory)
    if positions is None:
        try:
            solver = Solver()
        except ValueError:
            return []
        positions = sample(game, solver)
        write(directory, positions, solver.name)
    return positions


def write(directory: Path, positions: list[Position], solver: str) -> None:
    """Keeps positions for the next evaluation, and for whoever wants to check them."""
    head = {
        "game": ConnectFour.id,
        "solver": solver,
        "moves": "columns 1 to 7, in the order played",
        "scores": "of columns 1 to 7 for the player to move, null where full: 0 a draw, above 0 a "
        "win, below 0 a loss; the size is 22 minus the stones the winner will have played",
    }
    rows = [
        dict(zip(("stage", "difficulty"), p.kind, strict=True)) | p._asdict() for p in positions
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1).removesuffix("\n}")
    folder.write(directory / NAME, f'{text},\n "positions": [\n{lines}\n]\n}}\n')


def read(game: ConnectFour, directory: Path) -> list[Position] | None:
    """The positions kept in a run folder; None where there are none.

    Raises:
        ValueError: if the file is damaged, or holds something else.
    """
    path = directory / NAME
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_text())
        rows = data["positions"]
        positions = [Position(row["moves"], tuple(row["scores"])) for row in rows]
        kinds = [(row["stage"], row["difficulty"]) for row in rows]
        sound = (
            bool(positions)
            and all(map(_well_formed, positions))
            and [p.kind for p in positions] == kinds
            and _legal(game, positions)
        )
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError):
        sound, positions = False, []
    if not sound:
        raise ValueError(
            f"{path} does not hold positions of connect_four with their scores; "
            "without that file, they are solved anew"
        )
    return positions


def _well_formed(position: Position) -> bool:
    moves, scores = position
    return (
        isinstance(moves, str)
        and set(moves) <= set("1234567")
        and len(scores) == NUM_COLUMNS
        and all(score is None or (type(score) is int and abs(score) < 22) for score in scores)
        and position.telling
    )


def _legal(game: ConnectFour, positions: list[Position]) -> bool:
    """Whether the rules lead to all of these, and allow just the moves that have a score."""
    state = replay(game, [position.moves for position in positions])
    known = np.array([[score is not None for score in p.scores] for p in positions])
    return bool((~state.terminated).all()) and (known == np.asarray(state.legal_action_mask)).all()
