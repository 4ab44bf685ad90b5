"""Both planners and both searches, on positions of which the answer is known."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.games import make
from duozero.models import mlp
from duozero.planners import gumbel, puct
from duozero.planners.draws import legal_dirichlet, sample_action
from duozero.train.players import mcts_player
from toys import at, exact, keys


def after(game, *moves):
    """The position after these actions, as a batch of one."""
    state, step = game.init(jax.random.key(0)), jax.jit(game.step)
    for move in moves:
        state = step(state, jnp.int32(move))
    return jax.tree.map(lambda x: x[None], state)


def test_planners_have_the_promised_shapes(planner):
    """Traced only."""

    def run(key, state, action):
        params = planner.init(key)
        root = planner.root_fn(params, jax.random.split(key, 4), state)
        step, _ = planner.recurrent_fn(params, key, action[:, 0], root.embedding)
        assert planner.unroll_fn
        return root, step, planner.unroll_fn(params, state.observation, action)

    starts = jax.vmap(planner.game.init)
    state = jax.eval_shape(lambda key: starts(jax.random.split(key, 4)), jax.random.key(0))
    steps = planner.num_unroll_steps
    action = jax.ShapeDtypeStruct((4, max(steps, 1)), jnp.int32)
    with jax.debug_key_reuse(False):  # Nothing is drawn.
        root, step, unrolled = jax.eval_shape(run, jax.random.key(0), state, action)
    for output in (root, step):
        assert output.prior_logits.shape == (4, 9) and output.value.shape == (4,)
    assert step.reward.shape == step.discount.shape == (4,)
    assert unrolled.logits.shape == (4, steps + 1, 9)
    assert unrolled.value.shape == (4, steps + 1, 1)
    assert unrolled.reward.shape == (4, steps, 1)
    assert unrolled.discount.shape == (4, steps, 3)


def test_the_unroll_says_what_the_tree_is_told(tic_tac_toe, tiny):
    """`unroll_fn`, for the loss, and `root_fn`, `recurrent_fn`, for the search, are twins."""
    planner = planners.muzero(tic_tac_toe, tiny, num_unroll_steps=2)
    params = jax.tree.map(lambda x: x + 0.1, planner.init(jax.random.key(0)))
    state = jax.vmap(tic_tac_toe.init)(jax.random.split(jax.random.key(1), 3))
    action = jnp.array([[0, 4], [3, 1], [8, 2]])
    assert planner.unroll_fn
    step_fn = jax.jit(planner.recurrent_fn)
    unrolled = jax.jit(planner.unroll_fn)(params, state.observation, action)
    root = planner.root_fn(params, jax.random.split(jax.random.key(2), 3), state)
    embedding, values, rewards = root.embedding, [root.value], []
    for k in range(2):
        step, embedding = step_fn(params, None, action[:, k], embedding)
        values.append(step.value)
        rewards.append(step.reward)
    read = tiny.value.mean(unrolled.value), tiny.reward.mean(unrolled.reward)
    np.testing.assert_allclose(read[0], jnp.stack(values, 1), atol=1e-6)
    np.testing.assert_allclose(read[1], jnp.stack(rewards, 1), atol=1e-6)


def test_the_constant_discount_of_the_paper_is_an_option(tic_tac_toe, tiny):
    planner = planners.muzero(tic_tac_toe, tiny, discount=-1.0)
    params = planner.init(jax.random.key(0))
    root = planner.root_fn(params, keys(2), jax.vmap(tic_tac_toe.init)(keys(2)))
    step, _ = planner.recurrent_fn(params, None, jnp.array([0, 1]), root.embedding)
    np.testing.assert_array_equal(step.discount, -1)


@pytest.mark.slow
def test_pure_search_visits_the_centre_of_an_empty_board_most(tic_tac_toe):
    player = mcts_player(tic_tac_toe, 400)
    assert player.plan
    plan = player.plan(keys(16), jax.vmap(tic_tac_toe.init)(keys(16, first=16)))
    assert (plan.visit_counts.sum(axis=1) == 400).all()
    assert plan.visit_counts.sum(axis=0).argmax() == 4
    assert (plan.action == 4).sum() >= 8


def test_with_exact_leaves_the_race_is_won_by_adding_one(race):
    planner = planners.alphazero(race.game, exact(race))
    params = {"logits": jnp.zeros(race.child.shape), "value": jnp.asarray(race.value)}
    search = puct(planner, 4000, c_puct=1.5, normalize="none")
    plan = jax.jit(search)(params, keys(1), at(race, [0]))
    assert plan.action[0] == 0
    assert plan.visit_counts[0, 0] > 3800
    # Not 1: every answer of the opponent, and ours to each, is tried before it is known.
    assert plan.qvalues[0, 0] == pytest.approx(0.611, abs=0.001)
    assert (plan.qvalues[0, 1:] < -0.3).all()


WINS = {(0, 3, 1, 4): 2, (4, 0, 2, 1): 6, (0, 4, 8, 2, 1): 6}
"""Positions of tic-tac-toe, as moves, in which one move wins at once."""


@pytest.mark.parametrize(
    ("policy", "normalize"),
    [(gumbel, "range"), (puct, "range"), pytest.param(puct, "none", marks=pytest.mark.slow)],
)
def test_a_win_at_once_is_found(tic_tac_toe, tiny, policy, normalize):
    search = policy(planners.alphazero(tic_tac_toe, tiny), 48, normalize=normalize)
    positions = [after(tic_tac_toe, *moves) for moves in WINS]
    state = jax.tree.map(lambda *x: jnp.concatenate(x), *positions)
    plan = jax.jit(search)(tiny.init(jax.random.key(0)), keys(len(WINS)), state)
    assert plan.action.tolist() == list(WINS.values())
    assert (plan.action_weights.argmax(axis=1) == plan.action).all()
    won = plan.qvalues[jnp.arange(len(WINS)), plan.action]
    np.testing.assert_allclose(won, 1, atol=1e-6)


LANES = 64


@pytest.fixture(scope="module", params=[gumbel, puct], ids=["gumbel", "puct"])
def search(request, planner):
    """`(keys, state, temperature) -> Plan` of `LANES` games, with opinions on all of them."""
    run = jax.jit(request.param(planner, 8))
    params = jax.tree.map(lambda x: x + 0.05, planner.init(jax.random.key(0)))
    return lambda *roots: run(params, *roots)


@pytest.fixture(scope="module")
def positions(solution):
    chosen = np.random.default_rng(0).choice(solution.undecided, LANES, replace=False)
    return at(solution, chosen)


@pytest.mark.slow
def test_what_is_searched_from_one_position_does_not_depend_on_the_batch(search, positions):
    seeds = np.arange(LANES)
    order = np.random.default_rng(1).permutation(LANES)
    shuffled = jax.tree.map(lambda x: x[order], positions)
    one = search(jax.vmap(jax.random.key)(seeds), positions, 1.0)
    other = search(jax.vmap(jax.random.key)(seeds[order]), shuffled, 1.0)
    np.testing.assert_array_equal(one.action[order], other.action)
    np.testing.assert_array_equal(one.visit_counts[order], other.visit_counts)


def test_without_temperature_the_key_does_not_matter(search, positions):
    one = search(keys(LANES), positions, 0.0)
    other = search(keys(LANES, first=LANES), positions, 0.0)
    jax.tree.map(np.testing.assert_array_equal, one, other)


@pytest.mark.slow
def test_with_temperature_different_moves_are_played(search, positions):
    same = jax.tree.map(lambda x: jnp.repeat(x[:1], LANES, axis=0), positions)
    plan = search(keys(LANES), same, 1.0)
    assert len(set(plan.action.tolist())) > 1
    assert plan.action_weights.sum(axis=1) == pytest.approx(np.ones(LANES), abs=1e-5)


def test_a_depth_limit_keeps_the_tree_shallow(race):
    """With one move of depth the value of a move is what f says of the next position."""
    planner = planners.alphazero(race.game, exact(race))
    params = planner.init(jax.random.key(0))
    plan = jax.jit(puct(planner, 20, max_depth=1))(params, keys(1), at(race, [0]))
    child = race.child[0]
    np.testing.assert_allclose(plan.qvalues[0], -params["value"][child], atol=1e-6)


@pytest.mark.parametrize("engine", ["duozero", pytest.param("mctx", marks=pytest.mark.slow)])
def test_one_winning_move_in_many_makes_a_position_won(engine):
    """Gumbel's value is that of the policy it recommends, not of all the moves that it tried."""
    game = make("race_to_21_6")
    planner = planners.alphazero(game, mlp(game, 8, 1))  # The network says 0 of every position.
    params = planner.init(jax.random.key(0))
    state = jax.vmap(game.init)(keys(1))
    state = state.replace(total=jnp.array([15]), observation=jnp.arange(22)[None] == 15)
    with jax.debug_key_reuse(engine != "mctx"):  # mctx uses a key twice.
        plan = jax.jit(gumbel(planner, 64, engine=engine))(params, keys(1), state)
    assert plan.action[0] == 5
    assert float(plan.search_value[0]) == pytest.approx(1, abs=0.1)
    mean = (plan.visit_counts * plan.qvalues).sum() / plan.visit_counts.sum()
    assert mean < 0.75


def test_moves_are_drawn_by_visits_and_temperature():
    weights = jnp.tile(jnp.array([[0.0, 0.2, 0.8, 0.0]]), (4000, 1))
    best = sample_action(keys(4000), weights, 0.0)
    drawn = sample_action(keys(4000), weights, 1.0)
    flat = sample_action(keys(4000), weights, 2.0)
    assert (best == 2).all()
    assert set(drawn.tolist()) == {1, 2}
    assert abs(float((drawn == 1).mean()) - 0.2) < 0.03
    assert abs(float((flat == 1).mean()) - 1 / 3) < 0.03


def test_noise_is_a_distribution_over_legal_moves_even_where_it_is_sharp():
    mask = jnp.tile(jnp.arange(9)[None] % 3 > 0, (500, 1))
    draw = jax.jit(legal_dirichlet)
    for alpha in (0.001, 0.3, 10.0):
        noise = draw(keys(500), alpha, mask)
        assert np.isfinite(noise).all()
        np.testing.assert_allclose(noise.sum(axis=1), 1, rtol=1e-5)
        assert not (noise * ~mask).any()
        np.testing.assert_allclose(noise.mean(axis=0)[mask[0]], 1 / 6, atol=0.07)


def test_one_set_of_parameters_serves_both_planners(tic_tac_toe, tiny):
    """What MuZero has learned can be planned with by the rules: one line of user code."""
    learned, ruled = planners.muzero(tic_tac_toe, tiny), planners.alphazero(tic_tac_toe, tiny)
    params = learned.init(jax.random.key(0))
    state = jax.vmap(tic_tac_toe.init)(keys(2))
    roots = [p.root_fn(params, keys(2), state) for p in (learned, ruled)]
    np.testing.assert_array_equal(roots[0].prior_logits, roots[1].prior_logits)
    np.testing.assert_array_equal(roots[0].value, roots[1].value)


def test_rules_planners_keep_observations_out_of_the_tree(tic_tac_toe, tiny):
    for planner in (planners.alphazero(tic_tac_toe, tiny), planners.rollout(tic_tac_toe)):
        state = jax.vmap(tic_tac_toe.init)(keys(2))
        root = planner.root_fn(planner.init(jax.random.key(0)), keys(2, first=2), state)
        shapes = [x.shape for x in jax.tree.leaves(root.embedding)]
        assert (2, 3, 3, 2) not in shapes


@pytest.mark.parametrize("name", ["connect_four", "gomoku_5x4_3"])
def test_every_planner_searches_every_board(name):
    """Traced only: no compiler, no board size."""
    game = make(name)
    model = mlp(game, 8, 1)
    for planner in (planners.alphazero(game, model), planners.muzero(game, model)):
        for policy in (gumbel, puct):
            plan = jax.eval_shape(
                lambda key, planner=planner, policy=policy: policy(planner, 4)(
                    planner.init(key), keys(3), jax.vmap(planner.game.init)(keys(3))
                ),
                jax.random.key(0),
            )
            assert plan.action.shape == plan.search_value.shape == (3,)
            assert plan.action_weights.shape == (3, game.num_actions)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"normalize": "rang"}, "normalize='rang'; allowed: range, minmax, none"),
        ({"engine": "mtcx"}, "engine='mtcx'; allowed: duozero, mctx"),
        ({"num_simulations": 0}, "num_simulations=0; it must be at least 1"),
        ({"max_depth": 0}, "max_depth=0; it must be at least 1"),
    ],
)
def test_a_search_that_cannot_be_is_refused_when_it_is_made(tic_tac_toe, settings, message):
    for make_search in (gumbel, puct):
        with pytest.raises(ValueError, match=re.escape(message)):
            make_search(planners.rollout(tic_tac_toe), **settings)
