"""Positions drawn as boards, with what a search thinks of each cell."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.patheffects import withStroke

from .figures import nothing
from .looks import INK

SHARE_COLOR, O_COLOR = "#0072B2", "#D55E00"
LABEL_WIDTH = 1.5
"""Inches for the labels of the rows."""
MIN_SIDE, MAX_SIDE, CELL = 2.1, 5.0, 0.42
"""Inches of a board's longer side, and of a cell where the side allows."""
GAP = 0.45
"""Inches between boards: room for the numbers of the rows."""
TITLE_SIZE, TEXT_SIZE = 9.0, 7.5
LEADING = 1.3 / 72
"""Inches from line to line, for each point of the size."""


class Board(NamedTuple):
    """A position; row 0 is the top."""

    height: int
    width: int
    stones: np.ndarray  # `[height, width]`: -1 empty, 0 X, 1 O.
    cells: Mapping[tuple[int, int], tuple[float, str]] = {}
    """Of a row and column the share that colours it, from 0 to 1, and the text in it."""
    title: str = ""
    lines: Sequence[str] = ()
    """Text below the board."""
    drops: bool = False
    """Moves are columns, numbered from 1, not cells."""


def boards(rows: Sequence[tuple[str, Sequence[Board]]]) -> Figure:
    """Rows of boards, each with a label at its left."""
    rows = [(label, row) for label, row in rows if row]
    if not rows:
        return nothing()
    num_columns = max(len(row) for _, row in rows)
    lefts = [(LABEL_WIDTH if any(label for label, _ in rows) else 0) + GAP]
    for column in range(num_columns):
        widest = max(_slot(row[column]) for _, row in rows if column < len(row))
        lefts.append(lefts[-1] + widest + GAP)
    bands = [[max(parts) for parts in zip(*map(_heights, row), strict=True)] for _, row in rows]
    width, height = lefts[-1], sum(map(sum, bands)) + 0.1
    figure, top = Figure((width, height)), height - 0.05
    for (label, row), (above, side, below) in zip(rows, bands, strict=True):
        y = (top - above - side / 2) / height
        text = textwrap.fill(label, 17)
        figure.text(0.08 / width, y, text, va="center", fontsize=10, color=INK, weight="bold")
        for left, board in zip(lefts, row, strict=False):
            cell = _cell(board)
            size = np.array([board.width * cell, board.height * cell])
            corner = np.array([left, top - above - size[1]])
            inches = np.array([width, height])
            _draw(figure.add_axes((*(corner / inches), *(size / inches))), board, cell)
        top -= above + side + below
    return figure


def _cell(board: Board) -> float:
    """Inches of a cell."""
    longest = max(board.height, board.width)
    return min(max(CELL * longest, MIN_SIDE), MAX_SIDE) / longest


def _slot(board: Board) -> float:
    """Inches of a board's column: a narrow board has room for its text."""
    return max(board.width * _cell(board), MIN_SIDE)


def _heights(board: Board) -> tuple[float, float, float]:
    """Inches of what stands above a board, of the board, and of what stands below."""
    above = (_title(board).count("\n") + 1) * TITLE_SIZE * LEADING + 0.1
    text = _text(board)
    below = (text.count("\n") + 1) * TEXT_SIZE * LEADING if text else 0
    return above, board.height * _cell(board), below + 0.45


def _title(board: Board) -> str:
    return textwrap.fill(board.title, int(_slot(board) * 72 / (0.58 * TITLE_SIZE)))


def _text(board: Board) -> str:
    """The lines below a board, wrapped to its width; a monospaced letter is 0.6 as wide as high."""
    width = int(_slot(board) * 72 / (0.603 * TEXT_SIZE))
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in board.lines)


def _draw(axes: Axes, board: Board, cell: float) -> None:
    """The grid, the stones and the marked cells, with the text around them."""
    axes.set_xlim(-0.5, board.width - 0.5)
    axes.set_ylim(board.height - 0.5, -0.5)
    columns = range(board.width)
    names = [str(column + 1) if board.drops else chr(ord("a") + column) for column in columns]
    rows = [] if board.drops else range(board.height)
    axes.set_xticks(columns, names)
    axes.set_yticks(rows, [str(board.height - row) for row in rows])
    axes.tick_params(length=0, labelsize=8, labelcolor="#666666", pad=2)
    axes.vlines(np.arange(1, board.width) - 0.5, -0.5, board.height - 0.5, "#BBBBBB", linewidth=0.7)
    axes.hlines(np.arange(1, board.height) - 0.5, -0.5, board.width - 0.5, "#BBBBBB", linewidth=0.7)
    for (row, column), (share, _) in board.cells.items():
        square = Rectangle((column - 0.5, row - 0.5), 1, 1, color=SHARE_COLOR, linewidth=0)
        square.set_alpha(min(share, 1) if share > 0 else 0)  # NaN is 0.
        axes.add_patch(square)
    for row, column in np.argwhere(np.asarray(board.stones) >= 0):
        _stone(axes, row, column, int(board.stones[row][column]), cell)
    for (row, column), (share, text) in board.cells.items():
        _write(axes, board, row, column, share, text, cell)
    _around(axes, _title(board), 1, 4, va="bottom", fontsize=TITLE_SIZE)
    _around(
        *(axes, _text(board), 0, -17),
        va="top",
        fontsize=TEXT_SIZE,
        family="monospace",
        linespacing=1.2,
    )


def _around(axes: Axes, text: str, height: float, offset: float, **style: Any) -> None:
    """Text that begins where the board does, `offset` points above its bottom (0) or top (1)."""
    axes.annotate(
        *(text, (0, height), (0, offset)),
        xycoords="axes fraction",
        textcoords="offset points",
        color=INK,
        **style,
    )


def _stone(axes: Axes, row: int, column: int, player: int, cell: float) -> None:
    """A cross or a ring, with lines as thick as the cell can bear."""
    width = cell * 72 * 0.1
    if player == 1:
        ring = Circle((column, row), 0.29, fill=False, edgecolor=O_COLOR, linewidth=width)
        axes.add_patch(ring)
        return
    for slope in (-1, 1):
        ends = ([column - 0.27, column + 0.27], [row - 0.27 * slope, row + 0.27 * slope])
        axes.plot(*ends, color=INK, linewidth=width, solid_capstyle="round")


def _write(
    axes: Axes, board: Board, row: int, column: int, share: float, text: str, cell: float
) -> None:
    """Text in a cell, as large as fits; small at the lower edge where a stone stands."""
    taken = board.stones[row][column] >= 0
    color = "white" if share > 0.85 and not taken else "black"
    axes.text(
        column,
        row + (0.46 if taken else 0),
        text,
        ha="center",
        va="bottom" if taken else "center_baseline",
        fontsize=min(11, cell * 72 * min(0.34, 1.4 / max(len(text), 1)) * (0.7 if taken else 1)),
        color=color,
        path_effects=[withStroke(linewidth=2, foreground="white")] if taken else [],
    )
