"""What can be won from random openings at all: `python tests/forced_wins.py [RUN [PLAYER]]`.

Says in how many openings of gomoku_6x6_4, two random moves long, whoever moves next wins by force
within four moves, by exhaustive search (two minutes); with a run, also how it scores against a
player from those openings and from the others, by seat.
"""

import functools
import sys
from pathlib import Path

import jax
import numpy as np
from duozero.train import arena, roster
from duozero.train.catalogue import game_named
from duozero.train.process import start_jax
from duozero.train.trained import load

GAME, SIDE, LENGTH, MOST = "gomoku_6x6_4", 6, 4, 4
NUM_OPENINGS, SIMULATIONS = 200, 64
BOARD = (1 << SIDE * SIDE) - 1


def all_lines():
    """Every row of `LENGTH` cells, as a mask."""
    found = []
    for row in range(SIDE):
        for column in range(SIDE):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(LENGTH)]
                if all(0 <= r < SIDE and 0 <= c < SIDE for r, c in cells):
                    found.append(sum(1 << SIDE * r + c for r, c in cells))
    return found


LINES = all_lines()


def bits(mask):
    while mask:
        yield mask & -mask
        mask &= mask - 1


@functools.lru_cache(maxsize=1_000_000)
def wins_at(own, other):
    """The cells that complete a line of `own` at once."""
    found = 0
    for line in LINES:
        missing = line & ~own
        if not line & other and missing.bit_count() == 1:
            found |= missing
    return found


@functools.lru_cache(maxsize=1_000_000)
def attack(own, other, moves):
    """Whether `own`, to move, wins with at most so many moves, whatever `other` does."""
    if wins_at(own, other):
        return True
    if moves <= 1:
        return False
    must = wins_at(other, own)
    if must:
        return must.bit_count() == 1 and defend(own | must, other, moves - 1)
    tries = bits(BOARD & ~(own | other))
    if moves == 2:  # Only two threats at once win with the move after.
        return any(wins_at(own | cell, other).bit_count() > 1 for cell in tries)
    return any(defend(own | cell, other, moves - 1) for cell in tries)


def defend(own, other, moves):
    """The same with `other` to move."""
    if wins_at(other, own):
        return False
    threats = wins_at(own, other)
    if threats:
        return threats.bit_count() > 1 or attack(own, other | threats, moves)
    # Whoever cannot win against a pass cannot win against a move.
    if moves <= 1 or not attack(own, other, moves):
        return False
    return all(attack(own, other | cell, moves) for cell in bits(BOARD & ~(own | other)))


def main(run=None, against="mcts:1000"):
    start_jax()
    game, key = game_named(GAME), arena.match_key(0)
    opening_key = jax.random.split(key)[0]  # As in a match.
    opening = arena._rules(game)[0](jax.random.split(opening_key, NUM_OPENINGS), 2)
    boards, colours = (
        np.asarray(opening.board).reshape(NUM_OPENINGS, -1),
        np.asarray(opening.colour),
    )
    mask = lambda board, colour: sum(1 << int(i) for i in np.flatnonzero(board == colour))  # noqa: E731
    lost = np.array(
        [attack(mask(b, c), mask(b, 1 - c), MOST) for b, c in zip(boards, colours, strict=True)]
    )
    print(f"{lost.sum()} of {NUM_OPENINGS} openings are won by force within {MOST} moves")
    if run is None:
        return
    player = load(Path(run), SIMULATIONS, NUM_OPENINGS).searching
    sizes = (key, NUM_OPENINGS, 2)
    outcome, _ = arena._outcomes(game, player, roster.player(against, GAME), *sizes)
    seat = np.asarray(opening.current_player)
    for name, gained in (
        ("next", outcome[seat, np.arange(NUM_OPENINGS)]),
        ("second", outcome[1 - seat, np.arange(NUM_OPENINGS)]),
    ):
        for what, where in (("won by force", lost), ("the others", ~lost), ("all", lost | True)):
            score = 100 * (gained[where].mean() + 1) / 2
            print(f"{run} moves {name}, {what}: {score:.1f} % of {where.sum()} games")


if __name__ == "__main__":
    main(*sys.argv[1:])
