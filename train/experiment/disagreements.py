"""Positions in which the two planners want to move differently, and what each of them sees."""

from typing import Any, NamedTuple

import jax
import numpy as np

from ...games.elsewhere import FAULTS
from ...planners import line_text, principal_variation
from ...planners.variation import written
from .contenders import Contender
from .strength import AT_ONCE
from .truth import Truth


class View(NamedTuple):
    """What one planner thinks of a position.

    Attributes:
        name: of the planner.
        move: what it plays, as people write it.
        value: of its search, for the player to move.
        visits: by move, as a share of all.
        line: its principal variation, values for the player to move at the root.
    """

    name: str
    move: str
    value: float
    visits: dict[str, float]
    line: str


class Disagreement(NamedTuple):
    """A position and what both planners think of it.

    Attributes:
        text: the position, as the game draws it.
        stones: `[H, W]`, -1 empty, 0 X, 1 O, for games on a board; else None.
        to_move: "X" or "O" on a board; else empty.
        truth: by move, its true value for the player to move; empty where it is not known.
        views: AlphaZero's and MuZero's.
    """

    text: str
    stones: list[list[int]] | None
    to_move: str
    truth: dict[str, float]
    views: list[View]


def disagreements(
    pair: list[Contender],
    state: Any,
    num: int,
    truth: Truth | None = None,
    seed: int = 0,
) -> tuple[list[Disagreement], int]:
    """Up to `num` positions in which they move differently; and how many of all there are.

    Where the truth is known those come first in which one of them loses game value and the other
    does not, in turn; else those whose values are furthest apart.

    Args:
        pair: two contenders.
        state: `[N, ...]`, where to look; those of `truth`, if that is given.
        num: how many to show.
        truth: about all of these positions.
        seed: whose networks are asked.
    """
    thoughts = [contender.think(seed, state, AT_ONCE) for contender in pair]
    actions = [thought.action for thought in thoughts]
    differ = np.flatnonzero(actions[0] != actions[1])
    if truth is None:
        apart = np.abs(thoughts[0].value - thoughts[1].value)[differ]
        order = differ[np.argsort(-apart, kind="stable")]
    else:
        gain = (truth.keeps(actions[0]) - truth.keeps(actions[1]))[differ]
        groups = [list(differ[gain == sign]) for sign in (1, -1, 0)]
        order = [at for pair_ in _in_turn(groups[:2]) for at in pair_] + groups[2]
    chosen = np.array(order[:num], int)
    if not len(chosen):
        return [], 0
    return _seen(pair, state, chosen, truth, seed), len(differ)


def _in_turn(groups: list[list[int]]) -> list[list[int]]:
    longest = max(map(len, groups))
    return [[group[i] for group in groups if i < len(group)] for i in range(longest)]


def _seen(pair, state, chosen, truth, seed) -> list[Disagreement]:
    """The chosen positions, looked at again with the whole tree."""
    # As many as in the batches before, for which the search is compiled.
    padded = np.resize(chosen, max(AT_ONCE, len(chosen)))
    asked = jax.tree.map(lambda x: np.asarray(x)[padded], state)
    plans = []
    for contender in pair:
        plan = contender.player(seed).plan
        assert plan is not None
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), 5), len(padded))
        plans.append(jax.device_get(plan(keys, asked)))
    game = pair[0].game
    found = []
    for at in range(len(chosen)):
        one = jax.tree.map(lambda x, at=at: np.asarray(x)[at], asked)
        views = [_view(game, c.name, plan, at) for c, plan in zip(pair, plans, strict=True)]
        values = {} if truth is None else _values(game, truth.action_values[chosen[at]])
        stones, to_move = _stones(one)
        found.append(Disagreement(_text(game, one), stones, to_move, values, views))
    return found


def _view(game, name: str, plan, at: int) -> View:
    visits = plan.visit_counts[at]
    action = int(plan.action[at])
    shares = {
        written(game, int(a)): float(visits[a] / visits.sum()) for a in np.flatnonzero(visits)
    }
    # mctx keeps no tree of ours.
    line = principal_variation(plan.tree, at, action) if plan.tree is not None else []
    text = line_text(game, line)
    return View(name, written(game, action), float(plan.search_value[at]), shares, text)


def _text(game, state) -> str:
    """Games from elsewhere may have no picture, or fail at it."""
    try:
        return str(game.to_string(state)) if hasattr(game, "to_string") else ""
    except FAULTS:
        return ""


def _values(game, action_values: np.ndarray) -> dict[str, float]:
    legal = np.flatnonzero(np.isfinite(action_values))
    return {written(game, int(a)): float(action_values[a]) for a in legal}


def _stones(state) -> tuple[list[list[int]] | None, str]:
    """The board of one position, where it has one that can be drawn."""
    board, shape = getattr(state, "board", None), state.observation.shape
    if board is None or not hasattr(state, "colour"):
        return None, ""
    if board.ndim == 1 and len(shape) == 3 and board.size == shape[0] * shape[1]:
        board = board.reshape(shape[:2])
    if board.ndim != 2:
        return None, ""
    return board.astype(int).tolist(), "XO"[int(state.colour)]
