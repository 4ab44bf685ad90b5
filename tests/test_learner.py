"""The training loop: the same whatever it runs on and compiled once."""

import functools

import jax
import numpy as np
import optax
import pytest
from duozero import planners
from duozero.planners import gumbel
from duozero.train.config import Config, LearnConfig, PlayConfig
from duozero.train.learner import make_learner
from duozero.train.overlay import overlay
from duozero.train.targets import lambda_return
from toys import any_move

CONFIG = Config(
    play=PlayConfig(num_games=8, num_moves=6, opening_plies=1, random_moves=0.1),
    learn=LearnConfig(replay_moves=12, batch_size=16),
)


def mesh(num_devices):
    auto = (jax.sharding.AxisType.Auto,)
    devices = jax.devices()[:num_devices]
    return jax.make_mesh((num_devices,), ("data",), axis_types=auto, devices=devices)


def build(planner, search, num_devices=2, settings=None, return_fn=None, **options):
    """A learner of CONFIG, under other `settings`."""
    return make_learner(
        planner,
        search,
        optax.adam(1e-2),
        return_fn or functools.partial(lambda_return, lambda_=1.0),
        overlay(CONFIG, settings or {}),
        mesh(num_devices),
        **options,
    )


@pytest.fixture(scope="module")
def learner(planner):
    """Of each planner, with a search, on two devices."""
    return build(planner, gumbel(planner, 4))


def rounds(learner, state, number):
    for _ in range(number):
        state = learner.play(state)
        state, _ = learner.update(state)
    return state


def numbers(tree):
    """Every leaf on the host, keys as what they are made of."""

    def number(x):
        is_key = jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(x) if is_key else x)

    return [number(x) for x in jax.tree.leaves(tree)]


def assert_equal(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for x, y in zip(numbers(one), numbers(other), strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_round_keeps_shapes_and_counts(learner):
    state = learner.init(jax.random.key(0))
    before = jax.tree.map(lambda x: (x.shape, x.dtype), state)
    state = rounds(learner, state, 3)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), state) == before
    assert int(state.num_updates) == 3
    assert int(state.num_positions) == 3 * CONFIG.play.num_games * CONFIG.play.num_moves
    assert int(state.replay.size) == CONFIG.learn.replay_moves
    assert all(np.isfinite(x).all() for x in numbers(state))


def test_one_seed_is_one_run_and_another_is_another(learner):
    one, same, other = (rounds(learner, learner.init(jax.random.key(s)), 2) for s in (0, 0, 1))
    assert_equal(one, same)
    assert (one.replay.moves.action != other.replay.moves.action).any()


def test_every_number_the_update_reports_is_a_finite_scalar(learner):
    _, metrics = learner.update(learner.play(learner.init(jax.random.key(0))))
    assert {"loss/total", "loss/policy", "loss/value", "gradient_norm"} <= set(metrics)
    assert all(x.shape == () and np.isfinite(x) for x in metrics.values())


@pytest.mark.parametrize("planner", ["alphazero"], indirect=True)
@pytest.mark.parametrize("num_devices", [1, 4])
@pytest.mark.slow
def test_the_same_games_are_played_on_any_number_of_devices(planner, learner, num_devices):
    one = learner.play(learner.init(jax.random.key(0)))
    other = build(planner, gumbel(planner, 4), num_devices)
    other = other.play(other.init(jax.random.key(0)))
    assert len(other.games.ply.sharding.device_set) == num_devices
    for name in ("observation", "action", "reward", "discount", "explored"):
        x, y = (getattr(state.replay.moves, name) for state in (one, other))
        np.testing.assert_array_equal(x, y, name)
    np.testing.assert_allclose(one.replay.moves.action_weights, other.replay.moves.action_weights)


def test_a_round_is_compiled_once(learner, compilations):
    state = rounds(learner, learner.init(jax.random.key(0)), 2)
    with compilations() as count:
        state = rounds(learner, state, 3)
    assert count() == 0


def test_a_round_needs_nothing_from_the_host(learner):
    state = rounds(learner, learner.init(jax.random.key(0)), 1)
    # Since 0.12 JAX gathers what lies on several CPU devices through the host, which is the CPU.
    gathers = "allow" if jax.__version_info__ >= (0, 12) else "disallow"
    with jax.transfer_guard("disallow"), jax.transfer_guard_device_to_host(gathers):
        state = learner.play(state)
    with jax.transfer_guard("disallow"):
        state, _ = learner.update(state)
    assert int(state.num_updates) == 2


@pytest.fixture(scope="module")
def untaught(tic_tac_toe, tiny):
    """MuZero, from random games, with an average of the parameters."""
    planner = planners.muzero(tic_tac_toe, tiny, num_unroll_steps=2)
    return build(planner, any_move(), settings={"learn": {"ema_decay": 0.75}})


@pytest.mark.slow
def test_moves_carry_the_number_of_updates_behind_them(untaught):
    state = untaught.play(untaught.init(jax.random.key(0)))
    for _ in range(3):
        state, _ = untaught.update(state)
    version = np.asarray(untaught.play(state).replay.moves.version)
    np.testing.assert_array_equal(version[:6], 0)
    np.testing.assert_array_equal(version[6:], 3)


@pytest.mark.slow
def test_the_parameters_that_play_follow_those_that_learn(untaught):
    state = untaught.play(untaught.init(jax.random.key(0)))
    for _ in range(2):
        before = numbers(state.average)
        state, _ = untaught.update(state)
        params, average = numbers(state.params), numbers(state.average)
        for old, new, mean in zip(before, params, average, strict=True):
            np.testing.assert_allclose(mean, 0.75 * old + 0.25 * new, atol=1e-6)
    assert any((x != y).any() for x, y in zip(before, params, strict=True))


def test_without_an_average_the_newest_parameters_play(learner):
    state = rounds(learner, learner.init(jax.random.key(0)), 1)
    assert_equal(state.params, state.average)


@pytest.mark.slow
def test_what_is_in_the_replay_is_learned(untaught):
    state = untaught.play(untaught.play(untaught.init(jax.random.key(0))))
    losses = []
    for _ in range(60):
        state, metrics = untaught.update(state)
        losses.append(float(metrics["loss/discount"]))
    assert losses[0] == pytest.approx(np.log(3), rel=1e-5)
    assert np.mean(losses[-10:]) < 0.8


@pytest.mark.slow
def test_updates_in_one_program_are_those_made_in_turn(tic_tac_toe, tiny):
    planner = planners.muzero(tic_tac_toe, tiny, num_unroll_steps=2)
    ends = []
    for scan in (False, True):
        learner = build(planner, any_move(), scan_updates=scan)
        state, metrics = learner.learn(learner.play(learner.init(jax.random.key(0))), 3)
        assert all(x.shape == (3,) for x in metrics.values())
        ends.append((state, metrics))
    assert int(ends[0][0].num_updates) == 3
    for one, other in zip(*(numbers(end) for end in ends), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
