"""Whoever can choose a move: at random, by a rule, by search, by a trained network, perfectly."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from .. import planners
from ..games import Game, State
from ..models.base import Params
from ..planners import Plan, Planner
from ..planners.base import transition
from ..planners.rollout import random_action
from .oracles import Solution

Array = jax.Array


@dataclass(frozen=True)
class Player:
    """A name and what it plays; batched, compiled once, each game with a key of its own.

    Attributes:
        name: for tables.
        act: `(keys [B], state [B, ...]) -> action [B]`.
        plan: `(keys [B], state [B, ...], tree) -> Plan`, for players who search: what they thought.
        reuse: `plan` wants the tree of its plan before, where there is one, else None.
    """

    name: str
    act: Callable[[Array, State], Array]
    plan: Callable[..., Plan] | None = None
    reuse: bool = False

    def __call__(self, keys: Array, state: State) -> Array:
        return self.act(keys, state)


def random_player() -> Player:
    """Legal moves, uniformly."""
    act = jax.jit(lambda keys, state: jax.vmap(random_action)(keys, state.legal_action_mask))
    return Player("random", act)


def greedy_centre_player(game: Game) -> Player:
    """Wins at once where it can; else takes the legal move nearest the centre of the board.

    Ties are broken at random. Moves that are not cells of a board count as standing in a row.
    """
    shape = game.observation_shape[:2]
    on_board = len(game.observation_shape) == 3 and np.prod(shape) == game.num_actions
    grid = np.indices(shape if on_board else (1, game.num_actions)).reshape(2, -1)
    distance = np.linalg.norm(grid - (grid.max(axis=1, keepdims=True) / 2), axis=0)
    closeness = jnp.asarray(-distance, jnp.float32)

    def choose(key, state):
        children = jax.vmap(game.step, (None, 0))(state, jnp.arange(game.num_actions))
        reward, _ = jax.vmap(lambda child: transition(state, child))(children)
        noise = jax.random.uniform(key, (game.num_actions,), maxval=1e-3)
        score = jnp.where(reward > 0, 1e3, closeness) + noise
        return jnp.argmax(jnp.where(state.legal_action_mask, score, -jnp.inf)).astype(jnp.int32)

    return Player("greedy-centre", jax.jit(jax.vmap(choose)))


def mcts_player(game: Game, num_simulations: int) -> Player:
    """Pure Monte Carlo tree search: random playouts, no network."""
    search = planners.puct(planners.rollout(game), num_simulations, c_puct=4.0, normalize="none")
    plan = jax.jit(functools.partial(search, {}))
    return searching_player(f"mcts:{num_simulations}", plan)


def searching_player(name: str, plan: Callable[..., Plan], reuse: bool = False) -> Player:
    """Plays what it plans."""
    # The moves come back by way of the host: a plan may be spread over devices, where the rules
    # of a match run on one.
    act = lambda keys, state: jnp.asarray(np.asarray(plan(keys, state).action))  # noqa: E731
    return Player(name, act, plan, reuse)


def network_player(name: str, planner: Planner) -> Callable[[Params], Player]:
    """Plays the network's favourite move, without search."""

    def favourite(params, keys, state):
        return jnp.argmax(planner.root_fn(params, keys, state).prior_logits, -1).astype(jnp.int32)

    act = jax.jit(favourite)
    return lambda params: Player(name, lambda keys, state: act(params, keys, state))


def perfect_player(solution: Solution) -> Player:
    """A move that keeps the game value, drawn among all that do."""
    flat = lambda observation: observation.reshape(-1).astype(jnp.uint32)  # noqa: E731
    size = int(np.prod(solution.game.observation_shape))
    rows = solution.state.observation.reshape(-1, size).astype(np.uint32)
    rng = np.random.default_rng(0)
    while True:  # A hash of 32 bits that tells all the positions apart.
        mix = rng.integers(0, 2**32, size, dtype=np.uint32)
        code = (rows * mix).sum(axis=1, dtype=np.uint32)
        if len(np.unique(code)) == len(code):
            break
    order = np.argsort(code)
    codes, optimal = jnp.asarray(code[order]), jnp.asarray(solution.optimal[order])

    def choose(key, state):
        at = jnp.searchsorted(codes, (flat(state.observation) * mix).sum(dtype=jnp.uint32))
        return random_action(key, optimal[at] & state.legal_action_mask)

    return Player("perfect", jax.jit(jax.vmap(choose)))
