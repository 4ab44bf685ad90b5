"""Exact truth for Connect Four, by the solver bitbully where a user has installed it.

Scores follow Pascal Pons (http://blog.gamesolver.org/solving-connect-four/02-test-protocol/): a
move is worth 0 where perfect play draws. Else the sign tells who wins, positive being the player
to move, and the size is 22 minus the number of stones that the winner will have played, when the
winner takes the shortest way and the loser the longest: 18 wins with the fourth stone, 1 with the
last. The sign is the game value.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..planners.rollout import random_action
from .players import Player

NUM_COLUMNS, MAX_MOVES = 7, 42
HOW_TO_GET = (
    "exact truth for connect_four needs the solver bitbully (AGPL-3): "
    'pip install ".[oracle]" in a clone of duozero, or pip install bitbully'
)

# The six sets of positions of Pascal Pons, after whom AlphaZero.jl and others measure
# (http://blog.gamesolver.org/solving-connect-four/02-test-protocol/).
STAGES = {"early": range(0, 15), "middle": range(15, 29), "late": range(29, 42)}
DIFFICULTIES = {"easy": range(0, 14), "medium": range(14, 28), "hard": range(28, 43)}
KINDS = (
    ("early", "easy"),
    ("early", "medium"),
    ("early", "hard"),
    ("middle", "easy"),
    ("middle", "medium"),
    ("late", "easy"),
)

Scores = tuple[int | None, ...]


class Position(NamedTuple):
    """A position and what each move in it is worth.

    Attributes:
        moves: how it came about, columns 1 to 7 in the order played.
        scores: `[7]`, the score of each column for the player to move (see the top of this
            file); None where it is full.
    """

    moves: str
    scores: Scores

    @property
    def value(self) -> int:
        """The score of the best move."""
        return max(score for score in self.scores if score is not None)

    @property
    def kind(self) -> tuple[str, str]:
        """(stage, difficulty)."""
        return kind_of(self.moves, self.value)

    @property
    def losing(self) -> np.ndarray:
        """`[7]` bool: the moves after which the game value is lower than before, or illegal."""
        known = np.array([-99 if score is None else score for score in self.scores])
        illegal = np.array([score is None for score in self.scores])
        return illegal | (np.sign(known) < np.sign(self.value))

    @property
    def telling(self) -> bool:
        """Whether a legal move loses game value: where none does, every player is perfect."""
        return bool(self.losing.sum() > self.scores.count(None))


def kind_of(moves: str, value: int) -> tuple[str, str]:
    """Stage, by the number of moves made, and difficulty, by the number that remain.

    The latter are those of perfect play from a position whose best score is `value`.
    """
    remaining = remaining_moves(moves, value)
    stage = next(name for name, plies in STAGES.items() if len(moves) in plies)
    return stage, next(name for name, counts in DIFFICULTIES.items() if remaining in counts)


def remaining_moves(moves: str, value: int) -> int:
    """Moves until the game ends under perfect play, after `moves`, whose best score is `value`.

    Perfect play wins as soon and loses as late as it can.
    """
    if value == 0:
        return MAX_MOVES - len(moves)
    stones = 22 - abs(value)  # Of the winner.
    first_wins = (value > 0) == (len(moves) % 2 == 0)
    return 2 * stones - int(first_wins) - len(moves)


class Solver:
    """Solves positions given by the moves, columns 1 to 7, or by the board.

    Raises:
        ValueError: at construction, if bitbully is not installed; says how to get it.
    """

    def __init__(self):
        try:
            import bitbully  # type: ignore[import-not-found]
        except ImportError:
            raise ValueError(HOW_TO_GET) from None
        self._board = bitbully.Board
        self._solver = bitbully.BitBully()
        self.name = f"bitbully {bitbully.__version__}"

    def value(self, moves: str) -> int:
        """The score of the best move; several times faster than all of them."""
        return self._solver.mtdf(self._played(moves))

    def scores(self, moves: str) -> Scores:
        """The score of each column for the player to move, `[7]`; None where it is full."""
        return self._scores(self._played(moves))

    def scores_on(self, board: np.ndarray) -> Scores:
        """The same for a board `[6, 7]` as `ConnectFourState` has it."""
        return self._scores(self._of(board))

    def value_on(self, board: np.ndarray) -> int:
        """As `value`, of a board."""
        return self._solver.mtdf(self._of(board))

    def _of(self, board: np.ndarray) -> Any:
        return self._board.from_array((board + 1).tolist())

    def _played(self, moves: str) -> Any:
        return self._board([int(column) - 1 for column in moves])

    def _scores(self, board: Any) -> Scores:
        scores = self._solver.score_all_moves(board)
        return tuple(scores.get(column) for column in range(NUM_COLUMNS))


def perfect_player() -> Player:
    """Wins as soon as it can, loses as late; drawn at random among the moves that do.

    Raises:
        ValueError: if bitbully is not installed; says how to get it.
    """
    solver = Solver()

    @functools.lru_cache(maxsize=100_000)
    def best(board: bytes) -> np.ndarray:
        scores = solver.scores_on(np.frombuffer(board, np.int8).reshape(-1, NUM_COLUMNS))
        highest = max(score for score in scores if score is not None)
        return np.array([score == highest for score in scores])

    draw = jax.jit(jax.vmap(random_action))

    def act(keys, state):
        boards, over = np.asarray(state.board), np.asarray(state.terminated)
        every = np.ones(NUM_COLUMNS, bool)  # Nothing is asked of games that have ended.
        masks = [every if o else best(b.tobytes()) for b, o in zip(boards, over, strict=True)]
        return draw(keys, jnp.asarray(np.stack(masks)))

    return Player("perfect", act)
