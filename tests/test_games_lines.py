"""Which stones make a line, on every board that looks for one around the last move.

The player to move has the stones 0 of a board `[H, W]`, the opponent 1; -1 is empty.
"""

import jax
import numpy as np
import pytest
from duozero.games import make

DIRECTIONS = np.array([(0, 1), (1, 0), (1, 1), (1, -1)])


@pytest.fixture(
    scope="module",
    params=["connect_four", "gomoku_6x6_4", "gomoku_5x4_3", "gomoku_3x9_7", "gomoku_15x15_5"],
)
def game(request):
    return make(request.param)


@pytest.fixture(scope="module")
def length(game):
    return getattr(game, "length", 4)


@pytest.fixture(scope="module")
def result(game):
    """What the mover earns by playing `actions` `[B]` onto `boards` `[B, H, W]`."""

    @jax.jit
    @jax.vmap
    def reward(board, action):
        state = game.init(jax.random.key(0))
        mask = board[0] < 0 if game.id == "connect_four" else board.ravel() < 0
        state = state.replace(board=board, legal_action_mask=mask)
        return game.step(state, action).rewards[state.current_player]

    def in_chunks(positions, size=512):
        boards = np.array([board for board, _ in positions], np.int8)
        actions = np.array([action for _, action in positions], np.int32)
        chunks = (np.arange(i, i + size) % len(boards) for i in range(0, len(boards), size))
        return np.concatenate([reward(boards[i], actions[i]) for i in chunks])[: len(boards)]

    return in_chunks


def before(game, board, row, column):
    """The board without what stands at the cell, and the action that puts a stone there."""
    board = board.copy()
    board[row, column] = -1
    if game.id != "connect_four":
        return board, row * board.shape[1] + column
    board[:row, column] = -1
    board[row + 1 :, column] = np.where(board[row + 1 :, column] < 0, 1, board[row + 1 :, column])
    return board, column


def longest(board, row, column):
    """The longest of the four runs through a cell of the mover, found by walking."""
    totals = []
    for down, right in DIRECTIONS:
        totals.append(1)
        for sign in (-1, 1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < board.shape[0] and 0 <= c < board.shape[1] and board[r, c] == 0:
                totals[-1], r, c = totals[-1] + 1, r + sign * down, c + sign * right
    return max(totals)


@pytest.mark.parametrize("extra", [0, 1])
def test_every_line_wins_whichever_stone_comes_last(game, length, result, extra):
    shape = np.array(game.observation_shape[:2])
    positions = []
    for start in np.ndindex(*shape):
        for direction in DIRECTIONS:
            cells = start + np.arange(length + extra)[:, None] * direction
            if (cells < 0).any() or (cells >= shape).any():
                continue
            line = np.full(shape, -1)
            line[tuple(cells.T)] = 0
            for row, column in cells:
                board, action = before(game, line, row, column)
                # Stones that fall cannot come under others of their line.
                if (board == 0).sum() == length + extra - 1:
                    positions.append((board, action))
    assert (result(positions) == 1).all()


def test_a_line_does_not_run_round_the_edge(game, length, result):
    """Stones that are neighbours in memory, not on the board, win nothing."""
    height, width, _ = game.observation_shape
    positions = []
    for stride in (1, width - 1, width + 1):
        for start in range(height * width - stride * (length - 1)):
            line = np.full((height, width), -1)
            line.ravel()[start + stride * np.arange(length)] = 0
            row, column = divmod(start, width)
            if longest(line, row, column) < length:
                positions.append(before(game, line, row, column))
    assert positions and (result(positions) == 0).all()


def test_who_wins_agrees_with_walking_from_the_last_stone(game, length, result):
    height, width, _ = game.observation_shape
    random = np.random.default_rng(1)
    positions, expected = [], []
    for share in random.uniform(0.3, 0.9, size=2000):
        board = np.where(random.random((height, width)) < share, 0, 1)
        board[random.random((height, width)) < 0.1] = -1
        row, column = random.integers(height), random.integers(width)
        positions.append(before(game, board, row, column))
        expected.append(longest(positions[-1][0], row, column) >= length)
    assert 100 < sum(expected) < 1900
    np.testing.assert_array_equal(result(positions) == 1, expected)
