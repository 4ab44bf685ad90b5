"""How a number (a value, a reward, a discount) is read from a network's output, and learned."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax

Array = jax.Array

DISCOUNTS = (0.0, 1.0, -1.0)
"""Classes of the discount: the move ended the game, the same player moves on, the turn passes."""


@dataclass(frozen=True)
class Head:
    """A distribution over numbers, as pure functions of a network's output.

    Attributes:
        size: S, the number of outputs it needs.
        mean: `[..., S] -> [...]`, the number that the output stands for.
        loss: `(output [..., S], target [...]) -> [...]`.
    """

    size: int
    mean: Callable[[Array], Array]
    loss: Callable[[Array, Array], Array]


def scalar(low: float, high: float) -> Head:
    """One output, squashed into `[low, high]` by tanh, with half the squared error."""
    centre, half = (high + low) / 2, (high - low) / 2

    def mean(output: Array) -> Array:
        return centre + half * jnp.tanh(output[..., 0])

    return Head(1, mean, lambda output, target: optax.l2_loss(mean(output), target))


def categorical(low: float, high: float, num_bins: int) -> Head:
    """A softmax over `num_bins` evenly spaced numbers, learned by two-hot cross-entropy.

    The transform of MuZero, appendix F, over the game's own range in place of +-300, so that
    both ends and (with an odd number of bins) the middle are represented exactly.

    Raises:
        ValueError: with fewer than two bins.
    """
    if num_bins < 2:
        raise ValueError(f"a categorical head of {num_bins} bins; at least 2 are needed")
    bins = jnp.linspace(low, high, num_bins)

    def mean(output: Array) -> Array:
        return jax.nn.softmax(output) @ bins

    def loss(output: Array, target: Array) -> Array:
        return optax.softmax_cross_entropy(output, two_hot(target, low, high, num_bins))

    return Head(num_bins, mean, loss)


def two_hot(x: Array, low: float, high: float, num_bins: int) -> Array:
    """Splits each number between its two nearest bins, `[...] -> [..., num_bins]`."""
    place = (jnp.clip(x, low, high) - low) / (high - low) * (num_bins - 1)
    bins = jnp.broadcast_to(jnp.arange(num_bins), (*place.shape, num_bins))
    return jnp.maximum(0.0, 1.0 - jnp.abs(place[..., None] - bins))


def expected_discount(logits: Array) -> Array:
    """The mean discount under three class logits, `[..., 3] -> [...]` within [-1, 1]."""
    return jax.nn.softmax(logits) @ jnp.float32(DISCOUNTS)


def discount_loss(logits: Array, discount: Array) -> Array:
    """Cross-entropy of the three classes, `[..., 3]`, to discounts 0, 1 or -1, `[...]`."""
    target = jnp.where(discount == 0, 0, jnp.where(discount > 0, 1, 2))
    return optax.softmax_cross_entropy_with_integer_labels(logits, target)
