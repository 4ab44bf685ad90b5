"""What games on a rectangular board share: symmetries, lines, coordinates and pictures."""

import jax.numpy as jnp
import numpy as np

from .base import Array, Symmetries


def symmetries(height: int, width: int, num_planes: int) -> Symmetries:
    """Rotations and reflections, for games where action `a` is cell `a` (row-major).

    Eight of them on a square, four on any other rectangle. Observations are
    `[height, width, num_planes]`.
    """
    cells = np.arange(height * width, dtype=np.int32).reshape(height, width)
    turned = [cells, cells[::-1, ::-1]]
    if height == width:
        turned += [np.rot90(cells), np.rot90(cells, 3)]
    images = np.stack([image.ravel() for t in turned for image in (t, t[:, ::-1])])
    return Symmetries(planes(images, num_planes), np.argsort(images, axis=1).astype(np.int32))


def planes(images: np.ndarray, num_planes: int) -> np.ndarray:
    """Extends maps of cells `[S, H * W]` to maps of flat `[H, W, num_planes]` observations."""
    index = images[:, :, None] * num_planes + np.arange(num_planes)
    return index.reshape(len(images), -1).astype(np.int32)


def stones(board: Array, colour: Array) -> Array:
    """Planes `[..., 2]` bool: own stones, the other's, for the `colour` (0 or 1) to move."""
    return jnp.stack([board == colour, board == 1 - colour], axis=-1)


def completes_line(own: Array, row: Array, column: Array, length: int) -> Array:
    """Whether the stone just placed at `row, column` stands in a line of `length` or more.

    Looks only at the `4 * (2 * length - 1)` cells around it. `own` is `[height, width]` bool.
    """
    height, width = own.shape
    # The margin on the right serves as the next row's margin on the left as well, so that each
    # direction is one constant stride through the flat board and no line runs round an edge.
    margin = length - 1
    stride = width + margin
    flat = jnp.pad(own, ((length, margin), (0, margin))).ravel()
    steps = np.array([1, stride - 1, stride, stride + 1])
    offsets = steps[:, None] * np.arange(-margin, length)
    lines = flat[(row + length) * stride + column + offsets.astype(np.int32)]
    runs = [lines[:, start : start + length] for start in range(length)]
    return jnp.stack([run.all(axis=1) for run in runs]).any()


def cell_to_string(cell: int, height: int, width: int) -> str:
    """Column letter and row number counted from the bottom: `a1` is the lower left."""
    row, column = divmod(int(cell), width)
    return f"{chr(ord('a') + column)}{height - row}"


def picture(board: np.ndarray, rows: bool, last: int = -1) -> str:
    """Draws `[height, width]` cells (-1 empty, 0 `X`, 1 `O`); the last move in brackets.

    With `rows` the columns have letters and the rows numbers; else the columns are numbered.
    """
    height, width = board.shape
    marks = np.array(["X", "O", "."])[np.asarray(board, int)]
    lines = []
    for row in range(height):
        label = f"{height - row:>2}" if rows else "  "
        cells = (
            f"[{m}]" if last == row * width + column else f" {m} "
            for column, m in enumerate(marks[row])
        )
        lines.append(label + " " + "".join(cells).rstrip())
    names = (chr(ord("a") + c) if rows else str(c + 1) for c in range(width))
    return "\n".join([*lines, "   " + "".join(f" {n:<2}" for n in names).rstrip()])
