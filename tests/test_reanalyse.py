"""Positions searched anew: their policies and values change, and nothing else does."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.models import mlp
from duozero.train import reanalyse
from duozero.train.targets import n_step_return
from test_learner import CONFIG, build
from toys import Bonus

pytestmark = pytest.mark.slow  # Each compiles for long.

return_fn = functools.partial(n_step_return, num_steps=1)


@pytest.fixture(scope="module", params=["muzero", "alphazero", "alphazero, tree kept"])
def anew(request):
    """A search, the same training without and with all positions searched anew, and its state."""
    game = Bonus()
    model = mlp(game, width=16, depth=1)
    reuse = request.param.endswith("kept")
    if request.param == "muzero":
        planner = planners.muzero(game, model, num_unroll_steps=2)
        search = planners.puct(planner, 6)
    else:
        planner = planners.alphazero(game, model)
        search = planners.puct(planner, 6, reuse=reuse)
    ends = []
    for share in (0.0, 1.0):
        settings = {"learn": {"reanalyse": share}, "search": {"reuse": reuse}}
        learner = build(planner, search, 2, settings, return_fn)
        state = learner.init(jax.random.key(0))
        leaves, tree = jax.tree.flatten(state.params)  # So that policies are not all uniform.
        keys = jax.random.split(jax.random.key(1), len(leaves))
        noisy = [x + jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
        state = state.replace(params=jax.tree.unflatten(tree, noisy))
        state = state.replace(average=jax.tree.map(jnp.copy, state.params))
        ends.append(learner.play(state))
    return game, search, reuse, *ends


def test_what_is_stored_is_what_a_fresh_search_finds(anew):
    game, search, reuse, _, state = anew
    moves = jax.tree.map(lambda x: x[: CONFIG.play.num_moves], state.replay.moves)
    numbers = jnp.arange(CONFIG.play.num_games)
    keys = jax.vmap(jax.random.key)(numbers)  # A search by PUCT draws nothing.
    positions = moves.state.replace(observation=moves.observation)
    again = jax.jit(functools.partial(reanalyse.search_again, search, reuse))
    policy, value = again(state.params, keys, positions)
    np.testing.assert_allclose(moves.action_weights, policy, atol=1e-6)
    np.testing.assert_allclose(moves.search_value, value, atol=1e-5)
    seen = jax.vmap(jax.vmap(game._observe))(moves.state)
    np.testing.assert_array_equal(seen, moves.observation)


def test_value_targets_follow_the_new_values(anew):
    *_, state = anew
    moves = jax.tree.map(
        lambda x: x[: CONFIG.play.num_moves], state.replay.moves._replace(state=None)
    )
    np.testing.assert_allclose(
        state.replay.value[: CONFIG.play.num_moves], return_fn(moves), rtol=1e-6, atol=1e-6
    )


def test_the_games_are_what_they_were(anew):
    *_, before, after = anew
    for name in ("observation", "action", "reward", "discount", "explored", "version"):
        one, other = (getattr(state.replay.moves, name) for state in (before, after))
        np.testing.assert_array_equal(one, other, name)
    jax.tree.map(np.testing.assert_array_equal, before.params, after.params)
    assert before.replay.moves.state is None


def test_only_moves_that_are_stored_are_chosen_and_all_of_them_are(anew):
    *_, state = anew
    choose = jax.jit(reanalyse.choose, static_argnums=2)
    stored, chosen = range(CONFIG.play.num_moves), set()
    for seed in range(32):
        _, keys, time, positions = choose(jax.random.key(seed), state.replay, 3)
        np.testing.assert_array_equal(np.diff(time), 1)
        np.testing.assert_array_equal(positions.total, state.replay.moves.state.total[time])
        assert len({bytes(np.asarray(jax.random.key_data(key))) for key in keys}) == len(keys)
        chosen |= set(np.asarray(time).tolist())
    assert chosen == set(stored)
