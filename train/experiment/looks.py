"""How players and axes are drawn, the same in every figure."""

import zlib
from collections.abc import Collection
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

INK = "#333333"
MAX_TICKS = 8


class Look(NamedTuple):
    """How a player is drawn: told apart by colour, and by shape where colours are not seen."""

    color: str
    marker: str
    linestyle: str


# Colours that colour-blind people tell apart (Okabe and Ito, 2008).
LOOKS = {
    "AlphaZero": Look("#0072B2", "o", "-"),
    "MuZero": Look("#D55E00", "s", "--"),
    "MuZero's network, real rules": Look("#009E73", "^", "-."),
}
OTHERS = [
    Look(color, marker, linestyle)
    for linestyle in ("-", ":")
    for color, marker in (
        *(("#CC79A7", "D"), ("#E69F00", "v"), ("#56B4E9", "P")),
        *((INK, "X"), ("#8C6D31", "<"), ("#7570B3", ">")),
    )
]


def looks(labels: Collection[str]) -> dict[str, Look]:
    """The look of each label: a fixed one, or one that follows from its letters.

    Two labels share a look only if there are more of them than looks.
    """
    found = {label: LOOKS[label] for label in labels if label in LOOKS}
    free: list[Look] = []
    for label in sorted(set(labels) - found.keys()):
        free = free or list(OTHERS)
        # Not the next free one: a label keeps its look in a figure that shows other players.
        preferred = OTHERS[zlib.crc32(label.encode()) % len(OTHERS)]
        found[label] = free.pop(free.index(preferred) if preferred in free else 0)
    return found


def tidy(axes: Axes, grid: Literal["x", "both"]) -> None:
    """Drops the lines that carry nothing, and lays a faint grid behind the others."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color="#DDDDDD", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)


def linear(axes: Axes, x: np.ndarray) -> None:
    """An x axis with few numbers, none of them long."""
    whole = bool(np.all(x % 1 == 0))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=whole, min_n_ticks=1 if whole else 2))
    axes.xaxis.set_major_formatter(FuncFormatter(compact))


def logarithmic(axes: Axes, x: np.ndarray) -> None:
    """An x axis on which each doubling is as long; from 0 to 1, if it begins there, as well."""
    least, most = x[x > 0].min(initial=1), x.max(initial=1)
    if zero := bool(x.min(initial=1) <= 0):
        axes.set_xscale("symlog", base=2, linthresh=1, linscale=0.5)
    else:
        axes.set_xscale("log", base=2)
    first = 0 if zero else int(np.floor(np.log2(least)))
    last = max(first + 1, int(np.ceil(np.log2(most))))
    stride = -(-(last - first + 1) // (MAX_TICKS - zero))
    ticks = [2.0**power for power in range(first, last + 1, stride)]
    axes.set_xticks([0.0, *ticks] if zero else ticks)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(plain))


def plain(value: float, _: object = None) -> str:
    """A number without a power of ten."""
    return f"{value:.0f}" if value >= 1 else f"{value:g}"


def compact(value: float, _: object = None) -> str:
    """A number with `k` for thousands and `M` for millions."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * unit or (abs(value) >= unit and unit > 1e3):
            return f"{value / unit:g}{letter}"
    return f"{value:g}"
