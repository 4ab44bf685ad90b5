"""One gradient step."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding

from ..games.base import symmetries
from ..planners.base import Planner
from . import control as control_lib
from . import replay
from .config import LearnConfig
from .loss import Metrics, loss_fn
from .state import TrainState
from .targets import augment

Update = Callable[[TrainState], tuple[TrainState, Metrics]]


def make_update(
    planner: Planner,
    optimizer: optax.GradientTransformation,
    learn: LearnConfig,
    batch_spread: NamedSharding,
) -> Update:
    """`TrainState -> (TrainState, Metrics)`, a step on one batch, which lies as `batch_spread`."""

    def update(state):
        sample_key, augment_key, key = jax.random.split(state.key, 3)
        sample = replay.sample(
            *(state.replay, sample_key, learn.batch_size, planner.num_unroll_steps),
            *(learn.priority, learn.end_share),
        )
        if learn.augment:
            sample = augment(symmetries(planner.game), augment_key, sample)
        sample = jax.lax.with_sharding_constraint(sample, batch_spread)
        gradient, metrics = jax.grad(loss_fn, has_aux=True)(
            state.params, planner, sample, learn.value_weight, learn.consistency_weight
        )
        metrics |= {"gradient_norm": optax.tree.norm(gradient)}
        change, opt_state = optimizer.update(gradient, state.opt_state, state.params)
        if state.control is not None:
            change = jax.tree.map(lambda x: x * state.control.rate, change)
        params = optax.apply_updates(state.params, change)
        average = optax.incremental_update(params, state.average, 1 - learn.ema_decay)
        changed = {
            "params": params,
            "average": average,
            "opt_state": opt_state,
            "num_updates": state.num_updates + 1,
        }
        if state.control is None:
            return state.replace(key=key, **changed), metrics
        control = control_lib.measure(state.control, state.params, planner, sample.observation)
        stop = control.divergence > control_lib.STOP * learn.kl_target
        kept = {name: getattr(state, name) for name in changed}
        changed = jax.tree.map(lambda old, new: jnp.where(stop, old, new), kept, changed)
        metrics = jax.tree.map(lambda x: jnp.where(stop, jnp.nan, x), metrics)
        metrics |= {"control/divergence": control.divergence, "control/rate": control.rate}
        return state.replace(key=key, control=control, **changed), metrics

    return update
