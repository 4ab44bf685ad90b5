"""Agents held against perfect play."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .oracles import Solution, batched

Act = Callable[[jax.Array, Any], jax.Array]
"""`(keys [B], state [B, ...]) -> action [B]`: a `Player`, or a plain function."""


class Judgement(NamedTuple):
    """How an agent's moves compare with perfect play.

    Attributes:
        kept: share of all undecided positions in which its move keeps the game value.
        lost_lines: lines of play from the start, moving first or second, over every reply of the
            opponent, that it loses although perfect play would at some point still have held them.
        doomed_lines: those that it loses and nothing could have held.
        num_lines: how many lines there are in all.
    """

    kept: float
    lost_lines: int
    doomed_lines: int
    num_lines: int

    @property
    def unbeatable(self) -> bool:
        """Whether it loses no line at all: nobody can beat it."""
        return self.lost_lines + self.doomed_lines == 0


def moves_of(player: Act, solution: Solution, key: jax.Array, size: int = 1024) -> np.ndarray:
    """The player's move in every position, `[N]` int32; -1 where the game has ended."""
    where = solution.undecided
    state = jax.tree.map(lambda x: x[where], solution.state)
    moves = np.full(len(solution.ended), -1, np.int32)
    moves[where] = moves_in(player, state, key, size)
    return moves


def moves_in(player: Act, state: Any, key: jax.Array, size: int) -> np.ndarray:
    """The player's move in each state of `[N, ...]`, `[N]` int32, asked in batches of `size`."""
    keys = np.asarray(jax.random.key_data(jax.random.split(key, len(state.observation))))
    act = lambda x: player(jax.random.wrap_key_data(jnp.asarray(x.keys)), x.state)  # noqa: E731
    return batched(act, _Keyed(jax.tree.map(np.asarray, state), keys), size)


class _Keyed(NamedTuple):
    state: Any
    keys: np.ndarray

    @property
    def observation(self) -> np.ndarray:
        return self.state.observation


def judge(solution: Solution, moves: np.ndarray) -> Judgement:
    """Holds an agent's move in every position, `[N]`, against the solution of the game."""
    where = solution.undecided
    kept = solution.optimal[where, moves[where]].mean()
    first, second = (_lines(solution, moves, agent_to_move=turn) for turn in (True, False))
    return Judgement(float(kept), *(int(x) for x in np.add(first, second)))


def _lines(solution: Solution, moves: np.ndarray, agent_to_move: bool) -> tuple[int, int, int]:
    """(lost, doomed, all) lines of play from the start, the agent against every reply."""
    lost = {True: 0, False: 0}  # By whether it once was the agent's to hold.
    total = 0
    # What the agent has gained so far is part of a line, and whether it ever stood well enough.
    count = {(0, agent_to_move, 0.0, False): 1}
    while count:
        following: dict[tuple[int, bool, float, bool], int] = {}
        for (position, mine, gained, held), number in count.items():
            stands = gained + float(solution.value[position]) * (1 if mine else -1)
            held = held or stands > -1e-6
            legal = np.flatnonzero(solution.child[position] >= 0)
            for action in [int(moves[position])] if mine else legal:
                child = int(solution.child[position, action])
                gain = float(solution.reward[position, action]) * (1 if mine else -1)
                gain = round(gained + gain, 6)
                broken = child < 0  # The agent broke the rules, which loses at once.
                if broken or solution.ended[child]:
                    lost[held] += number * int(broken or gain < 0)
                    total += number
                else:
                    turn = mine == bool(solution.discount[position, action] > 0)
                    at = (child, turn, gain, held)
                    following[at] = following.get(at, 0) + number
        count = following
    return lost[True], lost[False], total
