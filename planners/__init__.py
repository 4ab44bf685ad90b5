"""What a search steps through, and the search. Imports `games` and `models`."""

from .alphazero import alphazero
from .base import Planner, Prediction
from .muzero import muzero
from .picture import svg
from .plan import Plan, Search
from .rollout import rollout
from .search import gumbel, puct, uct
from .variation import Move, line_text, principal_variation

__all__ = [
    "Move",
    "Plan",
    "Planner",
    "Prediction",
    "Search",
    "alphazero",
    "gumbel",
    "line_text",
    "muzero",
    "principal_variation",
    "puct",
    "rollout",
    "svg",
    "uct",
]
