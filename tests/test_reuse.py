"""A search that goes on from what the one before found below the moves since."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reference_tree
from duozero import planners
from duozero.games import make
from duozero.models import mlp
from duozero.planners import policies, scores
from duozero.planners.reuse import subtree
from duozero.train.agent import spread
from duozero.train.arena import match
from duozero.train.players import Player, random_player
from reference_tree import NUM_ACTIONS, Position, step_world, world, world_root
from toys import keys

jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": "0"})
SIMULATIONS = 40
GAMES = 6


@jit
def twice(params, root, action):
    """A search, the moves, and another that goes on below them."""
    search = functools.partial(
        *(policies.visit_policy, params), score_fn=scores.puct_score, recurrent_fn=step_world
    )
    settings = {"num_simulations": SIMULATIONS}
    first = search(jax.random.key(0), root, **settings).tree
    child = first.children[0, jnp.arange(GAMES), action]
    state = params["after"][root.embedding["state"], action]
    kept = subtree(first, jnp.maximum(child, 0), child >= 0, SIMULATIONS + 1)
    second = search(
        *(jax.random.key(1), world_root(params, state)),
        **settings,
        reserve=SIMULATIONS,
        kept=kept,
    ).tree
    return first, kept, second


def same(tree, row, game, position):
    """Every statistic below a node is that of the tree in plain Python, or an assertion fails."""
    assert tree.visits[row, game] == position.visits
    assert tree.values[row, game] == pytest.approx(position.value, abs=1e-5)
    np.testing.assert_allclose(
        tree.prior_logits[row, game] - tree.prior_logits[row, game].max(),
        np.float32(position.logits) - max(position.logits),
        atol=1e-6,
    )
    tried = {a: int(child) for a, child in enumerate(tree.children[row, game]) if child >= 0}
    assert tried.keys() == position.children.keys()
    for action, child in tried.items():
        below = position.children[action]
        assert tree.rewards[child, game] == pytest.approx(below.reward)
        assert tree.discounts[child, game] == below.discount
        assert tree.embeddings["state"][child, game] == below.state
        same(tree, child, game, below)


def test_the_kept_statistics_are_exactly_those_of_the_subtree():
    params = world(4)
    root = world_root(params, np.arange(GAMES))
    python = []

    def position(state, reward=0.0, discount=0.0):
        logits, value = params["logits"][state].tolist(), float(params["value"][state])
        return Position(int(state), logits, value, float(reward), float(discount))

    def step(state, action):
        at = (state, action)
        return position(params["after"][at], params["reward"][at], params["discount"][at])

    actions = list(range(NUM_ACTIONS))
    for game in range(GAMES):
        python.append(position(game))
        reference_tree.search(python[-1], step, SIMULATIONS, actions)
    # The most visited move, and in two games the least.
    order = [sorted(p.children, key=lambda a: p.children[a].visits) for p in python]
    moves = [order[g][0] if g < 2 else order[g][-1] for g in range(GAMES)]
    first, kept, second = jax.device_get(twice(params, root, jnp.int32(moves)))
    for game, move in enumerate(moves):
        same(first, 0, game, python[game])
        child = python[game].children[move]
        same(kept, 0, game, child)
        reference_tree.search(child, step, SIMULATIONS, actions)
        same(second, 0, game, child)
        assert second.visits[0, game] == child.visits


def test_the_youngest_nodes_are_left_out_where_the_room_ends():
    params = world(4)
    root = world_root(params, np.arange(GAMES))
    tree = jax.device_get(twice(params, root, jnp.zeros(GAMES, jnp.int32))[0])
    rows = 9
    kept = jit(
        lambda tree: subtree(tree, jnp.zeros(GAMES, jnp.int32), jnp.ones(GAMES, bool), rows)
    )(tree)
    np.testing.assert_array_equal(kept.visits, tree.visits[:rows])
    np.testing.assert_array_equal(kept.values, tree.values[:rows])
    expected = np.where(tree.children[:rows] < rows, tree.children[:rows], -1)
    np.testing.assert_array_equal(kept.children, expected)


GAME = make("tic_tac_toe")


@functools.cache
def search_of(policy):
    planner = planners.alphazero(GAME, planner_model())
    make_search = getattr(planners, policy)
    search = make_search(planner, SIMULATIONS, reuse=True)
    return jit(lambda params, keys, state, tree: search(params, keys, state, 0.0, tree)), planner


@functools.cache
def planner_model():
    return mlp(GAME, 8, 1)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["gumbel", "puct", "uct"])
def test_a_search_goes_on_where_the_position_was_seen_and_else_starts_anew(policy):
    search, planner = search_of(policy)
    params = planner.init(jax.random.key(0))
    start = jax.vmap(GAME.init)(keys(2))
    fresh = search(params, keys(2), start, None)
    step = jax.jit(jax.vmap(GAME.step))
    moved = step(start, fresh.action)
    reply = jnp.int32([int(np.flatnonzero(moved.legal_action_mask[0])[0])] * 2)
    after = step(moved, reply)
    # The second game begins again, in a tree that has left its beginning behind.
    later = search(params, keys(2), after, fresh.tree)
    mixed = jax.tree.map(lambda a, b: jnp.stack([a[0], b[1]]), after, start)
    again = search(params, keys(2), mixed, later.tree)
    seen = node_of(fresh.tree, [int(fresh.action[0]), int(reply[0])], 0)
    before = float(fresh.tree.visits[seen, 0]) if seen is not None else 1.0
    assert float(later.tree.visits[0, 0]) == before + SIMULATIONS
    assert float(again.tree.visits[0, 0]) == float(later.tree.visits[0, 0]) + SIMULATIONS
    assert float(again.tree.visits[0, 1]) == 1 + SIMULATIONS
    np.testing.assert_array_equal(again.visit_counts[1], fresh.visit_counts[1])


def node_of(tree, moves, game):
    row = 0
    for move in moves:
        row = int(tree.children[row, game, move])
        if row < 0:
            return None
    return row


def test_a_learned_model_and_mctx_cannot_reuse_a_tree():
    model = planner_model()
    with pytest.raises(ValueError, match="a learned model cannot reuse a tree"):
        planners.gumbel(planners.muzero(GAME, model), reuse=True)
    with pytest.raises(ValueError, match="mctx cannot reuse a tree"):
        planners.puct(planners.alphazero(GAME, model), reuse=True, engine="mctx")


@pytest.mark.slow
def test_in_a_match_each_game_goes_on_from_its_own_tree():
    """Two games a lane apart part ways, yet what was kept is of the position at hand."""
    search, planner = search_of("gumbel")
    params = planner.init(jax.random.key(0))
    kept = []

    def plan(keys, state, tree):
        found = search(params, keys, state, tree)
        live = ~np.asarray(state.terminated)
        kept.append((np.asarray(found.tree.visits[0]) - SIMULATIONS)[live])
        return found

    reusing = Player("reusing", random_player().act, plan, reuse=True)
    match(GAME, reusing, random_player(), jax.random.key(1), num_openings=8, opening_plies=1)
    first, later = np.concatenate(kept[:2]), np.concatenate(kept[2:4])
    assert len(first) == 16
    assert (first == 1).all()  # From either seat there was nothing before.
    # Then its own move and a reply that may be any of eight, of which the better were searched.
    assert (later > 1).mean() > 0.5


def test_a_tree_of_other_games_is_refused():
    search, planner = search_of("gumbel")
    params = jax.eval_shape(planner.init, jax.random.key(0))
    shapes = lambda number: jax.eval_shape(jax.vmap(GAME.init), keys(number))  # noqa: E731
    tree = jax.eval_shape(search, params, keys(2), shapes(2), None).tree
    with pytest.raises(ValueError, match="a tree of other games"):
        jax.eval_shape(search, params, keys(1), shapes(1), tree)


@pytest.mark.slow
@pytest.mark.parametrize("num_games", [1, 3, 6])
def test_games_that_the_devices_do_not_divide_are_searched_as_ever(num_games):
    """On four devices, the first plan and one that goes on from it."""
    search = planners.puct(planners.rollout(GAME), 8, normalize="none", reuse=True)
    whole = jit(lambda keys, state, tree: search({}, keys, state, tree=tree))
    apart = spread(lambda params, keys, state, tree: search(params, keys, state, tree=tree))
    state = jax.vmap(GAME.init)(keys(num_games))
    first, same_first = whole(keys(num_games), state, None), apart({}, keys(num_games), state)
    state = jax.vmap(GAME.step)(state, first.action)
    found = whole(keys(num_games), state, first.tree)
    same_found = apart({}, keys(num_games), state, same_first.tree)
    jax.tree.map(np.testing.assert_array_equal, (same_first, same_found), (first, found))
    assert (found.tree.visits[0] > 9).any()  # Some of it is of the first.
    if num_games > 1:
        assert len(same_found.visit_counts.sharding.device_set) == min(num_games, 4)
