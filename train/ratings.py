"""Ratings from matches: Bradley-Terry by maximum likelihood, with bootstrap intervals.

The model (https://doi.org/10.2307/2334029) gives each player a strength; who is 400 points above
another is expected to score 10 / 11 against them. A draw counts as half a win.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

POINTS = 400 / np.log(10)
"""Elo points of one natural unit of strength."""
RIDGE = 1e-3
"""Pull of the strengths to the anchor's, in units of games: it keeps who won all games finite."""


class Match(NamedTuple):
    """What two players scored against each other, from paired openings.

    Attributes:
        first, second: their numbers.
        points: `[N]`, of the first from each opening, which was played from both seats: 0 to
            `games`. Openings are what the bootstrap draws: games from one are not independent.
        games: from each opening.
        seed: of the trainings that met; None where no training did.
    """

    first: int
    second: int
    points: np.ndarray
    games: int = 2
    seed: int | None = None


class Ratings(NamedTuple):
    """Elo of `P` players, the anchor's 0.

    Attributes:
        elo: `[P]`.
        low, high: `[P]`, 95 % interval of the difference to the anchor.
        samples: `[num_samples, P]`, of the bootstrap: from them follows any other interval.
    """

    elo: np.ndarray
    low: np.ndarray
    high: np.ndarray
    samples: np.ndarray

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Elo of `one` above `other`, and its 95 % interval, which the games of both make."""
        spread = np.quantile(self.samples[:, one] - self.samples[:, other], (0.025, 0.975))
        return float(self.elo[one] - self.elo[other]), float(spread[0]), float(spread[1])


def rate(
    matches: list[Match], num_players: int, anchor: int = 0, num_samples: int = 1000, seed: int = 0
) -> Ratings:
    """Rates all players at once, from all matches.

    Where matches are of two seeds or more, the bootstrap draws the seeds as well: a player's
    strength is that of its settings, over all trainings. Few seeds spread less than they should
    when drawn anew, so what they add to the spread is widened to that of Student's t.

    Args:
        matches: at least one; whoever is not connected to the anchor by matches stays at 0.
        num_players: P.
        anchor: the player whose rating is 0.
        num_samples: of the bootstrap, which draws the openings of every match anew.
        seed: of those draws.

    Raises:
        ValueError: for a player who does not exist, or an anchor who does not.
    """
    for number in [anchor, *(n for match in matches for n in (match.first, match.second))]:
        if not 0 <= number < num_players:
            raise ValueError(f"player {number}; they are numbered 0 to {num_players - 1}")
    rng = np.random.default_rng(seed)
    won, redrawn = np.zeros((2, num_samples + 1, num_players, num_players))
    seeds = sorted({match.seed for match in matches if match.seed is not None})
    times = _drawn(rng, len(seeds), num_samples)
    for first, second, points, games, of_seed in matches:
        points = np.asarray(points, float)
        drawn = rng.integers(0, len(points), (num_samples, len(points)))
        weight = np.ones(num_samples) if of_seed is None else times[seeds.index(of_seed)]
        total = np.concatenate([[points.sum()], points[drawn].sum(axis=1)])
        for table, times_played in ((won, 1.0), (redrawn, np.append(1, weight))):
            table[:, first, second] += times_played * total
            table[:, second, first] += times_played * (games * len(points) - total)
    elo = POINTS * strengths(won, anchor)
    of_seeds = POINTS * strengths(redrawn, anchor) - elo if len(seeds) > 1 else 0.0
    samples = (elo + _widening(len(seeds)) * of_seeds)[1:]
    low, high = np.quantile(samples, (0.025, 0.975), axis=0)
    return Ratings(elo[0], low, high, samples)


def _drawn(rng: np.random.Generator, num_seeds: int, num_samples: int) -> np.ndarray:
    """`[num_seeds, num_samples]`, how often each seed is drawn when all are drawn anew."""
    drawn = rng.integers(0, max(num_seeds, 1), (num_seeds, num_samples))
    return (drawn[None] == np.arange(num_seeds)[:, None, None]).sum(axis=1)


def _widening(num_seeds: int) -> float:
    """How much wider Student's t is than what a bootstrap over so few seeds finds."""
    if num_seeds < 2:
        return 1.0
    return (
        stats.t.ppf(0.975, num_seeds - 1)
        / stats.norm.ppf(0.975)
        * ((num_seeds / (num_seeds - 1)) ** 0.5)
    )


def strengths(won: np.ndarray, anchor: int) -> np.ndarray:
    """Maximum-likelihood strengths `[S, P]` in natural units, the anchor's 0.

    By Newton's method on all tables at once; the likelihood is concave.

    Args:
        won: `[S, P, P]`, points that the player of the row scored against that of the column.
        anchor: the player whose strength is 0.
    """
    played = won + won.swapaxes(1, 2)
    num_players = won.shape[1]
    others = np.arange(num_players) != anchor
    strength = np.zeros(won.shape[:2])
    for _ in range(50):
        expected = 1 / (1 + np.exp(strength[:, None] - strength[:, :, None]))
        slope = (won - played * expected).sum(axis=2) - RIDGE * strength
        weight = played * expected * (1 - expected)
        curve = np.eye(num_players) * (weight.sum(axis=2) + RIDGE)[:, :, None] - weight
        step = np.zeros_like(strength)
        inner = curve[:, others][:, :, others]
        step[:, others] = np.linalg.solve(inner, slope[:, others, None])[..., 0]
        strength += np.clip(step, -2, 2)  # So that a first step from far cannot overshoot.
        if np.abs(step).max() < 1e-9:
            break
    return strength
