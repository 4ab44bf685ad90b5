"""Tic-tac-toe: the smallest complete game, and the template for new ones."""

import jax
import jax.numpy as jnp
import numpy as np

from . import grid
from .base import BoardGame, State

_LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


class TicTacToeState(State):
    """`board`: `[9]` int8, -1 empty, 0 X (who moved first), 1 O. `colour`: `[]` int8 to move."""

    board: jax.Array
    colour: jax.Array


class TicTacToe(BoardGame):
    """Three in a row on a 3x3 board; action `a` takes cell `a` (row-major, from the top).

    Observation `[3, 3, 2]` bool: own stones, the other's.
    """

    id = "tic_tac_toe"
    num_actions = 9
    observation_shape = (3, 3, 2)

    def _init(self, key: jax.Array) -> TicTacToeState:
        return TicTacToeState(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(9, jnp.bool_),
            board=jnp.full(9, -1, jnp.int8),
            colour=jnp.int8(0),
        )

    def _step(self, state: TicTacToeState, action: jax.Array) -> TicTacToeState:
        board = state.board.at[action].set(state.colour)
        won = (board[jnp.int32(_LINES)] == state.colour).all(axis=1).any()
        return state.replace(
            board=board,
            colour=1 - state.colour,
            current_player=1 - state.current_player,
            rewards=jnp.where(won, jnp.full(2, -1.0).at[state.current_player].set(1.0), 0.0),
            terminated=won | (board >= 0).all(),
            legal_action_mask=board < 0,
        )

    def _observe(self, state: TicTacToeState) -> jax.Array:
        return grid.stones(state.board, state.colour).reshape(self.observation_shape)

    @property
    def symmetries(self):
        return grid.symmetries(3, 3, 2)

    def action_to_string(self, action: int) -> str:
        return grid.cell_to_string(action, 3, 3)

    def to_string(self, state: TicTacToeState) -> str:
        return grid.picture(np.asarray(state.board).reshape(3, 3), rows=True)
