"""A trained network as it plays: with search or without, on every device."""

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
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

    Where the devices do not divide the batch, its last game is searched more often than once.
    Each game has its own key, so the moves do not depend on how many devices there are. The tree
    may be left out.
    """
    games, nodes = P("data"), P(None, "data")
    found = Plan(*[games] * (len(Plan._fields) - 1), tree=nodes)  # pyright: ignore

    @jax.jit
    def search(params, keys, state, tree=None):
        num_games = keys.shape[0]
        num_devices = min(num_games, len(jax.devices()))
        lanes = -(-num_games // num_devices) * num_devices
        mesh = build_mesh(lanes)
        if mesh.size == 1:
            return plan(params, keys, state, tree)
        if lanes > num_games:
            filled = jnp.minimum(jnp.arange(lanes), num_games - 1)
            keys, state = jax.tree.map(lambda x: x[filled], (keys, state))
            tree = jax.tree.map(lambda x: x[:, filled], tree)
        shares = jax.shard_map(
            plan,
            mesh=mesh,
            in_specs=(P(), games, games, nodes),
            out_specs=found,
            check_vma=False,
        )
        *of_games, tree = shares(params, keys, state, tree)
        if lanes > num_games:
            of_games = [x[:num_games] for x in of_games]
            tree = jax.tree.map(lambda x: x[:, :num_games], tree)
        return Plan(*of_games, tree=tree)

    return search


def named(player: Player, name: str) -> Player:
    """The same player under another name."""
    return dataclasses.replace(player, name=name)
