"""Making games by name."""

import sys

import pytest
from duozero.games import GAMES, Game, make, symmetries


def test_the_listed_names_are_ids():
    assert [make(name).id for name in GAMES] == list(GAMES)


def test_the_classic_race_has_one_id():
    assert make("race_to_21_3").id == "race_to_21"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tic_tac_to", "unknown game 'tic_tac_to'; did you mean 'tic_tac_toe'? known: "),
        ("Connect-Four", "did you mean 'connect_four'?"),
        ("", "unknown game ''; known: "),
        ("two\nlines", r"unknown game 'two\\nlines'"),
        ("gomoku_06x6_4", "did you mean 'gomoku_6x6_4'?"),
        ("gomoku_26x6_4", "gomoku_26x6_4: width and height must be 3 to 25"),
        ("gomoku_6x2_4", "gomoku_6x2_4: width and height must be 3 to 25"),
        ("gomoku_6x6_2", "2 in a row is out of range, a 6x6 board allows 3 to 6"),
        ("gomoku_6x7_8", "8 in a row is out of range, a 6x7 board allows 3 to 7"),
        ("race_to_1_1", "target 1 is out of range, 2 to 1000"),
        ("race_to_1001_3", "target 1001 is out of range, 2 to 1000"),
        ("race_to_9_10", "maximum 10 is out of range, 1 to 9"),
        ("no_such_module:Game", "No module named 'no_such_module'"),
        ("json:Nope", "no attribute 'Nope'"),
        ("json:", "expected package.module:Class"),
        (":Game", "expected package.module:Class"),
        ("json:loads", "is a function, which is neither a game nor the class of one: it has no"),
        ("json:JSONDecoder", "'json:JSONDecoder' is a class, but of no game: it has no init, step"),
        ("os:abort", "is a builtin_function_or_method, which is neither a game"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(name, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")) as refusal:
        make(name)
    assert "\n" not in str(refusal.value)


def test_a_game_of_ones_own_needs_no_registration(tmp_path, monkeypatch):
    (tmp_path / "own_shop.py").write_text("ROWS = 3\n")
    (tmp_path / "own_game.py").write_text(
        "from duozero.games import make\n"
        "import own_shop\n"
        "from duozero.games.tic_tac_toe import TicTacToe\n"
        "class Mine(TicTacToe):\n"
        "    id = f'mine_{own_shop.ROWS}'\n"
        "ready = Mine()\n"
        "class Broken(Mine):\n"
        "    def __init__(self):\n"
        "        raise RuntimeError('two\\nlines')\n"
    )
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    try:
        assert make("own_game:Mine").id == "mine_3"
        assert make("own_game:ready").id == "mine_3"
        with pytest.raises(ValueError, match="RuntimeError: two lines"):
            make("own_game:Broken")
    finally:
        sys.modules.pop("own_game", None)
        sys.modules.pop("own_shop", None)
    assert sys.path == path


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("def _observe(self, state): return state.board", r"observation \(9,\), not \(3, 3, 2\)"),
        ("num_actions = 8", r"legal_action_mask \(9,\), not \(8,\)"),
        ("value_range = (0.0, 0.0)", "it is empty"),
        ("value_range = (0.0, float('inf'))", "has no end"),
        ("value_range = ('a', 'b')", "ValueError"),
        ("num_actions = 9.0", "num_actions with 9.0; a whole number above 0"),
        ("observation_shape = (3, 0, 2)", "observation_shape with 0; a whole number above 0"),
        ("def _observe(self, state): return super()._observe(state) * 1j", "type complex64"),
        ("def step(self, state, action): return None", "by a move"),
        ("def step(self, state, action): return state, 1", "by a move"),
        ("def step(self, state, action): return state.replace(board=None)", "by a move"),
        (
            "def _init(self, key):\n"
            "        state = super()._init(key)\n"
            "        return state.replace(legal_action_mask=~state.legal_action_mask)",
            "no legal move",
        ),
        (
            "symmetries = property(lambda self: TicTacToe().symmetries._replace("
            "action=TicTacToe().symmetries.action * 0))",
            "symmetries.action with a row that is no permutation",
        ),
        ("__hash__ = None", "unhashable"),
        ("def _init(self, key): return None", "AttributeError"),
        ("def _step(self, state, action): raise RuntimeError('no')", "RuntimeError: no"),
        ("def _step(self, state, action): raise SystemExit('no')", "played; SystemExit: no"),
        ("def __init__(self): raise SystemExit(0)", "no game 'odd_game:Mine'.*; SystemExit: 0"),
        ("id = property(lambda self: 1 / 0)", "ZeroDivisionError"),
        ("symmetries = property(lambda self: 1 / 0)", "ZeroDivisionError"),
        (
            "symmetries = TicTacToe().symmetries\n    num_actions = 10",
            r"symmetries.action \(8, 9\), not \(8, 10\)",
        ),
        ("pass\n\n\nraise SystemExit", "no game 'odd_game:Mine'.*; SystemExit"),
    ],
)
def test_a_game_that_breaks_the_contract_is_refused_in_one_line(
    tmp_path, monkeypatch, change, reason
):
    above = "from duozero.games.tic_tac_toe import TicTacToe"
    (tmp_path / "odd_game.py").write_text(f"{above}\n\n\nclass Mine(TicTacToe):\n    {change}\n")
    monkeypatch.chdir(tmp_path)
    try:
        with pytest.raises(ValueError, match=reason) as refusal:
            make("odd_game:Mine")
    finally:
        sys.modules.pop("odd_game", None)
    assert "\n" not in str(refusal.value)


def test_a_module_that_does_not_compile_is_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "bad_game.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="SyntaxError") as refusal:
        make("bad_game:Mine")
    assert "\n" not in str(refusal.value)


def test_the_games_of_pgx_can_be_made():
    pytest.importorskip("pgx")
    game = make("animal_shogi")
    assert isinstance(game, Game) and game.id == "animal_shogi"
    assert len(symmetries(game).action) == 1
