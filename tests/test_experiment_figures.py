"""The figures of an experiment: curves, ratings and boards."""

import matplotlib
import numpy as np
import pytest
from duozero.train.experiment.boards import Board, boards
from duozero.train.experiment.figures import Line, Panel, curves, ratings, save
from duozero.train.experiment.looks import LOOKS, compact, logarithmic, looks, plain
from matplotlib.figure import Figure


def line(label="AlphaZero", y=(0.1, 0.4, 0.5), band=True):
    y = np.array(y)
    return Line(label, np.arange(len(y)), y, *((y - 0.1, y + 0.1) if band else ()))


def board():
    stones = np.array([[-1, 0, 1], [-1, -1, -1], [0, -1, 1]])
    cells = {(0, 0): (0.41, "0.41"), (1, 1): (1.5, "+1"), (2, 0): (np.nan, "last")}
    return Board(3, 3, stones, cells, "X to move", ["value +0.1", "word " * 20])


def drawn(figure):
    """A figure that has been drawn, so that nothing in it can still fail."""
    figure.canvas.draw()
    return figure


def test_a_saved_figure_leaves_matplotlib_as_it_was(tmp_path):
    before = dict(matplotlib.rcParams)
    figure = curves([])
    save(figure, tmp_path, "empty")
    assert dict(matplotlib.rcParams) == before
    assert not figure.get_children()[1:]


@pytest.mark.parametrize("band", [True, False])
@pytest.mark.parametrize("log_x", [True, False])
@pytest.mark.parametrize("y", [(), (0.5,), (np.nan, np.nan), (0.1, np.nan, 0.2, 0.3)])
def test_lines_with_gaps_and_without_bands_are_drawn(y, log_x, band):
    drawn(curves([Panel("title", "x", "y", [line(y=y, band=band)], log_x)]))


def test_a_wide_band_does_not_flatten_its_line():
    y, far = np.array([0.0, 0.1]), np.array([50.0, 50.0])
    wide = Line("MuZero", np.arange(2), y, y, far)
    low, high = drawn(curves([Panel("title", "x", "y", [wide])])).axes[0].get_ylim()
    assert -0.1 < low < 0 and 0.1 < high < 0.3


def test_the_band_of_lines_that_all_but_coincide_is_seen_whole():
    y, far = np.array([0.0, 4e-5]), np.array([0.03, 0.03])
    flat = Line("MuZero", np.arange(2), y, y, far)
    low, high = drawn(curves([Panel("title", "x", "y", [flat])])).axes[0].get_ylim()
    assert low < 0 and 0.03 < high < 0.05


def test_nothing_is_drawn_as_nothing():
    drawn(curves([]))
    drawn(ratings([], np.zeros(0), None, None, "Elo"))
    drawn(boards([]))
    drawn(boards([("AlphaZero", [])]))
    drawn(curves([Panel("title", "x", "y", [], log_x=True)] * 4))


def names(board):
    axes = drawn(boards([("", [board])])).axes[0]
    ticks = axes.get_xticklabels(), axes.get_yticklabels()
    return [[label.get_text() for label in labels] for labels in ticks]


def test_columns_are_named_as_moves_are():
    assert names(board()) == [["a", "b", "c"], ["3", "2", "1"]]
    assert names(board()._replace(drops=True)) == [["1", "2", "3"], []]


def ticks(x):
    axes = Figure().subplots()
    axes.plot(x, x)
    logarithmic(axes, np.array(x))
    return [label.get_text() for label in drawn(axes.figure).axes[0].get_xticklabels()]


def test_a_logarithmic_axis_has_plain_numbers():
    assert ticks([0, 1, 2, 4, 8]) == ["0", "1", "2", "4", "8"]
    assert ticks([1, 3]) == ["1", "2", "4"]
    assert ticks([0.25, 1]) == ["0.25", "0.5", "1"]
    assert len(ticks([0, 2**20])) <= 8


def test_numbers_on_axes_are_short():
    assert [compact(x) for x in (0.25, 2000, 12_500, 2_000_000)] == ["0.25", "2000", "12.5k", "2M"]
    assert plain(16384) == "16384"


def test_a_player_looks_the_same_in_every_figure():
    styles = looks([*LOOKS, "random", "perfect play"])
    assert {name: styles[name] for name in LOOKS} == LOOKS
    assert looks(["random"])["random"] == styles["random"]


def test_players_look_unlike_each_other():
    styles = looks(["MuZero", *(f"player {number}" for number in range(12))])
    assert len(set(styles.values())) == 13
    assert len(looks([*map(str, range(40))])) == 40


def test_one_legend_names_each_player_once():
    panels = [Panel("title", "x", "y", [line(), line("MuZero")])] * 3
    (legend,) = curves(panels).legends
    assert [text.get_text() for text in legend.get_texts()] == ["AlphaZero", "MuZero"]


def test_the_best_is_on_top():
    values = np.array([1.0, np.nan, 3.0])
    figure = ratings(["a", "unknown", "c"], values, values - 1, values + 1, "Elo")
    (axes,) = drawn(figure).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a", "unknown"]
    assert axes.yaxis_inverted()


def test_a1_is_the_lower_left():
    (axes,) = drawn(boards([("", [board()])])).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "2", "1"]
    assert axes.yaxis_inverted()
