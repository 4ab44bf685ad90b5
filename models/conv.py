"""Convolutional h, g, f for board games: a plain tower and a residual one."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx

from ..games.base import Game
from .base import Model, functional
from .heads import DISCOUNTS, Head

Array = jax.Array
Tower = Callable[[int, nnx.Rngs], nnx.Module]
"""`(channels in, rngs) -> module` from `[B, H, W, channels in]` to `[B, H, W, C]`."""

RESNETS = {"small": (4, 64), "medium": (10, 128), "alphago_zero": (20, 256)}
"""Blocks and channels; the last is the size of AlphaGo Zero (https://doi.org/10.1038/nature24270)."""


def _conv(inputs: int, outputs: int, size: int, rngs: nnx.Rngs) -> nnx.Conv:
    return nnx.Conv(inputs, outputs, (size, size), rngs=rngs)


class _Plain(nnx.Module):
    """Three 3x3 convolutions of 32, 64 and 128 channels, as in AlphaZero_Gomoku."""

    def __init__(self, inputs: int, channels: tuple[int, ...], rngs: nnx.Rngs):
        sizes = (inputs, *channels)
        self.layers = nnx.List(
            [_conv(a, b, 3, rngs) for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
        )

    def __call__(self, x: Array) -> Array:
        for layer in self.layers:
            x = nnx.relu(layer(x))
        return x


class _Block(nnx.Module):
    """A residual block, normalised over channels before each convolution."""

    def __init__(self, channels: int, rngs: nnx.Rngs):
        self.norms = nnx.List([nnx.LayerNorm(channels, rngs=rngs) for _ in range(2)])
        self.layers = nnx.List([_conv(channels, channels, 3, rngs) for _ in range(2)])

    def __call__(self, x: Array) -> Array:
        y = x
        for norm, layer in zip(self.norms, self.layers, strict=True):
            y = layer(nnx.relu(norm(y)))
        return x + y


class _Residual(nnx.Module):
    def __init__(self, inputs: int, num_blocks: int, channels: int, rngs: nnx.Rngs):
        self.stem = _conv(inputs, channels, 3, rngs)
        self.blocks = nnx.List([_Block(channels, rngs) for _ in range(num_blocks)])

    def __call__(self, x: Array) -> Array:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return x


class _Readout(nnx.Module):
    """1x1 convolution, flattened, to `outputs` numbers that start at zero."""

    def __init__(self, shape: tuple[int, int, int], outputs: int, hidden: int, rngs: nnx.Rngs):
        height, width, channels = shape
        self.mix = _conv(channels, 4, 1, rngs)
        inputs = 4 * height * width
        self.hidden = nnx.Linear(inputs, hidden, rngs=rngs) if hidden else None
        self.out = nnx.Linear(
            hidden or inputs, outputs, kernel_init=nnx.initializers.zeros, rngs=rngs
        )

    def __call__(self, x: Array) -> Array:
        x = nnx.relu(self.mix(x)).reshape(x.shape[0], -1)
        return self.out(nnx.relu(self.hidden(x)) if self.hidden else x)


class ConvNet(nnx.Module):
    """See `models.base.Network`; embeddings are `[B, H, W, channels]`."""

    def __init__(
        self, game: Game, channels: int, tower: Tower, value: Head, reward: Head, rngs: nnx.Rngs
    ):
        height, width, num_planes = game.observation_shape
        shape = (height, width, channels)
        self.board = (height, width)
        self.num_actions = game.num_actions
        self.trunk = tower(num_planes, rngs)
        self.place = (
            None
            if game.num_actions in (height * width, width)
            else nnx.Embed(game.num_actions, height * width, rngs=rngs)
        )
        self.transition = tower(channels + 1, rngs)
        # Without scale and bias, no entry can exceed sqrt(channels): embeddings stay bounded.
        self.norm = nnx.LayerNorm(channels, use_scale=False, use_bias=False, rngs=rngs)
        self.policy = _Readout(shape, game.num_actions, 0, rngs)
        self.value = _Readout(shape, value.size, 64, rngs)
        self.reward = _Readout(shape, reward.size, 64, rngs)
        self.discount = _Readout(shape, len(DISCOUNTS), 64, rngs)

    def _action_plane(self, action: Array) -> Array:
        """`[B]` -> `[B, H, W, 1]`: the cell, the column, or a learned plane for other moves."""
        height, width = self.board
        if self.place is not None:
            plane = self.place(action)
        else:
            plane = jax.nn.one_hot(action, self.num_actions)
        plane = plane.reshape(action.shape[0], -1, width)
        return jnp.broadcast_to(plane, (action.shape[0], height, width))[..., None]

    def represent(self, observation: Array) -> Array:
        return self.norm(self.trunk(observation.astype(jnp.float32)))

    def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
        x = jnp.concatenate([embedding, self._action_plane(action)], axis=-1)
        x = self.norm(embedding + self.transition(x))
        return x, self.reward(x), self.discount(x)

    def predict(self, embedding: Array) -> tuple[Array, Array]:
        return self.policy(embedding), self.value(embedding)


def _board_model(game: Game, channels: int, tower: Tower, num_bins: int) -> Model:
    if len(game.observation_shape) != 3:
        raise ValueError(
            f"{game.id} is observed as {tuple(game.observation_shape)}; "
            "a convolution needs [height, width, planes]: use the mlp"
        )
    return functional(
        game,
        lambda value, reward, rngs: ConvNet(game, channels, tower, value, reward, rngs),
        num_bins,
    )


def cnn(game: Game, channels: tuple[int, ...] = (32, 64, 128), num_bins: int = 0) -> Model:
    """A plain convolutional network, `channels` of each 3x3 layer in h and in g.

    Raises:
        ValueError: if the game is not observed as `[height, width, planes]`.
    """
    return _board_model(
        game, channels[-1], lambda inputs, rngs: _Plain(inputs, channels, rngs), num_bins
    )


def resnet(game: Game, num_blocks: int = 4, num_channels: int = 64, num_bins: int = 0) -> Model:
    """A residual network with `num_blocks` blocks in each of h and g; sizes in `RESNETS`.

    Raises:
        ValueError: if the game is not observed as `[height, width, planes]`.
    """
    return _board_model(
        game,
        num_channels,
        lambda inputs, rngs: _Residual(inputs, num_blocks, num_channels, rngs),
        num_bins,
    )
