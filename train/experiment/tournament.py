"""Everybody against everybody from paired openings, and the ratings that follow."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...games import Game
from ..arena import match_key, points
from ..players import Player
from ..ratings import Match, rate

Played = Callable[[], None]


class Entrant(NamedTuple):
    """Who takes part.

    Attributes:
        name: for the table.
        players: one for each seed; a single one for who has none, such as a pure tree search.
    """

    name: str
    players: list[Player]


class Standing(NamedTuple):
    """Who is how strong.

    Attributes:
        names: of the `P` entrants, the strongest first.
        elo, low, high: `[P]` in Elo points above the anchor, with a 95 % interval.
        anchor: the name of who is rated 0.
        score: `[P, P]`, points per game of the row against the column; NaN on the diagonal.
        alike: pairs of names that cannot be told apart: the interval of their difference holds 0.
        games: that were played.
    """

    names: list[str]
    elo: np.ndarray
    low: np.ndarray
    high: np.ndarray
    anchor: str
    score: np.ndarray
    alike: list[tuple[str, str]]
    games: int


def tournament(
    game: Game,
    entrants: list[Entrant],
    anchor: str,
    num_openings: int,
    opening_plies: int,
    played: Played = lambda: None,
) -> Standing:
    """Plays a match between any two entrants, seed by seed, and rates all of them at once.

    Each seed has openings of its own. Networks of one seed only meet those of the same.

    Args:
        game: the rules, for two players.
        entrants: with different names.
        anchor: the name of who is rated 0.
        num_openings, opening_plies: of every match, each opening from both seats.
        played: called after every match.

    Raises:
        ValueError: if nobody has the anchor's name.
    """
    names = [entrant.name for entrant in entrants]
    at = names.index(anchor)
    matches = []
    for first, second in itertools.combinations(range(len(entrants)), 2):
        pair = entrants[first].players, entrants[second].players
        num_seeds = max(map(len, pair))
        for seed in range(num_seeds):
            one, other = (players[min(seed, len(players) - 1)] for players in pair)
            found = points(game, one, other, match_key(seed), num_openings, opening_plies)
            of_seed = seed if num_seeds > 1 else None
            matches.append(Match(first, second, 2 * found, seed=of_seed))
            played()
    return standing(names, matches, at)


def standing(names: list[str], matches: list[Match], anchor: int) -> Standing:
    """The table that follows from all matches."""
    found = rate(matches, len(names), anchor)
    order = np.argsort(-found.elo, kind="stable")
    won = np.zeros((len(names), len(names)))
    for match in matches:
        total = match.games * len(match.points)
        won[match.first, match.second] += np.sum(match.points)
        won[match.second, match.first] += total - np.sum(match.points)
    with np.errstate(invalid="ignore"):
        score = won / (won + won.T)
    alike = []
    for one, other in itertools.combinations(order, 2):
        _, low, high = found.difference(int(one), int(other))
        if low <= 0 <= high:
            alike.append((names[one], names[other]))
    return Standing(
        names=[names[i] for i in order],
        elo=found.elo[order],
        low=found.low[order],
        high=found.high[order],
        anchor=names[anchor],
        score=score[order][:, order],
        alike=alike,
        games=int(won.sum()),
    )
