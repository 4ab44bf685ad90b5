"""Batched self-play, one `lax.scan` on the device."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import struct

from ..games.base import Game, State
from ..models.base import Params
from ..planners.base import transition
from ..planners.plan import Search
from ..planners.reuse import nothing
from ..planners.rollout import random_action
from .config import PlayConfig

Array = jax.Array


class Trajectory(NamedTuple):
    """`T` consecutive moves of `B` games, time-major; games restart when they end.

    Attributes:
        observation: `[T, B, *observation_shape]`, before the move.
        action: `[T, B]` int32.
        reward: `[T, B]`, of the move, for the player who made it.
        discount: `[T, B]`, 0 if the move ended the game, else -1 when the turn passes, +1
            when the same player moves again.
        action_weights: `[T, B, num_actions]`, the search policy.
        search_value: `[T, B]`, for the player to move.
        explored: `[T, B]` bool, the move was random: what came of it says nothing of how good
            the position was.
        version: `[T, B]` int32, updates behind the parameters that chose the move.
        state: `[T, B, ...]`, the position before the move without its observation, for searching
            it again; None where that is not wanted.
    """

    observation: Array
    action: Array
    reward: Array
    discount: Array
    action_weights: Array
    search_value: Array
    explored: Array
    version: Array
    state: State | None = None


class Games(struct.PyTreeNode):
    """Games in progress, `[B, ...]`.

    Attributes:
        state: the positions.
        key: `[B]`, each game's own stream of randomness.
        ply: `[B]` int32, moves made since the game began.
        opening: `[B]` int32, how many of its first moves are random.
    """

    state: State
    key: Array
    ply: Array
    opening: Array


def start(game: Game, key: Array, play: PlayConfig) -> Games:
    """One fresh game from one key; `vmap` for a batch."""
    init_key, opening_key, key = jax.random.split(key, 3)
    opening = jax.random.randint(opening_key, (), 0, play.opening_plies + 1)
    return Games(state=game.init(init_key), key=key, ply=jnp.int32(0), opening=opening)


def self_play(
    game: Game,
    search: Search,
    params: Params,
    version: Array,
    games: Games,
    play: PlayConfig,
    reuse: bool = False,
    keep_state: bool = False,
) -> tuple[Games, Trajectory]:
    """Plays `play.num_moves` moves in each of the `B` games.

    With `reuse` each search but the first goes on from the tree of the one before. With
    `keep_state` the positions are recorded besides their observations.
    """

    def choose(key, games, planned):
        """The move of one game: the search's, or a random one."""
        roll_key, move_key = jax.random.split(key)
        roll = jax.random.uniform(roll_key) < play.random_moves
        explored = roll | (games.ply < games.opening)
        move = random_action(move_key, games.state.legal_action_mask)
        return jnp.where(explored, move, planned), explored

    def advance(games, action, key):
        """One game after a move, replaced by a fresh one if that ended it."""
        child = game.step(games.state, action)
        reward, discount = transition(games.state, child)
        ongoing = games.replace(state=child, ply=games.ply + 1, key=None)
        fresh = start(game, key, play).replace(key=None)
        over = discount == 0
        after = jax.tree.map(lambda new, old: jnp.where(over, new, old), fresh, ongoing)
        return after.replace(key=games.key), reward, discount

    def move(carry, _):
        games, tree = carry
        keys = jax.vmap(lambda key: jax.random.split(key, 4))(games.key)
        games = games.replace(key=keys[:, 3])
        temperature = (games.ply < play.temperature_plies).astype(jnp.float32)
        plan = search(params, keys[:, 0], games.state, temperature, tree)
        action, explored = jax.vmap(choose)(keys[:, 1], games, plan.action)
        after, reward, discount = jax.vmap(advance)(games, action, keys[:, 2])
        record = Trajectory(
            observation=games.state.observation,
            action=action,
            reward=reward,
            discount=discount,
            action_weights=plan.action_weights,
            search_value=plan.search_value,
            explored=explored,
            version=jnp.broadcast_to(version, action.shape),
            state=games.state.replace(observation=None) if keep_state else None,
        )
        return (after, plan.tree if reuse else None), record

    tree = nothing(search, params, games.key, games.state) if reuse else None
    (games, _), moves = jax.lax.scan(move, (games, tree), length=play.num_moves)
    return games, moves
