"""A report of blocks, as Markdown and as one HTML page that needs no other file."""

import re
import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from ..report import WIDTH, paragraphs, table
from .style import STYLE


class Heading(NamedTuple):
    """A heading; those of level 2 are the table of contents."""

    text: str
    level: int = 2


class Text(NamedTuple):
    """A paragraph."""

    paragraph: str


class Findings(NamedTuple):
    """Sentences below each other, each with a bullet."""

    sentences: Sequence[str]


class Rows(NamedTuple):
    """A table; the first row is its head."""

    rows: list[list[str]]


class Picture(NamedTuple):
    """A figure that `save` has written as `name`."""

    name: str
    caption: str


Block = Heading | Text | Findings | Rows | Picture


def markdown(title: str, blocks: Sequence[Block]) -> str:
    """The report for a terminal or a repository; its pictures lie beside it in `figures/`."""
    return "\n\n".join([f"# {title}", *(_markdown(block) for block in blocks)]) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(paragraph):
            return paragraphs(paragraph)
        case Findings(sentences):
            return "\n".join(_bullet(sentence) for sentence in sentences)
        case Rows(rows):
            return table([[cell.replace("|", "\\|") for cell in row] for row in rows])
        case Picture(name, caption):
            return f"![{name}](figures/{name}.svg)\n\n{paragraphs(caption)}"


def _bullet(sentence: str) -> str:
    return textwrap.fill(
        *(f"- {sentence}", WIDTH),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def html(title: str, blocks: Sequence[Block], directory: Path) -> str:
    """The report as one page, with the pictures of `directory/figures/` inside."""
    contents = "".join(
        f'<li><a href="#section-{place}">{escape(block.text)}</a></li>\n'
        for place, block in enumerate(blocks)
        if isinstance(block, Heading) and block.level == 2
    )
    head = f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n"
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"{head}</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n",
            f'<nav aria-label="Contents">\n<ul>\n{contents}</ul>\n</nav>\n' if contents else "",
            *(_html(block, place, directory) for place, block in enumerate(blocks)),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _html(block: Block, place: int, directory: Path) -> str:
    """A block, whose identifiers contain its place in the report."""
    match block:
        case Heading(text, level):
            return f'<h{level} id="section-{place}">{escape(text)}</h{level}>\n'
        case Text(paragraph):
            return f"<p>{escape(paragraph)}</p>\n"
        case Findings(sentences):
            items = "".join(f"<li>{escape(sentence)}</li>\n" for sentence in sentences)
            return f"<ul>\n{items}</ul>\n"
        case Rows(rows):
            return _table(rows)
        case Picture(name, caption):
            drawing = (directory / "figures" / f"{name}.svg").read_text(encoding="utf-8")
            drawing = inline(drawing, f"picture-{place}-", caption)
            caption = f"<figcaption>{escape(caption)}</figcaption>"
            return f'<figure>\n<div class="drawing">{drawing}</div>\n{caption}\n</figure>\n'


def _table(rows: list[list[str]]) -> str:
    """A table that scrolls sideways where it is too wide; columns of numbers end at the right."""
    numeric = [all(map(is_number, column)) for column in zip(*rows[1:], strict=True)]
    numeric = numeric or [False] * len(rows[0])

    def cells(row: list[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=number' if right else ''}>{escape(cell)}</{tag}>"
            for cell, right in zip(row, numeric, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>\n" for row in rows[1:])
    head = f"<thead>\n<tr>{cells(rows[0], 'th')}</tr>\n</thead>\n"
    return f'<div class="table">\n<table>\n{head}<tbody>\n{body}</tbody>\n</table>\n</div>\n'


def is_number(cell: str) -> bool:
    """Whether a cell is a measurement, at most with a unit or an interval, or is empty."""
    starts = re.match(r"[-+−±<>≤≥~ ]*\d", cell) and not re.search(r"[A-Za-z]{4}|\dx\d", cell)
    return bool(starts) or cell.strip().lower() in ("", "-", "–", "—", "nan", "n/a")


def inline(svg: str, prefix: str, label: str) -> str:
    """A drawing as part of a page: nothing outside it, its identifiers unlike all others.

    `svg` is matplotlib's, which writes identifiers and references to them in double quotes.
    """
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{prefix}", svg)
    size = re.search(r'width="([\d.]+)pt"', svg)
    # On a narrow screen a wide drawing scrolls, or its letters would be too small to read.
    least = f"min({size[1]}pt, 38rem)" if size else "0"
    opening = f'<svg role="img" aria-label="{escape(label)}" style="min-width: {least}"'
    return re.sub(r"\s*\n\s*", "\n", svg.replace("<svg", opening, 1)).strip()
