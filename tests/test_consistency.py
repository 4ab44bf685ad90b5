"""Unrolled embeddings held to those of the positions really reached."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.models import consistent, mlp, resnet
from duozero.models.consistency import OWN, dissimilarity
from duozero.train.loss import loss_fn
from test_loss import samples, trained

pytestmark = pytest.mark.slow  # Each compiles for long.


@pytest.fixture(scope="module")
def learned(tic_tac_toe, tiny):
    return planners.muzero(tic_tac_toe, consistent(tic_tac_toe, tiny), num_unroll_steps=3)


def consistency(params, planner, sample):
    return loss_fn(params, planner, sample, 1.0, 1.0)[1]["loss/consistency"]


def length(tree):
    return float(jnp.sqrt(sum((x**2).sum() for x in jax.tree.leaves(tree))))


def test_it_moves_g_and_the_projections_but_not_the_real_embeddings(learned):
    params, sample = trained(learned), samples(learned)
    gradient = jax.jit(jax.grad(consistency), static_argnums=1)(params, learned, sample)
    assert length(gradient["join"]) > 1e-4
    assert length(gradient[OWN]) > 1e-4
    # With nothing unrolled from it, what `represent` says of a position is a constant.
    model = learned.model

    def of_real(params):
        blank = jnp.zeros((8, 3, 16))
        return dissimilarity(model, params, blank, sample.later).sum()

    gradient = jax.jit(jax.grad(of_real))(params)
    assert length(gradient["stem"]) == 0
    assert length(gradient[OWN]) > 1e-4


def test_it_is_one_minus_a_cosine_and_zero_where_they_agree(learned):
    """With a projection that tells only the first number, and a guess that repeats or turns it."""
    params, sample = trained(learned), samples(learned)
    own = jax.tree.map(jnp.zeros_like, params[OWN])
    own["out"]["bias"] = own["out"]["bias"].at[0].set(2.0)
    for guess, expected in ((0.5, 0.0), (-3.0, 2.0)):
        own["guess_out"]["bias"] = own["guess_out"]["bias"].at[0].set(guess)
        found = dissimilarity(
            learned.model, params | {OWN: own}, jnp.ones((8, 3, 16)), sample.later
        )
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_past_the_end_nothing_is_compared(learned):
    alive = jnp.tile(jnp.array([1.0, 1.0, 0.0, 0.0]), (8, 1))
    params, sample = trained(learned), samples(learned, alive=alive)
    other = sample._replace(later=sample.later.at[:, 1:].set(~sample.later[:, 1:]))
    assert consistency(params, learned, sample) == consistency(params, learned, other)
    alive = sample._replace(alive=jnp.ones_like(alive))
    other = other._replace(alive=jnp.ones_like(alive.alive))
    assert consistency(params, learned, alive) != consistency(params, learned, other)


def test_the_network_itself_is_untouched(tic_tac_toe, tiny):
    """Parameters of the plain model say the same under both."""
    both = consistent(tic_tac_toe, tiny)
    params = both.init(jax.random.key(0))
    plain = {name: part for name, part in params.items() if name != OWN}
    seen = samples(planners.muzero(tic_tac_toe, tiny, 1)).observation
    for one, other in zip(
        both.bind(params).predict(both.bind(params).represent(seen)),
        tiny.bind(plain).predict(tiny.bind(plain).represent(seen)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_a_planner_that_unrolls_nothing_has_nothing_to_draw_together(tic_tac_toe, tiny):
    planner = planners.alphazero(tic_tac_toe, consistent(tic_tac_toe, tiny))
    params = planner.init(jax.random.key(0))
    with_it, without = (loss_fn(params, planner, samples(planner), 1.0, w)[1] for w in (1.0, 0.0))
    assert with_it == without


@pytest.mark.parametrize("network", [mlp, resnet])
def test_it_fits_embeddings_of_any_shape(tic_tac_toe, network):
    model = consistent(
        tic_tac_toe, network(tic_tac_toe, 8, 1) if network is mlp else resnet(tic_tac_toe, 1, 4)
    )
    planner = planners.muzero(tic_tac_toe, model, num_unroll_steps=2)
    sample = samples(planner)
    params = jax.eval_shape(planner.init, jax.random.key(0))
    found = jax.eval_shape(lambda p, s: loss_fn(p, planner, s, 1.0, 0.5)[1], params, sample)
    assert found["loss/consistency"].shape == ()
