"""Players by name, as the command line knows them."""

import dataclasses
import functools
import re
from pathlib import Path
from typing import NamedTuple

import jax

from ..games import Game, make
from . import checkpoint, players
from .agent import Agent, PriorFn, make_agent, mcts, named
from .config import Config
from .folder import stored_config
from .memory import refuse_beyond_memory, tree_bytes
from .oracles import Solution, solve
from .overlay import unknown

NAMES = ("random", "greedy-centre", "mcts", "mcts:N", "perfect", "network:RUN", "a run folder")
DEFAULT_SIMULATIONS = 200


class Entrant(NamedTuple):
    """A player, and what its network thinks of the moves before any search, where it has one."""

    player: players.Player
    prior: PriorFn | None = None


class Trained(NamedTuple):
    """What a run folder has learned.

    Attributes:
        config: its settings.
        agent: how it plays.
        params: its averaged parameters.
        num_rounds: rounds of training behind them.
    """

    config: Config
    agent: Agent
    params: dict
    num_rounds: int

    @property
    def searching(self) -> players.Player:
        return self.agent.searching(self.params)

    @property
    def network(self) -> players.Player:
        return self.agent.network(self.params)


@functools.cache
def game_named(name: str) -> Game:
    """The game called `name`, one per name, so that what is compiled for it is compiled once.

    Raises:
        ValueError: if there is none.
    """
    return make(name)


def is_solvable(name: str) -> bool:
    """Whether the game is small enough to be solved within seconds: tic-tac-toe and the races."""
    race = re.fullmatch(r"race_to_(\d+)(?:_(\d+))?", name)
    small = race is not None and int(race[1]) * int(race[2] or 3) <= 1_000
    return name == "tic_tac_toe" or small


@functools.cache
def solution_of(name: str) -> Solution | None:
    """The exact solution of the game called `name`, where it is small enough."""
    return solve(game_named(name)) if is_solvable(name) else None


def load(directory: Path, simulations: int | None = None) -> Trained:
    """The player that a run folder holds, with its own search settings.

    Args:
        directory: the run folder.
        simulations: nodes per move instead of those of the run.

    Raises:
        ValueError: if there is no run, it is damaged, or does not fit its own settings.
    """
    config = stored_config(directory)
    if simulations is not None:
        search = dataclasses.replace(config.search, num_simulations=simulations)
        config = dataclasses.replace(config, search=search)
    agent = make_agent(game_named(config.game), config)
    like = jax.eval_shape(agent.planner.init, jax.eval_shape(lambda: jax.random.key(0)))
    tree = tree_bytes(agent.planner, like, 1, config.search.num_simulations)
    refuse_beyond_memory(tree, f"a search of {config.search.num_simulations} simulations")
    params = checkpoint.restore(directory, "player", like)
    return Trained(config, agent, params, checkpoint.latest(directory))


def load_player(directory: Path | str, simulations: int | None = None) -> players.Player:
    """A trained player from its run folder, for matches.

    Raises:
        ValueError: see `load`.
    """
    return named(load(Path(directory), simulations).searching, str(directory))


def entrant(spec: str, game: str, simulations: int | None = None) -> Entrant:
    """The player that `spec` names, for the game called `game`; see `NAMES`.

    Args:
        spec: what a person typed.
        game: the name of the game.
        simulations: nodes per move instead of a run's own.

    Raises:
        ValueError: if there is no such player, or it does not play this game.
    """
    rules = game_named(game)
    if spec == "random":
        return Entrant(players.random_player())
    if spec == "greedy-centre":
        return Entrant(players.greedy_centre_player(rules))
    if spec == "mcts" or spec.startswith("mcts:"):
        return Entrant(mcts(rules, _simulations(spec)))
    if spec == "perfect":
        solution = solution_of(game)
        if solution is None:
            raise ValueError(
                f"no perfect player of {game}: only tic_tac_toe and small races are solved exactly"
            )
        return Entrant(players.perfect_player(solution))
    alone = spec.startswith("network:")
    directory = Path(spec.removeprefix("network:"))
    if not alone and not directory.exists():
        raise ValueError(unknown("player", spec, NAMES))
    trained = load(directory, simulations)
    if trained.config.game != game:
        raise ValueError(f"{directory} plays {trained.config.game}, not {game}")
    player = trained.network if alone else trained.searching
    return Entrant(named(player, spec), trained.agent.prior(trained.params))


def _simulations(spec: str) -> int:
    text = spec.partition(":")[2] or str(DEFAULT_SIMULATIONS)
    if not re.fullmatch(r"[1-9]\d{0,6}", text):
        raise ValueError(f"{spec!r}: a number of simulations from 1 to 9999999 is needed")
    return int(text)
