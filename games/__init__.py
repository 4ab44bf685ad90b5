"""Rules of the games. Imports nothing from the other layers."""

if __name__ != "duozero.games":
    raise ImportError(f"import duozero.games, not {__name__}")

from .base import BoardGame, Game, State, Symmetries, symmetries, value_range
from .tic_tac_toe import TicTacToe


def make(name: str):
    return TicTacToe()


__all__ = ["BoardGame", "Game", "State", "Symmetries", "make", "symmetries", "value_range"]
