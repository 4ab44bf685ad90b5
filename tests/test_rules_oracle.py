"""The rules against independent ones, ply by ply over random games: open-spiel, five lines."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make

pyspiel = pytest.importorskip("pyspiel")
LANES = 64
ORACLES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "gomoku_5x4_3": "mnk(m=5,n=4,k=3)",
    "gomoku_4x7_4": "mnk(m=4,n=7,k=4)",
    "gomoku_6x6_4": "gomoku(size=6,connect=4)",
    "gomoku_15x15_5": "gomoku(size=15,connect=5)",
}


def random_games(game, num_plies):
    """States `[T + 1, LANES]` and the random legal actions `[T, LANES]` between them."""

    def turn(state, priorities):
        action = jnp.where(state.legal_action_mask, priorities, -1.0).argmax(axis=-1)
        return jax.vmap(game.step)(state, action), (state, action)

    @jax.jit
    def play(keys, priorities):
        last, (states, actions) = jax.lax.scan(turn, jax.vmap(game.init)(keys), priorities)
        return jax.tree.map(lambda x, y: jnp.concatenate([x, y[None]]), states, last), actions

    shape = (num_plies, LANES, game.num_actions)
    priorities = np.random.default_rng(0).random(shape, np.float32)
    return jax.device_get(play(jax.random.split(jax.random.key(0), LANES), priorities))


@pytest.mark.parametrize("name", ORACLES)
def test_the_rules_are_those_of_open_spiel(name):
    oracle = pyspiel.load_game(ORACLES[name])
    states, actions = random_games(make(name), oracle.max_game_length())
    for lane in range(LANES):
        first = states.current_player[0, lane]
        state = oracle.new_initial_state()
        for time, action in enumerate(actions[:, lane]):
            assert not states.terminated[time, lane]
            mask = states.legal_action_mask[time, lane]
            assert state.legal_actions() == np.flatnonzero(mask).tolist()
            assert state.current_player() == states.current_player[time, lane] ^ first
            state.apply_action(int(action))
            # The first mover is open-spiel's player 0.
            returns = np.roll(states.rewards[time + 1, lane], -first)
            assert state.returns() == returns.tolist()
            if state.is_terminal():
                break
        assert state.is_terminal() and states.terminated[time + 1, lane]


@pytest.mark.parametrize(("target", "maximum"), [(21, 3), (9, 4), (2, 1), (40, 40)])
def test_the_rules_of_the_race_are_five_lines(target, maximum):
    states, actions = random_games(make(f"race_to_{target}_{maximum}"), target)
    for lane in range(LANES):
        total, player, time = 0, states.current_player[0, lane], 0
        while total < target:
            legal = [a for a in range(maximum) if total + a + 1 <= target]
            assert np.flatnonzero(states.legal_action_mask[time, lane]).tolist() == legal
            assert states.current_player[time, lane] == player
            assert not states.terminated[time, lane] and not states.rewards[time, lane].any()
            total, player, time = total + actions[time, lane] + 1, 1 - player, time + 1
        assert states.terminated[time, lane]
        assert states.rewards[time, lane, 1 - player] == 1
        assert states.rewards[time, lane, player] == -1
