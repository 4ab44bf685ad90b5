"""The best network of a run so far: the last that was shown to beat the best before it."""

from typing import NamedTuple

import numpy as np

from ..models import Params
from .agent import Agent
from .config import Config
from .folder import Row
from .measure import duel, scored


class Best(NamedTuple):
    """A network kept beside the newest.

    Attributes:
        params: its averaged parameters.
        num_rounds: `[]` int32, rounds of training behind it.
    """

    params: Params
    num_rounds: np.ndarray


def challenge(
    best: Best | None, params: Params, num_rounds: int, agent: Agent, config: Config
) -> tuple[Best | None, Row]:
    """Lets a newer network meet the best, and says which is the best now, and how they scored.

    The newer one takes its place only if the 95 % interval of its score lies above one half: a
    single lucky score is not enough, and what cannot be told apart stays. The first to come is
    the best; where a game is not for two, none is.
    """
    if agent.game.num_players != 2:
        return None, {}
    newer = Best(params, np.array(num_rounds, np.int32))
    if best is None:
        return newer, {"best/round": num_rounds}
    score = duel(agent, config, agent.searching(params), agent.searching(best.params))
    best = newer if score.interval[0] > 0.5 else best
    return best, {"best/round": int(best.num_rounds)} | scored("best/score", score)
