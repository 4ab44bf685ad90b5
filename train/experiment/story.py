"""A comparison as figures and as the blocks of a report, from its numbers alone."""

from pathlib import Path

import numpy as np

from . import figures
from .chapters import along_training, model, players, search, strength
from .contenders import CROSS
from .findings import Results, findings, measure
from .page import Block, Findings, Heading, Picture, Rows, Text
from .side_by_side import sides


def story(results: Results, directory: Path) -> list[Block]:
    """Draws every figure into `directory/figures/`, and returns the report."""
    blocks: list[Block] = [Heading("Findings"), Findings(findings(results))]
    blocks += [Heading("Strength"), *strength(results, directory)]
    blocks += [Heading("Equal on what?"), *along_training(results, directory)]
    blocks += [Heading("Search"), *search(results, directory)]
    blocks += [Heading("The learned model"), *model(results, directory)]
    blocks += [Heading("Side by side"), *sides(results, directory)]
    blocks += [Heading("Ratings"), *ratings(results, directory)]
    return [*blocks, Heading("How this was measured"), *method(results)]


def summary(results: Results) -> list[Block]:
    """What fits a terminal."""
    return [Findings(findings(results)), Rows(players(results))]


def ratings(results: Results, directory: Path) -> list[Block]:
    table = results["ratings"]
    elos, lows, highs = (np.array(table[name], float) for name in ("elo", "low", "high"))
    label = f"Elo above {table['anchor']}"
    figures.save(figures.ratings(table["names"], elos, lows, highs, label), directory, "ratings")
    rows = [["place", "", "Elo", "95 % interval", "cannot be told from place"]]
    places = {name: place for place, name in enumerate(table["names"], 1)}
    for name, elo, low, high in zip(table["names"], elos, lows, highs, strict=True):
        others = sorted(places[b if a == name else a] for a, b in table["alike"] if name in (a, b))
        place, alike = str(places[name]), ", ".join(map(str, others))
        rows.append([place, name, f"{elo:+.0f}", f"[{low:+.0f}, {high:+.0f}]", alike])
    text = (
        f"Everybody against everybody, {table['games']:,} games that differ in opening or seat. "
        "Bradley-Terry by maximum likelihood, a draw as half a win, the interval by drawing "
        f"openings and seeds anew; {table['anchor']} is 0. A rating is of these opponents, and has "
        "their seeds in its interval, a baseline's too. Perfect play need not come first: it keeps "
        "the value of every position, but sets no traps."
    )
    return [Picture("ratings", "Everybody's rating, with its interval."), Rows(rows), Text(text)]


def method(results: Results) -> list[Block]:
    settings, training = results["settings"], results["training"]
    rows = [["", "AlphaZero", "MuZero"]]
    both = [training[name] for name in ("AlphaZero", "MuZero")]
    for key in ("rounds", "positions", "updates", "network calls", "parameters", "simulations"):
        rows.append([key, *(f"{one[key]:,.0f}" for one in both)])
    seconds = [", ".join(f"{x:,.0f}" for x in one["seconds"]) for one in both]
    rows.append(["seconds, seed by seed", *seconds])
    seeds = ", ".join(map(str, settings["seeds"]))
    alone, few = len(settings["seeds"]) == 1, len(settings["seeds"]) < 4
    who = (
        "With one seed no interval holds what another training would give, only games and sampled "
        "positions."
        if alone
        else "Intervals hold 95 %: Student's t over the seeds, and no narrower than the games "
        f"within them allow.{' With so few seeds most are wide.' if few else ''}"
    )
    rungs = ", ".join(f"mcts:{rung}" for rung in settings["rungs"])
    text = (
        f"{settings['game']}, budget {settings['budget']}, seeds {seeds}, on {training['device']}, "
        f"{training['version']}. "
        f"{who} Strength: a player {' x % '.join(measure(results))}. The ladder is {rungs}, "
        f"{settings['num_openings']} openings of {settings['opening_plies']} random moves a seed, "
        "each from both seats; an opening may be lost already for whoever gets it, so equal "
        f"players score 50 %. {CROSS} is MuZero's trained network searched with the rules: what "
        "is lost between the two is the learned model's doing alone. Seconds of training hold "
        "compiling, which the first seed pays."
    )
    words = (
        "Keeps the game value: the move is as good as perfect play's. Undecided positions: those "
        "that can be reached and in which the game goes on. Lost lines: of all lines of play from "
        "the start, moving first or second, over every reply of the opponent, those that are lost. "
        "Network calls: positions that the network looks at in self-play and in learning. "
        "Parameters: both planners have the same network; AlphaZero makes no use of the part that "
        "predicts what a move leads to. Told apart: 0 lies outside of the interval of 95 %."
    )
    changed = [
        Text(f"Settings of {name} other than the budget's: {'; '.join(said)}.")
        for name, said in zip(("AlphaZero", "MuZero"), settings["changed"].values(), strict=True)
        if said
    ]
    took = ", ".join(f"{name} {value:.0f} s" for name, value in results["seconds"].items())
    return [Rows(rows), Text(text), *changed, Text(words), Text(f"Time: {took}.")]
