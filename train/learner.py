"""Play, remember, learn: functions of one state."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..planners.base import Planner
from ..planners.plan import Search
from . import control as control_lib
from . import replay as replay_lib
from .config import Config
from .loss import Metrics
from .reanalyse import make_reanalyse
from .seeds import seed_axis
from .selfplay import self_play, start
from .state import TrainState
from .update import make_update

Array = jax.Array


@dataclass(frozen=True)
class Learner:
    """Training as pure functions, each compiled once.

    For S seeds at once `init` takes `[S]` keys, every array of the state has an axis `[S]` in
    front, and every metric one behind.

    Attributes:
        init: `key -> TrainState`.
        play: `TrainState -> TrainState`, T moves in each game; the argument is given up.
        update: `TrainState -> (TrainState, Metrics)`, one gradient step; likewise.
        learn: `(TrainState, n) -> (TrainState, Metrics)`, the n of a round, each metric `[n]`
            (NaN where the rate's control withheld the update); likewise.
    """

    init: Callable[[Array], TrainState]
    play: Callable[[TrainState], TrainState]
    update: Callable[[TrainState], tuple[TrainState, Metrics]]
    learn: Callable[[TrainState, int], tuple[TrainState, Metrics]]


def make_learner(
    planner: Planner,
    search: Search,
    optimizer: optax.GradientTransformation,
    return_fn: replay_lib.ReturnFn,
    config: Config,
    mesh: Mesh,
    num_seeds: int = 0,
    scan_updates: bool = False,
) -> Learner:
    """Builds the loop for one planner on one mesh of devices with an axis `data`.

    Games are spread over the mesh, and no device waits for another inside a search. Each game has
    its own key by its number, so the games do not depend on how many devices there are. The rest
    of the state lives where it is learned from: see `learning_mesh`.

    With `num_seeds` S at least 1 the loop trains S seeds as one program, each as it would be
    trained alone up to the rounding of floats.
    """
    game = planner.game
    searched_anew = math.ceil(config.learn.reanalyse * config.play.num_moves)
    lift, of_games, of_moves = seed_axis(num_seeds)
    spread, moves_spread = NamedSharding(mesh, of_games), NamedSharding(mesh, of_moves)
    everywhere, home = NamedSharding(mesh, P()), NamedSharding(learning_mesh(mesh), P())
    batch_spread = NamedSharding(learning_mesh(mesh), P("data"))

    def play_alone(params, version, games):
        return self_play(
            *(game, search, params, version, games, config.play),
            *(config.search.reuse, searched_anew > 0),
        )

    play_games = jax.shard_map(
        lift(play_alone),
        mesh=mesh,
        in_specs=(P(), P(), of_games),
        out_specs=(of_games, of_moves),
        check_vma=False,
    )

    def init(key):
        params_key, games_key, key = jax.random.split(key, 3)
        params = planner.init(params_key)
        numbers = jnp.arange(config.play.num_games)
        keys = jax.vmap(jax.random.fold_in, (None, 0))(games_key, numbers)
        games = jax.vmap(lambda key: start(game, key, config.play))(keys)
        _, example = jax.eval_shape(play_alone, params, jnp.int32(0), games)
        return TrainState(
            params=params,
            average=params,
            opt_state=optimizer.init(params),
            replay=replay_lib.init(example, config.learn.replay_moves),
            games=games,
            key=key,
            num_updates=jnp.int32(0),
            num_positions=jnp.int32(0),
            control=control_lib.begin(params) if config.learn.schedule == "kl" else None,
        )

    def place(state):
        return jax.device_put(state.replace(games=None), home).replace(
            games=jax.device_put(state.games, spread)
        )

    jit_play = jax.jit(play_games, out_shardings=(spread, moves_spread), donate_argnums=2)

    @functools.partial(jax.jit, donate_argnums=0)
    @lift
    def jit_push(replay, moves, num_positions):
        num_positions = num_positions + config.play.num_games * config.play.num_moves
        return replay_lib.push(replay, moves, return_fn), num_positions

    update = lift(make_update(planner, optimizer, config.learn, batch_spread))
    jit_update = jax.jit(update, donate_argnums=0)
    reanalyse = make_reanalyse(
        search, return_fn, searched_anew, config.search.reuse, mesh, home, num_seeds
    )

    def play(state):
        params, version = jax.device_put((state.average, state.num_updates), everywhere)
        games, moves = jit_play(params, version, state.games)
        moves = jax.device_put(moves, home)
        replay, num_positions = jit_push(state.replay, moves, state.num_positions)
        state = state.replace(games=games, replay=replay, num_positions=num_positions)
        return reanalyse(state, params) if searched_anew else state

    def update_at_home(state):
        # The games stay on their own devices: one jitted call takes arrays of one mesh only.
        after, metrics = jit_update(state.replace(games=None))
        return after.replace(games=state.games), metrics

    def learn_in_turn(state, num_updates):
        each = []
        for _ in range(num_updates):
            state, metrics = update_at_home(state)
            each.append(metrics)
        return state, jax.tree.map(lambda *x: np.stack(x), *each)

    @functools.partial(jax.jit, static_argnums=1, donate_argnums=0)
    def update_all(state, num_updates):
        return jax.lax.scan(lambda state, _: update(state), state, length=num_updates)

    def learn_in_one(state, num_updates):
        after, metrics = update_all(state.replace(games=None), num_updates)
        return after.replace(games=state.games), metrics

    @functools.partial(jax.jit, donate_argnums=0)
    @lift
    def next_round(control, params):
        return control_lib.next_round(control, params, config.learn.kl_target)

    def learn(state, num_updates):
        learn_all = learn_in_one if scan_updates else learn_in_turn
        state, metrics = learn_all(state, num_updates)
        if state.control is not None:
            state = state.replace(control=next_round(state.control, state.params))
        return state, metrics

    return Learner(lambda key: place(jax.jit(lift(init))(key)), play, update_at_home, learn)


def learning_mesh(mesh: Mesh) -> Mesh:
    """Where gradients are taken: the whole mesh on accelerators, one device on a CPU.

    The cores of a CPU already share one device's matrix products, and a collective between two of
    its devices can wait for ever for a thread that those products hold.
    """
    if mesh.devices.flat[0].platform != "cpu":
        return mesh
    return Mesh(mesh.devices.reshape(-1)[:1], mesh.axis_names, axis_types=mesh.axis_types)
