"""What `duozero games` lists: what can be played, and what the shipped settings train."""

from ..games import GAMES, symmetries
from ..games.connect_four import ConnectFour
from .config import recipes
from .report import table
from .roster import game_named, solution_of


def print_games() -> int:
    """Lists the games, how to name others, and the presets."""
    print(table(_games()))
    print("\nOther sizes: gomoku_WxH_N, race_to_T_M. Your own: package.module:Class. pgx's by id.")
    print("\nShipped settings, for `duozero train GAME --planner PLANNER`:\n")
    print(table([["game", "planner", "budget, on two CPU cores", "reached"], *recipes()]))
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
