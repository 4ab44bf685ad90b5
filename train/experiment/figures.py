"""Figures of measurements: curves with their bands, and ratings; and how a figure is stored."""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from ..folder import write
from .looks import INK, LOOKS, Look, linear, logarithmic, looks, tidy

NUM_PER_ROW = 3
MAX_MARKERS = 30
EMPTY = "nothing was measured"


class Line(NamedTuple):
    """What was measured of one player, all `[N]`; a NaN in `y` is a gap."""

    label: str
    x: np.ndarray  # Ascending.
    y: np.ndarray
    low: np.ndarray | None = None  # The band of 95 %.
    high: np.ndarray | None = None


class Panel(NamedTuple):
    """One diagram; with `share`, `y` is a part of 1 and shown in percent."""

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    log_x: bool = False
    share: bool = False


def curves(panels: Sequence[Panel]) -> Figure:
    """Panels in rows of three (four in two), each line with its band; one legend for all."""
    if not panels:
        return nothing()
    num_columns = 2 if len(panels) == 4 else min(len(panels), NUM_PER_ROW)
    num_rows = -(-len(panels) // num_columns)
    width, height = (6.4, 3.8) if num_columns == 1 else (4.2 * num_columns, 3.2 * num_rows)
    figure = Figure((width, height + 0.4))
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)
    grid = list(figure.subplots(num_rows, num_columns, squeeze=False).flat)
    for axes in grid[len(panels) :]:
        axes.remove()
    styles = looks([line.label for panel in panels for line in panel.lines])
    handles: dict[str, Line2D] = {}
    for axes, panel in zip(grid, panels, strict=False):
        _prepare(axes, panel, 60 if num_columns == 1 else 40)
        for line in panel.lines:
            handles.setdefault(line.label, _draw(axes, line, styles[line.label]))
        _focus(axes, panel)
    _legend(figure, handles, width)
    return figure


def ratings(
    names: Sequence[str],
    values: np.ndarray,
    low: np.ndarray | None,
    high: np.ndarray | None,
    x_label: str,
) -> Figure:
    """A dot for each player, with a whisker over its interval; the best on top."""
    if not names:
        return nothing()
    figure = Figure((7.0, 0.36 * len(names) + 0.9), layout="constrained")
    axes = figure.subplots()
    tidy(axes, grid="x")
    order = [int(index) for index in np.argsort(-np.asarray(values), kind="stable")]
    for place, index in enumerate(order):
        color = LOOKS[names[index]].color if names[index] in LOOKS else INK
        if low is not None and high is not None:
            axes.plot([low[index], high[index]], [place, place], color=color, linewidth=2)
        axes.plot(values[index], place, "o", color=color, markersize=7)
    axes.set_yticks(range(len(names)), [textwrap.fill(names[index], 44) for index in order])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(x_label)
    return figure


def nothing() -> Figure:
    """A figure that says that it is empty."""
    figure = Figure((4.0, 1.0))
    figure.text(0.5, 0.5, EMPTY, ha="center", va="center", color=INK)
    return figure


def save(figure: Figure, directory: Path, name: str) -> None:
    """Writes `figures/NAME.png` and `figures/NAME.svg`; the same figure gives the same bytes.

    Closes the figure: it is empty then.
    """
    folder = directory / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    unsaid = {"png": ("Software",), "svg": ("Creator", "Date", "Format", "Type")}
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        for kind, keys in unsaid.items():
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=150, metadata=dict.fromkeys(keys))
            write(folder / f"{name}.{kind}", file.getvalue())
    figure.clear()


def _prepare(axes: Axes, panel: Panel, letters: int) -> None:
    """The titles and scales of a panel as wide as so many letters."""
    tidy(axes, grid="both")
    axes.set_title(textwrap.fill(panel.title, letters), fontsize=11)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    x = np.concatenate([np.zeros(0), *(line.x for line in panel.lines)])
    if not x.size:
        axes.text(0.5, 0.5, EMPTY, ha="center", va="center", color=INK)
        axes.set(xticks=[], yticks=[])
        return
    (logarithmic if panel.log_x else linear)(axes, x)
    if panel.share:
        axes.yaxis.set_major_formatter(PercentFormatter(1))


def _draw(axes: Axes, line: Line, look: Look) -> Line2D:
    """Draws a line with its band; returns what stands for it in a legend."""
    seen = np.isfinite(np.asarray(line.y, float))
    around = np.concatenate([[False], seen, [False]])
    alone = seen & ~around[:-2] & ~around[2:]
    if line.low is not None and line.high is not None:
        axes.fill_between(
            *(line.x, line.low, line.high), where=seen, color=look.color, alpha=0.18, linewidth=0
        )
        # A band has no width at a point without neighbours.
        axes.vlines(line.x[alone], line.low[alone], line.high[alone], look.color, alpha=0.5)
    stride = -(-len(seen) // MAX_MARKERS) or 1
    (handle,) = axes.plot(
        line.x,
        line.y,
        color=look.color,
        marker=look.marker,
        linestyle=look.linestyle,
        linewidth=1.6,
        markersize=5,
        markevery=alone | (np.arange(len(seen)) % stride == 0),
        label=line.label,
    )
    return handle


def _focus(axes: Axes, panel: Panel) -> None:
    """Cuts bands that are so wide that the lines would lie flat beside them."""
    y = _finite([line.y for line in panel.lines])
    if not y.size or not np.ptp(y):
        return
    bands = [band for line in panel.lines for band in (line.low, line.high) if band is not None]
    most = max(np.ptp(y), 0.05)  # Or of lines that all but coincide only a band would be seen.
    around = np.clip(_finite([y, *bands]), y.min() - most, y.max() + most)
    margin = 0.05 * np.ptp(around)
    axes.set_ylim(around.min() - margin, around.max() + margin)


def _finite(values: list[np.ndarray]) -> np.ndarray:
    """All of them in one row, without gaps."""
    together = np.concatenate([np.zeros(0), *(np.asarray(x, float) for x in values)])
    return together[np.isfinite(together)]


def _legend(figure: Figure, handles: dict[str, Line2D], width: float) -> None:
    """One legend below all panels, in as many columns as fit into `width` inches."""
    if not handles:
        return
    widths = [0.075 * len(label) + 0.75 for label in handles]
    figure.legend(
        handles=list(handles.values()),
        ncols=len(widths) if sum(widths) <= width else max(1, int(width / max(widths))),
        loc="outside lower center",  # pyright: ignore[reportArgumentType]
        frameon=False,
        fontsize=9,
        handlelength=3,
    )
