"""The one loss of both planners: AlphaZero's is MuZero's with K = 0."""

import jax
import jax.numpy as jnp
import optax

from ..models.base import Params
from ..models.consistency import dissimilarity
from ..models.heads import discount_loss
from ..planners.base import Planner
from .targets import Sample

Metrics = dict[str, jax.Array]


def loss_fn(
    params: Params,
    planner: Planner,
    sample: Sample,
    value_weight: float = 1.0,
    consistency_weight: float = 0.0,
) -> tuple[jax.Array, Metrics]:
    """Returns `(loss [], metrics)` of `N` samples (MuZero, equation 1; L2 is the optimiser's).

    policy: cross-entropy to the search policy. value, reward: the loss of the model's heads.
    discount: cross-entropy of ended, same player, turn passes. The K unrolled steps together
    weigh as much as the root (MuZero, appendix G). Past the end of a game, value and reward are
    learned as 0, the policy not at all.

    With a `consistency_weight`, for which the model must be `consistent`, each unrolled embedding
    is also drawn towards that of the position really reached (EfficientZero, section 4.1,
    https://arxiv.org/abs/2111.00210): consistency, 1 - their cosine, is 0 where they agree.
    """
    assert planner.model is not None and planner.unroll_fn is not None
    prediction = planner.unroll_fn(params, sample.observation, sample.action)
    steps = planner.num_unroll_steps
    weight = jnp.array([1.0] + steps * [1.0 / max(steps, 1)])
    policy = optax.safe_softmax_cross_entropy(prediction.logits, sample.policy) * sample.alive
    terms = {
        "policy": policy @ weight,
        "value": value_weight * planner.model.value.loss(prediction.value, sample.value) @ weight,
        "reward": planner.model.reward.loss(prediction.reward, sample.reward) @ weight[1:],
        "discount": discount_loss(prediction.discount, sample.discount) @ weight[1:],
    }
    if consistency_weight and steps:
        unlike = dissimilarity(planner.model, params, prediction.embedding, sample.later)
        terms["consistency"] = consistency_weight * (unlike * sample.alive[:, 1:]) @ weight[1:]
    terms = {name: (term * sample.weight).mean() for name, term in terms.items()}
    loss = sum(terms.values(), start=jnp.float32(0))
    return loss, {f"loss/{name}": term for name, term in terms.items()} | {"loss/total": loss}
