"""How much a comparison may cost. Does not import JAX."""

from dataclasses import dataclass, fields

MOST = 2**31 - 1
MAY_BE_0 = ("seeds", "simulations", "num_boards")


@dataclass(frozen=True)
class Budget:
    """What is trained and measured; a ValueError where it cannot be.

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

    def __post_init__(self):
        for name, kind in ((field.name, field.type) for field in fields(self)):
            value, least = getattr(self, name), 0 if name in MAY_BE_0 else 1
            numbers = value if isinstance(value, tuple) else (value,)
            fit = numbers and all(type(x) is int and least <= x <= MOST for x in numbers)
            several = kind is not int
            if isinstance(value, tuple) != several or not fit or len({*numbers}) < len(numbers):
                what = "several whole numbers, none twice," if several else "a whole number"
                raise ValueError(f"budget.{name} = {value!r}; {what} from {least} to {MOST}")


DOUBLING = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 800)
BUDGETS = {
    "quick": Budget((0,), 3, 50, (50, 200), (0, 2, 8, 32, 128), 128, 10, 3),
    "standard": Budget((0, 1, 2, 3, 4), 6, 100, (50, 400), DOUBLING, 512, 10, 4),
    "thorough": Budget(tuple(range(10)), 12, 200, (50, 400, 3200), DOUBLING, 1024, 10, 8),
}
