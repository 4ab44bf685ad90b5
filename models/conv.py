"""Convolutional h, g, f for board games: a plain tower and a residual one."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx

from ..games.base import Game
from .base import Model, functional
from .heads import DISCOUNTS, Head

Array = jax.Array
_ZEROS = nnx.initializers.zeros  # An untrained network is indifferent.
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


class _NumberHead(nnx.Module):
    """Numbers about the whole board, from the mean and the maximum of each feature over it.

    What ends a game or decides it (a line, a threat) counts wherever it stands; a dense layer over
    cells would have to learn it for each place anew. Global pooling as in KataGo
    (https://arxiv.org/abs/1902.10565).
    """

    def __init__(self, channels: int, outputs: int, rngs: nnx.Rngs):
        self.mix = _conv(channels, channels, 1, rngs)
        self.hidden = nnx.Linear(2 * channels, 64, rngs=rngs)
        self.out = nnx.Linear(64, outputs, kernel_init=_ZEROS, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = nnx.relu(self.mix(x))
        x = jnp.concatenate([x.mean(axis=(1, 2)), x.max(axis=(1, 2))], axis=-1)
        return self.out(nnx.relu(self.hidden(x)))


class _PolicyHead(nnx.Module):
    """One logit a cell, a column, or, for moves that are neither, from the whole board."""

    def __init__(self, game: Game, channels: int, rngs: nnx.Rngs):
        height, width, _ = game.observation_shape
        self.mix = _conv(channels, channels, 1, rngs)
        self.places = {height * width: height * width, width: width}.get(game.num_actions, 1)
        inputs = height * width // self.places * channels
        self.out = nnx.Linear(
            inputs, game.num_actions // self.places, kernel_init=_ZEROS, rngs=rngs
        )

    def __call__(self, x: Array) -> Array:
        batch, _, width, _ = x.shape
        x = nnx.relu(self.mix(x))
        if self.places == width:
            x = x.swapaxes(1, 2)
        return self.out(x.reshape(batch, self.places, -1)).reshape(batch, -1)


class ConvNet(nnx.Module):
    """See `models.base.Network`; embeddings are `[B, H, W, channels]`."""

    def __init__(
        self, game: Game, channels: int, tower: Tower, value: Head, reward: Head, rngs: nnx.Rngs
    ):
        height, width, num_planes = game.observation_shape
        self.board = (height, width)
        self.num_actions = game.num_actions
        self.channels = channels
        self.trunk = tower(num_planes, rngs)
        self.place = (
            None
            if game.num_actions in (height * width, width)
            else nnx.Embed(game.num_actions, height * width, rngs=rngs)
        )
        self.transition = tower(channels + 1, rngs)
        # Without scale and bias, no entry can exceed sqrt(channels): embeddings stay bounded.
        self.norm = nnx.LayerNorm(channels, use_scale=False, use_bias=False, rngs=rngs)
        self.policy = _PolicyHead(game, channels, rngs)
        self.value = _NumberHead(channels, value.size, rngs)
        self.reward = _NumberHead(channels, reward.size, rngs)
        self.discount = _NumberHead(channels, len(DISCOUNTS), rngs)

    def _action_plane(self, action: Array) -> Array:
        """`[B]` -> `[B, H, W, 1]`: the cell, the column, or a learned plane for other moves."""
        height, width = self.board
        if self.place is not None:
            plane = self.place(action)
        else:
            plane = jax.nn.one_hot(action, self.num_actions)
        plane = plane.reshape(action.shape[0], -1, width)
        plane = jnp.broadcast_to(plane, (action.shape[0], height, width))[..., None]
        # As long as an embedding's cell: one plane among many must not be drowned out.
        return plane * self.channels**0.5

    def represent(self, observation: Array) -> Array:
        dtype = self.policy.out.kernel.dtype
        return self.norm(self.trunk(observation.astype(dtype)))

    def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
        plane = self._action_plane(action).astype(embedding.dtype)
        x = jnp.concatenate([embedding, plane], axis=-1)
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
