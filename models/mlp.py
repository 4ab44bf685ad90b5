"""Fully connected h, g, f, for small games and for games without a board."""

import math

import jax
import jax.numpy as jnp
from flax import nnx

from ..games.base import Game
from .base import Model, functional
from .heads import DISCOUNTS, Head

Array = jax.Array


def _norm(width: int, rngs: nnx.Rngs) -> nnx.LayerNorm:
    # Without scale and bias, no entry can exceed sqrt(width): embeddings stay bounded.
    return nnx.LayerNorm(width, use_scale=False, use_bias=False, rngs=rngs)


class _Residual(nnx.Module):
    def __init__(self, width: int, rngs: nnx.Rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.hidden = nnx.Linear(width, width, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        return x + nnx.relu(self.hidden(self.norm(x)))


class MLP(nnx.Module):
    """See `models.base.Network`; embeddings are `[B, width]`."""

    def __init__(
        self, game: Game, width: int, depth: int, value: Head, reward: Head, rngs: nnx.Rngs
    ):
        zeros = nnx.initializers.zeros  # An untrained network is indifferent.
        self.num_actions = game.num_actions
        self.stem = nnx.Linear(math.prod(game.observation_shape), width, rngs=rngs)
        self.trunk = nnx.List([_Residual(width, rngs) for _ in range(depth)])
        self.join = nnx.Linear(width + game.num_actions, width, rngs=rngs)
        self.transition = nnx.List([_Residual(width, rngs) for _ in range(depth)])
        self.norm = _norm(width, rngs)
        self.policy_hidden = nnx.Linear(width, width, rngs=rngs)
        self.value_hidden = nnx.Linear(width, width, rngs=rngs)
        self.policy = nnx.Linear(width, game.num_actions, kernel_init=zeros, rngs=rngs)
        self.value = nnx.Linear(width, value.size, kernel_init=zeros, rngs=rngs)
        self.reward = nnx.Linear(width, reward.size, kernel_init=zeros, rngs=rngs)
        self.discount = nnx.Linear(width, len(DISCOUNTS), kernel_init=zeros, rngs=rngs)

    def represent(self, observation: Array) -> Array:
        x = observation.reshape(observation.shape[0], -1)
        x = nnx.relu(self.stem(x.astype(self.stem.kernel.dtype)))
        for block in self.trunk:
            x = block(x)
        return self.norm(x)

    def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
        move = jax.nn.one_hot(action, self.num_actions, dtype=embedding.dtype)
        x = embedding + nnx.relu(self.join(jnp.concatenate([embedding, move], axis=-1)))
        for block in self.transition:
            x = block(x)
        x = self.norm(x)
        return x, self.reward(x), self.discount(x)

    def predict(self, embedding: Array) -> tuple[Array, Array]:
        logits = self.policy(nnx.relu(self.policy_hidden(embedding)))
        return logits, self.value(nnx.relu(self.value_hidden(embedding)))


def mlp(game: Game, width: int = 128, depth: int = 2, num_bins: int = 0) -> Model:
    """A multilayer perceptron with `depth` residual layers in each of h and g.

    Args:
        game: gives the shapes and the range of values.
        width: units of every layer.
        depth: residual layers of h and of g.
        num_bins: bins of the categorical value and reward; 0 for scalars.
    """
    return functional(
        game, lambda value, reward, rngs: MLP(game, width, depth, value, reward, rngs), num_bins
    )
