"""Unrolled embeddings held to those of real positions, by projections that only learning uses."""

import dataclasses
import math

import jax
import jax.numpy as jnp
from flax import nnx

from ..games.base import Game
from .base import Model, Params

Array = jax.Array
SIZE = 128
OWN = "consistency"
"""The entry of the parameters that holds the projections."""


class _Projections(nnx.Module):
    """A projection of embeddings, and a guess at the projection of another embedding.

    The guess lets the two sides of the comparison differ, without which all embeddings could
    become one (SimSiam, https://arxiv.org/abs/2011.10566).
    """

    def __init__(self, inputs: int, rngs: nnx.Rngs):
        self.hidden = nnx.Linear(inputs, SIZE, rngs=rngs)
        self.norm = nnx.LayerNorm(SIZE, rngs=rngs)
        self.out = nnx.Linear(SIZE, SIZE, rngs=rngs)
        self.guess_hidden = nnx.Linear(SIZE, SIZE // 2, rngs=rngs)
        self.guess_out = nnx.Linear(SIZE // 2, SIZE, rngs=rngs)

    def project(self, embedding: Array) -> Array:
        x = embedding.reshape(embedding.shape[0], -1).astype(jnp.float32)
        return self.out(nnx.relu(self.norm(self.hidden(x))))

    def guess(self, projection: Array) -> Array:
        return self.guess_out(nnx.relu(self.guess_hidden(projection)))


def consistent(game: Game, model: Model) -> Model:
    """The same model with parameters of its own, under `OWN`, for `dissimilarity`."""

    def init(key: Array) -> Params:
        net_key, own_key = jax.random.split(key)
        params = model.init(net_key)
        projections = _Projections(_embedding_size(game, model), nnx.Rngs(own_key))
        return params | {OWN: nnx.to_pure_dict(nnx.state(projections))}

    def bind(params: Params):
        return model.bind({name: part for name, part in params.items() if name != OWN})

    return dataclasses.replace(model, init=init, bind=bind)


def dissimilarity(model: Model, params: Params, embedding: Array, observation: Array) -> Array:
    """1 - the cosine between what unrolled embeddings say of real ones, and those.

    No gradient flows through the real ones.

    Args:
        model: made by `consistent`.
        params: its parameters.
        embedding: `[N, K, ...]`, unrolled.
        observation: `[N, K, *observation_shape]`, of the positions really reached.

    Returns:
        `[N, K]`, from 0 (same direction) to 2.
    """
    inputs = math.prod(embedding.shape[2:])
    graphdef = nnx.graphdef(nnx.eval_shape(lambda: _Projections(inputs, nnx.Rngs(0))))
    own = nnx.merge(graphdef, nnx.State(params[OWN]))
    steps = embedding.shape[:2]
    unrolled, seen = (x.reshape(-1, *x.shape[2:]) for x in (embedding, observation))
    real = jax.lax.stop_gradient(own.project(model.bind(params).represent(seen)))
    said = own.guess(own.project(unrolled))
    unit = lambda x: x / (jnp.linalg.norm(x, axis=-1, keepdims=True) + 1e-6)  # noqa: E731
    return 1 - (unit(said) * unit(real)).sum(axis=-1).reshape(steps)


def _embedding_size(game: Game, model: Model) -> int:
    """Numbers in one embedding."""

    def embed(key):
        observation = jnp.zeros((1, *game.observation_shape), bool)
        return model.bind(model.init(key)).represent(observation)

    return math.prod(jax.eval_shape(embed, jax.random.key(0)).shape)
