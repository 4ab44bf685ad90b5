"""What a search steps through, and the search. Imports `games` and `models`."""

from .alphazero import alphazero
from .base import Planner, Prediction
from .muzero import muzero
from .rollout import rollout
from .search import Plan, Search, gumbel, puct

__all__ = [
    "Plan",
    "Planner",
    "Prediction",
    "Search",
    "alphazero",
    "gumbel",
    "muzero",
    "puct",
    "rollout",
]
