"""Both planners learn a game from nothing, judged by its exact solution."""

import dataclasses
import functools

import jax
import optax
import pytest
from duozero import planners
from duozero.models import mlp
from duozero.planners import gumbel
from duozero.train.config import Config, LearnConfig, PlayConfig, resolve
from duozero.train.judgement import judge, moves_of
from duozero.train.learner import make_learner
from duozero.train.run import train
from duozero.train.targets import lambda_return


@pytest.mark.slow
@pytest.mark.parametrize("make_planner", [planners.alphazero, planners.muzero])
def test_the_race_is_learned_from_nothing(race, make_planner):
    planner = make_planner(race.game, mlp(race.game, width=64, depth=1))
    search = gumbel(planner, 16)
    learner = make_learner(
        planner,
        search,
        optax.adam(2e-3),
        functools.partial(lambda_return, lambda_=1.0),
        Config(
            play=PlayConfig(num_games=32, num_moves=12, opening_plies=8, random_moves=0.1),
            learn=LearnConfig(replay_moves=240, batch_size=128),
        ),
        jax.make_mesh((2,), ("data",), axis_types=(jax.sharding.AxisType.Auto,)),
    )
    plan = jax.jit(search)

    def verdict(params):
        device = jax.devices()[0]
        player = lambda keys, state: plan(jax.device_put(params, device), keys, state).action  # noqa: E731
        return judge(race, moves_of(player, race, jax.random.key(1), 32))

    state = learner.init(jax.random.key(0))
    before = verdict(state.average)
    for _ in range(240):
        state = learner.play(state)
        for _ in range(8):
            state, _ = learner.update(state)
    after = verdict(state.average)
    assert before.kept < 0.95
    assert after.kept == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("planner", ["alphazero", "muzero"])
def test_the_shipped_settings_solve_a_long_race(planner, tmp_path):
    """Seven times the right total, from nothing, with search and by the network alone."""
    config = dataclasses.replace(resolve("race_to_50_6", planner), evaluate_every=0)
    final = train(config, tmp_path / "run").rows[-1]
    assert final["strength/kept"] == final["strength/kept_without_search"] == 1.0
