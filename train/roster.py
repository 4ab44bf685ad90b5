"""Players by name, as the command line knows them."""

import dataclasses
import functools
import re
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ..games import BoardGame, Game, make
from ..games.connect_four import ConnectFour
from ..games.gomoku import Gomoku
from ..models import Params
from ..planners import Planner, rollout
from . import checkpoint, connect_four_oracle, network_file, players
from .agent import Agent, make_agent, mcts, named
from .config import Config
from .folder import stored_config
from .limits import check
from .memory import refuse_beyond_memory, tree_bytes
from .oracles import Solution, solve
from .overlay import unknown
from .packed import unpack
from .players import Player

SHIPPED = ("alphazero", "muzero")
NAMES = ("random", "greedy-centre", "mcts", "mcts:N", "perfect", *SHIPPED)
NAMES += ("a run folder", "best:RUN", "FILE.npz", "network: before any of these four")
DEFAULT_SIMULATIONS = 200


class Trained(NamedTuple):
    """What a run has learned.

    Attributes:
        config: its settings.
        agent: how it plays.
        params: its averaged parameters.
        num_rounds: rounds of training behind them.
    """

    config: Config
    agent: Agent
    params: Params
    num_rounds: int

    @property
    def searching(self) -> Player:
        return self.agent.searching(self.params)

    @property
    def network(self) -> Player:
        return self.agent.network(self.params)


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


def check_search(planner: Planner, num_simulations: int, num_games: int) -> None:
    """Refuses a search that this machine cannot hold.

    Raises:
        ValueError: with what is needed and what there is.
    """
    needed = tree_bytes(planner, _shapes(planner), num_games, num_simulations)
    refuse_beyond_memory(needed, f"a search of {num_simulations} simulations")


def _shapes(planner: Planner) -> Params:
    return jax.eval_shape(planner.init, jax.eval_shape(lambda: jax.random.key(0)))


def load(
    path: Path,
    simulations: int | None = None,
    num_games: int = 1,
    reuse: bool = False,
    best: bool = False,
) -> Trained:
    """The player that a run folder or a network file holds, with its own search settings.

    Args:
        path: the folder, or the file, whose name ends in .npz.
        simulations: nodes per move instead of those of the run.
        num_games: how many it will play at once.
        reuse: go on from the tree of its last move, whatever the run does.
        best: the best network of the run folder, see `measure.challenge`, not the newest.

    Raises:
        ValueError: if there is no run, it is damaged, or does not fit its own settings.
        OSError: if the file cannot be read.
    """
    is_file = path.suffix == ".npz" and not path.is_dir()
    network = network_file.load(path) if is_file else None
    stored = network.config if network else stored_config(path)
    changes = {"num_simulations": simulations} if simulations is not None else {}
    changes |= {"reuse": True} if reuse else {}
    search = dataclasses.replace(stored.search, **changes)
    config = check(dataclasses.replace(stored, search=search))
    agent = make_agent(game_named(config.game), config)
    like = _shapes(agent.planner)
    check_search(agent.planner, config.search.num_nodes, num_games)
    if network:
        return Trained(config, agent, unpack(network.arrays, like, path), network.num_rounds)
    if best:
        if not checkpoint.holds(path, "best"):
            raise ValueError(f"{path} has no best network yet: its strength was never measured")
        found = checkpoint.restore(path, "best", checkpoint.Best(like, jnp.int32(0)), stored)
        return Trained(config, agent, found.params, int(found.num_rounds))
    params = checkpoint.restore(path, "player", like, stored)
    return Trained(config, agent, params, checkpoint.latest(path))


def load_player(path: Path | str, simulations: int | None = None) -> Player:
    """A trained player from its run folder or network file, for matches.

    Raises:
        ValueError: see `load`.
    """
    return named(load(Path(path), simulations).searching, str(path))


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
    path = _shipped(game, who) if who in SHIPPED else Path(who.removeprefix("best:"))
    if not (alone or best) and not path.exists():
        raise ValueError(unknown("player", spec, NAMES))
    trained = load(path, simulations, num_games, reuse and not alone, best)
    if trained.config.game != game:
        raise ValueError(f"{path} plays {trained.config.game}, not {game}")
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
            "(tic_tac_toe, small races) are solved exactly, and connect_four with an optional extra"
        )
    return players.perfect_player(solution)


def _simulations(spec: str) -> int:
    text = spec.partition(":")[2] or str(DEFAULT_SIMULATIONS)
    if not re.fullmatch(r"[1-9]\d{0,6}", text):
        raise ValueError(f"{spec!r}: a number of simulations from 1 to 9999999 is needed")
    return int(text)
