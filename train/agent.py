"""A trained network as it plays: with search or without, on every device."""

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from ..games import Game, State
from ..models.base import Params
from ..planners import Plan, Planner
from . import players
from .build import build_mesh, build_model, build_planner, build_search
from .config import Config
from .players import Player

Array = jax.Array


@dataclass(frozen=True)
class Agent:
    """How a run plays, for any parameters; each function is compiled once per batch size.

    Attributes:
        game: the rules.
        planner: what is searched.
        searching: `params -> Player`, the run's own search without exploration.
        network: `params -> Player`, the network's favourite move.
    """

    game: Game
    planner: Planner
    searching: Callable[[Params], Player]
    network: Callable[[Params], Player]


def make_agent(game: Game, config: Config) -> Agent:
    """The agent of a run with these settings."""
    planner = build_planner(game, build_model(game, config.model), config)
    search = build_search(planner, config.search)
    plan = spread(lambda params, keys, state: search(params, keys, state))
    favourite = players.network_player(f"{config.planner} without search", planner)

    return Agent(
        game,
        planner,
        lambda params: _searching(config.planner, lambda *roots: plan(params, *roots)),
        favourite,
    )


@functools.lru_cache(maxsize=8)
def mcts(game: Game, num_simulations: int) -> Player:
    """Pure Monte Carlo tree search, spread over the devices."""
    player = players.mcts_player(game, num_simulations)
    assert player.plan is not None
    search = player.plan
    plan = spread(lambda _, keys, state: search(keys, state))
    return _searching(player.name, lambda *roots: plan({}, *roots))


def spread(plan: Callable[[Any, Array, State], Plan]) -> Callable[..., Plan]:
    """Compiles `plan(params, keys, state)` so that every device searches its share of the games.

    Takes as many devices as divide the batch. Each game has its own key, so the moves do not
    depend on how many they are.
    """

    @jax.jit
    def search(params, keys, state):
        mesh = build_mesh(keys.shape[0])
        if mesh.size == 1:
            return plan(params, keys, state)
        shares = jax.shard_map(
            plan,
            mesh=mesh,
            in_specs=(P(), P("data"), P("data")),
            out_specs=P("data"),
            check_vma=False,
        )
        return shares(params, keys, state)

    return search


def _searching(name: str, plan: Callable[[Array, State], Plan]) -> Player:
    # The moves come back by way of the host: the rules of a match run on one device.
    return Player(name, lambda keys, state: jnp.asarray(np.asarray(plan(keys, state).action)), plan)


def named(player: Player, name: str) -> Player:
    """The same player under another name."""
    return dataclasses.replace(player, name=name)
