"""What a run folder or a network file holds, ready to play."""

import dataclasses
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp

from ..models import Params
from . import checkpoint, network_file
from .agent import Agent, make_agent, named
from .catalogue import game_named
from .config import Config
from .folder import stored_config
from .limits import check
from .memory import check_search, shapes
from .packed import unpack
from .players import Player


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


def load(
    path: Path | str,
    simulations: int | None = None,
    num_games: int = 1,
    reuse: bool = False,
    best: bool = False,
    game: str | None = None,
) -> Trained:
    """The player that a run folder or a network file holds, with its own search settings.

    Args:
        path: the folder, or the file, whose name ends in .npz.
        simulations: nodes per move instead of those of the run.
        num_games: how many it will play at once.
        reuse: go on from the tree of its last move, whatever the run does.
        best: the best network of the run folder, see `measure.challenge`, not the newest.
        game: the name of the game that it must play; None for its own, whose module is imported
            where it is a user's.

    Raises:
        ValueError: if there is no run, it is damaged, does not fit its own settings, or plays
            another game.
        OSError: if the file cannot be read.
    """
    path = Path(path)
    is_file = path.suffix == ".npz" and not path.is_dir()
    network = network_file.load(path) if is_file else None
    stored = network.config if network else stored_config(path)
    if game not in (None, stored.game):  # Before its module, which may be anybody's, is imported.
        raise ValueError(f"{path} plays {stored.game}, not {game}")
    changes = {"num_simulations": simulations} if simulations is not None else {}
    changes |= {"reuse": True} if reuse else {}
    search = dataclasses.replace(stored.search, **changes)
    config = check(dataclasses.replace(stored, search=search))
    agent = make_agent(game_named(config.game), config)
    like = shapes(agent.planner)
    check_search(agent.planner, config.search.num_nodes, num_games)
    if network:
        return Trained(config, agent, unpack(network.arrays, like, path), network.num_rounds)
    if best:
        if not checkpoint.holds(path, "best"):
            raise ValueError(f"{path} has no best network yet: its strength was not measured")
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
