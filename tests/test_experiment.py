"""The parts of a comparison against what can be counted by hand."""

import itertools
import re
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from duozero.games import make
from duozero.train import cli
from duozero.train.catalogue import solution_of
from duozero.train.config import Config, resolve
from duozero.train.experiment import contenders, curves, experiment, parts, side_by_side
from duozero.train.experiment.budget import Budget
from duozero.train.experiment.cards import cards
from duozero.train.experiment.curves import Curve
from duozero.train.experiment.findings import percent, points, verdict
from duozero.train.experiment.intervals import OPENINGS, Clusters, Estimate
from duozero.train.experiment.numbers import as_estimate, plain
from duozero.train.experiment.settings import Settings, stored
from duozero.train.experiment.strength import Measured, ladder
from duozero.train.experiment.tournament import Entrant, standing, tournament
from duozero.train.experiment.truth import truth_of
from duozero.train.players import perfect_player, random_player
from duozero.train.progress import Silent
from duozero.train.ratings import Match, rate


def test_every_position_of_a_solved_game_is_known(tmp_path, solution):
    truth = truth_of("tic_tac_toe", tmp_path)
    assert truth.whole and len(truth.ply) == 4_520
    stones = np.asarray(truth.state.board >= 0).sum(axis=1)
    np.testing.assert_array_equal(truth.ply, stones)
    where = solution.undecided
    for action in range(9):
        legal = solution.child[where, action] >= 0
        kept = truth.keeps(np.full(len(where), action))
        np.testing.assert_array_equal(kept[legal], solution.optimal[where, action][legal])
        assert not kept[~legal].any()


def test_nothing_is_known_of_a_game_that_is_not_solved(tmp_path):
    assert truth_of("gomoku_6x6_4", tmp_path) is None


def test_network_calls_are_those_of_search_and_of_learning():
    row = {"positions": 1_000, "updates": 10}
    config = Config()  # 32 simulations, 256 positions an update, 5 moves unrolled.
    assert curves.network_calls(config, row) == 1_000 * 33 + 10 * 256
    muzero = Config(planner="muzero")
    assert curves.network_calls(muzero, row) == 1_000 * 33 + 10 * 256 * 6


def curve(name, seconds, strengths):
    spent = {b: np.array([seconds], float) for b in curves.BUDGETS}
    return Curve(name, spent, [Measured([np.array([x])], OPENINGS) for x in strengths])


def test_equal_expense_is_all_that_the_thriftier_one_ever_spends():
    first = curve("fast", [10, 20], [0.5, 0.9])
    second = curve("slow", [10, 30], [0.1, 0.5])
    for row in curves.even(first, second):
        assert row.amount == 20
        assert row.strength["fast"].mean == pytest.approx(0.9)
        assert row.strength["slow"].mean == pytest.approx(0.3)  # Halfway.
        assert row.apart.mean == pytest.approx(0.6)


@pytest.mark.parametrize(("amount", "expected"), [(0, 0.5), (10, 0.5), (15, 0.7), (99, 0.9)])
def test_a_curve_is_read_between_its_networks_and_ends_at_them(amount, expected):
    found = curves.at(curve("fast", [10, 20], [0.5, 0.9]), "seconds", amount)
    assert found.by_seed[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("strengths", "expected"),
    [
        ([0.2, 0.6, 0.6, 0.6], (1, [0])),  # One is as good as any.
        ([0.6, 0.6, 0.6, 0.6], (0, [])),
        ([0.2, 0.3, 0.4, 0.9], (4, [0, 1, 2])),
        ([0.6, 0.2, 0.6, 0.6], (0, [1])),  # A gap on the way is a gap.
    ],
)
def test_simulations_that_are_too_few_are_named(strengths, expected):
    measured = [Measured([np.full(3, x)], Clusters(sampled=False, shared=True)) for x in strengths]
    row = parts.search_row([0, 1, 2, 4], measured)
    assert (row["best"], row["weaker"]) == expected


@pytest.mark.slow
def test_a_tournament_ranks_by_strength(race):
    game = race.game
    entrants = [
        Entrant("random", [random_player()]),
        Entrant("perfect", [perfect_player(race)]),
        Entrant("mixed", [random_player(), perfect_player(race)]),
    ]
    found = tournament(game, entrants, "random", num_openings=16, opening_plies=2)
    assert found.names[0] == "perfect"
    assert found.elo[found.names.index("random")] == 0
    assert found.score.shape == (3, 3)
    np.testing.assert_allclose(found.score + found.score.T, np.where(np.eye(3), np.nan, 1))
    alone = found.names.index("perfect"), found.names.index("random")
    assert found.score[alone] > 0.8


def test_pairs_that_cannot_be_told_apart_are_named():
    even, one_sided = np.tile([2.0, 0.0], 20), np.full(40, 2.0)
    matches = [Match(0, 1, even), Match(0, 2, one_sided), Match(1, 2, one_sided)]
    found = standing(["one", "other", "weak"], matches, anchor=2)
    assert found.alike == [("one", "other")]
    assert found.games == 240


def test_the_anchor_takes_part():
    with pytest.raises(ValueError):
        tournament(make("race_to_21"), [Entrant("random", [random_player()])], "mcts", 1, 0)


def chance(difference):
    return 1 / (1 + 10 ** (-difference / 400))


@pytest.mark.slow
def test_ratings_over_seeds_hold_the_strength_of_the_settings():
    """Trainings differ; in 500 comparisons of five seeds, 93 to 99 % of intervals hold their mean.

    More than 95, as they hold the noise of the openings twice.
    """
    rng, covered = np.random.default_rng(0), 0
    for repeat in range(500):
        matches = []
        for seed in range(5):
            p = chance(100 + rng.normal(0, 60))
            matches.append(Match(1, 0, rng.binomial(2, p, 100).astype(float), seed=seed))
        found = rate(matches, 2, num_samples=400, seed=repeat)
        covered += found.low[1] <= 100 <= found.high[1]
    assert 0.93 <= covered / 500 <= 0.99


def test_seeds_that_differ_widen_a_rating():
    rows = [np.full(50, 2.0), np.full(50, 1.0), np.full(50, 1.5)]
    apart = rate([Match(1, 0, points, seed=at) for at, points in enumerate(rows)], 2)
    pooled = rate([Match(1, 0, points) for points in rows], 2)
    assert apart.elo[1] == pytest.approx(pooled.elo[1])
    assert apart.high[1] - apart.low[1] > 3 * (pooled.high[1] - pooled.low[1])


def test_results_survive_json():
    found = Estimate(0.5, float("nan"), float("nan"), (0.5,))
    stored = plain({"a": [found], "b": np.array([1.0, np.inf]), "c": (1, "x")})
    assert stored == {
        "a": [{"mean": 0.5, "low": None, "high": None, "by_seed": [0.5]}],
        "b": [1.0, None],
        "c": [1, "x"],
    }
    again = as_estimate(stored["a"][0])
    assert again.by_seed == found.by_seed and np.isnan(again.low)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.1, 0.3, "told apart"),
        (-0.1, 0.3, "cannot be told apart at this budget"),
        (-0.3, -0.1, "told apart"),
        (np.nan, np.nan, "by as much with every seed"),
    ],
)
def test_a_difference_is_called_one_only_where_its_interval_says_so(low, high, said):
    assert verdict(Estimate(0.1, low, high, (0.1, 0.1))) == said


def test_one_seed_speaks_of_its_networks_only():
    assert verdict(Estimate(0.1, 0.05, 0.2, (0.1,))).endswith("(these two networks: one seed)")
    alone = Estimate(0.0, np.nan, np.nan, (0.0,))
    assert verdict(alone) == "the same with this seed"


def test_a_narrow_interval_is_written_with_the_digits_that_it_knows():
    assert percent(Estimate(0.99978, 0.9992, 1.0, ())) == "99.98 % [99.92, 100.00]"
    assert percent(Estimate(0.875, 0.81, 0.92, ())) == "87.5 % [81.0, 92.0]"
    assert percent(Estimate(1.0, np.nan, np.nan, ())) == "100.0 %"
    assert points(Estimate(0.0, -0.00001, 0.0002, ())) == "+0.00 points [+0.00, +0.02]"
    assert points(Estimate(0.031, -0.002, 0.064, ()), 2) == "+3.10 points [-0.20, +6.40]"


def test_equal_expense_is_not_claimed_of_networks_that_cost_more():
    first, slow = curve("fast", [10, 20], [0.5, 0.9]), curve("slow", [30, 60], [0.1, 0.5])
    assert curves.even(first, slow) == []


@pytest.mark.parametrize(
    ("move", "cell"),
    [("a1", (2, 0)), ("c3", (0, 2)), ("pass", None), ("d1", None), ("0", None), ("2", (1, 1))],
)
def test_moves_are_drawn_where_they_put_their_stone(move, cell):
    stones = np.full((3, 3), -1)
    stones[2, 1] = 0
    assert side_by_side._cell(move, stones) == cell


def test_plies_of_the_race_count_moves_from_the_start(tmp_path):
    truth = truth_of("race_to_5_2", tmp_path)
    assert truth.ply[0] == 0 and truth.ply.max() <= 4
    assert len(truth.ply) == len(solution_of("race_to_5_2").undecided)
    assert jax.tree.leaves(truth.state)[0].shape[0] == len(truth.ply)


PLANNERS = ("alphazero", "muzero")
TINY = Budget((0, 1), 2, 4, (5,), (0, 2), 8, 2, 1)
SETTINGS = {
    "num_rounds": 2,
    "model": {"width": 8, "depth": 1},
    "search": {"num_simulations": 2},
    "play": {"num_games": 8, "num_moves": 4, "opening_plies": 1},
    "learn": {"num_updates": 2, "batch_size": 8, "num_unroll_steps": 1, "replay_moves": 16},
}


def prepared(directory, resume=False, budget=TINY, **changes):
    configs = {planner: resolve("race_to_5_2", planner, SETTINGS | changes) for planner in PLANNERS}
    return experiment.prepare(Settings("quick", budget, configs), directory, resume)


@pytest.mark.parametrize(
    ("alphazero", "muzero", "says"),
    [
        ([], [], "0 networks of AlphaZero and 0 of MuZero; as many"),
        (["alphazero"], ["muzero"] * 2, "1 networks of AlphaZero and 2 of MuZero; as many"),
        (["alphazero"], ["alphazero"], "alphazero was trained by alphazero, not muzero"),
        (["alphazero"], ["muzero_race"], "muzero_race plays race_to_21, not tic_tac_toe"),
        (["alphazero", "alphazero_wide"], ["muzero"] * 2, "alphazero_wide were not trained alike"),
    ],
)
def test_contenders_are_networks_of_both_planners(monkeypatch, alphazero, muzero, says):
    def load(path, game=None):
        planner, _, what = path.partition("_")
        config = Config("race_to_21" if what == "race" else "tic_tac_toe", planner)
        if game not in (None, config.game):
            raise ValueError(f"{path} plays {config.game}, not {game}")
        model = replace(config.model, width=9 if what == "wide" else 8)
        return SimpleNamespace(config=replace(config, model=model), params=None)

    monkeypatch.setattr(contenders, "load", load)
    with pytest.raises(ValueError, match=says):
        contenders.contenders(alphazero, muzero)


def stored_in(directory, text):
    (directory / "comparison.toml").write_text(text)
    return stored(directory)


@pytest.mark.parametrize(
    ("line", "edited", "says"),
    [
        ("seeds = [", "seeds = []\nseed = [", "budget.seeds = (); several whole numbers"),
        ("snapshots = 2", "snapshots = 0", "budget.snapshots = 0; a whole number from 1"),
        ("snapshots = 2", "snapshots = [2]", "budget.snapshots = (2,); a whole number from 1"),
        ("depth = 2\nnum_boards", "num_boards", "it lacks depth"),
        ("num_walks = 8", "num_walks = nan", "num_walks = nan; a number or several is needed"),
        ("num_walks = 8", "num_walks = true", "num_walks = True; a number or several is needed"),
        ('budget_name = "quick"', 'budget_name = "quik"', "did you mean 'quick'?"),
        ('budget_name = "quick"', "", "it lacks budget_name"),
        ("opening_plies = 2", "opening_plies = -1", "opening_plies = -1; it must be from 0"),
        ("[muzero", "[muzer", "it lacks muzero"),
        ("num_rounds = 2", "num_rounds = 0", "num_rounds = 0; it must be greater than 0"),
    ],
)
def test_settings_of_a_comparison_that_are_damaged_are_named(tmp_path, line, edited, says):
    configs = {planner: resolve("race_to_5_2", planner, SETTINGS) for planner in PLANNERS}
    settings = Settings("quick", TINY, configs)
    text = settings.to_toml()
    assert stored_in(tmp_path, text).to_toml() == text
    assert line in text
    with pytest.raises(ValueError, match="comparison.toml is damaged: .*" + re.escape(says)):
        stored_in(tmp_path, text.replace(line, edited))
    with pytest.raises(ValueError, match="comparison.toml is damaged: .*recursion"):
        stored_in(tmp_path, "x = " + "[" * 100_000)


def test_the_game_that_a_settings_file_names_says_nothing(tmp_path, capsys):
    configs = {planner: resolve("race_to_5_2", planner, SETTINGS) for planner in PLANNERS}
    stored_in(tmp_path, Settings("quick", TINY, configs).to_toml())
    (tmp_path / "other.toml").write_text("game = 'tic_tac_toe'\nmodel = { width = 9 }\n")
    command = f"compare race_to_5_2 --resume --run {tmp_path} --config {tmp_path / 'other.toml'}"
    assert cli.main(command.split()) == 2
    width = "model.width = 9 instead of 8"
    changed = f"is another comparison: alphazero.{width}; muzero.{width}\n"
    assert capsys.readouterr().err.endswith(changed)


def after(num_asked):
    """A wish to stop that comes once it was asked for so often."""
    count = itertools.count()
    return lambda: next(count) >= num_asked


def without_time(results):
    timeless = {name: x for name, x in results.items() if name not in ("seconds", "curves")}
    training = {
        name: {key: y for key, y in x.items() if key != "seconds"}
        for name, x in results["training"].items()
        if name not in ("device", "version")
    }
    return timeless | {"training": training}


@pytest.mark.slow
def test_a_comparison_that_is_stopped_goes_on_where_it_was(tmp_path):
    whole = experiment.execute(prepared(tmp_path / "whole"), Silent(), lambda: False)
    stops, place = 0, tmp_path / "stopped"
    done = {}
    for resume in (False, *(True,) * 9):
        stop = after(8 * 4**stops)  # Later each time, in other parts.
        found = experiment.execute(prepared(place, resume), Silent(), stop)
        times = {path: path.stat().st_mtime_ns for path in (place / "parts").glob("*.json")}
        assert all(times[path] == time for path, time in done.items())  # Not measured again.
        done = times
        if found is not None:
            break
        stops += 1
    assert stops >= 1
    assert plain(without_time(found)) == plain(without_time(whole))
    assert (place / "report.html").stat().st_size > 10_000
    with pytest.raises(ValueError, match="another comparison: budget.snapshots = 3 instead"):
        prepared(place, True, replace(TINY, snapshots=3))
    with pytest.raises(ValueError, match="another comparison: alphazero.learn.num_updates = 3"):
        prepared(place, True, learn={**SETTINGS["learn"], "num_updates": 3})
    (place / "parts/cards.json").write_text("{")
    with pytest.raises(OSError, match="cards.json is damaged"):
        experiment.execute(prepared(place, True), Silent(), lambda: False)


def test_only_a_learned_model_has_a_report_card():
    who = SimpleNamespace(config=Config("tic_tac_toe", "alphazero"))
    with pytest.raises(ValueError, match="only muzero has a learned model, alphazero has none"):
        cards(who, num_walks=1, depth=1)


def test_a_ladder_without_rungs_is_none():
    with pytest.raises(ValueError, match="needs rungs"):
        ladder(SimpleNamespace(params=[None]), (), num_openings=1, opening_plies=0)


@pytest.mark.parametrize(("seeds", "share"), [(1, 50), (5, 12), (70, 1)])
def test_seeds_share_the_openings_of_what_takes_long(seeds, share):
    budget = replace(TINY, seeds=tuple(range(seeds)), num_openings=50)
    assert parts._share(SimpleNamespace(budget=budget), 60) == share


def test_a_piece_of_a_part_is_measured_once(tmp_path):
    def never():
        raise AssertionError

    first = experiment._Pieces(tmp_path, "scaling")
    asked = ("MuZero's network, real rules", lambda: {"best": np.int64(3), "kept": (np.nan,)})
    found = first.keep(*asked)
    assert found == {"best": 3, "kept": [None]}
    again = experiment._Pieces(tmp_path, "scaling")
    assert again.keep(asked[0], never) == found
    assert again.seconds == first.seconds > 0
    (path,) = tmp_path.iterdir()
    path.write_text("{")
    with pytest.raises(OSError, match="real-rules.json is damaged"):
        again.keep(asked[0], never)


PART = {"seconds": 1.5, "found": {"AlphaZero": [0.25, None], "by ply": {"2": 1e-9}}}


@pytest.mark.parametrize(
    "text",
    [
        *("{", "", "\xff", "[[[3]]]", '{"seconds": 1}', '{"seconds": 1, "found": {}}'),
        experiment._as_stored(PART).replace("0.25", "0.26"),
        experiment._as_stored(PART).replace("1.5", "1.6"),
        experiment._as_stored(PART).replace("by ply", "by plies"),
        experiment._as_stored(PART)[:-9],
    ],
)
def test_a_part_that_is_not_what_was_measured_is_named(tmp_path, text):
    path = tmp_path / "cards.json"
    path.write_text(experiment._as_stored(PART))
    assert experiment._read(path) == PART
    path.write_text(text, encoding="latin-1")
    with pytest.raises(OSError, match="cards.json is damaged; without that file, it is measured"):
        experiment._read(path)


def test_some_of_the_positions_are_a_sample_of_them(tmp_path):
    truth = truth_of("race_to_21", tmp_path)
    some = truth.some(5)
    assert len(some.ply) == 5 and not some.whole
    assert jax.tree.leaves(some.state)[0].shape[0] == 5
    assert truth.some(1_000) is truth
    np.testing.assert_array_equal(some.value, truth.some(5).value)
