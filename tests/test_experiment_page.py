"""The report of an experiment, as Markdown and as one HTML page."""

import re
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest
from duozero.train.experiment.boards import Board, boards
from duozero.train.experiment.figures import Line, Panel, curves, save
from duozero.train.experiment.page import (
    Findings,
    Heading,
    Picture,
    Rows,
    Text,
    html,
    is_number,
    markdown,
)

pytestmark = pytest.mark.slow
ODD = 'a <b> & "c" | d'
BLOCKS = [
    Text(f"The paragraph, {ODD}."),
    Findings([f"The first sentence, {ODD}.", "The second " + "word " * 30 + "ends."]),
    Heading(f"The results, {ODD}"),
    Rows([["player", f"head {ODD}"], [f"cell {ODD}", "-3.5"], ["MuZero", "1,200 [1, 2]"]]),
    Picture("curves", f"The curves, {ODD}"),
    Heading("The details", 3),
    Picture("curves", "The curves again"),
    Picture("boards", "The boards"),
]


def drawing():
    """A board with a marked cell."""
    return boards([("AlphaZero", [Board(1, 2, np.array([[-1, 0]]), {(0, 0): (0.41, "0.41")})])])


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A folder with the pictures of `BLOCKS`."""
    path = tmp_path_factory.mktemp("report")
    x = np.arange(3)
    line = Line("AlphaZero", x, x / 2, x / 2 - 0.1, x / 2 + 0.1)
    save(curves([Panel("a <panel>", "simulations", "score", [line])]), path, "curves")
    save(drawing(), path, "boards")
    return path


@pytest.fixture(scope="module")
def page(directory):
    return html(f"The title, {ODD}", BLOCKS, directory)


def attributes(page):
    """Name and value of every attribute of a page."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.extend(attrs)
    parser.feed(page)
    return found


def texts():
    """All that the blocks say."""
    for block in BLOCKS:
        match block:
            case Heading(text) | Text(text) | Picture(_, text):
                yield text
            case Findings(sentences):
                yield from sentences
            case Rows(rows):
                yield from (cell for row in rows for cell in row)


def test_the_markdown_holds_every_block():
    written = " ".join(markdown(f"The title, {ODD}", BLOCKS).replace("\\|", "|").split())
    assert written.startswith(f"# The title, {ODD} ")
    assert all(text in written for text in texts())
    assert "](figures/boards.svg)" in written


def test_the_lines_of_the_markdown_fit():
    text = markdown("Title", BLOCKS[:3])
    assert max(map(len, text.splitlines())) <= 100
    assert "\n- The second word" in text and "\n  word" in text


def test_the_page_holds_every_block_escaped(page):
    assert all(escape(text) in page for text in texts())
    assert f"<h1>{escape(f'The title, {ODD}')}</h1>" in page
    assert ODD not in page


def test_the_page_refers_to_nothing_outside(page):
    found = attributes(page)
    assert not [value for name, value in found if name in ("src", "srcset", "data", "action")]
    assert all(value.startswith("#") for name, value in found if name.endswith("href"))
    assert not re.search(r"http|www\.|@import", re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", page))
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", page))


def test_every_id_is_there_once_and_every_reference_leads_to_one(page):
    found = attributes(page)
    ids = [value for name, value in found if name == "id"]
    targets = {value[1:] for name, value in found if name.endswith("href")}
    targets |= set(re.findall(r"url\(#(.*?)\)", page))
    assert len(ids) == len(set(ids))
    assert targets <= set(ids)


def test_headings_of_level_two_are_the_contents(page):
    (contents,) = re.findall("<nav.*?</nav>", page, re.S)
    assert contents.count("<li>") == 1 and "The details" not in contents


def test_a_report_without_blocks_is_a_page(tmp_path):
    assert "<nav" not in html("Title", [], tmp_path)
    assert markdown("Title", []) == "# Title\n"


def test_columns_of_numbers_end_at_the_right(page):
    assert "<td class=number>-3.5</td>" in page
    assert "<td>MuZero</td>" in page


@pytest.mark.parametrize("cell", ["12", "-3.5", "58.2% [55, 61]", "1,024 s", "", "-", "<0.01"])
def test_a_measurement_is_a_number(cell):
    assert is_number(cell)


@pytest.mark.parametrize("cell", ["MuZero", "3x3", "6 moves ahead", "no"])
def test_a_name_is_no_number(cell):
    assert not is_number(cell)


def test_the_same_figure_is_the_same_bytes(directory, tmp_path):
    save(drawing(), tmp_path, "boards")
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["boards.png", "boards.svg"]
    for name in names:
        written = (tmp_path / "figures" / name).read_bytes()
        assert written == (directory / "figures" / name).read_bytes()


def test_the_same_report_is_the_same_page(page, directory):
    assert html(f"The title, {ODD}", BLOCKS, directory) == page
