"""A learning rate controlled by how far the policy moves in a round (AlphaZero_Gomoku's rule)."""

import jax
import jax.numpy as jnp
from flax import struct

from ..models.base import Params
from ..planners.base import Planner

Array = jax.Array
STOP = 4.0  # In targets: a policy this far from where its round began is not moved further.
TOO_FAR, TOO_NEAR = 2.0, 0.5  # In targets: the rate falls above the first, rises below the second.
FACTOR, LEAST, MOST = 1.5, 0.1, 10.0


class Control(struct.PyTreeNode):
    """What the rule remembers.

    Attributes:
        rate: `[]`, multiplies the learning rate.
        anchor: the parameters that the round began with.
        divergence: `[]`, mean KL divergence of the policy from the anchor's, the largest so far.
    """

    rate: Array
    anchor: Params
    divergence: Array


def begin(params: Params) -> Control:
    """For a run that begins with `params`."""
    return Control(jnp.float32(1), params, jnp.float32(0))


def next_round(control: Control, params: Params, target: float) -> Control:
    """After the updates of a round, which left `params`: sets the rate of the next."""
    divergence = control.divergence / target
    factor = jnp.where(divergence > TOO_FAR, 1 / FACTOR, 1.0)
    factor = jnp.where(divergence < TOO_NEAR, FACTOR, factor)
    rate = (control.rate * factor).clip(LEAST, MOST)
    return Control(rate, jax.tree.map(jnp.copy, params), jnp.float32(0))


def measure(control: Control, params: Params, planner: Planner, observation: Array) -> Control:
    """Notes how far `params` are from the anchor on observations `[N, ...]`.

    The largest counts, so that a round that was ended stays ended.
    """
    moved = divergence(control.anchor, params, planner, observation)
    return control.replace(divergence=jnp.maximum(control.divergence, moved))


def divergence(anchor: Params, params: Params, planner: Planner, observation: Array) -> Array:
    """`[]`, KL(anchor's policy, policy of `params`), the mean over observations `[N, ...]`."""
    assert planner.model is not None
    logs = []
    for each in (anchor, params):
        net = planner.model.bind(each)
        logs.append(jax.nn.log_softmax(net.predict(net.represent(observation))[0]))
    return (jnp.exp(logs[0]) * (logs[0] - logs[1])).sum(axis=-1).mean()
