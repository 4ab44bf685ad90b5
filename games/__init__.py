"""Rules of the games. Imports nothing from the other layers."""

if __name__ != "duozero.games":
    raise ImportError(f"import duozero.games, not {__name__}")

import re

from .base import BoardGame, Game, State, Symmetries, symmetries, value_range
from .connect_four import ConnectFour
from .elsewhere import from_module, from_pgx
from .gomoku import Gomoku
from .race import Race
from .tic_tac_toe import TicTacToe

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "gomoku_6x6_4",
    "gomoku_8x8_5",
    "gomoku_15x15_5",
    "race_to_21",
)

_NUMBER = "([1-9][0-9]*)"
_PATTERNS = {
    "tic_tac_toe": TicTacToe,
    "connect_four": ConnectFour,
    f"gomoku_{_NUMBER}x{_NUMBER}_{_NUMBER}": Gomoku,
    "race_to_21": Race,
    f"race_to_{_NUMBER}_{_NUMBER}": Race,
}


def make(name: str) -> Game:
    """The game called `name`, which is also its `id`.

    Names are those of `GAMES`, other sizes `gomoku_WxH_N` (width, height, N in a row win) and
    `race_to_T_M` (target, largest step), `package.module:Class` for a game that lives elsewhere,
    and the ids of pgx where pgx is installed.

    Raises:
        ValueError: one line that says what was given and what is allowed.
    """
    for pattern, constructor in _PATTERNS.items():
        if match := re.fullmatch(pattern, name):
            return constructor(*map(int, match.groups()))
    return from_module(name) if ":" in name else from_pgx(name, GAMES)


__all__ = [
    "GAMES",
    "BoardGame",
    "Game",
    "State",
    "Symmetries",
    "make",
    "symmetries",
    "value_range",
]
