"""AlphaZero: the search steps the real rules (https://arxiv.org/abs/1712.01815)."""
# pyright: reportCallIssue=false

import jax
import jax.numpy as jnp
import mctx

from ..games.base import Game
from ..models.base import Model
from ..models.heads import DISCOUNTS
from .base import Planner, Prediction, mask_logits, transition


def alphazero(game: Game, model: Model) -> Planner:
    """Tree nodes hold game states; the network only evaluates them.

    Takes the parameters of any planner with the same model: those of `muzero` too.
    """
    step = jax.vmap(game.step)

    def evaluate(params, state):
        net = model.bind(params)
        logits, value = net.predict(net.represent(state.observation))
        # An ended game is worth nothing from here on, whatever the network thinks of it.
        value = jnp.where(state.terminated | state.truncated, 0.0, model.value.mean(value))
        return mask_logits(logits, state.legal_action_mask), value

    def root_fn(params, keys, state):
        del keys
        logits, value = evaluate(params, state)
        return mctx.RootFnOutput(
            prior_logits=logits,
            value=value,
            embedding=state.replace(observation=None),
        )

    def recurrent_fn(params, key, action, state):
        del key
        child = step(state, action)
        logits, value = evaluate(params, child)
        reward, discount = jax.vmap(transition)(state, child)
        output = mctx.RecurrentFnOutput(
            reward=reward,
            discount=discount,
            prior_logits=logits,
            value=value,
        )
        return output, child.replace(observation=None)

    def unroll_fn(params, observation, action):
        del action  # The rules are exact: there is nothing past the root to learn.
        net = model.bind(params)
        logits, value = net.predict(net.represent(observation))
        batch = logits.shape[0]
        return Prediction(
            logits[:, None],
            value[:, None],
            reward=jnp.zeros((batch, 0, model.reward.size)),
            discount=jnp.zeros((batch, 0, len(DISCOUNTS))),
            embedding=jnp.zeros((batch, 0)),
        )

    return Planner(
        *(game, model, model.init, root_fn, recurrent_fn, unroll_fn),
        num_unroll_steps=0,
        position_fn=lambda state: state,
    )
