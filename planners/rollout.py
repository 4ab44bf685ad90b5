"""Pure Monte Carlo tree search: no network, a random game as the value of a leaf."""
# pyright: reportCallIssue=false

import jax
import jax.numpy as jnp
import mctx

from ..games.base import Game, State
from .base import Planner, mask_logits, transition

Array = jax.Array


def random_action(key: Array, legal_action_mask: Array) -> Array:
    """A legal action drawn uniformly, `[]` int32, from a mask `[num_actions]`."""
    place = jax.random.randint(key, (), 0, legal_action_mask.sum())
    return jnp.argmax(jnp.cumsum(legal_action_mask) > place).astype(jnp.int32)


def random_playout(game: Game, keys: Array, state: State) -> Array:
    """Plays random legal moves to the end of each game.

    Args:
        game: the rules.
        keys: `[B]`.
        state: `[B, ...]`; ended games are worth 0.

    Returns:
        The undiscounted return, `[B]`, for the player to move in `state`.
    """
    step = jax.vmap(game.step)
    player = state.current_player[:, None]

    def cond(carry):
        state, _, _ = carry
        return ~(state.terminated | state.truncated).all()

    def body(carry):
        state, value, ply = carry
        ply_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, ply)
        child = step(state, jax.vmap(random_action)(ply_keys, state.legal_action_mask))
        reward = jnp.take_along_axis(child.rewards, player, axis=1)[:, 0]
        return child.replace(observation=None), value + reward, ply + 1

    start = (state.replace(observation=None), jnp.zeros(player.shape[0]), jnp.int32(0))
    return jax.lax.while_loop(cond, body, start)[1]


def rollout(game: Game) -> Planner:
    """Steps the rules under a uniform prior; its parameters are empty.

    Nodes carry the state and a key of their own, so that a game's search depends on its own
    key alone, whatever batch it stands in.
    """
    step = jax.vmap(game.step)
    split = jax.vmap(lambda key: tuple(jax.random.split(key)))

    def evaluate(keys, state):
        value = random_playout(game, keys, state)
        mask = state.legal_action_mask
        return mask_logits(jnp.zeros(mask.shape), mask), value

    def root_fn(params, keys, state):
        del params
        keys, playout_keys = split(keys)
        logits, value = evaluate(playout_keys, state)
        return mctx.RootFnOutput(
            prior_logits=logits,
            value=value,
            embedding=(state.replace(observation=None), jax.random.key_data(keys)),
        )

    def recurrent_fn(params, key, action, embedding):
        del params, key
        state, keys = embedding
        keys = jax.vmap(jax.random.fold_in)(jax.random.wrap_key_data(keys), action)
        keys, playout_keys = split(keys)
        child = step(state, action)
        logits, value = evaluate(playout_keys, child)
        reward, discount = jax.vmap(transition)(state, child)
        output = mctx.RecurrentFnOutput(
            reward=reward, discount=discount, prior_logits=logits, value=value
        )
        return output, (child.replace(observation=None), jax.random.key_data(keys))

    return Planner(
        *(game, None, lambda key: {}, root_fn, recurrent_fn, None),
        num_unroll_steps=0,
        position_fn=lambda embedding: embedding[0],
    )
