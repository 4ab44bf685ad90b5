"""What a search draws at random, each game from a key of its own."""

import jax
import jax.numpy as jnp

Array = jax.Array


def legal_dirichlet(keys: Array, alpha: float, legal_action_mask: Array) -> Array:
    """Dirichlet noise `[B, A]` over the legal actions of each game; 0 on the others."""

    def draw(key, legal):
        # In logarithms: with a small alpha the numbers themselves may all round to zero.
        weights = jax.random.loggamma(key, alpha, legal.shape)
        return jax.nn.softmax(jnp.where(legal, weights, -jnp.inf))

    return jax.vmap(draw)(keys, legal_action_mask)


def sample_action(keys: Array, action_weights: Array, temperature: Array | float) -> Array:
    """Draws `[B]` actions by `action_weights ** (1 / temperature)`; at 0 the largest, the first
    of equals."""
    temperature = jnp.broadcast_to(temperature, keys.shape)[:, None]
    tiny = jnp.finfo(action_weights.dtype).tiny
    logits = jnp.where(action_weights > 0, jnp.log(jnp.maximum(action_weights, tiny)), -jnp.inf)
    drawn = jax.vmap(jax.random.categorical)(keys, logits / jnp.maximum(temperature, 1e-3))
    best = jnp.argmax(action_weights, axis=-1)
    return jnp.where(temperature[:, 0] > 0, drawn, best).astype(jnp.int32)


def split(keys: Array, num: int = 2) -> tuple[Array, ...]:
    """`num` independent keys from each of `keys [B]`, as `num` times `[B]`."""
    return jax.vmap(lambda key: tuple(jax.random.split(key, num)))(keys)
