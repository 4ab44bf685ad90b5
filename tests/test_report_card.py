"""The errors of a learned model by depth: none for an exact one, and of each kind where it is."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero import planners
from duozero.planners import puct
from duozero.train.config import PlayConfig
from duozero.train.oracles import solve, true_values
from duozero.train.players import perfect_player, random_player
from duozero.train.report_card import by_depth, report_card
from duozero.train.walks import walk
from toys import Bonus, exact

DEPTH = 4


@pytest.fixture(scope="module")
def bonus():
    """Extra turns, rewards on the way, and moves that become illegal; solved."""
    return solve(Bonus())


@pytest.fixture(scope="module")
def walks(bonus):
    return walk(bonus.game, random_player(), jax.random.key(0), 64, DEPTH)


def truth(solution):
    """Parameters of the exact model that know all values, and play only what keeps them."""
    logits = jnp.where(jnp.asarray(solution.optimal), 40.0, 0.0)
    return {"logits": logits, "value": jnp.asarray(solution.value)}


def card(solution, walks, model):
    planner = planners.muzero(solution.game, model)
    values = true_values(solution, walks.state)
    search_of = lambda planner: puct(planner, 8)  # noqa: E731
    return report_card(planner, truth(solution), walks, search_of, jax.random.key(1), values)


def damaged(model, dynamics=lambda *x: x, predict=lambda number, *x: x):
    """The same model with what g and f say changed."""

    def bind(params):
        net = model.bind(params)
        return type(net)(
            represent=net.represent,
            dynamics=lambda number, action: dynamics(*net.dynamics(number, action)),
            predict=lambda number: predict(number, *net.predict(number)),
        )

    return dataclasses.replace(model, bind=bind)


def test_an_exact_model_has_no_error_at_any_depth(bonus, walks):
    errors = card(bonus, walks, exact(bonus))
    for name, rows in errors._asdict().items():
        assert rows.shape == (64, DEPTH + 1)
        np.testing.assert_allclose(np.nan_to_num(rows), 0, atol=1e-5, err_msg=name)
        assert (~np.isnan(rows[:, 1:])).any(axis=0).all(), name
    for name in ("reward", "end", "turn"):
        assert np.isnan(getattr(errors, name)[:, 0]).all()


def test_past_the_end_nothing_is_compared(bonus, walks):
    errors = card(bonus, walks, exact(bonus))
    ended = np.asarray(walks.state.terminated).T
    assert 0 < ended[:, -1].mean() < 1
    np.testing.assert_array_equal(np.isnan(errors.policy), ended)
    np.testing.assert_array_equal(np.isnan(errors.end[:, 1:]), ended[:, :-1])
    np.testing.assert_array_equal(np.isnan(errors.turn[:, 1:]), ended[:, 1:])


def unseen_end(number, reward, ending):
    return number, reward, ending.at[:, 0].set(-2e9)


def other_turn(number, reward, ending):
    return number, reward, ending[:, jnp.array([0, 2, 1])]


DAMAGE = {
    "reward": ({"dynamics": lambda n, r, e: (n, r + 0.5, e)}, {"reward"}),
    "end": ({"dynamics": unseen_end}, {"end"}),
    "turn": ({"dynamics": other_turn}, {"turn"}),
    "value": ({"predict": lambda n, logits, v: (logits, -v)}, {"value"}),
    "illegal": ({"predict": lambda n, logits, v: (jnp.zeros_like(logits), v)}, {"illegal"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_model_damaged_in_one_way_is_wrong_in_that_way_only(bonus, walks, kind):
    how, expected = DAMAGE[kind]
    found = by_depth(card(bonus, walks, damaged(exact(bonus), **how)))
    # What a search makes of it follows from the damage, whatever that is.
    rows = {n: x for n, x in found.items() if n not in ("searched_value", "value_to_network")}
    risen = {name for name, row in rows.items() if np.nanmax(row) > 1e-3}
    assert risen == expected


@pytest.mark.slow
def test_a_model_that_forgets_where_it_is_gets_worse_with_depth(bonus, walks):
    """Each move it takes for the smallest: the position is missed by more and more."""
    model = exact(bonus)

    def bind(params):
        net = model.bind(params)
        return type(net)(
            represent=net.represent,
            dynamics=lambda number, action: net.dynamics(number, 0 * action),
            predict=net.predict,
        )

    errors = by_depth(card(bonus, walks, dataclasses.replace(model, bind=bind)))
    assert errors["embedding"][0] == errors["value"][0] == 0
    assert (np.diff(errors["embedding"][:4]) > 0).all()
    assert errors["value"][2] > 0.05
    np.testing.assert_allclose(errors["value"], errors["value_to_network"], atol=1e-6)


@pytest.mark.slow
def test_walks_are_games_from_every_ply_that_go_on_as_they_are_played(bonus):
    act = perfect_player(bonus)
    walks = walk(bonus.game, act, jax.random.key(3), 128, DEPTH)
    state, step = jax.tree.map(lambda x: x[0], walks.state), jax.vmap(bonus.game.step)
    assert not np.asarray(state.terminated).any()
    assert len(set(np.asarray(state.total).tolist())) > 4
    values = true_values(bonus, walks.state)
    for depth, action in enumerate(walks.action):
        before, state = state, step(state, action)
        np.testing.assert_array_equal(state.total, walks.state.total[depth + 1])
        gain = np.asarray(jnp.take_along_axis(state.rewards, before.current_player[:, None], 1))
        same = np.asarray(state.current_player == before.current_player)
        after = np.where(same, 1, -1) * np.where(state.terminated, 0, values[depth + 1])
        kept = np.where(before.terminated, 0, gain[:, 0] + after)
        np.testing.assert_allclose(kept, np.where(before.terminated, 0, values[depth]), atol=1e-6)


@pytest.mark.slow
def test_a_walk_may_begin_with_random_moves(bonus):
    """Of a player who always adds one, whatever else is added was added by chance."""
    adds_one = lambda keys, state: np.zeros(len(keys), np.int32)  # noqa: E731
    straight = walk(bonus.game, adds_one, jax.random.key(5), 256, 3)
    assert not np.asarray(straight.action).any()
    openings = PlayConfig(opening_plies=1)
    opened = walk(bonus.game, adds_one, jax.random.key(5), 256, 3, explore=openings)
    by_chance = np.asarray(opened.action) > 0
    first = np.asarray(opened.state.total)[:-1] == 0
    assert by_chance.any() and not by_chance[~first].any()
    assert (first & ~by_chance).any()  # Some games begin without.


def test_a_walk_explores_as_self_play_does(bonus):
    """A share of its moves is random; after a number of moves it plays its best."""
    adds = [lambda keys, state, move=move: np.full(len(keys), move, np.int32) for move in (0, 1)]
    explore = PlayConfig(temperature_plies=2)
    walks = walk(*(bonus.game, adds[0], jax.random.key(5), 64, 3), explore=explore, settled=adds[1])
    total = np.asarray(walks.state.total)[:-1]
    np.testing.assert_array_equal(np.asarray(walks.action) > 0, total >= 2)
    explore = PlayConfig(random_moves=0.5)
    mixed = walk(bonus.game, adds[0], jax.random.key(5), 256, 3, explore=explore)
    assert 0.2 < (np.asarray(mixed.action) > 0).mean() < 0.4
