"""How much a comparison may cost. Does not import JAX."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What is trained and measured.

    Attributes:
        seeds: each is trained by both planners.
        snapshots: networks kept along each training, the last one included.
        num_openings: of every match, each from both seats.
        rungs: playouts of the pure tree searches that are met; the first anchors the ratings.
        simulations: that every final network is tried with; 0 is the network alone.
        num_walks: positions from which the learned model is unrolled, of each kind of play.
        depth: moves that it is unrolled for.
        num_boards: positions of disagreement that are shown.
    """

    seeds: tuple[int, ...]
    snapshots: int
    num_openings: int
    rungs: tuple[int, ...]
    simulations: tuple[int, ...]
    num_walks: int
    depth: int
    num_boards: int


DOUBLING = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800)
BUDGETS = {
    "quick": Budget((0,), 3, 50, (50, 200), (0, 2, 8, 32, 128), 128, 10, 3),
    "standard": Budget((0, 1, 2, 3, 4), 6, 100, (50, 400), DOUBLING, 512, 10, 4),
    "thorough": Budget(tuple(range(10)), 12, 200, (50, 400, 3200), DOUBLING, 1024, 10, 8),
}
