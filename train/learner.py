"""Play, remember, learn: functions of one state."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..games.base import symmetries
from ..models.base import Params
from ..planners.base import Planner
from ..planners.search import Search
from . import control as control_lib
from . import reanalyse as reanalyse_lib
from . import replay as replay_lib
from .control import Control
from .loss import Metrics, loss_fn
from .selfplay import Exploration, Games, self_play, start
from .targets import augment

Array = jax.Array


class TrainState(struct.PyTreeNode):
    """Everything that changes during training; what a checkpoint holds.

    Attributes:
        params: the network being trained.
        average: exponential moving average of `params`: it plays, and is what is evaluated.
        opt_state: optax's.
        replay: see `replay.Replay`.
        games: `[B]` games in progress.
        key: randomness of the updates; the games have their own.
        num_updates: `[]` int32, so far.
        num_positions: `[]` int32, played so far.
        control: of the learning rate, see `control.Control`; None where a schedule rules.
    """

    params: Params
    average: Params
    opt_state: Any
    replay: replay_lib.Replay
    games: Games
    key: Array
    num_updates: Array
    num_positions: Array
    control: Control | None = None


class LearnerConfig(NamedTuple):
    """Sizes of one round of training.

    Attributes:
        num_games: B, games played at once.
        num_moves: T, moves of each game per round.
        replay_moves: C, moves kept per game.
        batch_size: N, positions per update.
        ema_decay: of the parameter average, per update; 0 plays with the newest.
        value_weight: of the value's loss.
        consistency_weight: of that of the embeddings; the model must then be `consistent`.
        priority: exponent of a position's surprise in how often it is drawn; 0 for all alike.
        reanalyse_moves: R, moves of each game searched anew per round.
        kl_target: how far the policy should move in a round; 0 for no control of the rate.
        augment: learn from every symmetry that the game declares.
        reuse: self-play's searches go on from the tree before; `search` must be made for it.
        scan_updates: make the updates of a round in one program.
    """

    num_games: int = 128
    num_moves: int = 16
    replay_moves: int = 512
    batch_size: int = 256
    ema_decay: float = 0.0
    value_weight: float = 1.0
    consistency_weight: float = 0.0
    priority: float = 0.0
    reanalyse_moves: int = 0
    kl_target: float = 0.0
    augment: bool = True
    reuse: bool = False
    scan_updates: bool = False


@dataclass(frozen=True)
class Learner:
    """Training as pure functions, each compiled once.

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
    explore: Exploration,
    config: LearnerConfig,
    mesh: Mesh,
) -> Learner:
    """Builds the loop for one planner on one mesh of devices with an axis `data`.

    Games are spread over the mesh, and no device waits for another inside a search. Each game has
    its own key by its number, so the games do not depend on how many devices there are. The rest
    of the state lives where it is learned from: see `learning_mesh`.
    """
    game = planner.game
    spread, moves_spread = (NamedSharding(mesh, spec) for spec in (P("data"), P(None, "data")))
    everywhere, home = NamedSharding(mesh, P()), NamedSharding(learning_mesh(mesh), P())
    batch_spread = NamedSharding(learning_mesh(mesh), P("data"))

    play_games = jax.shard_map(
        lambda params, version, games: self_play(
            *(game, search, params, version, games, config.num_moves, explore),
            *(config.reuse, config.reanalyse_moves > 0),
        ),
        mesh=mesh,
        in_specs=(P(), P(), P("data")),
        out_specs=(P("data"), P(None, "data")),
        check_vma=False,
    )

    def init(key):
        params_key, games_key, key = jax.random.split(key, 3)
        params = planner.init(params_key)
        numbers = jnp.arange(config.num_games)
        keys = jax.vmap(jax.random.fold_in, (None, 0))(games_key, numbers)
        games = jax.vmap(lambda key: start(game, key, explore))(keys)
        _, example = jax.eval_shape(play_games, params, jnp.int32(0), games)
        return TrainState(
            params=params,
            average=params,
            opt_state=optimizer.init(params),
            replay=replay_lib.init(example, config.replay_moves),
            games=games,
            key=key,
            num_updates=jnp.int32(0),
            num_positions=jnp.int32(0),
            control=control_lib.begin(params) if config.kl_target else None,
        )

    def place(state):
        return jax.device_put(state.replace(games=None), home).replace(
            games=jax.device_put(state.games, spread)
        )

    def update(state):
        sample_key, augment_key, key = jax.random.split(state.key, 3)
        sample = replay_lib.sample(
            *(state.replay, sample_key, config.batch_size, planner.num_unroll_steps),
            config.priority,
        )
        if config.augment:
            sample = augment(symmetries(game), augment_key, sample)
        sample = jax.lax.with_sharding_constraint(sample, batch_spread)
        gradient, metrics = jax.grad(loss_fn, has_aux=True)(
            state.params, planner, sample, config.value_weight, config.consistency_weight
        )
        metrics |= {"gradient_norm": optax.tree.norm(gradient)}
        change, opt_state = optimizer.update(gradient, state.opt_state, state.params)
        if state.control is not None:
            change = jax.tree.map(lambda x: x * state.control.rate, change)
        params = optax.apply_updates(state.params, change)
        average = optax.incremental_update(params, state.average, 1 - config.ema_decay)
        changed = {
            "params": params,
            "average": average,
            "opt_state": opt_state,
            "num_updates": state.num_updates + 1,
        }
        if state.control is None:
            return state.replace(key=key, **changed), metrics
        control = control_lib.measure(state.control, state.params, planner, sample.observation)
        stop = control.divergence > control_lib.STOP * config.kl_target
        kept = {name: getattr(state, name) for name in changed}
        changed = jax.tree.map(lambda old, new: jnp.where(stop, old, new), kept, changed)
        metrics = jax.tree.map(lambda x: jnp.where(stop, jnp.nan, x), metrics)
        metrics |= {"control/divergence": control.divergence, "control/rate": control.rate}
        return state.replace(key=key, control=control, **changed), metrics

    jit_play = jax.jit(play_games, out_shardings=(spread, moves_spread), donate_argnums=2)

    @functools.partial(jax.jit, donate_argnums=0)
    def jit_push(replay, moves, num_positions):
        num_positions = num_positions + config.num_games * config.num_moves
        return replay_lib.push(replay, moves, return_fn), num_positions

    jit_update = jax.jit(update, donate_argnums=0)

    def play(state):
        params, version = jax.device_put((state.average, state.num_updates), everywhere)
        games, moves = jit_play(params, version, state.games)
        moves = jax.device_put(moves, home)
        replay, num_positions = jit_push(state.replay, moves, state.num_positions)
        state = state.replace(games=games, replay=replay, num_positions=num_positions)
        return reanalyse(state, params) if config.reanalyse_moves else state

    search_anew = jax.jit(
        jax.shard_map(
            functools.partial(reanalyse_lib.search_again, search, config.reuse),
            mesh=mesh,
            in_specs=(P(), P("data"), P(None, "data")),
            out_specs=P(None, "data"),
            check_vma=False,
        )
    )
    choose = jax.jit(functools.partial(reanalyse_lib.choose, num_moves=config.reanalyse_moves))
    jit_rewrite = jax.jit(
        functools.partial(replay_lib.rewrite, return_fn=return_fn), donate_argnums=0
    )

    def reanalyse(state, params):
        key, keys, time, positions = choose(state.key, state.replay)
        keys, positions = jax.device_put((keys, positions), (spread, moves_spread))
        found = jax.device_put(search_anew(params, keys, positions), home)
        return state.replace(key=key, replay=jit_rewrite(state.replay, time, *found))

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
    def scan_updates(state, num_updates):
        return jax.lax.scan(lambda state, _: update(state), state, length=num_updates)

    def learn_in_one(state, num_updates):
        after, metrics = scan_updates(state.replace(games=None), num_updates)
        return after.replace(games=state.games), metrics

    @functools.partial(jax.jit, donate_argnums=0)
    def next_round(control, params):
        return control_lib.next_round(control, params, config.kl_target)

    def learn(state, num_updates):
        learn_all = learn_in_one if config.scan_updates else learn_in_turn
        state, metrics = learn_all(state, num_updates)
        if state.control is not None:
            state = state.replace(control=next_round(state.control, state.params))
        return state, metrics

    return Learner(lambda key: place(jax.jit(init)(key)), play, update_at_home, learn)


def learning_mesh(mesh: Mesh) -> Mesh:
    """Where gradients are taken: the whole mesh on accelerators, one device on a CPU.

    The cores of a CPU already share one device's matrix products, and a collective between two of
    its devices can wait for ever for a thread that those products hold.
    """
    if mesh.devices.flat[0].platform != "cpu":
        return mesh
    return Mesh(mesh.devices.reshape(-1)[:1], mesh.axis_names, axis_types=mesh.axis_types)
