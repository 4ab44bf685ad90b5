"""Means over seeds, and over what was sampled within each seed, with 95 % intervals."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from ..score import wilson

NORMAL = 1.959964


class Estimate(NamedTuple):
    """A mean with its 95 % interval.

    Attributes:
        mean: of the seeds' means.
        low, high: NaN where an interval cannot be known: all there is was looked at, with one seed
            or with seeds that all came to the same.
        by_seed: the mean of each seed.
    """

    mean: float
    low: float
    high: float
    by_seed: tuple[float, ...]

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def tells(self) -> bool:
        """Whether a difference is one: the interval is known, and 0 lies outside."""
        return self.low > 0 or self.high < 0


class Clusters(NamedTuple):
    """What the values of a seed stand for.

    Attributes:
        sampled: they are a sample; if not, they are all that there is.
        shared: every seed has the same ones, in the same order.
    """

    sampled: bool = True
    shared: bool = False


OPENINGS = Clusters()
"""Each seed has drawn its own."""


def estimate(
    by_seed: Sequence[np.ndarray], clusters: Clusters = OPENINGS, share: bool = False
) -> Estimate:
    """The mean over seeds, each of which is a training of its own.

    Seeds are what varies most and what is fewest, so they carry the interval: Student's t over
    their means, which hold the noise of the games within them already. (A bootstrap that draws the
    seeds anew is too narrow where they are few: tests/test_intervals.py.) Where seeds agree by
    chance, the interval is no narrower than what was sampled within them allows; what was sampled
    once for all of them is added to theirs.

    Args:
        by_seed: for each seed the values of its clusters `[N]`: openings, each played from both
            seats, or positions. NaN counts for nothing.
        clusters: what those are.
        share: the values lie in [0, 1]: so does the interval, by Wilson's formula within seeds.

    Raises:
        ValueError: without seeds, or with a seed that has no value.
    """
    kept = [np.asarray(x, float)[~np.isnan(x)] for x in by_seed]
    if not kept or not all(len(x) for x in kept):
        raise ValueError("an estimate needs a value of every seed")
    means = np.array([x.mean() for x in kept])
    mean = means.mean()
    spread = means.std(ddof=1) / len(kept) ** 0.5 if len(kept) > 1 else 0.0
    half = stats.t.ppf(0.975, len(kept) - 1) * spread if spread else np.nan
    low, high = mean - half, mean + half
    if clusters.sampled:
        within = _within([np.mean(kept, axis=0)] if clusters.shared else kept, mean, share)
        if clusters.shared and spread:
            low, high = (
                mean - np.hypot(half, mean - within[0]),
                mean + np.hypot(half, within[1] - mean),
            )
        else:
            low, high = np.fmin(low, within[0]), np.fmax(high, within[1])
    if share:
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    return Estimate(float(mean), float(low), float(high), tuple(map(float, means)))


def _within(kept: list[np.ndarray], mean: float, share: bool) -> tuple[float, float]:
    """The interval that the clusters give by themselves, were the seeds all alike."""
    if share:
        return wilson(float(np.clip(mean, 0, 1)), sum(map(len, kept)))
    if any(len(x) < 2 for x in kept):
        return np.nan, np.nan
    variance = sum(x.var(ddof=1) / len(x) for x in kept) / len(kept) ** 2
    return mean - NORMAL * variance**0.5, mean + NORMAL * variance**0.5


def error(by_seed: Sequence[np.ndarray], clusters: Clusters = OPENINGS) -> Estimate:
    """The mean of errors, of which none is less than none."""
    found = estimate(by_seed, clusters)
    return found._replace(low=float(np.maximum(found.low, 0.0)))


def difference(
    one: Sequence[np.ndarray], other: Sequence[np.ndarray], clusters: Clusters = OPENINGS
) -> Estimate:
    """How much one share is above another, seed by seed and cluster by cluster."""
    pairs = zip(one, other, strict=True)
    found = estimate([np.asarray(a, float) - np.asarray(b, float) for a, b in pairs], clusters)
    return found._replace(
        low=float(np.clip(found.low, -1, 1)), high=float(np.clip(found.high, -1, 1))
    )
