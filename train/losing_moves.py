"""How often a player of Connect Four loses game value, held against exact truth."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from ..games.connect_four import ConnectFour
from .connect_four_oracle import DIFFICULTIES, KINDS, STAGES, Position
from .connect_four_positions import replay
from .judgement import moves_in
from .players import Player
from .score import wilson

CENTRE = 3


class Losses(NamedTuple):
    """Moves that lose game value, of all that were looked at."""

    lost: int
    positions: int

    @property
    def share(self) -> float:
        return self.lost / self.positions

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `share`."""
        return wilson(self.share, self.positions)

    def __str__(self) -> str:
        """In percent, and the count."""
        low, high = self.interval
        return f"{100 * self.share:.1f} [{100 * low:.1f}, {100 * high:.1f}] {self.lost}"

    def numbers(self) -> dict[str, Any]:
        """For programs."""
        return self._asdict() | {"share": self.share, "interval": self.interval}


class Play(NamedTuple):
    """What a player did.

    Attributes:
        losses: by kind of position, in the order of a table; empty where there were none.
        opens_in_centre: its first move from the empty board, where all others lose the win.
    """

    losses: dict[str, Losses]
    opens_in_centre: bool


def play(
    player: Player, game: ConnectFour, positions: list[Position], seed: int, size: int
) -> Play:
    """Asks a player for its move in every position and on the empty board, in batches of `size`."""
    state = replay(game, [*(position.moves for position in positions), ""])
    key = jax.random.fold_in(jax.random.key(seed), 3)
    moves = moves_in(player.act, state, key, size)
    return Play(count(positions, moves[:-1]), int(moves[-1]) == CENTRE)


def count(positions: list[Position], moves: np.ndarray) -> dict[str, Losses]:
    """Of moves `[N]`, those that lose game value, by kind of position and in all."""
    lost = np.array([p.losing[move] for p, move in zip(positions, moves, strict=True)], bool)
    return {
        kind: Losses(int(lost[where].sum()), int(where.sum())) for kind, where in _kinds(positions)
    }


def _kinds(positions: list[Position]) -> Iterator[tuple[str, np.ndarray]]:
    """Names of kinds, of what makes up several kinds, and of all; with their places `[N]` bool."""
    kinds = [position.kind for position in positions]
    groups = {" ".join(kind): {kind} for kind in KINDS}
    for part, names in enumerate((STAGES, DIFFICULTIES)):
        groups |= {name: {kind for kind in KINDS if kind[part] == name} for name in names}
    groups["all"] = set(KINDS)
    for name, group in groups.items():
        where = np.array([kind in group for kind in kinds], bool)
        if where.any() and (len(group) > 1 or " " in name):
            yield name, where


def opening_rows(plays: dict[str, Play]) -> list[list[str]]:
    """Whether players open in the centre, as the win demands, a row each."""
    return [
        [
            f"opens in the centre, {how}",
            "yes" if found.opens_in_centre else "no",
        ]
        for how, found in plays.items()
    ]


def rows(plays: dict[str, Play]) -> list[list[str]]:
    """A table: a row for each kind of position, a column for each player."""
    columns = [found.losses for found in plays.values()]
    head = ["losing moves, %", "positions", *plays]
    body = [
        [kind, str(losses.positions), *(str(column[kind]) for column in columns)]
        for kind, losses in columns[0].items()
    ]
    return [head, *body]


def numbers(plays: dict[str, Play]) -> dict[str, Any]:
    """For programs."""
    return {
        how.replace(" ", "_"): {
            "opens_in_centre": found.opens_in_centre,
            "losing_moves": {kind: losses.numbers() for kind, losses in found.losses.items()},
        }
        for how, found in plays.items()
    }


EXPLAIN = (
    "Losing moves: how many in a hundred moves lose game value (turn a win into a draw or a loss, "
    "or a draw into a loss) [95 % interval] and their number, over positions from random play in "
    "which some moves do and some do not. Early: up to 14 moves have been made, middle: up to 28, "
    "late: more. Easy: perfect play ends the game in fewer than 14 moves, medium: in fewer than "
    "28, hard: later."
)
