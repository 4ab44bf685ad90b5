"""What a match came to, and the interval of a share."""

from typing import NamedTuple


def wilson(share: float, num: int) -> tuple[float, float]:
    """95 % interval of a share among `num` independent trials (E. B. Wilson, 1927)."""
    z = 1.959964
    centre = (share + z * z / (2 * num)) / (1 + z * z / num)
    half = z / (1 + z * z / num) * (share * (1 - share) / num + z * z / (4 * num * num)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


class Score(NamedTuple):
    """Games won, drawn and lost by the first player of a match.

    `distinct` counts the games that began differently, by opening and seat, where that is known:
    two players who leave nothing to chance only repeat the others. 0 counts them all.
    """

    wins: int
    draws: int
    losses: int
    distinct: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def mean(self) -> float:
        """Points per game: 1 a win, 0.5 a draw; in [0, 1]."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `mean`.

        Wilson's interval takes every game for a win or a loss, and distinct games for independent;
        draws and openings played from both seats only make the true one narrower.
        """
        return wilson(self.mean, self.distinct or self.games)

    def __str__(self) -> str:
        """In percent."""
        low, high = self.interval
        return (
            f"{100 * self.mean:.1f} [{100 * low:.1f}, {100 * high:.1f}] "
            f"+{self.wins} ={self.draws} -{self.losses}"
        )
