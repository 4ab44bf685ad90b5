"""A picture of a search tree, as an SVG."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from ..games.base import Game, value_range
from .tree import Tree
from .variation import Move, clean, counted, moves_after, of_game, root_move, signed, written

SLOT, LEVEL = 80, 124  # Pixels from the centre of a box to the next beside it and below it.
BOX_WIDTH, BOX_HEIGHT, LINE = 72, 76, 13
HEADER, MARGIN, NAME_LENGTH = 84, 12, 10
RED, WHITE, BLUE = (239, 138, 98), (255, 255, 255), (103, 169, 207)
INK, GREY = "#222222", "#a8adb4"


def svg(game: Game, tree: Tree | None, index: int, max_depth: int = 3, max_width: int = 4) -> str:
    """A picture of the tree of game `index`, an SVG that needs no other file.

    All values are for the player to move at the root, whoever makes the move.

    Args:
        game: how moves are written.
        tree: of a batch of games.
        index: which game of the batch.
        max_depth: levels of moves to draw.
        max_width: moves to draw at each node, the most visited ones.

    Raises:
        ValueError: if there is nothing to draw.
    """
    if max_depth < 1 or max_width < 1:
        raise ValueError(f"max_depth {max_depth} and max_width {max_width} must be at least 1")
    boxes = list(_walk(_layout(of_game(tree, index), max_depth, max_width)))
    width = max(SLOT * (1 + max(box.x for box in boxes)) + 2 * MARGIN, 620)
    height = HEADER + LEVEL * max(box.depth for box in boxes) + BOX_HEIGHT + MARGIN
    edges = [(box, child) for box in boxes for child in box.children]
    edges.sort(key=lambda edge: edge[1].is_main)  # The line that is highlighted lies on top.
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" font-family="sans-serif" font-size="11" '
        f'fill="{INK}">',
        '<rect width="100%" height="100%" fill="white"/>',
        _header(game, boxes[0].move),
        *(_draw_edge(parent, child) for parent, child in edges),
        *(_draw_box(game, box) for box in boxes),
        "</svg>\n",
    ]
    # Plain ASCII can be written to a file in whatever encoding a machine prefers.
    return "\n".join(parts).encode("ascii", "xmlcharrefreplace").decode()


class _Box(NamedTuple):
    """A node with its place in the picture.

    Attributes:
        move: what leads to it.
        x: centre, in slots from the left.
        depth: moves from the root.
        share: of the root's visits, in [0, 1].
        is_main: whether it lies on the principal variation.
        num_hidden: moves tried from here that are not drawn.
        children: from left to right.
    """

    move: Move
    x: float
    depth: int
    share: float
    is_main: bool
    num_hidden: int
    children: list["_Box"]

    @property
    def centre(self) -> float:
        """In pixels."""
        return MARGIN + SLOT * (self.x + 0.5)

    @property
    def top(self) -> float:
        """In pixels."""
        return HEADER + LEVEL * self.depth


def _layout(tree: Tree, max_depth: int, max_width: int) -> _Box:
    """Gives each leaf a slot of its own, and centres every other box above its children."""
    slots, root = itertools.count(), root_move(tree)

    def place(move: Move, depth: int, is_main: bool) -> _Box:
        tried = moves_after(tree, move)
        shown = tried[:max_width] if depth < max_depth else []
        children = [
            place(found, depth + 1, is_main and rank == 0) for rank, found in enumerate(shown)
        ]
        x = (children[0].x + children[-1].x) / 2 if children else float(next(slots))
        share = move.visits / root.visits
        return _Box(move, x, depth, share, is_main, len(tried) - len(shown), children)

    return place(root, 0, True)


def _walk(box: _Box) -> Iterator[_Box]:
    yield box
    for child in box.children:
        yield from _walk(child)


def _header(game: Game, root: Move) -> str:
    """What is drawn, and how it is to be read."""
    lines = [
        f"{clean(game.id)}, {counted(root.visits)}",
        "values for the player to move at the root: the better the bluer, the worse the redder",
        "thick: many visits; black: the principal variation; +n more: tried, but not drawn",
        "round boxes: moves of the player to move at the root; square: of the opponent",
    ][: 3 if game.num_players == 1 else 4]
    return "".join(
        f'<text x="{MARGIN}" y="{18 + 15 * row}">{escape(text)}</text>'
        for row, text in enumerate(lines)
    )


def _draw_edge(parent: _Box, child: _Box) -> str:
    start, end = parent.top + BOX_HEIGHT, child.top
    middle = (start + end) / 2
    curve = (
        f"M{parent.centre:.1f} {start} C{parent.centre:.1f} {middle} "
        f"{child.centre:.1f} {middle} {child.centre:.1f} {end}"
    )
    colour = INK if child.is_main else GREY
    width = 1 + 9 * child.share
    return f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"/>'


def _draw_box(game: Game, box: _Box) -> str:
    move, is_root = box.move, box.depth == 0
    name = "root" if is_root else written(game, move.action)
    short = name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"
    more = "game over" if move.ended else f"+{box.num_hidden} more" if box.num_hidden else ""
    prior = "" if is_root else f"prior {move.prior:.0%}"
    lines = [counted(move.visits), signed(move.value), prior, more]
    lines = [line for line in lines if line]
    facts = ", ".join([*lines, f"node {move.node}"])
    stroke = f'stroke="{INK}" stroke-width="2.5"' if box.is_main else f'stroke="{GREY}"'
    left, baseline = box.centre - BOX_WIDTH / 2, box.top + 16
    rows = [f'<text x="{box.centre:.1f}" y="{baseline}" font-weight="bold">{escape(short)}</text>']
    rows += [
        f'<text x="{box.centre:.1f}" y="{baseline + LINE * row}">{escape(text)}</text>'
        for row, text in enumerate(lines, 1)
    ]
    return (
        f'<g text-anchor="middle"><title>{escape(f"{name}: {facts}")}</title>'
        f'<rect x="{left:.1f}" y="{box.top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" '
        f'rx="{12 if move.mover > 0 else 0}" fill="{_colour(game, move.value)}" {stroke}/>'
        f"{''.join(rows)}</g>"
    )


def _colour(game: Game, value: float) -> str:
    """Red to white to blue over the range of values that the game declares."""
    low, high = value_range(game)
    share = float(np.nan_to_num(np.clip((2 * value - low - high) / (high - low), -1, 1)))
    far = BLUE if share > 0 else RED
    mixed = (round(w + abs(share) * (f - w)) for w, f in zip(WHITE, far, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
