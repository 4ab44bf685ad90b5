"""A person against a player in the terminal."""

import functools
import operator
import sys
from typing import Any

import jax
import numpy as np

from ..games import Game
from ..games.elsewhere import FAULTS
from ..planners import line_text, principal_variation
from ..planners.variation import written
from .agent import mcts
from .players import Player
from .report import table
from .session import Session, prepare

HELP = "type a move, or: moves, hint, undo, quit"
HINT_SIMULATIONS = 400


def execute(session: Session) -> int:
    """Plays until the game ends or the person leaves."""
    opponent = session.opponent
    whose = "you move" if session.persons_turn else f"{opponent.name} moves"
    print(f"{session.game.id}: you against {opponent.name}; {whose} first. {HELP}")
    compiled = opponent.plan is None
    while True:
        print(f"\n{picture(session.game, session.state)}\n")
        if not session.ended and not session.persons_turn:
            if not compiled:
                print(f"compiling the search of {opponent.name} ...", flush=True)
                compiled = True
            action = session.answer()
            print(f"{opponent.name} plays {written(session.game, action)}")
            session.play(action)
        elif not _persons_turn(session):
            return 0


def _persons_turn(session: Session) -> bool:
    """Reads until something has changed; False if the person leaves."""
    over = f"{_verdict(session)} (undo to go back, anything else to leave) "
    while True:
        text = _ask(over if session.ended else "your move: ")
        command = text.lower()
        if command == "undo":
            if session.undo():
                return True
            print("there is no move of yours to take back")
        elif session.ended or command in ("quit", "exit", "q"):
            return False
        elif command in ("moves", "?", "help", ""):
            print(f"legal moves: {_legal(session)}" if command == "moves" else HELP)
        elif command == "hint":
            print(hint(session))
        else:
            try:
                session.play(_read(session, text))
            except ValueError as error:
                print(" ".join(str(error).split()))
            else:
                return True


def _ask(prompt: str) -> str:
    """A line from the person, who leaves at the end of the input."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline() if sys.stdin else ""  # None where it was closed from the start.
    if not line.endswith("\n"):
        print()
    return line.strip() if line else "quit"


def _read(session: Session, text: str) -> int:
    """The legal move that a person wrote.

    Raises:
        ValueError: if it is none.
    """
    read = getattr(session.game, "string_to_action", int)
    try:
        action = operator.index(read(text))
    except ValueError as error:
        raise ValueError(f"{error} ({HELP})") from None
    except FAULTS as error:
        raise ValueError(f"{session.game.id} cannot read {text!r}: {error!r} ({HELP})") from None
    if not (0 <= action < session.game.num_actions and session.state.legal_action_mask[action]):
        raise ValueError(f"{text} is not legal here; type moves to see what is")
    return action


def hint(session: Session) -> str:
    """What a search thinks of every move, for the player to move."""
    advisor = session.opponent
    if advisor.plan is None:
        advisor = _advisor(session.game)
    assert advisor.plan is not None
    plan = advisor.plan(*session.roots())
    found = jax.tree.map(lambda x: np.asarray(x)[0], plan._replace(tree=None))
    legal = np.asarray(session.state.legal_action_mask)
    order = sorted(np.flatnonzero(legal), key=lambda a: (-found.visit_counts[a], -found.prior[a]))
    rows = [["move", "visits", "value", "prior", ""]]
    for action in order[:10]:
        visits = int(found.visit_counts[action])
        value = f"{found.qvalues[action]:+.2f}" if visits else "-"
        chosen = "<- its choice" if action == found.action else ""
        move = written(session.game, int(action))
        rows.append([move, str(visits), value, f"{found.prior[action]:.0%}", chosen])
    line = "-"
    if plan.tree is not None:
        variation = principal_variation(plan.tree, 0, first=int(found.action))
        line = line_text(session.game, variation[:6])
    return (
        f"{advisor.name} thinks you {_in_words(float(found.search_value))} "
        f"({found.search_value:+.2f}, where +1 is a win for you and -1 a loss)\n{table(rows)}\n"
        f"it expects: {line}"
    )


def picture(game: Game, state: Any) -> str:
    """The position as text; games from elsewhere may have no picture."""
    draw = getattr(game, "to_string", None)
    try:
        return str(draw(state)) if draw else f"({game.id} has no text picture)"
    except NotImplementedError:
        return f"({game.id} has no text picture)"
    except FAULTS as error:
        return " ".join(f"({game.id} has no text picture: {error!r})".split())


def _legal(session: Session) -> str:
    legal = np.flatnonzero(np.asarray(session.state.legal_action_mask))
    return " ".join(written(session.game, int(action)) for action in legal)


def _verdict(session: Session) -> str:
    states = [*session.past, session.state]
    gain = sum(float(state.rewards[session.person]) for state in states)
    return "You win." if gain > 0 else "You lose." if gain < 0 else "A draw."


def _in_words(value: float) -> str:
    """A value for the player to move, as what that player may expect."""
    words = ("should lose", "stand worse", "stand level", "stand better", "should win")
    return words[int(np.digitize(value, (-0.8, -0.2, 0.2, 0.8)))]


@functools.cache
def _advisor(game: Game) -> Player:
    return mcts(game, HINT_SIMULATIONS)


__all__ = ["execute", "hint", "picture", "prepare"]
