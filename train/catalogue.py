"""Games by name, their solutions, and what the shipped settings make of them."""

import functools

from ..games import GAMES, BoardGame, Game, make, symmetries
from ..games.connect_four import ConnectFour
from ..games.gomoku import Gomoku
from .config import recipes
from .oracles import Solution, solve
from .report import table


@functools.cache
def game_named(name: str) -> Game:
    """The game called `name`, one per name, so that what is compiled for it is compiled once.

    Raises:
        ValueError: if there is none.
    """
    return make(name)


MAX_SOLVED = 10_000  # Positions; a few seconds.


@functools.cache
def solution_of(name: str) -> Solution | None:
    """The exact solution of the game called `name`, where it is small enough.

    Those of the library whose size is known are not tried in vain, nor are games of pgx, whose
    observations need not describe a position in full.
    """
    game = game_named(name)
    if not isinstance(game, BoardGame) or isinstance(game, ConnectFour | Gomoku):
        return None
    try:
        return solve(game, MAX_SOLVED)
    except ValueError:
        return None


def print_games() -> int:
    """Lists the games, how to name others, and the presets."""
    print(table(_games()))
    print("\nOther sizes: gomoku_WxH_N, race_to_T_M. Your own: package.module:Class. pgx's by id.")
    print("\nShipped settings, for `duozero train GAME --planner PLANNER`:\n")
    print(table([["game", "planner", "budget, on two CPU cores", "reached"], *recipes()]))
    print("\nScores against mcts:N: with 64 simulations a move (`evaluate ... --simulations 64`).")
    return 0


def _games() -> list[list[str]]:
    rows = [["game", "moves", "written", "observation", "symmetries", "solved exactly"]]
    for name in GAMES:
        game = game_named(name)
        written = [game.action_to_string(a) for a in (0, game.num_actions - 1)]  # pyright: ignore
        solved = "yes" if solution_of(name) else "no"
        rows.append(
            [
                name,
                str(game.num_actions),
                " to ".join(written),
                "x".join(map(str, game.observation_shape)),
                str(len(symmetries(game).action)),
                "with the oracle extra" if isinstance(game, ConnectFour) else solved,
            ]
        )
    return rows
