"""Exact truth for Connect Four: recorded facts, the solver where there is one, what is reported."""

import json
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make
from duozero.games.connect_four import ConnectFour
from duozero.train import cli, evaluate, losing_moves
from duozero.train.agent import Agent
from duozero.train.arena import match
from duozero.train.config import resolve
from duozero.train.connect_four_oracle import KINDS, Position, Solver, perfect_player
from duozero.train.connect_four_positions import NAME, read, replay, sample, write
from duozero.train.judgement import moves_in
from duozero.train.losing_moves import Losses, count
from duozero.train.oracles import solve
from duozero.train.players import Player, random_player
from duozero.train.score import wilson
from duozero.train.trained import Trained

# One of each kind, in the order of KINDS, with the scores that bitbully gives.
KNOWN = [
    Position("637221631", (-3, -2, 16, 17, -1, -2, -3)),
    Position("4575363476", (2, 4, 4, 3, -3, -3, 4)),
    Position("", (-2, -1, 0, 1, 0, -1, -2)),
    Position("137654664554537551723", (-10, -10, 11, -10, None, -10, 11)),
    Position("157152553172151266243", (-9, -9, -3, 0, -9, -9, -9)),
    Position("61747653273333436176664545247211", (-1, -1, None, 0, 5, None, -1)),
]


@pytest.fixture(scope="module")
def game():
    return make("connect_four")


@pytest.fixture(scope="module")
def solver():
    pytest.importorskip("bitbully")
    return Solver()


@pytest.fixture(scope="module")
def sampled(game, solver):
    return sample(game, solver, num_per_kind=2)


class From(ConnectFour):
    """The game from a position on."""

    def __init__(self, moves):
        self.start = jax.tree.map(lambda x: x[0], replay(ConnectFour(), [moves]))

    def init(self, key):
        return self.start


def by_column(choose):
    """A player who plays the column that `choose` names for a position of `KNOWN`."""
    moves = {replayed.tobytes(): choose(p) for p, replayed in zip(KNOWN, boards(), strict=True)}
    act = lambda keys, state: jnp.array([moves[b.tobytes()] for b in np.asarray(state.board)])  # noqa: E731
    return Player("by column", act)


def boards():
    return np.asarray(replay(ConnectFour(), [p.moves for p in KNOWN]).board)


def best(position):
    return position.scores.index(position.value)


def worst(position):
    return int(position.losing.argmax())


def test_the_positions_that_pons_explains_end_when_he_says():
    """The first wins with the fourth stone in three moves; the other player's seventh is next."""
    assert Position("4455", (-4, -3, 18, 2, 2, 18, -3)).kind == ("early", "easy")
    assert [position.kind for position in KNOWN] == list(KINDS)
    assert Position("", (0,) * 7).kind == ("early", "hard")


def test_moves_that_keep_a_win_or_a_draw_are_not_lost():
    assert KNOWN[2].losing.tolist() == [True] * 3 + [False] + [True] * 3
    assert np.flatnonzero(~KNOWN[1].losing).tolist() == [0, 1, 2, 3, 6]
    assert np.flatnonzero(~KNOWN[4].losing).tolist() == [3]
    assert KNOWN[5].losing.tolist() == [True, True, True, True, False, True, True]


def test_a_position_where_nothing_can_be_lost_tells_nothing():
    assert all(position.telling for position in KNOWN)
    assert not Position("44455554221", (-15,) * 7).telling
    assert not Position("121212", (18, 3, 5, 5, 5, 5, 5)).telling
    assert not Position("1" * 6, (None, 1, 1, 1, 1, 1, 1)).telling


def test_scores_agree_with_the_rules_all_the_way_to_the_end():
    position = KNOWN[5]
    values = solve(From(position.moves)).action_values[0]
    signs = [np.sign(s) if s is not None else -np.inf for s in position.scores]
    np.testing.assert_array_equal(values, signs)


def test_who_keeps_the_value_loses_nothing_and_who_never_does_loses_all(game):
    kept = losing_moves.play(by_column(best), game, KNOWN, 0, 7)
    assert {found.lost for found in kept.losses.values()} == {0}
    assert kept.opens_in_centre
    lost = losing_moves.play(by_column(worst), game, KNOWN, 0, 7)
    assert {found.share for found in lost.losses.values()} == {1}
    assert not lost.opens_in_centre


def test_losses_are_counted_by_stage_and_difficulty():
    moves = np.array([best(p) for p in KNOWN])
    moves[[0, 3, 5]] = [worst(KNOWN[0]), 4, worst(KNOWN[5])]  # One of them into a full column.
    found = count(KNOWN, moves)
    assert list(found) == [" ".join(k) for k in KINDS] + [
        "early",
        "middle",
        "easy",
        "medium",
        "all",
    ]
    assert found["early easy"] == Losses(1, 1) and found["early hard"] == Losses(0, 1)
    assert found["early"] == Losses(1, 3) and found["middle"] == Losses(1, 2)
    assert found["easy"] == Losses(3, 3) and found["medium"] == Losses(0, 2)
    assert found["all"] == Losses(3, 6)
    assert found["all"].interval == wilson(0.5, 6) == pytest.approx((0.188, 0.812), abs=1e-3)


def test_positions_come_back_from_the_file_as_they_were(game, tmp_path):
    assert read(game, tmp_path) is None
    write(tmp_path, KNOWN, "by hand")
    assert read(game, tmp_path) == KNOWN
    rows = json.loads((tmp_path / NAME).read_text())["positions"]
    assert rows[5] == {
        "stage": "late",
        "difficulty": "easy",
        "moves": "61747653273333436176664545247211",
        "scores": [-1, -1, None, 0, 5, None, -1],
    }
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


EARLY = {"stage": "early", "difficulty": "hard", "moves": "", "scores": [-2, -1, 0, 1, 0, -1, -2]}
DAMAGED = {
    "torn": '{"positions": [{"moves',
    "another file": "[1, 2]",
    "none": {"positions": []},
    "no scores": {"positions": [{"moves": ""}]},
    "no moves": {"positions": [EARLY | {"moves": 4}]},
    "a column too far": {"positions": [EARLY | {"moves": "8"}]},
    "a stone too many": {"positions": [EARLY | {"moves": "1" * 7}]},
    "over already": {"positions": [EARLY | {"moves": "1212121"}]},
    "longer than a game": {"positions": [EARLY | {"moves": "1234567" * 6}]},
    "a score too few": {"positions": [EARLY | {"scores": [-2, -1, 0, 1, 0, -1]}]},
    "a score in words": {"positions": [EARLY | {"scores": [-2, -1, 0, "1", 0, -1, -2]}]},
    "no score for a legal move": {"positions": [EARLY | {"scores": [None, -1, 0, 1, 0, -1, -2]}]},
    "a score for none": {"positions": [EARLY | {"moves": "1" * 6}]},
    "nothing to lose": {"positions": [EARLY | {"scores": [0] * 7}]},
    "another difficulty": {"positions": [EARLY | {"difficulty": "easy"}]},
    "bytes": "\udcff",
    "too deep": "[" * 100_000,
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(fault, game, tmp_path):
    data = DAMAGED[fault]
    text = data if isinstance(data, str) else json.dumps(data)
    (tmp_path / NAME).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=f"{NAME} does not hold positions of connect_four"):
        read(game, tmp_path)


def evaluation(game, directory, positions):
    """As of a run that plays at random."""
    player = random_player()
    agent = Agent(game, None, lambda params: player, lambda params: player)  # pyright: ignore
    trained = Trained(resolve("connect_four", "alphazero", {}), agent, {}, 1)
    return evaluate.Evaluation(directory, trained, player, 4, 2, 0, positions)


@pytest.mark.slow
def test_an_evaluation_says_how_many_moves_are_lost(game, tmp_path, capsys):
    write(tmp_path, KNOWN, "a solver")
    assert evaluate.execute(evaluation(game, tmp_path, KNOWN)) == 0
    shown = capsys.readouterr().out
    assert re.search(r"\| opens in the centre, network alone \| (yes|no) +\|", shown)
    assert re.search(r"\| losing moves, % +\| positions \| network alone +\| with search", shown)
    assert re.search(r"\| early hard +\| 1 +\| (100|0)\.0 \[[\d.]+, [\d.]+\] [01] ", shown)
    assert " ".join(shown.split()).endswith(f"true score of every move: {tmp_path / NAME}")
    assert evaluate.execute(evaluation(game, tmp_path, KNOWN), as_json=True) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["score"]["wins"] <= 8
    found = numbers["with_search"]["losing_moves"]["all"]
    assert found["positions"] == 6 and found["share"] == found["lost"] / 6
    assert found["interval"][0] <= found["share"] <= found["interval"][1]


@pytest.mark.slow
def test_without_the_extra_all_but_the_losing_moves_is_there(game, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "bitbully", None)
    assert evaluate.execute(evaluation(game, tmp_path, None)) == 0
    shown = capsys.readouterr()
    assert re.fullmatch(r'duozero: [^\n]+ pip install "\.\[oracle\]"[^\n]+\n', shown.err)
    assert "against random" in shown.out and "opens in the centre, with search" in shown.out
    assert "losing moves" not in shown.out.lower()
    assert not list(tmp_path.iterdir())
    assert cli.main(["play", "connect_four", "--against", "perfect"]) == 2
    shown = capsys.readouterr().err
    assert re.fullmatch(r"duozero: no perfect player of connect_four: [^\n]+\n", shown)
    assert 'pip install ".[oracle]"' in shown


@pytest.mark.slow
def test_the_solver_knows_what_is_known(solver):
    for position in KNOWN:
        assert solver.scores(position.moves) == position.scores
        assert solver.value(position.moves) == position.value
    assert solver.value("4455") == 18 and solver.value("44455554221") == -15
    assert solver.scores("121212")[0] == 18  # A win in one.


@pytest.mark.slow
def test_the_solver_scores_boards_and_mirror_images_alike(solver, sampled):
    mirror = str.maketrans("1234567", "7654321")
    state = replay(ConnectFour(), [p.moves for p in sampled])
    for position, board in zip(sampled, np.asarray(state.board), strict=True):
        assert solver.scores_on(board) == position.scores
        assert solver.value_on(board) == position.value
        assert solver.scores(position.moves.translate(mirror)) == position.scores[::-1]


@pytest.mark.slow
def test_the_solver_agrees_with_the_rules(solver):
    moves = "1252115552366543157764742224413"
    values = solve(From(moves)).action_values[0]
    signs = [np.sign(s) if s is not None else -np.inf for s in solver.scores(moves)]
    np.testing.assert_array_equal(values, signs)


@pytest.mark.slow
def test_the_sample_is_what_it_says(game, solver, sampled, tmp_path):
    assert [p.kind for p in sampled] == [kind for kind in KINDS for _ in range(2)]
    assert all(p.telling for p in sampled)
    assert len({p.moves for p in sampled}) == len(sampled)
    assert sample(game, solver, num_per_kind=2) == sampled
    write(tmp_path, sampled, solver.name)
    assert read(game, tmp_path) == sampled


@pytest.mark.slow
def test_what_was_solved_once_needs_no_solver_again(
    game, solver, sampled, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(evaluate.connect_four_positions, "sample", lambda game, solver: sampled)
    assert evaluate.execute(evaluation(game, tmp_path, None)) == 0
    monkeypatch.setitem(sys.modules, "bitbully", None)
    again = evaluation(game, tmp_path, read(game, tmp_path))
    first = capsys.readouterr().out
    assert evaluate.execute(again) == 0
    table = re.compile(r"\| losing moves.*\n\n", re.S)
    assert table.search(first)[0] == table.search(capsys.readouterr().out)[0]


@pytest.mark.slow
def test_the_perfect_player_takes_each_of_the_best_moves_at_some_time(game, solver):
    player = perfect_player()
    state = replay(game, [p.moves for p in KNOWN])
    seen = [set() for _ in KNOWN]
    for seed in range(12):
        moves = moves_in(player.act, state, jax.random.key(seed), 6)
        for position, move, chosen in zip(KNOWN, moves, seen, strict=True):
            assert position.scores[move] == position.value
            chosen.add(int(move))
    assert seen[1] == {1, 2, 6} and seen[3] == {2, 6}


@pytest.mark.slow
def test_the_perfect_player_wins_every_game_it_begins(game, solver):
    score = match(game, perfect_player(), random_player(), jax.random.key(0), 4, 0)
    assert score.wins >= 4 and score.losses == 0
