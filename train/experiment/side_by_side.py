"""The chapter of a report that shows positions in which the planners disagree."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from . import boards, figures
from .boards import Board
from .findings import Results
from .page import Block, Picture, Rows, Text


def sides(results: Results, directory: Path) -> list[Block]:
    found = results["sides"]
    blocks: list[Block] = [
        Text(
            f"The networks of seed {found['seed']} move differently in {found['differ']:,} of "
            f"{found['what']}."
        )
    ]
    numbered = list(enumerate(found["positions"], 1))
    drawn = [(n, p) for n, p in numbered if p["stones"] is not None]
    if drawn:
        figure = boards.boards([(f"{n}: {p['to_move']} to move", _boards(p)) for n, p in drawn])
        figures.save(figure, directory, "sides")
        caption = (
            "Shares of the root's visits in percent, and beside them what each move is truly worth "
            "for the player to move, where that is known. Of moves with equally many visits, prior "
            "and value decide."
        )
        blocks.append(Picture("sides", caption))
    blocks += [
        Text(f"{number}: {' / '.join(p['text'].split(chr(10)))}")
        for number, p in numbered
        if p["stones"] is None and p["text"]
    ]
    rows = [["position", "planner", "plays", "value", "line"]]
    for number, position in numbered:
        for view in position["views"]:
            true = position["truth"].get(view["move"])
            move = view["move"] if true is None else f"{view['move']} (truly {true:+z.3g})"
            rows.append([str(number), view["name"], move, f"{view['value']:+.2f}", view["line"]])
    if not found["positions"]:
        return blocks
    words = (
        "Value: of the position after the search. Line: the most visited moves, each with its "
        "visits and its mean value. All are for the player to move at the root."
    )
    return [*blocks, Rows(rows), Text(words)]


def _boards(position: dict[str, Any]) -> list[Board]:
    """One for each planner, and one with the truth."""
    stones = np.array(position["stones"])
    height, width = stones.shape
    moves = [move for view in position["views"] for move in view["visits"]]
    drops = all(move.isdigit() for move in moves)
    found = []
    for view in position["views"]:
        cells = {
            at: (share, f"{100 * share:.0f}")
            for move, share in view["visits"].items()
            if (at := _cell(move, stones)) is not None
        }
        title = f"{view['name']}: {view['move']}, {view['value']:+.2f}"
        found.append(Board(height, width, stones, cells, title, drops=drops))
    if position["truth"]:
        cells = {
            at: ((value + 1) / 2, f"{value:+.3g}" if value else "0")
            for move, value in position["truth"].items()
            if (at := _cell(move, stones)) is not None
        }
        found.append(Board(height, width, stones, cells, "true values", drops=drops))
    return found


def _cell(move: str, stones: np.ndarray) -> tuple[int, int] | None:
    """Where a move puts its stone: `a1` is the lower left cell, `4` drops into a column."""
    height, width = stones.shape
    if move.isdigit():
        column = int(move) - 1
        free = np.flatnonzero(stones[:, column] < 0) if 0 <= column < width else []
        return (int(free[-1]), column) if len(free) else None
    if not re.fullmatch(r"[a-z]\d{1,3}", move):
        return None
    row, column = height - int(move[1:]), ord(move[0]) - ord("a")
    return (row, column) if 0 <= row < height and 0 <= column < width else None
