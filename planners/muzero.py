"""MuZero: the search steps a learned model (https://arxiv.org/abs/1911.08265)."""
# pyright: reportCallIssue=false

import jax
import jax.numpy as jnp
import mctx

from ..games.base import Game
from ..models.base import Model
from ..models.heads import DISCOUNTS, expected_discount
from .base import Planner, Prediction, mask_logits


def muzero(
    game: Game, model: Model, num_unroll_steps: int = 5, discount: float | None = None
) -> Planner:
    """Tree nodes hold embeddings; past the root the rules are never consulted.

    Args:
        game: gives shapes, and the legal moves at the root.
        model: h, g and f.
        num_unroll_steps: K, how many moves of g the loss sees.
        discount: None to use the discount that g predicts; the paper's constant otherwise
            (-1 for games of two players who alternate, 1 for one player).
    """

    def root_fn(params, keys, state):
        del keys
        net = model.bind(params)
        embedding = net.represent(state.observation)
        logits, value = net.predict(embedding)
        return mctx.RootFnOutput(
            prior_logits=mask_logits(logits, state.legal_action_mask),
            value=model.value.mean(value),
            embedding=embedding,
        )

    def recurrent_fn(params, key, action, embedding):
        del key
        net = model.bind(params)
        embedding, reward, ending = net.dynamics(embedding, action)
        logits, value = net.predict(embedding)
        value = model.value.mean(value)
        output = mctx.RecurrentFnOutput(
            reward=model.reward.mean(reward),
            discount=(
                expected_discount(ending) if discount is None else jnp.full_like(value, discount)
            ),
            prior_logits=logits,
            value=value,
        )
        return output, embedding

    def unroll_fn(params, observation, action):
        net = model.bind(params)
        embedding = net.represent(observation)
        logits, value = net.predict(embedding)
        empty = logits.shape[0], 0  # What there is of the moves where K is 0.
        logits, value = [logits[:, None]], [value[:, None]]
        reward = [jnp.zeros((*empty, model.reward.size))]
        ending = [jnp.zeros((*empty, len(DISCOUNTS)))]
        embeddings = [embedding[:, None][:, :0]]
        # Unrolled in Python: on a CPU a convolution's gradient inside a scan is 20 times slower.
        for k in range(num_unroll_steps):
            embedding, *outputs = net.dynamics(scale_gradient(embedding, 0.5), action[:, k])
            outputs += [*net.predict(embedding), embedding]
            lists = (reward, ending, logits, value, embeddings)
            for steps, output in zip(lists, outputs, strict=True):
                steps.append(output[:, None])
        steps = (logits, value, reward, ending, embeddings)
        return Prediction(*(jnp.concatenate(x, axis=1) for x in steps))

    return Planner(game, model, model.init, root_fn, recurrent_fn, unroll_fn, num_unroll_steps)


def scale_gradient(x: jax.Array, scale: float) -> jax.Array:
    """Identity forward; multiplies the gradient by `scale` (MuZero, appendix G)."""
    return x * scale + jax.lax.stop_gradient(x) * (1.0 - scale)
