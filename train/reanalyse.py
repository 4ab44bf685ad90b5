"""Stored positions searched anew with newer parameters (MuZero Reanalyze, appendix H)."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..games.base import State
from ..models.base import Params
from ..planners.plan import Search
from ..planners.reuse import nothing
from .replay import Replay, ReturnFn, rewrite
from .seeds import seed_axis
from .state import TrainState

Array = jax.Array


def choose(key: Array, replay: Replay, num_moves: int) -> tuple[Array, Array, Array, State]:
    """Draws `R` consecutive moves of every game, uniformly among those stored.

    Returns:
        The next key, keys `[B]` of the games, the places `[R]` in the ring, and the positions
        `[R, B, ...]` before those moves.
    """
    age_key, games_key, key = jax.random.split(key, 3)
    capacity, num_games = replay.value.shape
    age = jax.random.randint(age_key, (), 0, replay.size - num_moves + 1)
    time = (replay.position - replay.size + age + jnp.arange(num_moves)) % capacity
    keys = jax.vmap(jax.random.fold_in, (None, 0))(games_key, jnp.arange(num_games))
    moves = replay.moves
    assert moves.state is not None
    state = jax.tree.map(lambda x: x[time], moves.state)
    return key, keys, time, state.replace(observation=moves.observation[time])


def search_again(
    search: Search, reuse: bool, params: Params, keys: Array, positions: State
) -> tuple[Array, Array]:
    """Searches positions `[R, B, ...]`; returns policies `[R, B, num_actions]`, values `[R, B]`.

    Without exploration, and each from a fresh tree.
    """

    def one(step, state):
        step_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, step)
        tree = nothing(search, params, keys, state) if reuse else None
        plan = search(params, step_keys, state, jnp.float32(0), tree)
        return step + 1, (plan.action_weights, plan.search_value)

    _, found = jax.lax.scan(one, jnp.int32(0), positions)
    return found


def make_reanalyse(
    search: Search,
    return_fn: ReturnFn,
    num_moves: int,
    reuse: bool,
    mesh: Mesh,
    home: NamedSharding,
    num_seeds: int = 0,
) -> Callable[[TrainState, Params], TrainState]:
    """`(TrainState, params) -> TrainState`, with `num_moves` of every game searched anew.

    Searches are spread over `mesh` as in self-play; the replay lies at `home`. `params` are on
    every device. With `num_seeds` everything has an axis of seeds in front.
    """
    lift, of_games, of_moves = seed_axis(num_seeds)
    spread, moves_spread = NamedSharding(mesh, of_games), NamedSharding(mesh, of_moves)
    search_anew = jax.jit(
        jax.shard_map(
            lift(functools.partial(search_again, search, reuse)),
            mesh=mesh,
            in_specs=(P(), of_games, of_moves),
            out_specs=of_moves,
            check_vma=False,
        )
    )
    choose_some = jax.jit(lift(functools.partial(choose, num_moves=num_moves)))
    jit_rewrite = jax.jit(lift(functools.partial(rewrite, return_fn=return_fn)), donate_argnums=0)

    def reanalyse(state, params):
        key, keys, time, positions = choose_some(state.key, state.replay)
        keys, positions = jax.device_put((keys, positions), (spread, moves_spread))
        found = jax.device_put(search_anew(params, keys, positions), home)
        return state.replace(key=key, replay=jit_rewrite(state.replay, time, *found))

    return reanalyse
