"""The one loss, with and without an unroll."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.models import mlp
from duozero.planners.muzero import scale_gradient
from duozero.train.loss import loss_fn
from duozero.train.targets import Sample

NAMES = {"policy", "value", "reward", "discount", "total"}


def samples(planner, num_samples=8, seed=0, alive=None):
    """Random samples that fit a planner for tic-tac-toe."""
    steps = planner.num_unroll_steps
    keys = jax.random.split(jax.random.key(seed), 7)
    ones = jnp.ones((num_samples, steps + 1))
    return Sample(
        observation=jax.random.bernoulli(keys[0], 0.4, (num_samples, 3, 3, 2)),
        action=jax.random.randint(keys[1], (num_samples, steps), 0, 9),
        policy=jax.nn.softmax(3 * jax.random.normal(keys[2], (num_samples, steps + 1, 9))),
        value=jax.random.uniform(keys[3], ones.shape, minval=-1),
        reward=jax.random.uniform(keys[4], ones[:, 1:].shape, minval=-1),
        discount=jax.random.randint(keys[5], ones[:, 1:].shape, -1, 2).astype(jnp.float32),
        alive=ones if alive is None else alive,
        later=jax.random.bernoulli(keys[6], 0.4, (num_samples, steps, 3, 3, 2)),
        weight=jnp.ones(num_samples),
    )


def trained(planner):
    """Parameters with which every output depends on every input."""
    params = planner.init(jax.random.key(0))
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(jax.random.key(1), len(leaves))
    noisy = [x + 0.3 * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
    return jax.tree.unflatten(tree, noisy)


def loss(params, planner, sample):
    return jax.jit(loss_fn, static_argnums=1)(params, planner, sample)


def test_the_total_is_the_sum_of_its_terms(planner):
    total, metrics = loss(trained(planner), planner, samples(planner))
    assert set(metrics) == {f"loss/{name}" for name in NAMES}
    assert all(np.isfinite(value) for value in metrics.values())
    assert total == metrics["loss/total"]
    parts = sum(metrics[f"loss/{name}"] for name in NAMES - {"total"})
    np.testing.assert_allclose(total, parts, rtol=1e-6)


@pytest.mark.parametrize("num_bins", [0, pytest.param(5, marks=pytest.mark.slow)])
def test_without_an_unroll_muzero_learns_what_alphazero_learns(tic_tac_toe, num_bins):
    model = mlp(tic_tac_toe, width=16, depth=1, num_bins=num_bins)
    rules = planners.alphazero(tic_tac_toe, model)
    learned = planners.muzero(tic_tac_toe, model, num_unroll_steps=0)
    params, sample = trained(rules), samples(rules)
    value_and_grad = jax.jit(jax.value_and_grad(loss_fn, has_aux=True), static_argnums=1)
    (one, _), one_gradient = value_and_grad(params, rules, sample)
    (other, metrics), other_gradient = value_and_grad(params, learned, sample)
    np.testing.assert_allclose(one, other, rtol=1e-6)
    assert metrics["loss/reward"] == metrics["loss/discount"] == 0
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6),
        one_gradient,
        other_gradient,
    )


@pytest.fixture(scope="module")
def learned(tic_tac_toe, tiny):
    return planners.muzero(tic_tac_toe, tiny, num_unroll_steps=3)


def test_the_unrolled_steps_together_weigh_as_much_as_the_root(learned):
    """With equal targets and an untrained network, each step has the same policy loss."""
    sample = samples(learned)
    sample = sample._replace(policy=jnp.full_like(sample.policy, 1 / 9))
    _, metrics = loss(learned.init(jax.random.key(0)), learned, sample)
    np.testing.assert_allclose(metrics["loss/policy"], 2 * np.log(9), rtol=1e-6)
    np.testing.assert_allclose(metrics["loss/discount"], np.log(3), rtol=1e-6)


def test_past_the_end_nothing_but_zero_is_learned(learned):
    """Whatever stands in the targets' policies past the end, loss and gradient are the same."""
    alive = jnp.tile(jnp.array([1.0, 1.0, 0.0, 0.0]), (8, 1))
    sample = samples(learned, alive=alive)
    other = sample._replace(
        policy=jnp.where(alive[..., None] > 0, sample.policy, jnp.roll(sample.policy, 1, axis=-1))
    )
    gradient = jax.jit(jax.grad(lambda p, s: loss_fn(p, learned, s)[0]))
    params = trained(learned)
    jax.tree.map(np.testing.assert_array_equal, gradient(params, sample), gradient(params, other))
    # Value and reward, in contrast, are learned there: as nothing.
    changed = loss(params, learned, sample._replace(value=sample.value + (1 - alive)))[1]
    assert changed["loss/value"] != loss(params, learned, sample)[1]["loss/value"]


def test_a_gradient_is_scaled_and_the_number_is_not():
    x = jnp.array([1.5, -2.0])
    np.testing.assert_array_equal(scale_gradient(x, 0.5), x)
    np.testing.assert_array_equal(jax.grad(lambda x: scale_gradient(x, 0.5).sum())(x), 0.5)


@pytest.mark.slow
def test_each_class_of_discount_can_be_learned(learned):
    """Gradient descent on the discount alone makes the three kinds of move certain."""
    sample = samples(learned, num_samples=3)
    classes = jnp.array([0.0, 1.0, -1.0])
    sample = sample._replace(
        observation=jnp.eye(18)[:3].reshape(3, 3, 3, 2) > 0,
        discount=jnp.tile(classes[:, None], (1, 3)),
    )

    @jax.jit
    def improve(params):
        def only(p):
            return loss_fn(p, learned, sample)[1]["loss/discount"]

        step = lambda p, _: (jax.tree.map(lambda x, g: x - 0.3 * g, p, jax.grad(only)(p)), None)  # noqa: E731
        params, _ = jax.lax.scan(step, params, length=100)
        return only(params)

    assert improve(learned.init(jax.random.key(0))) < 0.2
