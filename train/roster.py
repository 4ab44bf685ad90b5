"""Players by name, as the command line knows them."""

import re
from pathlib import Path

from ..games.connect_four import ConnectFour
from ..planners import rollout
from . import connect_four_oracle, network_file, players
from .agent import mcts, named
from .catalogue import MAX_SOLVED, game_named, solution_of
from .memory import check_search
from .overlay import unknown
from .players import Player
from .trained import load

SHIPPED = ("alphazero", "muzero")
NETWORKS = (*SHIPPED, "a run folder", "best:RUN", "FILE.npz")
WITHOUT = ("random", "greedy-centre", "mcts", "mcts:N", "perfect")
NAMES = (*WITHOUT, *NETWORKS, "network: before any of the last five")
DEFAULT_SIMULATIONS = 200


def player(
    spec: str,
    game: str,
    simulations: int | None = None,
    num_games: int = 1,
    reuse: bool = False,
) -> Player:
    """The player that `spec` names, for the game called `game`; see `NAMES`.

    Args:
        spec: what a person typed.
        game: the name of the game.
        simulations: nodes per move instead of a run's own.
        num_games: how many it will play at once.
        reuse: a run goes on from the tree of its last move.

    Raises:
        ValueError: if there is no such player, or it does not play this game.
    """
    rules = game_named(game)
    if spec == "random":
        return players.random_player()
    if spec == "greedy-centre":
        return players.greedy_centre_player(rules)
    if spec == "mcts" or spec.startswith("mcts:"):
        num_simulations = _simulations(spec)
        check_search(rollout(rules), num_simulations, num_games)
        return mcts(rules, num_simulations)
    if spec == "perfect":
        return _perfect_player(game)
    alone = spec.startswith("network:")
    who = spec.removeprefix("network:")
    best = who.startswith("best:")
    if alone and (who in WITHOUT or who.startswith("mcts:")):
        raise ValueError(f"{who} has no network; network: goes before {', '.join(NETWORKS)}")
    path = _shipped(game, who) if who in SHIPPED else Path(who.removeprefix("best:"))
    if not (alone or best) and not path.exists():
        raise ValueError(f"{unknown('player', spec, NAMES)}; nor is {path} a file or folder")
    trained = load(path, simulations, num_games, reuse and not alone, best, game)
    return named(trained.network if alone else trained.searching, spec)


def default_opponent(game: str) -> str:
    """Whom a person plays who names nobody."""
    return "alphazero" if network_file.shipped_path(game, "alphazero").is_file() else "mcts:400"


def _shipped(game: str, planner: str) -> Path:
    path = network_file.shipped_path(game, planner)
    if not path.is_file():
        names = ", ".join(path.stem for path in network_file.all_shipped()) or "none"
        raise ValueError(f"no network of {planner} is shipped for {game}; shipped: {names}")
    return path


def _perfect_player(game: str) -> Player:
    if isinstance(game_named(game), ConnectFour):
        try:
            return connect_four_oracle.perfect_player()
        except ValueError as error:
            raise ValueError(f"no perfect player of {game}: {error}") from None
    solution = solution_of(game)
    if solution is None:
        raise ValueError(
            f"no perfect player of {game}: only games of at most {MAX_SOLVED:,} positions "
            "(tic_tac_toe, small races), of which none comes back and observations hide nothing, "
            "are solved exactly, and connect_four with an optional extra"
        )
    return players.perfect_player(solution)


def _simulations(spec: str) -> int:
    text = spec.partition(":")[2] or str(DEFAULT_SIMULATIONS)
    if not re.fullmatch(r"[1-9]\d{0,6}", text):
        raise ValueError(f"{spec!r}: a number of simulations from 1 to 9999999 is needed")
    return int(text)
