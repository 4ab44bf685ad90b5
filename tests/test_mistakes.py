"""Twenty mistakes that implementations of AlphaZero and MuZero repeat, each excluded by a law.

A law that belongs to one file of tests stands there; `HELD` says where.
"""

import functools
import importlib
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import reference_tree
from duozero import planners
from duozero.games import make
from duozero.planners import gumbel, policies, puct, scores
from duozero.train.config import PlayConfig
from duozero.train.oracles import solve
from duozero.train.selfplay import self_play, start
from toys import Bonus, Walk, at, exact, keys

HELD = {
    5: ["test_targets.test_the_winner_of_three_plies_is_right_at_each_of_them"],
    6: ["test_targets.test_a_drawn_game_is_worth_exactly_nothing"],
    7: [
        "test_targets.test_a_window_past_the_end_is_absorbing",
        "test_loss.test_past_the_end_nothing_but_zero_is_learned",
    ],
    10: ["test_models.test_a_value_survives_being_split_between_bins"],
    11: [
        "test_selfplay.test_every_game_has_randomness_of_its_own",
        "test_learner.test_the_same_games_are_played_on_any_number_of_devices",
    ],
    12: ["test_learner.test_moves_carry_the_number_of_updates_behind_them"],
    13: ["test_targets.test_a_game_does_not_see_the_next_one"],
    15: ["test_checkpoint.test_two_rounds_and_two_more_are_four"],
    17: [
        "test_learner.test_a_round_is_compiled_once",
        "test_learner.test_a_round_needs_nothing_from_the_host",
        "test_arena.test_a_match_of_a_size_already_played_compiles_nothing",
    ],
    20: ["test_oracles.test_perfect_moves_keep_every_value_and_lose_no_line"],
}
ROOT = pathlib.Path(__file__).parents[1]
LAYERS = ("games", "models", "planners", "train")


def test_each_of_the_twenty_is_excluded_by_a_test():
    here = {
        int(row)
        for name, law in globals().items()
        if name.startswith("test_")
        for rows in re.findall(r"Mistakes? ([\d, and]+)", law.__doc__ or "")
        for row in re.findall(r"\d+", rows)
    }
    assert sorted([*here, *HELD]) == list(range(1, 21))
    for law in (law for laws in HELD.values() for law in laws):
        module, name = law.split(".")
        assert callable(getattr(importlib.import_module(module), name)), law


@functools.cache
def solved(name):
    return solve({"bonus": Bonus, "walk": Walk}[name]() if name != "race" else make("race_to_21"))


OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("walk", "race")]


@pytest.mark.parametrize("name", ["bonus", *OTHERS])
def test_the_search_is_that_of_a_plain_tree_whoever_moves_next(name):
    """Mistakes 1, 9 and 14: a constant discount; a target that is not the search's value; the
    extremes of values from mixed points of view. One player, extra turns, alternation."""
    solution = solved(name)
    model = exact(solution)
    params = model.init(jax.random.key(3))
    roots = solution.undecided[:8]
    planner = planners.alphazero(solution.game, model)
    search = jax.jit(puct(planner, 40, normalize="minmax"))
    plan = search(params, keys(len(roots)), at(solution, roots))
    logits, value = (np.asarray(params[name], float) for name in ("logits", "value"))

    def position(number, reward=0.0, discount=0.0):
        legal = solution.state.legal_action_mask[number]
        return reference_tree.Position(
            int(number),
            np.where(legal, logits[number], -1e9).tolist(),
            0.0 if solution.ended[number] else float(value[number]),
            float(reward),
            float(discount),
        )

    def step(number, action):
        child = solution.child[number, action]
        if child < 0:  # Nothing follows the end.
            return position(number)
        return position(child, solution.reward[number, action], solution.discount[number, action])

    for game, number in enumerate(roots):
        root = position(number)
        legal = np.flatnonzero(solution.state.legal_action_mask[number]).tolist()
        reference_tree.search(root, step, 40, legal)
        visits = [root.children[a].visits if a in root.children else 0 for a in range(3)]
        assert visits == plan.visit_counts[game].tolist()
        assert root.value == pytest.approx(float(plan.search_value[game]), abs=1e-5)
        assert root.value != pytest.approx(value[number], abs=1e-3)
        np.testing.assert_allclose(plan.action_weights[game], np.array(visits) / 40, atol=1e-6)


def test_an_ended_game_is_worth_nothing_whatever_the_network_says(solution, tic_tac_toe, tiny):
    """Mistake 2: the network says +1 of every position. Of those before a last move, the value
    of that move is its reward all the same."""
    params = tiny.init(jax.random.key(0))
    params["value"]["bias"] = params["value"]["bias"] + 50.0
    ends = np.where(solution.child >= 0, solution.ended[solution.child], True).all(axis=1)
    last = np.flatnonzero(ends & ~solution.ended)
    won = solution.value[last] > 0
    last = np.concatenate([last[won][:32], last[~won][:32]])
    planner = planners.alphazero(tic_tac_toe, tiny)
    state = at(solution, last)
    assert (planner.root_fn(params, keys(64), state).value == 1).all()
    plan = jax.jit(puct(planner, 8))(params, keys(64), state)
    best = np.asarray(plan.qvalues)[np.arange(len(last)), plan.action]
    np.testing.assert_array_equal(best, solution.value[last])
    assert {0.0, 1.0} == set(best.tolist())


@pytest.mark.parametrize("planner", ["alphazero"], indirect=True)
def test_the_second_game_is_searched_like_the_first(planner):
    """Mistake 3, a root that is flagged as ended after its game has been restarted."""
    params = jax.tree.map(lambda x: x + 0.05, planner.init(jax.random.key(0)))
    explore = PlayConfig(num_moves=20, random_moves=0.5, temperature_plies=0)
    games = jax.vmap(lambda key: start(planner.game, key, explore))(keys(8))
    search = puct(planner, 12)
    _, moves = jax.jit(
        lambda games: self_play(planner.game, search, params, jnp.int32(0), games, explore)
    )(games)
    opening = ~np.asarray(moves.observation).any(axis=(2, 3, 4))
    assert opening[1:].sum() >= 8
    weights = np.asarray(moves.action_weights)[opening]
    np.testing.assert_array_equal(weights, np.tile(weights[:1], (len(weights), 1)))
    assert len(set(weights[0].tolist())) > 1


@pytest.mark.parametrize("name", ["alphazero", pytest.param("rollout", marks=pytest.mark.slow)])
def test_no_node_of_a_tree_has_an_illegal_move(solution, tic_tac_toe, tiny, name):
    """Mistake 4, a mask at the root only. The network prefers what is illegal."""
    if name == "rollout":
        planner, params = planners.rollout(tic_tac_toe), {}
    else:
        planner, params = planners.alphazero(tic_tac_toe, tiny), tiny.init(jax.random.key(0))
        params["policy"]["bias"] = 9.0 * jnp.arange(9.0)
    roots = solution.undecided[:: len(solution.undecided) // 16][:16]
    state = at(solution, roots)
    root = planner.root_fn(params, keys(16), state)
    search = jax.jit(
        lambda root: (
            policies.visit_policy(
                *(params, jax.random.key(0), root, planner.recurrent_fn, 60),
                score_fn=scores.puct_score,
                invalid_actions=~state.legal_action_mask,
            ).tree
        )
    )
    tree = search(root)
    nodes = tree.embeddings[0] if name == "rollout" else tree.embeddings
    tried = np.asarray(tree.children) >= 0
    assert tried.sum() >= 16 * 50
    assert not (tried & ~np.asarray(nodes.legal_action_mask)).any()


@pytest.mark.slow
def test_noise_is_mixed_into_the_prior_of_legal_moves_alone(solution, tic_tac_toe, tiny):
    """Mistake 8, noise on illegal moves, or in what the search concludes."""
    number = int(np.flatnonzero(solution.state.legal_action_mask.sum(axis=1) == 6)[0])
    legal = solution.state.legal_action_mask[number]
    state = at(solution, np.full(2000, number))
    planner = planners.alphazero(tic_tac_toe, tiny)
    params = tiny.init(jax.random.key(0))
    params["policy"]["bias"] = 0.3 * jnp.arange(9.0)
    settings = {"dirichlet_fraction": 0.25, "dirichlet_alpha": 0.3}
    noisy = jax.jit(puct(planner, 4, **settings))(params, keys(2000), state)
    network = np.asarray(jax.nn.softmax(planner.root_fn(params, keys(2000), state).prior_logits))
    prior = np.asarray(noisy.prior)
    assert not prior[:, ~legal].any()
    np.testing.assert_allclose(prior.sum(axis=1), 1, atol=1e-5)
    assert (prior >= 0.75 * network - 1e-6).all()
    noise = (prior - 0.75 * network)[:, legal] / 0.25
    np.testing.assert_allclose(noise.mean(axis=0), 1 / 6, atol=0.02)
    # The variance of a component of a symmetric Dirichlet distribution of 6 x 0.3.
    np.testing.assert_allclose(noise.var(axis=0), 1 / 6 * 5 / 6 / (6 * 0.3 + 1), rtol=0.15)
    # The conclusion is visits, in quarters of 4 simulations, without noise of its own.
    quarters = np.asarray(noisy.action_weights) * 4
    np.testing.assert_allclose(quarters, quarters.round(), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "policy"),
    [("tic_tac_toe", gumbel), pytest.param("bonus", puct, marks=pytest.mark.slow)],
)
def test_with_an_exact_model_muzero_searches_as_alphazero(solution, name, policy):
    """Whatever the network says, to the last visit: the planners differ in nothing else."""
    known = solution if name == "tic_tac_toe" else solved(name)
    model = exact(known)
    params = model.init(jax.random.key(0))
    roots = known.undecided[:: max(1, len(known.undecided) // 32)][:32]
    plans = [
        jax.jit(lambda *args, planner=planner: policy(planner, 24)(*args, 1.0))(
            params, keys(len(roots)), at(known, roots)
        )
        for planner in (planners.alphazero(known.game, model), planners.muzero(known.game, model))
    ]
    for name, one, other in zip(plans[0]._fields, *plans, strict=True):
        if name == "tree":  # Its embeddings are of two kinds.
            continue
        if name in ("action", "visit_counts"):
            np.testing.assert_array_equal(one, other, name)
        else:
            np.testing.assert_allclose(one, other, atol=1e-5, err_msg=name)


def test_values_that_hardly_differ_do_not_make_a_move_certain():
    """Mistake 14 once more: scaled by what is in the tree, noise becomes certainty."""
    solution = solved("race")
    model = exact(solution)
    noise = 1e-3 * jax.random.normal(jax.random.key(0), solution.value.shape)
    params = {"logits": jnp.zeros(solution.child.shape), "value": noise}
    planner = planners.muzero(solution.game, model)

    def largest(normalize):
        search = jax.jit(gumbel(planner, 16, normalize=normalize, max_depth=1))
        plan = search(params, keys(8), at(solution, solution.undecided[:8]))
        return float(plan.action_weights.max())

    assert largest("range") < 0.35
    assert largest("minmax") > 0.9


def test_gradients_are_halved_once_at_each_step_of_the_unroll(tic_tac_toe, tiny):
    """Mistake 16: the gradient of step k's outputs with respect to h is `0.5 ** k` of what it is
    without the scale. So the scale is there, once."""
    steps = 3
    planner = planners.muzero(tic_tac_toe, tiny, num_unroll_steps=steps)
    params = jax.tree.map(lambda x: x + 0.1, planner.init(jax.random.key(0)))
    observation = jax.random.bernoulli(jax.random.key(1), 0.4, (4, 3, 3, 2))
    action = jax.random.randint(jax.random.key(2), (4, steps), 0, 9)

    def unrolled(stem):
        assert planner.unroll_fn
        return planner.unroll_fn(params | {"stem": stem}, observation, action).value[..., 0].sum(0)

    def plain(stem):
        net = tiny.bind(params | {"stem": stem})
        embedding = net.represent(observation)
        values = [net.predict(embedding)[1]]
        for k in range(steps):
            embedding, *_ = net.dynamics(embedding, action[:, k])
            values.append(net.predict(embedding)[1])
        return jnp.concatenate(values, axis=1).sum(0)

    scaled, unscaled = (jax.jit(jax.jacrev(f))(params["stem"]) for f in (unrolled, plain))
    for one, other in zip(jax.tree.leaves(scaled), jax.tree.leaves(unscaled), strict=True):
        for k in range(steps + 1):
            np.testing.assert_allclose(one[k], 0.5**k * other[k], rtol=1e-3, atol=1e-6)
            assert float(optax.tree.norm(other[k])) > 1e-4


def sources():
    return {path: path.read_text() for layer in LAYERS for path in (ROOT / layer).glob("*.py")}


def test_nothing_of_jax_is_used_that_is_gone_or_going():
    """Mistake 18. Warnings are errors in these tests, which finds the rest."""
    gone = r"\bpmap\b|\btree_map\b|device_put_replicated|device_put_sharded|\bxmap\b|with mesh:"
    assert not [path for path, text in sources().items() if re.search(gone, text)]
    assert re.search(r'filterwarnings = \[\s*"error"', (ROOT / "pyproject.toml").read_text())


def test_all_of_training_is_one_process():
    """Mistake 19, processes that each take the memory of the accelerator."""
    forbidden = r"multiprocessing|concurrent\.futures|\bray\b|XLA_PYTHON_CLIENT"
    assert not [path for path, text in sources().items() if re.search(forbidden, text)]
