"""Gomoku, freestyle: players place stones in turn, a row of `length` or more wins."""

import jax
import jax.numpy as jnp
import numpy as np

from . import grid
from .base import BoardGame, State, Symmetries


class GomokuState(State):
    """A position of gomoku.

    Attributes:
        board: `[height, width]` int8, -1 empty, 0 X (who moved first), 1 O.
        colour: `[]` int8, the colour to move.
        last: `[]` int32, the cell of the last move, -1 at the start.
    """

    board: jax.Array
    colour: jax.Array
    last: jax.Array


class Gomoku(BoardGame):
    """`length` or more in a row win, a full board is a draw; action `a` takes cell `a`.

    Cells are counted row by row from the top. Observation `[height, width, 3]` bool: own stones,
    the other's, the last move.

    Raises:
        ValueError: unless width and height are 3 to 25 and length is 3 to the longer side.
    """

    def __init__(self, width: int, height: int, length: int):
        self.id = f"gomoku_{width}x{height}_{length}"
        if not (3 <= width <= 25 and 3 <= height <= 25):
            raise ValueError(f"{self.id}: width and height must be 3 to 25")
        if not 3 <= length <= max(width, height):
            raise ValueError(
                f"{self.id}: {length} in a row is out of range, "
                f"a {width}x{height} board allows 3 to {max(width, height)}"
            )
        self.width, self.height, self.length = width, height, length
        self.num_actions = width * height
        self.observation_shape = (height, width, 3)

    def _init(self, key: jax.Array) -> GomokuState:
        return GomokuState(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(self.num_actions, jnp.bool_),
            board=jnp.full((self.height, self.width), -1, jnp.int8),
            colour=jnp.int8(0),
            last=jnp.int32(-1),
        )

    def _step(self, state: GomokuState, action: jax.Array) -> GomokuState:
        row, column = action // self.width, action % self.width
        board = state.board.at[row, column].set(state.colour)
        won = grid.completes_line(board == state.colour, row, column, self.length)
        return state.replace(
            board=board,
            colour=1 - state.colour,
            last=jnp.int32(action),
            current_player=1 - state.current_player,
            rewards=jnp.where(won, jnp.full(2, -1.0).at[state.current_player].set(1.0), 0.0),
            terminated=won | (board >= 0).all(),
            legal_action_mask=board.ravel() < 0,
        )

    def _observe(self, state: GomokuState) -> jax.Array:
        stones = grid.stones(state.board, state.colour)
        last = (jnp.arange(self.num_actions) == state.last).reshape(self.height, self.width, 1)
        return jnp.concatenate([stones, last], axis=-1)

    @property
    def symmetries(self) -> Symmetries:
        return grid.symmetries(self.height, self.width, 3)

    def action_to_string(self, action: int) -> str:
        return grid.cell_to_string(action, self.height, self.width)

    def to_string(self, state: GomokuState) -> str:
        return grid.picture(np.asarray(state.board), rows=True, last=int(state.last))
