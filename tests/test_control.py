"""The learning rate that follows how far the policy moves."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from duozero import planners
from duozero.train import control
from duozero.train.learner import make_learner
from duozero.train.overlay import overlay
from duozero.train.targets import lambda_return
from test_learner import CONFIG, mesh
from toys import any_move

TARGET = 0.02


@pytest.mark.parametrize(
    ("rate", "divergence", "expected"),
    [
        (1.0, 0.05, 1 / 1.5),
        (1.0, 0.03, 1.0),
        (1.0, 0.011, 1.0),
        (1.0, 0.005, 1.5),
        (9.0, 0.0, 10.0),
        (0.12, 1.0, 0.1),
    ],
)
def test_the_rate_falls_above_twice_the_target_and_rises_below_half(rate, divergence, expected):
    params = {"w": jnp.zeros(2)}
    before = control.Control(jnp.float32(rate), {"w": jnp.ones(2)}, jnp.float32(divergence))
    after = control.next_round(before, params, TARGET)
    assert float(after.rate) == pytest.approx(expected)
    assert float(after.divergence) == 0
    np.testing.assert_array_equal(after.anchor["w"], params["w"])


def test_the_divergence_is_that_from_the_anchor_to_the_policy(tic_tac_toe, tiny):
    planner = planners.alphazero(tic_tac_toe, tiny)
    params = tiny.init(jax.random.key(0))  # Uniform, whatever the position.
    bias = jnp.log(jnp.arange(1.0, 10.0))
    other = params | {"policy": params["policy"] | {"bias": bias}}
    seen = jnp.zeros((3, 3, 3, 2))
    uniform, skewed = np.full(9, 1 / 9), np.arange(1, 10) / 45
    kl = lambda p, q: float((p * np.log(p / q)).sum())  # noqa: E731
    forth, back, none = (
        float(control.divergence(a, b, planner, seen))
        for a, b in ((params, other), (other, params), (params, params))
    )
    assert forth == pytest.approx(kl(uniform, skewed), rel=1e-5)
    assert back == pytest.approx(kl(skewed, uniform), rel=1e-5)
    assert none == pytest.approx(0, abs=1e-7)


def learner(game, model, rate, scan=False, target=TARGET):
    return make_learner(
        planners.alphazero(game, model),
        any_move(),
        optax.sgd(rate),
        functools.partial(lambda_return, lambda_=1.0),
        overlay(CONFIG, {"learn": {"schedule": "kl", "kl_target": target}}),
        mesh(1),
        scan_updates=scan,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scan", [False, True])
def test_a_round_ends_where_the_policy_has_moved_too_far(tic_tac_toe, tiny, scan):
    trained = learner(tic_tac_toe, tiny, rate=100.0, scan=scan)
    state = trained.play(trained.init(jax.random.key(0)))
    first = jax.tree.map(np.asarray, state.params)
    state, metrics = trained.learn(state, 4)
    moved = np.asarray(metrics["control/divergence"])
    made = int(state.num_updates)
    assert 1 <= made < 4
    assert (moved[:made] <= 4 * TARGET).all() and (moved[made:] > 4 * TARGET).all()
    np.testing.assert_array_equal(np.isnan(metrics["loss/total"]), np.arange(4) >= made)
    assert any((x != y).any() for x, y in zip(*map(jax.tree.leaves, (first, state.params))))  # noqa: B905
    assert float(state.control.rate) == pytest.approx(1 / 1.5)
    state, metrics = trained.learn(state, 1)  # The next round begins where this one ended.
    assert float(metrics["control/divergence"][0]) == 0
    assert float(metrics["control/rate"][0]) == pytest.approx(1 / 1.5)


@pytest.mark.slow
def test_a_step_is_the_rate_times_as_long(tic_tac_toe, tiny):
    trained = learner(tic_tac_toe, tiny, rate=0.01)
    steps = []
    for rate in (1.0, 3.0):
        state = trained.play(trained.init(jax.random.key(0)))
        before = jax.tree.map(np.asarray, state.params)
        state = state.replace(control=state.control.replace(rate=jnp.float32(rate)))
        state, _ = trained.update(state)
        steps.append(jax.tree.map(lambda x, y: np.asarray(x) - y, state.params, before))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(3 * x, y, atol=1e-6), *steps)
    assert max(np.abs(x).max() for x in jax.tree.leaves(steps[0])) > 1e-4
