"""Networks as pure functions of a plain dict of arrays."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from flax import nnx

from ..games.base import Game, value_range
from .heads import Head, categorical, scalar

Array = jax.Array
Params = dict[str, Any]


class Network(Protocol):
    """h, g and f of MuZero (https://arxiv.org/abs/1911.08265), on batches.

    An embedding is `[B, ...]` and stays in a bounded range, however often g is applied.
    """

    def represent(self, observation: Array) -> Array:
        """h: `[B, *observation_shape]` -> embedding."""
        ...

    def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
        """g: embedding, action `[B]` -> next embedding, reward output `[B, R]` for the player
        who moved, discount logits `[B, 3]` in the order of `heads.DISCOUNTS`."""
        ...

    def predict(self, embedding: Array) -> tuple[Array, Array]:
        """f: embedding -> policy logits `[B, num_actions]`, value output `[B, V]` for the
        player to move."""
        ...


@dataclass(frozen=True)
class Model:
    """A network split into parameters and behaviour.

    Attributes:
        init: `key -> params`, a plain nested dict: jit, vmap, optax and msgpack all take it.
        bind: `params -> Network`, rebuilt while tracing, so free inside `jax.jit`.
        value: reads the value output of `predict`; V is its size.
        reward: reads the reward output of `dynamics`; R is its size.
    """

    init: Callable[[Array], Params]
    bind: Callable[[Params], Network]
    value: Head
    reward: Head


def functional(game: Game, make_net: Callable[[Head, Head, nnx.Rngs], Any], num_bins: int) -> Model:
    """Turns an nnx module constructor into a `Model`. Flax's object semantics stop here.

    Args:
        game: gives the range of values and rewards.
        make_net: `(value head, reward head, rngs) -> module`.
        num_bins: bins of the categorical value and reward; 0 for scalars.
    """
    low, high = value_range(game)
    head = categorical(low, high, num_bins) if num_bins else scalar(low, high)
    graphdef = nnx.graphdef(nnx.eval_shape(lambda: make_net(head, head, nnx.Rngs(0))))

    def init(key: Array) -> Params:
        return nnx.to_pure_dict(nnx.state(make_net(head, head, nnx.Rngs(key))))

    def bind(params: Params) -> Network:
        return nnx.merge(graphdef, nnx.State(params))

    return Model(init, bind, value=head, reward=head)


class _Cast(NamedTuple):
    """A network whose outputs, though not its embeddings, are float32."""

    net: Network

    def represent(self, observation: Array) -> Array:
        return self.net.represent(observation)

    def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
        embedding, reward, discount = self.net.dynamics(embedding, action)
        return embedding, reward.astype(jnp.float32), discount.astype(jnp.float32)

    def predict(self, embedding: Array) -> tuple[Array, Array]:
        logits, value = self.net.predict(embedding)
        return logits.astype(jnp.float32), value.astype(jnp.float32)


def computing_in(dtype: Any, model: Model) -> Model:
    """The same model with its layers computed in `dtype`, say `jnp.bfloat16`.

    Parameters, their gradients and all outputs stay float32; embeddings are of `dtype`.
    """

    def bind(params: Params) -> Network:
        return _Cast(model.bind(jax.tree.map(lambda x: x.astype(dtype), params)))

    return dataclasses.replace(model, bind=bind)


def num_parameters(params: Params) -> int:
    """How many numbers `params` holds."""
    return sum(x.size for x in jax.tree.leaves(params))
