"""Laws of h, g and f, over every kind of network."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make, value_range
from duozero.models import (
    RESNETS,
    categorical,
    cnn,
    computing_in,
    mlp,
    num_parameters,
    resnet,
    scalar,
)
from duozero.models.heads import DISCOUNTS, discount_loss, expected_discount, two_hot
from hypothesis import given
from hypothesis import strategies as st
from toys import Walk, keys

KINDS = {
    "mlp": functools.partial(mlp, width=16, depth=1),
    "cnn": functools.partial(cnn, channels=(4, 8)),
    "resnet": functools.partial(resnet, num_blocks=1, num_channels=8),
}
FITTING = [
    (kind, game)
    for kind in KINDS
    for game in ("tic_tac_toe", "connect_four", "gomoku_5x4_3", "race_to_21")
    if kind == "mlp" or game != "race_to_21"
]


def outputs(model, game, params, observation, action):
    """Everything h, g and f say of a batch and of the moves `action` `[K, B]` after it."""
    net = model.bind(params)
    embedding = net.represent(observation)
    logits, value = net.predict(embedding)
    for move in action:
        embedding, reward, discount = net.dynamics(embedding, move)
        logits, value = net.predict(embedding)
    return embedding, logits, value, reward, discount


@pytest.mark.parametrize("num_bins", [0, 5])
@pytest.mark.parametrize(("kind", "name"), FITTING)
def test_outputs_have_the_promised_shapes(kind, name, num_bins):
    game = make(name)
    model = KINDS[kind](game, num_bins=num_bins)
    params = jax.eval_shape(model.init, jax.random.key(0))
    observation = jax.ShapeDtypeStruct((3, *game.observation_shape), jnp.bool_)
    action = jax.ShapeDtypeStruct((2, 3), jnp.int32)
    run = functools.partial(outputs, model, game)
    embedding, logits, value, reward, discount = jax.eval_shape(run, params, observation, action)
    assert embedding.shape[0] == 3
    assert logits.shape == (3, game.num_actions)
    assert value.shape == (3, model.value.size) == (3, num_bins or 1)
    assert reward.shape == (3, model.reward.size)
    assert discount.shape == (3, len(DISCOUNTS))
    assert jax.eval_shape(model.value.mean, value).shape == (3,)


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_a_plain_dict_of_arrays(kind):
    params = jax.eval_shape(KINDS[kind](make("connect_four")).init, jax.random.key(0))

    def check(node):
        if isinstance(node, dict):
            for child in node.values():
                check(child)
        else:
            assert isinstance(node, jax.ShapeDtypeStruct) and node.dtype == jnp.float32

    check(params)
    assert num_parameters(params) > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_the_answer_for_a_position_does_not_depend_on_its_batch(kind):
    """No BatchNorm: nothing is shared between the positions of a batch."""
    game = make("tic_tac_toe")
    model = KINDS[kind](game)
    params = jax.tree.map(lambda x: x + 0.1, model.init(jax.random.key(0)))
    observation = jax.random.bernoulli(jax.random.key(1), 0.3, (4, *game.observation_shape))
    action = jnp.arange(8, dtype=jnp.int32).reshape(2, 4)
    run = jax.jit(functools.partial(outputs, model, game))
    for batch, one in zip(
        run(params, observation, action),
        run(params, observation.at[1:].set(False), action.at[:, 1:].set(0)),
        strict=True,
    ):
        np.testing.assert_array_equal(batch[0], one[0])


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "cnn")) for kind in KINDS]
)
def test_embeddings_stay_bounded_however_often_g_is_applied(kind):
    game = make("tic_tac_toe")
    model = KINDS[kind](game)
    params = jax.tree.map(lambda x: 5 * x, model.init(jax.random.key(0)))

    @jax.jit
    def wander(params, observation, actions):
        net = model.bind(params)
        embedding = net.represent(observation)

        def move(embedding, action):
            embedding, *_ = net.dynamics(embedding, action)
            return embedding, jnp.abs(embedding).max()

        return jax.lax.scan(move, embedding, actions)

    actions = jax.random.randint(jax.random.key(1), (50, 4), 0, 9)
    observation = jax.random.bernoulli(jax.random.key(2), 0.5, (4, *game.observation_shape))
    last, largest = wander(params, observation, actions)
    assert (largest <= last.shape[-1] ** 0.5).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_untrained_network_is_indifferent(kind):
    game = make("tic_tac_toe")
    model = KINDS[kind](game)
    observation = jax.random.bernoulli(jax.random.key(1), 0.5, (2, *game.observation_shape))
    net = model.bind(model.init(jax.random.key(0)))
    logits, value = net.predict(net.represent(observation))
    np.testing.assert_array_equal(logits, 0)
    np.testing.assert_array_equal(model.value.mean(value), 0)


def test_different_keys_make_different_networks():
    model = KINDS["mlp"](make("tic_tac_toe"))
    one, other = (model.init(jax.random.key(seed))["stem"]["kernel"] for seed in (0, 1))
    assert not (one == other).any()


@pytest.mark.parametrize("head", [scalar(-1, 1), scalar(0, 3), categorical(0, 3, 4)])
def test_means_lie_in_the_range(head):
    low, high = (-1, 1) if float(head.mean(jnp.full(head.size, -30.0))) < 0 else (0, 3)
    output = 100 * jax.random.normal(jax.random.key(0), (64, head.size))
    mean = head.mean(output)
    assert (mean >= low).all() and (mean <= high).all()
    assert float(mean.max() - mean.min()) > 0.5 * (high - low)


def test_heads_have_the_range_of_the_game():
    game = Walk()
    for num_bins in (0, 7):
        model = mlp(game, 8, 1, num_bins)
        ends = jnp.array([[-50.0] * model.value.size, [50.0] * model.value.size])
        if num_bins:
            ends = 50.0 * jnp.eye(num_bins)[jnp.array([0, -1])]
        np.testing.assert_allclose(model.value.mean(ends), value_range(game), atol=1e-6)


@given(st.floats(-1, 1), st.sampled_from([2, 3, 5, 21, 51]))
def test_a_value_survives_being_split_between_bins(value, num_bins):
    weights = two_hot(jnp.float32(value), -1, 1, num_bins)
    np.testing.assert_allclose(weights.sum(), 1, atol=1e-5)
    assert (weights > 0).sum() <= 2
    bins = jnp.linspace(-1, 1, num_bins)
    np.testing.assert_allclose(weights @ bins, value, atol=1e-5)


def test_values_beyond_the_range_count_as_its_ends():
    np.testing.assert_array_equal(two_hot(jnp.array([-9.0, 9.0]), -1, 1, 3), jnp.eye(3)[::2])


def test_a_head_of_one_bin_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        categorical(-1, 1, 1)


@pytest.mark.parametrize("discount", DISCOUNTS)
def test_each_discount_is_a_class_of_its_own(discount):
    logits = 40.0 * jnp.eye(3)
    losses = discount_loss(logits, jnp.full(3, discount))
    best = int(losses.argmin())
    assert losses[best] < 1e-6 and (jnp.delete(losses, best) > 30).all()
    assert float(expected_discount(logits)[best]) == discount


def planes(name):
    game = make(name)
    model = KINDS["cnn"](game)
    net = model.bind(model.init(jax.random.key(0)))
    planes = net._action_plane(jnp.arange(game.num_actions))[..., 0]  # pyright: ignore
    return np.asarray(planes) / 8**0.5  # As long as a cell of the embedding, of 8 channels.


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_changes_how_layers_compute_and_little_else(kind):
    game = make("tic_tac_toe")
    model = KINDS[kind](game)
    params = jax.tree.map(lambda x: x + 0.05, model.init(jax.random.key(0)))
    half = computing_in(jnp.bfloat16, model)

    def outputs(model, params):
        net = model.bind(params)
        observation = jax.vmap(game.init)(keys(2)).observation
        embedding, *step = net.dynamics(net.represent(observation), jnp.int32([0, 4]))
        return embedding, (*step, *net.predict(embedding))

    (embedding, found), (_, whole) = (
        jax.jit(outputs, static_argnums=0)(m, params) for m in (half, model)
    )
    assert embedding.dtype == jnp.bfloat16
    for one, other in zip(found, whole, strict=True):
        assert one.dtype == jnp.float32
        np.testing.assert_allclose(one, other, rtol=0.05, atol=0.05)
    gradient = jax.eval_shape(jax.grad(lambda p: outputs(half, p)[1][0].sum()), params)
    assert all(x.dtype == jnp.float32 for x in jax.tree.leaves(gradient))


def test_a_move_that_is_a_cell_is_shown_as_the_cell():
    np.testing.assert_allclose(planes("gomoku_5x4_3").reshape(20, 20), np.eye(20), rtol=1e-6)


def test_a_move_that_is_a_column_is_shown_as_the_column():
    shown = planes("connect_four")
    assert shown.shape == (7, 6, 7)
    for column in range(7):
        expected = np.tile(np.eye(7)[column], (6, 1))
        np.testing.assert_allclose(shown[column], expected, rtol=1e-6)


def test_a_convolution_refuses_a_game_without_a_board():
    with pytest.raises(ValueError, match="use the mlp"):
        cnn(make("race_to_21"))


@pytest.mark.slow
def test_the_size_of_alphago_zero_can_be_built():
    num_blocks, num_channels = RESNETS["alphago_zero"]
    model = resnet(make("gomoku_15x15_5"), num_blocks, num_channels)
    params = jax.eval_shape(model.init, jax.random.key(0))
    # 20 blocks of two 3x3 convolutions of 256 channels are 23.6 million weights; in h and in g.
    assert 47e6 < num_parameters(params) < 49e6
