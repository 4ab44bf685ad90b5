"""Connect four: stones fall to the bottom of seven columns, four in a row win."""

import jax
import jax.numpy as jnp
import numpy as np

from . import grid
from .base import BoardGame, State, Symmetries

_HEIGHT, _WIDTH = 6, 7


class ConnectFourState(State):
    """`board`: `[6, 7]` int8, -1 empty, 0 X (who moved first), 1 O. `colour`: `[]` int8 to move."""

    board: jax.Array
    colour: jax.Array


class ConnectFour(BoardGame):
    """Four in a row on 6 rows and 7 columns; action `a` drops a stone into column `a`.

    Row 0 is the top. Observation `[6, 7, 2]` bool: own stones, the other's.
    """

    id = "connect_four"
    num_actions = _WIDTH
    observation_shape = (_HEIGHT, _WIDTH, 2)

    def _init(self, key: jax.Array) -> ConnectFourState:
        return ConnectFourState(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(_WIDTH, jnp.bool_),
            board=jnp.full((_HEIGHT, _WIDTH), -1, jnp.int8),
            colour=jnp.int8(0),
        )

    def _step(self, state: ConnectFourState, action: jax.Array) -> ConnectFourState:
        row = (state.board[:, action] < 0).sum() - 1
        board = state.board.at[row, action].set(state.colour)
        won = grid.completes_line(board == state.colour, row, action, 4)
        return state.replace(
            board=board,
            colour=1 - state.colour,
            current_player=1 - state.current_player,
            rewards=jnp.where(won, jnp.full(2, -1.0).at[state.current_player].set(1.0), 0.0),
            terminated=won | (board >= 0).all(),
            legal_action_mask=board[0] < 0,
        )

    def _observe(self, state: ConnectFourState) -> jax.Array:
        return grid.stones(state.board, state.colour)

    @property
    def symmetries(self) -> Symmetries:
        """Left and right are alike."""
        cells = np.arange(_HEIGHT * _WIDTH).reshape(_HEIGHT, _WIDTH)
        images = np.stack([cells.ravel(), cells[:, ::-1].ravel()])
        columns = np.arange(_WIDTH, dtype=np.int32)
        return Symmetries(grid.planes(images, 2), np.stack([columns, columns[::-1]]))

    def action_to_string(self, action: int) -> str:
        return str(int(action) + 1)

    def to_string(self, state: ConnectFourState) -> str:
        return grid.picture(np.asarray(state.board), rows=False)
