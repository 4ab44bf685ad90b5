"""Results in words and tables, readable in a terminal and as Markdown."""

import textwrap

from .judgement import Judgement

WIDTH = 100


def table(rows: list[list[str]]) -> str:
    """A Markdown table, aligned for the eye; the first row is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def paragraphs(*texts: str) -> str:
    """Texts one below the other, in lines that fit a terminal."""
    return "\n\n".join(
        textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) for text in texts
    )


def judgement_rows(judgements: dict[str, list[Judgement]]) -> list[list[str]]:
    """How moves compare with perfect play, a row each; a column for each player."""
    kept = [
        [f"keeps the value, {how}", *(f"{j.kept:.2%}" for j in column)]
        for how, column in judgements.items()
    ]
    lost = [
        [f"lost lines, {how}", *(lines(j) for j in column)] for how, column in judgements.items()
    ]
    return kept + lost


def lines(judgement: Judgement) -> str:
    """Lost lines of all, over every reply of the opponent."""
    never = ": unbeatable" if judgement.unbeatable else ""
    return f"{judgement.lost_lines:,} of {judgement.num_lines:,}{never}"


EXPLAIN_SCORES = (
    "Scores are points per game in percent [95 % interval] +won =drawn -lost, over {games} games: "
    "{openings} random openings of {plies} moves ({distinct} games that differ in opening or seat; "
    "the interval counts those), each from both seats. An opening may be lost already for whoever "
    "gets it: equal players score 50."
)
EXPLAIN_JUDGEMENTS = (
    "Keeps the value: the share of all {undecided:,} undecided positions in which the move is as "
    "good as perfect play's. Lost lines: of all lines of play from the start, moving first or "
    "second, over every reply of the opponent, those lost although perfect play would have held "
    "them; unbeatable is who loses none at all. (How many there are depends on its own moves.)"
)
