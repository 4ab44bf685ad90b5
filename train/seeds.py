"""Several seeds trained as one: an axis `[S]` in front of every array of a state."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


class SeedAxis(NamedTuple):
    """What an axis of seeds changes.

    Attributes:
        lift: turns a function of one seed into one of all; with a single run it changes nothing.
        of_games: how `[B, ...]`, or `[S, B, ...]`, is spread over the devices.
        of_moves: how `[T, B, ...]`, or `[S, T, B, ...]`, is.
    """

    lift: Callable[[Callable], Callable]
    of_games: P
    of_moves: P


def seed_axis(num_seeds: int) -> SeedAxis:
    """For `num_seeds` in one program; 0 for a single run without such an axis."""
    if not num_seeds:
        return SeedAxis(lambda function: function, P("data"), P(None, "data"))
    return SeedAxis(jax.vmap, P(None, "data"), P(None, None, "data"))


def joined(each: list[Any], like: Any) -> Any:
    """The trees of all seeds as one, which lies on the devices as `like` does."""

    def join(x, *xs):
        # Not `jnp.stack`, which counts as a use of keys (`jax.debug_key_reuse`).
        return jax.device_put(jnp.concatenate([one[None] for one in xs]), x.sharding)

    return jax.tree.map(join, like, *each)


def each_seed(num_seeds: int, tree: Any) -> Iterator[Any]:
    """Yields the tree of every seed; that of a single run, which has no such axis, is `tree`."""
    if num_seeds == 1:
        yield tree
        return
    for seed in range(num_seeds):
        # Array by array, as they do not all lie on the same devices.
        yield jax.tree.map(functools.partial(_row, index=jnp.int32(seed)), tree)


@jax.jit
def _row(x: jax.Array, index: jax.Array) -> jax.Array:
    return x[index]
