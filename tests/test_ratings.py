"""Ratings: exact where they can be computed by hand, and intervals that cover the truth."""

import numpy as np
import pytest
from duozero.train.ratings import Match, rate


def chance(difference):
    return 1 / (1 + 10 ** (-difference / 400))


def test_two_players_are_as_far_apart_as_their_score_says():
    match = Match(0, 1, np.array([2.0, 1.5, 1.5, 1.0]))  # 6 of 8.
    found = rate([match], 2)
    assert found.elo[0] == 0
    assert found.elo[1] == pytest.approx(-400 * np.log10(3), abs=0.5)
    assert found.low[1] < found.elo[1] < found.high[1] < 0
    assert chance(-found.elo[1]) == pytest.approx(0.75, abs=1e-3)


def test_scores_that_fit_together_are_reproduced():
    elo = np.array([0.0, 150.0, -200.0, 320.0])
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    matches = [Match(a, b, np.full(10, 2 * chance(elo[a] - elo[b]))) for a, b in pairs]
    found = rate(matches, 4)
    np.testing.assert_allclose(found.elo, elo, atol=0.5)
    np.testing.assert_allclose(found.low, found.high, atol=1e-6)  # All openings are alike.
    shifted = rate(matches, 4, anchor=3)
    np.testing.assert_allclose(shifted.elo, elo - elo[3], atol=0.5)


def test_who_wins_every_game_stays_finite():
    found = rate([Match(0, 1, np.full(50, 2.0)), Match(1, 2, np.full(50, 1.0))], 3)
    assert np.isfinite(found.samples).all()
    assert found.elo[1] < -600
    assert found.elo[2] == pytest.approx(found.elo[1], abs=1)


def test_a_difference_has_an_interval_of_its_own():
    """Two players who met only the anchor, and the same openings: each counts."""
    rng = np.random.default_rng(0)
    points = rng.binomial(2, 0.6, 200).astype(float)
    found = rate([Match(1, 0, points), Match(2, 0, points), Match(1, 2, np.ones(200))], 3)
    apart, low, high = found.difference(1, 2)
    assert apart == pytest.approx(0, abs=1e-6)
    assert low < 0 < high


@pytest.mark.parametrize("number", [-1, 2])
def test_a_player_who_does_not_exist_is_refused(number):
    with pytest.raises(ValueError, match=f"player {number}; they are numbered 0 to 1"):
        rate([Match(0, number, np.ones(2))], 2)


def openings(rng, p, number):
    """Points of the first from openings of two games, `p` expected of each.

    Some games are drawn, and of some openings both games end alike.
    """
    drawn = 0.4 * min(p, 1 - p)
    roll = rng.random((2, number))
    roll[1] = np.where(rng.random(number) < 0.3, roll[0], roll[1])
    return np.select([roll < p - drawn / 2, roll < p + drawn / 2], [1.0, 0.5], 0.0).sum(axis=0)


@pytest.mark.slow
def test_the_intervals_are_honest():
    """Of 1,000 tournaments of players of known strength, 93 to 97 % hold it in their interval."""
    elo, rng, covered = np.array([0.0, 60.0, -120.0]), np.random.default_rng(1), 0
    for repeat in range(1_000):
        matches = [
            Match(a, b, openings(rng, chance(elo[a] - elo[b]), 60))
            for a, b in ((0, 1), (0, 2), (1, 2))
        ]
        found = rate(matches, 3, num_samples=400, seed=repeat)
        covered += (found.low[1:] <= elo[1:]) & (elo[1:] <= found.high[1:])
    share = covered / 1_000
    assert ((share >= 0.93) & (share <= 0.97)).all(), share
