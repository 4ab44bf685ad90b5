"""Strength during training: rising opponents, and the best network kept by a match."""

import dataclasses
import json

import jax
import numpy as np
import pytest
from duozero.train import checkpoint, cli, measure, roster
from duozero.train.agent import make_agent
from duozero.train.catalogue import game_named
from duozero.train.config import resolve
from duozero.train.connect_four_oracle import Position
from duozero.train.run import train
from duozero.train.score import Score
from duozero.train.trained import load
from test_checkpoint import SETTINGS as TINY
from test_checkpoint import same

GAME = "gomoku_3x3_3"
SETTINGS = TINY | {
    "evaluate_every": 1,
    "model": {"kind": "mlp", "width": 8, "depth": 1},
    "learn": TINY["learn"]
    | {
        "num_updates": 3,
        "schedule": "kl",
        "learning_rate": 0.1,
        "reanalyse": 0.5,
        "priority": 1.0,
        "end_share": 0.5,
        "consistency_weight": 1.0,
    },
    "evaluate": {"num_openings": 4, "mcts_simulations": 1},
}
TIMES = {"seconds", "positions_per_second"}


def score(name, low):
    return {name: low + 0.1, f"{name}/low": low, f"{name}/high": low + 0.2}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 100),
        ([{"round": 1}], 100),
        ([score("strength/mcts:100", 0.5)], 100),
        ([score("strength/mcts:100", 0.51)], 200),
        ([score("strength/mcts:100", 0.6), score("strength/mcts:200", 0.3), {"round": 3}], 200),
        ([score("strength/mcts:200", 0.8), score("strength/mcts:400", 0.9)], 800),
    ],
)
def test_the_ladder_doubles_once_an_opponent_is_certainly_beaten(rows, expected):
    assert measure.rung(rows, 100) == expected


def results(points):
    """The score of 40 different games, of which `points` were won and the others lost."""
    return Score(points, 0, 40 - points, 40)


def test_the_best_stays_until_a_match_shows_that_it_is_beaten(monkeypatch):
    config = resolve(GAME, "alphazero", SETTINGS)
    agent = make_agent(game_named(GAME), config)
    params = [agent.planner.init(jax.random.key(seed)) for seed in range(2)]
    first, row = measure.challenge(None, params[0], 3, agent, config)
    assert (row, first.num_rounds) == ({"best/round": 3}, 3)
    for points, wins in ((22, False), (26, False), (27, True), (5, False)):
        monkeypatch.setattr(measure, "duel", lambda *_, points=points: results(points))
        best, row = measure.challenge(first, params[1], 7, agent, config)
        assert row["best/score"] == points / 40
        assert row["best/round"] == best.num_rounds == (7 if wins else 3)
        assert same(best.params, params[1] if wins else params[0])


@pytest.fixture(
    scope="module",
    params=[pytest.param(p, marks=pytest.mark.slow) for p in ("alphazero", "muzero")],
)
def runs(request, tmp_path_factory):
    """A run with every part of training, without a break and with one."""
    config = resolve(GAME, request.param, SETTINGS)
    place, asked = tmp_path_factory.mktemp("runs"), []
    straight = train(config, place / "straight")
    train(config, place / "broken", should_stop=lambda: asked.append(0) or len(asked) == 3)
    return straight, train(config, place / "broken", resume=True)


def test_a_run_with_every_part_resumes_bit_for_bit_with_its_best(runs):
    straight, resumed = runs
    assert same(straight.state, resumed.state)
    for one, other in zip(straight.rows, resumed.rows, strict=True):
        assert {k: v for k, v in one.items() if k not in TIMES} == pytest.approx(
            {k: v for k, v in other.items() if k not in TIMES}, nan_ok=True, rel=0, abs=0
        )
    kept = []
    for each in runs:
        like = checkpoint.Best(each.state.average, np.int32(0))
        kept.append(checkpoint.restore(each.run.directory, "best", like, each.run.config))
    assert same(*kept)
    assert kept[0].num_rounds == straight.rows[-1]["best/round"]


def test_every_round_tells_of_the_ladder_and_of_the_best(runs):
    rows = runs[0].rows
    assert "best/score" not in rows[0] and "strength/mcts:1" in rows[0]
    for before, row in zip(rows, rows[1:], strict=False):
        assert 0 <= row["best/score/low"] <= row["best/score"] <= row["best/score/high"] <= 1
        assert row["best/round"] in (before["best/round"], row["round"])
        climbed = row["best/score/low"] > 0.5
        assert (row["best/round"] == row["round"]) == climbed
        assert row["control/rate"] > 0


def test_the_best_plays_under_its_own_name(runs, capsys):
    directory = runs[0].run.directory
    trained = load(directory, best=True)
    assert trained.num_rounds == runs[0].rows[-1]["best/round"]
    player = roster.player(f"best:{directory}", GAME)
    assert player.name == f"best:{directory}"
    match = ["--against", "random", "--openings", "4", "--json"]
    assert cli.main(["evaluate", str(directory), "--best", *match]) == 0
    assert json.loads(capsys.readouterr().out)["score"]["distinct"] > 0


@pytest.mark.slow
def test_a_run_that_was_never_measured_has_no_best(tmp_path, capsys):
    config = resolve("race_to_5_2", "alphazero", TINY)
    config = dataclasses.replace(config, num_rounds=2, evaluate_every=0, checkpoint_every=1)
    asked = []
    train(config, tmp_path / "run", should_stop=lambda: asked.append(0) or len(asked) == 1)
    assert cli.main(["play", "race_to_5_2", "--against", f"best:{tmp_path / 'run'}"]) == 2
    assert "has no best network yet" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("solver", [True, False])
def test_connect_four_is_held_against_its_solver_where_there_is_one(monkeypatch, tmp_path, solver):
    """1 and 2 stand in the first three columns, below: 4 ends the game, or keeps it from ending."""
    win = Position("112233", (-1, -1, -1, 18, -1, -1, -1))
    block = Position("11223", (-18, -18, -18, 1, -18, -18, -18))

    def of_run(game, directory):
        return [win, block] if solver else []

    monkeypatch.setattr(measure.connect_four_positions, "of_run", of_run)
    config = resolve("connect_four", "alphazero", SETTINGS)
    agent = make_agent(game_named("connect_four"), config)
    row = measure.make_measure(agent, config, tmp_path)(agent.planner.init(jax.random.key(0)), [])
    assert "strength/mcts:1" in row
    assert ("strength/losing_moves" in row) == solver
    if solver:
        assert row["strength/losing_moves"] in (0, 0.5, 1)
        assert row["strength/losing_moves_without_search"] in (0, 0.5, 1)
