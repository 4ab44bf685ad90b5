"""A person in the terminal: moves as the game writes them, undo, hint, quit."""

import io
import re

import pytest
from duozero.train import cli
from duozero.train.play import prepare


@pytest.fixture
def say(monkeypatch, capsys):
    """Plays a game with what a person types, and returns what that person sees."""

    def play(command: str, *typed: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in typed)))
        assert cli.main(["play", *command.split()]) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        return shown.out

    return play


def test_the_end_of_the_input_quits(say):
    out = say("tic_tac_toe --against random --first --seed 1")
    assert "you move first" in out
    assert out.count("your move:") == 1


def test_an_input_that_is_closed_is_at_its_end(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert cli.main(["play", "tic_tac_toe", "--against", "random", "--first", "--seed", "1"]) == 0
    assert capsys.readouterr().err == ""


def test_a_game_that_cannot_write_or_read_is_played_by_number(say, tmp_path, monkeypatch):
    (tmp_path / "mute_game.py").write_text(
        "from duozero.games.tic_tac_toe import TicTacToe\n"
        "class Mine(TicTacToe):\n"
        "    def to_string(self, state): raise KeyError('no\\npaper')\n"
        "    def action_to_string(self, action): raise SystemExit('no pen')\n"
        "    def string_to_action(self, text): return [][int(text)] if text > '5' else int(text)\n"
    )
    monkeypatch.chdir(tmp_path)
    out = say("mute_game:Mine --against random --first --seed 1", "7", "4", "quit")
    assert r"(tic_tac_toe has no text picture: KeyError('no\npaper'))" in out
    assert "tic_tac_toe cannot read '7': IndexError('list index out of range') (type a move" in out
    assert re.search(r"random plays \d\n", out)


def test_who_names_nobody_is_told_of_the_shipped_network(say):
    first_line = say("tic_tac_toe --first --seed 1").splitlines()[0]
    assert first_line.startswith("tic_tac_toe: you against alphazero; you move first.")


@pytest.mark.slow
def test_who_names_nobody_where_no_network_is_shipped_is_told_of_a_search(say):
    first_line = say("race_to_5_2 --second --seed 1").splitlines()[0]
    assert first_line.startswith("race_to_5_2: you against mcts:400; mcts:400 moves first.")


def test_a_move_is_shown_and_answered(say):
    out = say("tic_tac_toe --against random --first --seed 1", "b2", "quit")
    assert " 2  .  X  .\n" in out
    assert "random plays " in out
    assert out.count("your move:") == 2


def test_the_other_side_may_move_first(say):
    out = say("race_to_21 --against perfect --second --seed 1", "quit")
    assert "perfect moves first" in out
    assert out.index("perfect plays 1") < out.index("your move:")


def test_what_cannot_be_played_takes_a_line_and_asks_again(say):
    out = say("tic_tac_toe --against random --first --seed 1", "z9", "b2", "b2", "hello", "quit")
    assert "no move 'z9' in tic_tac_toe" in out
    assert "b2 is not legal here; type moves to see what is" in out
    assert "no move 'hello'" in out
    assert out.count("random plays") == 1


def test_undo_takes_back_to_the_choice_before(say):
    out = say("tic_tac_toe --against random --first --seed 1", "undo", "b2", "undo", "moves")
    assert "there is no move of yours to take back" in out
    assert "legal moves: a3 b3 c3 a2 b2 c2 a1 b1 c1" in out


def test_a_hint_shows_visits_values_and_prior(say):
    out = say("tic_tac_toe --against mcts:20 --first --seed 1", "hint", "quit")
    assert "mcts:20 thinks you " in out
    table = [line.split("|")[1:-1] for line in out.splitlines() if line.startswith("| ")]
    head, *rows = [[cell.strip() for cell in row] for row in table]
    assert head[:4] == ["move", "visits", "value", "prior"]
    assert len(rows) == 9
    assert sum(int(row[1]) for row in rows) == 20
    assert sum("its choice" in row[4] for row in rows) == 1
    line = out.partition("it expects: ")[2].splitlines()[0]
    (choice,) = (row for row in rows if "its choice" in row[4])
    assert line.startswith(f"{choice[0]} ({choice[1]} visits, ")


def test_a_lost_game_can_be_taken_back(say):
    # 2, then always so as not to leave a multiple of 4: the perfect player wins.
    moves = ["2", "1", "1", "1", "1", "undo", "quit"]
    out = say("race_to_21 --against perfect --second --seed 1", *moves)
    assert "You lose. (undo to go back" in out
    assert out.rstrip().endswith("your move:")


def test_a_game_can_be_won(say):
    out = say("race_to_2_2 --against random --first --seed 1", "2", "")
    assert "You win." in out


def test_the_same_seed_is_the_same_game():
    one, other = (prepare("tic_tac_toe", "random", None, None, 7) for _ in range(2))
    assert one.person == other.person
    assert one.opponent.act(*one.roots()) == other.opponent.act(*other.roots())
