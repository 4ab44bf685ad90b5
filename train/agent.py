"""A trained network as it plays: with search or without, on every device."""

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import PartitionSpec as P

from ..games import Game, State
from ..models.base import Params
from ..planners import Plan, Planner
from ..planners.tree import Tree
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
    planner = build_planner(game, build_model(game, config), config)
    search = build_search(planner, config.search)
    plan = spread(lambda params, keys, state, tree: search(params, keys, state, tree=tree))
    favourite = players.network_player(f"{config.planner} without search", planner)

    def searching(params):
        own = functools.partial(plan, params)
        return players.searching_player(config.planner, own, config.search.reuse)

    return Agent(game, planner, searching, favourite)


@functools.lru_cache(maxsize=8)
def mcts(game: Game, num_simulations: int) -> Player:
    """Pure Monte Carlo tree search, spread over the devices."""
    player = players.mcts_player(game, num_simulations)
    assert player.plan is not None
    search = player.plan
    plan = spread(lambda params, keys, state, tree: search(keys, state))
    return players.searching_player(player.name, functools.partial(plan, {}))


def spread(plan: Callable[[Any, Array, State, Tree | None], Plan]) -> Callable[..., Plan]:
    """Compiles `plan(params, keys, state, tree)` for every device to search its share of the games.

    Takes as many devices as divide the batch. Each game has its own key, so the moves do not
    depend on how many they are. The tree may be left out.
    """
    games, nodes = P("data"), P(None, "data")
    found = Plan(*[games] * (len(Plan._fields) - 1), tree=nodes)  # pyright: ignore

    @jax.jit
    def search(params, keys, state, tree=None):
        mesh = build_mesh(keys.shape[0])
        if mesh.size == 1:
            return plan(params, keys, state, tree)
        shares = jax.shard_map(
            plan,
            mesh=mesh,
            in_specs=(P(), games, games, nodes),
            out_specs=found,
            check_vma=False,
        )
        return shares(params, keys, state, tree)

    return search


def named(player: Player, name: str) -> Player:
    """The same player under another name."""
    return dataclasses.replace(player, name=name)
