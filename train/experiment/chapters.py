"""The chapters of a report whose figures are curves."""

from pathlib import Path
from typing import Any

import numpy as np

from . import figures
from .curves import BUDGETS
from .figures import Line, Panel
from .findings import Results, percent, points, verdict, weaker
from .intervals import Estimate
from .measuring import ALONE, SEARCH
from .numbers import as_estimate
from .page import Block, Picture, Rows, Text

ERRORS = {
    "value": "value against the truth",
    "searched_value": "value after a search against the truth",
    "value_to_network": "value against the network's of the real position",
    "policy": "policy, KL in nats",
    "illegal": "policy on illegal moves, share",
    "reward": "reward",
    "end": "end, probability of error",
    "turn": "whose turn, probability of error",
    "embedding": "embedding, relative distance",
}
EXPLAIN = (
    "Values and rewards lie between -1 and 1, and their errors are mean absolute differences. "
    "Policy: the divergence from the network's policy of the real position, and mass on illegal "
    "moves. Embedding: the distance of the unrolled embedding to that of the real position as a "
    "share of its length, so with 1 it is no nearer than nothing."
)


def players(results: Results) -> list[list[str]]:
    """A row for each way to play."""
    found = results["strength"]
    lines = any("lines" in row for row in found["players"])
    head = ["", "score against the ladder"]
    head += ["keeps the game value"] if found["measure"] == "kept" else []
    head += ["lost lines"] if lines else []
    body = []
    for row in found["players"]:
        cells = [f"{row['name']}, {row['how']}", percent(as_estimate(row["ladder"]))]
        if found["measure"] == "kept":
            cells.append(percent(as_estimate(row["kept"]), 2))
        if lines:
            cells.append(_lost(row["lines"]))
        body.append(cells)
    return [head, *body]


def _lost(lines: list[dict[str, int]]) -> str:
    lost = [one["lost"] for one in lines]
    beaten = sum(1 for number in lost if number)
    if not beaten:
        none = "none" if len(lost) == 1 else f"none with {len(lost)} seeds"
        return none + (": unbeatable" if all(one["unbeatable"] for one in lines) else "")
    if len(lost) == 1:
        return f"{lost[0]:,} of {lines[0]['of']:,}"
    return f"with {beaten} of {len(lost)} seeds: {', '.join(f'{n:,}' for n in lost)}"


def strength(results: Results, directory: Path) -> list[Block]:
    found = results["strength"]
    blocks: list[Block] = [Rows(players(results))]
    gaps = [
        [name, points(as_estimate(gap), 2), verdict(as_estimate(gap))]
        for name, gap in found["gaps"].items()
    ]
    blocks.append(Rows([["with search", "difference", "verdict"], *gaps]))
    if found["measure"] == "kept":
        panels = [
            _by_ply(found["players"], how, key, label)
            for key, label in (("kept", "keeps the game value"), ("value_error", "|value - truth|"))
            for how in (ALONE, SEARCH)
        ]
        figures.save(figures.curves(panels), directory, "plies")
        blocks.append(Picture("plies", "Against the truth, by moves made before the position."))
    return blocks


def _by_ply(rows: list[dict[str, Any]], how: str, key: str, label: str) -> Panel:
    lines = [
        _line(row["name"], row["plies"]["ply"], row["plies"][key])
        for row in rows
        if row["how"] == how
    ]
    return Panel(how, "moves made", label, lines, share=key == "kept")


def _line(label: str, x: list[float], estimates: list[dict[str, Any] | None]) -> Line:
    nothing = Estimate(np.nan, np.nan, np.nan, ())
    found = [nothing if e is None else as_estimate(e) for e in estimates]
    y, low, high = (np.array([getattr(e, name) for e in found]) for name in ("mean", "low", "high"))
    known = not np.isnan(low).all()
    return Line(label, np.array(x, float), y, low if known else None, high if known else None)


def _label(results: Results) -> str:
    return "keeps the game value" if results["strength"]["measure"] == "kept" else "score"


def along_training(results: Results, directory: Path) -> list[Block]:
    found, label = results["curves"], _label(results)
    panels = [
        Panel(
            f"by {budget}",
            budget,
            label,
            [_line(c["name"], c["spent"][budget], c["strength"]) for c in found["curves"]],
            share=True,
        )
        for budget in BUDGETS
    ]
    figures.save(figures.curves(panels), directory, "training")
    rows = [["after equal", "amount", "AlphaZero", "MuZero", "AlphaZero above MuZero", "verdict"]]
    for row in found["even"]:
        both = [percent(as_estimate(x), 2) for x in row["strength"].values()]
        apart = as_estimate(row["apart"])
        amount = f"{row['amount']:,.0f}"
        rows.append([row["budget"], amount, *both, points(apart, 2), verdict(apart)])
    gap = as_estimate(results["strength"]["gaps"]["AlphaZero above MuZero"])
    by_name = {(r["name"], r["how"]): r for r in results["strength"]["players"]}
    kind = results["strength"]["measure"]
    both = [percent(as_estimate(by_name[n, SEARCH][kind]), 2) for n in ("AlphaZero", "MuZero")]
    counts = {results["training"][n]["simulations"] for n in ("AlphaZero", "MuZero")}
    if len(counts) == 1:
        simulations = str(*counts)
        rows.append(["simulations a move", simulations, *both, points(gap, 2), verdict(gap)])
    blocks: list[Block] = [
        Rows(rows),
        Picture("training", "Strength along training, by what was spent."),
    ]
    missing = [b for b in BUDGETS if b not in [row["budget"] for row in found["even"]]]
    if missing:
        blocks.append(
            Text(
                f"Not compared after equal {' and '.join(missing)}: when the thriftier planner had "
                "ended, no network of the other was kept yet."
            )
        )
    return blocks


def search(results: Results, directory: Path) -> list[Block]:
    found = results["scaling"]
    x = found["simulations"]
    panels = [
        Panel(
            "against the ladder",
            "simulations a move",
            "score",
            [_line(row["name"], x, row["ladder"]) for row in found["contenders"]],
            log_x=True,
            share=True,
        )
    ]
    if all(row["kept"] for row in found["contenders"]):
        lines = [_line(row["name"], x, row["kept"]) for row in found["contenders"]]
        label = "keeps the game value"
        panels.append(
            Panel("against the truth", "simulations a move", label, lines, log_x=True, share=True)
        )
    figures.save(figures.curves(panels), directory, "search")
    rows = [["planner", "most minus 0", "verdict", "strongest with", "weaker for certain"]]
    for row in found["contenders"]:
        gained = as_estimate(row["gained"])
        best = str(row["best"])
        rows.append([row["name"], points(gained, 2), verdict(gained), best, weaker(row)])
    caption = "Every final network with more and fewer simulations; 0 is the network alone."
    caption += f" The ladder: from {found['openings']} openings a seed."
    caption += f" The truth: {found['truth']}." if found["truth"] else ""
    return [Rows(rows), Picture("search", caption)]


def model(results: Results, directory: Path) -> list[Block]:
    cards = results["cards"]
    names = [n for n in ERRORS if any(x is not None for card in cards.values() for x in card[n])]
    panels = [
        Panel(
            ERRORS[name],
            "moves unrolled",
            "error",
            [_line(kind, list(range(len(card[name]))), card[name]) for kind, card in cards.items()],
        )
        for name in names
    ]
    figures.save(figures.curves(panels), directory, "model")
    measured = [c[n] for c in cards.values() for n in names]
    depths = [
        depth
        for depth in (0, 1, 3, 5, 10)
        if any(depth < len(row) and row[depth] is not None for row in measured)
    ]
    rows = [["error", "play", *(f"depth {depth}" for depth in depths)]]
    rows += [
        [ERRORS[name], kind, *(_mean(card[name][depth]) for depth in depths)]
        for name in names
        for kind, card in cards.items()
    ]
    caption = (
        "The learned model unrolled along real games and compared with them, by kind of play. "
        "A model can be good only where it has been."
    )
    return [Picture("model", caption), Rows(rows), Text(EXPLAIN)]


def _mean(found: dict[str, Any] | None) -> str:
    return "" if found is None else f"{found['mean']:.3f}"
