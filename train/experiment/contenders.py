"""Who is compared: both planners, and MuZero's networks planned with the real rules."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...games import Game
from ...models import Params
from ...planners import Plan, Planner
from ..agent import Agent, make_agent, spread
from ..build import build_search
from ..catalogue import game_named
from ..config import Config, SearchConfig
from ..judgement import moves_in
from ..players import Player
from ..trained import load

CROSS = "MuZero's network, real rules"
NAMES = ("AlphaZero", "MuZero", CROSS)


class Thoughts(NamedTuple):
    """What a player makes of `N` positions.

    Attributes:
        action: `[N]` int32, its move.
        value: `[N]`, for the player to move: of the search, or of the network alone.
    """

    action: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Contender:
    """A way to train and to plan, with the networks of several seeds.

    Attributes:
        name: one of `NAMES`.
        config: the settings by which it plays; their seed says nothing.
        params: a network for each seed.
    """

    name: str
    config: Config
    params: list[Params]

    @property
    def game(self) -> Game:
        return game_named(self.config.game)

    @property
    def agent(self) -> Agent:
        return agent_of(self.config)

    def player(self, seed: int, simulations: int | None = None) -> Player:
        """Plays with the network of the seed numbered `seed`; 0 simulations: without search."""
        agent = agent_of(self.config, simulations)
        make = agent.network if simulations == 0 else agent.searching
        return make(self.params[seed])

    def think(self, seed: int, state: Any, size: int, simulations: int | None = None) -> Thoughts:
        """Move and value in each position of `[N, ...]`, asked in batches of `size`."""
        think, params = _thinking(self.config, simulations), self.params[seed]
        key = jax.random.fold_in(jax.random.key(seed), 5)
        asked = lambda keys, state: think(params, keys, state)  # noqa: E731
        return Thoughts(*moves_in(asked, state, key, size))


def agent_of(config: Config, simulations: int | None = None) -> Agent:
    """How a run of these settings plays, with another number of simulations where one is given."""
    search = config.search
    if simulations:
        search = replace(search, num_simulations=simulations)
    # What says nothing of how it plays is left out: all seeds and roundings share one program.
    return _agent(
        replace(
            Config(config.game, config.planner),
            model=config.model,
            search=search,
            learn=config.learn,
        )
    )


@functools.lru_cache(maxsize=64)
def _agent(config: Config) -> Agent:
    return make_agent(game_named(config.game), config)


def _thinking(config: Config, simulations: int | None) -> Callable[[Params, Any, Any], Any]:
    agent = agent_of(config, simulations)
    if simulations == 0:
        return _alone(agent.planner)

    def think(params, keys, state):
        plan = agent.searching(params).plan
        assert plan is not None
        found: Plan = plan(keys, state)
        return found.action, found.search_value

    return think


@functools.lru_cache(maxsize=8)
def _alone(planner: Planner) -> Callable[[Params, Any, Any], Any]:
    @jax.jit
    def think(params, keys, state):
        root = planner.root_fn(params, keys, state)
        return jnp.argmax(root.prior_logits, axis=-1).astype(jnp.int32), root.value

    return think


def exploring(
    config: Config, params: Params, temperature: float = 1.0
) -> Callable[[Any, Any], Any]:
    """How a run searches in its self-play: `(keys [N], state [N, ...]) -> action [N]`.

    Random moves besides those of the search are left out.
    """
    plan = _exploring(agent_of(config).planner, replace(config.search, reuse=False))
    given = params, temperature
    return lambda keys, state: jnp.asarray(np.asarray(plan(given, keys, state).action))


@functools.lru_cache(maxsize=8)
def _exploring(planner: Planner, config: SearchConfig) -> Callable[..., Plan]:
    search = build_search(planner, config, explore=True)
    return spread(lambda given, keys, state, tree: search(given[0], keys, state, given[1]))


def crossed(muzero: Contender) -> Contender:
    """The same networks, planned with the real rules in place of the learned model."""
    return Contender(CROSS, replace(muzero.config, planner="alphazero"), muzero.params)


def contenders(alphazero: list[Path], muzero: list[Path]) -> list[Contender]:
    """All three, from the run folders or network files of both planners, one for each seed.

    Raises:
        ValueError: if one cannot be loaded or is of another planner or game, if the seeds of a
            planner do not go together, or if one planner has more of them.
    """
    if not 0 < len(alphazero) == len(muzero):
        raise ValueError(
            f"{len(alphazero)} networks of AlphaZero and {len(muzero)} of MuZero; "
            "as many of both are needed, one at least"
        )
    found = []
    for name, paths in zip(NAMES, (alphazero, muzero), strict=False):
        game = found[0].config.game if found else None
        runs = [load(path, game=game) for path in paths]
        for path, run in zip(paths, runs, strict=True):
            if run.config.planner != name.lower():
                raise ValueError(f"{path} was trained by {run.config.planner}, not {name.lower()}")
        if len({agent_of(run.config) for run in runs}) != 1:
            raise ValueError(f"{', '.join(map(str, paths))} were not trained alike")
        found.append(Contender(name, runs[0].config, [run.params for run in runs]))
    return [*found, crossed(found[1])]
