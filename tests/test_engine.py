"""The search engine answers what mctx answers, and what a tree in plain Python answers."""

import functools

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pytest
import reference_tree
from duozero.games import make
from duozero.planners import policies, scores, tree
from duozero.planners.base import mask_logits
from jax.sharding import PartitionSpec
from mctx._src import seq_halving as mctx_halving
from reference_tree import NUM_ACTIONS, step_world, world, world_root

# Batch, simulations and depth limit: each is compiled once, and everything else is data.
CELLS = [
    (7, 33, None),
    pytest.param(1, 1, None, marks=pytest.mark.slow),
    pytest.param(32, 8, 2, marks=pytest.mark.slow),
]
# The programs run for a moment, so they are compiled without optimisation.
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": "0"})
POLICIES = ["gumbel", "puct"]
# How often a move ends the game, keeps the turn or passes it.
DISCOUNTS = {"passing": (0.2, 0.0), "alone": (0.2, 0.8), "mixed": (0.1, 0.4), "endless": (0.0, 0.3)}


def world_mask(batch_size, seed=0):
    """Forbids a third of the root's actions, never all."""
    random = np.random.default_rng(seed)
    invalid = random.random((batch_size, NUM_ACTIONS)) < 0.3
    invalid[:, random.integers(NUM_ACTIONS)] = False
    return invalid


@functools.cache
def mctx_search(policy, num_simulations, max_depth=None, recurrent_fn=step_world):
    """mctx's answer as `(action, action_weights, summary)`."""
    settings = {"num_simulations": num_simulations, "max_depth": max_depth}
    if policy == "gumbel":
        search = functools.partial(mctx.gumbel_muzero_policy, **settings)
    else:
        search = functools.partial(mctx.muzero_policy, dirichlet_fraction=0.0, **settings)

    def answer(params, key, root, invalid):
        output = search(params, key, root, recurrent_fn, invalid_actions=invalid)
        return output.action, output.action_weights, output.search_tree.summary()

    return jit(answer)


def own_search(policy, num_simulations, max_depth=None, recurrent_fn=step_world):
    """The engine's answer with the noise that mctx draws: the same, and the tree."""
    settings = {"num_simulations": num_simulations, "max_depth": max_depth}

    def gumbel(params, key, root, invalid):
        key, noise_key = jax.random.split(key)
        output = policies.gumbel_policy(
            *(params, key, root, recurrent_fn),
            gumbel=jax.random.gumbel(noise_key, root.prior_logits.shape),
            invalid_actions=invalid,
            **settings,
        )
        return output.action, output.action_weights, output.tree.summary(), output.tree

    def ucb1(params, key, root, invalid):
        output = policies.visit_policy(
            *(params, key, root, recurrent_fn),
            score_fn=scores.ucb1_score,
            invalid_actions=invalid,
            **settings,
        )
        return output.action, output.action_weights, output.tree.summary(), output.tree

    def puct(params, key, root, invalid):
        key, _, search_key = jax.random.split(key, 3)
        logits = policies.mix_noise(root.prior_logits, jnp.zeros_like(root.prior_logits), 0.0)
        output = policies.visit_policy(
            *(params, search_key, root.replace(prior_logits=logits), recurrent_fn),
            score_fn=scores.puct_score,
            tie_break=True,
            invalid_actions=invalid,
            **settings,
        )
        action = jax.random.categorical(key, jnp.log(output.action_weights))
        return action, output.action_weights, output.tree.summary(), output.tree

    return {"gumbel": gumbel, "puct": puct, "ucb1": ucb1}[policy]


@functools.cache
def jitted(policy, num_simulations, max_depth=None, recurrent_fn=step_world):
    """`own_search`, compiled with the check that no key is used twice."""
    search = jit(own_search(policy, num_simulations, max_depth, recurrent_fn))
    return jax.debug_key_reuse(True)(search)


def assert_same(ours, theirs):
    np.testing.assert_array_equal(ours[2].visit_counts, theirs[2].visit_counts)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-5)
    np.testing.assert_allclose(ours[2].visit_probs, theirs[2].visit_probs, atol=1e-5)
    np.testing.assert_allclose(ours[2].value, theirs[2].value, atol=1e-5)
    np.testing.assert_allclose(ours[2].qvalues, theirs[2].qvalues, atol=1e-5)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("batch_size, num_simulations, max_depth", CELLS)
def test_the_answers_are_those_of_mctx(policy, batch_size, num_simulations, max_depth):
    for seed, chances in enumerate(DISCOUNTS.values()):
        params = world(seed, *chances, noise=0.1)
        root = world_root(params, np.arange(batch_size))
        invalid = (
            world_mask(batch_size, seed) if seed else np.zeros((batch_size, NUM_ACTIONS), bool)
        )
        case = (policy, num_simulations, max_depth)
        ours = jitted(*case)(params, jax.random.key(seed), root, invalid)
        theirs = mctx_search(*case)(params, jax.random.key(seed), root, invalid)
        assert_same(ours, theirs)
        assert all(np.isfinite(x).all() for x in jax.tree.leaves(ours))
        assert not (invalid & (np.asarray(ours[2].visit_counts) > 0)).any()


@pytest.mark.parametrize(
    ("policy", "chances"),
    [*(("puct", name) for name in DISCOUNTS), ("ucb1", "mixed")],
)
def test_the_tree_is_that_of_plain_python(policy, chances):
    params = world(11, *DISCOUNTS[chances])
    invalid = world_mask(7)
    root = world_root(params, np.arange(7))
    *_, summary, _ = jitted(policy, 33)(params, jax.random.key(3), root, invalid)

    def position(state, reward=0.0, discount=0.0):
        logits, value = params["logits"][state].tolist(), float(params["value"][state])
        return reference_tree.Position(int(state), logits, value, float(reward), float(discount))

    def step(state, action):
        at = (state, action)
        return position(params["after"][at], params["reward"][at], params["discount"][at])

    for game in range(7):
        root = position(game)
        legal = np.flatnonzero(~invalid[game]).tolist()
        root.logits = [x if a in legal else -1e9 for a, x in enumerate(root.logits)]
        reference_tree.search(root, step, 33, legal, getattr(reference_tree, policy))
        visits = [root.children[a].visits if a in root.children else 0 for a in range(NUM_ACTIONS)]
        assert visits == summary.visit_counts[game].tolist()
        assert root.value == pytest.approx(float(summary.value[game]), abs=1e-5)
        for action in root.children:
            assert root.qvalue(action) == pytest.approx(
                float(summary.qvalues[game, action]), abs=1e-5
            )


@pytest.mark.parametrize("policy", POLICIES)
def test_a_game_is_searched_alike_alone_and_in_a_batch(policy):
    params = world(5)
    invalid = world_mask(7)
    crowd = jitted(policy, 33)(params, jax.random.key(3), world_root(params, np.arange(7)), invalid)
    alone = jitted(policy, 33)(
        params, jax.random.key(3), world_root(params, np.arange(1)), invalid[:1]
    )
    np.testing.assert_array_equal(alone[2].visit_counts[0], crowd[2].visit_counts[0])
    np.testing.assert_allclose(alone[2].value[0], crowd[2].value[0], atol=1e-6)
    np.testing.assert_allclose(alone[1][0], crowd[1][0], atol=1e-6)


@pytest.mark.slow
def test_a_batch_may_be_spread_over_devices():
    params = world(6)
    mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    split, whole = PartitionSpec("data"), PartitionSpec()
    one_device = own_search("puct", 8, 2)
    spread = jax.shard_map(
        lambda *args: one_device(*args)[2],
        mesh=mesh,
        in_specs=(whole, whole, split, split),
        out_specs=split,
        check_vma=False,
    )
    root, invalid = world_root(params, np.arange(32)), world_mask(32)
    together = jitted("puct", 8, 2)(params, jax.random.key(3), root, invalid)
    apart = jit(spread)(params, jax.random.key(3), root, invalid)
    np.testing.assert_array_equal(apart.visit_counts, together[2].visit_counts)


GAME = make("tic_tac_toe")
# Boards of which the player to move wins at once in one cell, and others (x moves first).
WINS = {"xx.oo....": 2, "x.oxo....": 6, "xo..xo...": 8, "xx.oo.x..": 5}
OTHERS = [".........", "x...o....", "xoxxoo.x."]


def step_tic_tac_toe(params, key, action, state):
    mover = state.current_player
    state = jax.vmap(GAME.step)(state, action).replace(observation=None)
    output = mctx.RecurrentFnOutput(
        reward=jnp.take_along_axis(state.rewards, mover[:, None], axis=1)[:, 0],
        discount=jnp.where(state.terminated, 0.0, -1.0),
        prior_logits=mask_logits(jnp.zeros((action.size, 9)), state.legal_action_mask),
        value=jnp.zeros(action.shape),
    )
    return output, state


def tic_tac_toe_root():
    boards = np.array([["xo".find(cell) for cell in board] for board in [*WINS, *OTHERS]], np.int8)
    turn = (boards >= 0).sum(axis=1) % 2
    state = jax.vmap(GAME.init)(jax.random.split(jax.random.key(3), len(boards)))
    state = state.replace(
        board=boards,
        colour=turn.astype(np.int8),
        current_player=turn.astype(np.int32),
        legal_action_mask=boards < 0,
        observation=None,
    )
    uniform = np.zeros(boards.shape, np.float32)
    return mctx.RootFnOutput(prior_logits=uniform, value=uniform[:, 0], embedding=state)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.slow
def test_tic_tac_toe_is_searched_as_by_mctx_and_by_its_rules(policy):
    root = tic_tac_toe_root()
    invalid = ~root.embedding.legal_action_mask
    case = (policy, 33, None, step_tic_tac_toe)
    ours = jitted(*case)(None, jax.random.key(3), root, invalid)
    assert_same(ours, mctx_search(*case)(None, jax.random.key(3), root, invalid))
    # Over the whole tree, not at the root alone.
    assert not (~ours[3].embeddings.legal_action_mask & (np.asarray(ours[3].children) >= 0)).any()
    best = np.argmax(ours[1], axis=-1)[: len(WINS)]
    assert best.tolist() == list(WINS.values())
    assert (np.asarray(ours[2].qvalues)[range(len(WINS)), best] == 1.0).all()


def node(visit_counts, qvalues, legal=(True, True, True), value=0.25, raw_value=0.5):
    """One node of one game; its priors are equal."""
    logits = mask_logits(jnp.zeros((1, 3)), jnp.array([legal]))
    counts = jnp.array([visit_counts], jnp.float32)
    value, raw_value = jnp.array([value]), jnp.array([raw_value])
    return tree.Node(counts, jnp.array([qvalues]), logits, counts.sum(1) + 1, value, raw_value)


@pytest.mark.parametrize(
    "qtransform, expected",
    [
        (scores.raw_qvalues, [0.5, -1.0, 0.0]),
        (functools.partial(scores.raw_qvalues, fill_fn=scores.node_value), [0.5, -1.0, 0.25]),
        (functools.partial(scores.raw_qvalues, fill_fn=scores.raw_value), [0.5, -1.0, 0.5]),
        # (raw value + 3 visits * the mean of the visited, by prior) / 4 = (0.5 - 3 * 0.25) / 4.
        (functools.partial(scores.raw_qvalues, fill_fn=scores.mixed_value), [0.5, -1.0, -0.0625]),
        (functools.partial(scores.by_range, value_range=(-1.0, 1.0)), [0.75, 0.0, 0.0]),
        (scores.by_parent_and_siblings, [1.0, 0.0, 0.0]),
        (scores.completed_by_mix_value, [5.2, 0.0, 3.25]),
        (
            functools.partial(scores.completed_by_mix_value, rescale_values=(-1, 1)),
            [3.9, 0, 2.4375],
        ),
        (
            functools.partial(scores.completed_by_mix_value, rescale_values=False),
            [2.6, -5.2, -0.325],
        ),
    ],
)
def test_unvisited_actions_count_as_the_transform_says(qtransform, expected):
    np.testing.assert_allclose(
        qtransform(node([2, 1, 0], [0.5, -1.0, 0.0]))[0], expected, rtol=1e-5
    )


def test_a_policy_is_worth_its_mean_of_the_qvalues_completed():
    found = scores.policy_value(node([2, 1, 0], [0.5, -1.0, 0.0]), jnp.array([[0.5, 0.1, 0.4]]))
    np.testing.assert_allclose(found, [0.5 * 0.5 - 0.1 - 0.4 * 0.0625], rtol=1e-5)


def test_ucb1_tries_every_legal_action_before_it_repeats_one():
    fresh = node([4, 1, 0], [1.0, 1.0, 0.0])
    assert tree.best_legal(fresh, scores.ucb1_score(fresh)) == 2
    masked = node([4, 1, 0], [1.0, 1.0, 0.0], legal=(True, True, False))
    assert tree.best_legal(masked, scores.ucb1_score(masked)) == 1


def test_a_node_without_a_legal_action_or_a_number_still_gives_an_action():
    stuck = node([0, 0, 0], [0.0, 0.0, 0.0], legal=(False, False, False))
    assert tree.best_legal(stuck, scores.puct_score(stuck)) == 0
    assert 0 <= tree.best_legal(stuck, jnp.full((1, 3), jnp.nan))[0] < 3


@pytest.mark.parametrize("num_simulations", [1, 8, 50])
def test_sequential_halving_is_that_of_mctx(num_simulations):
    theirs = mctx_halving.get_table_of_considered_visits(16, num_simulations)
    np.testing.assert_array_equal(scores.halving_table(16, num_simulations), theirs)
