"""How strong a network is, during training."""

from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from ..games.connect_four import ConnectFour
from ..models import Params
from . import connect_four_positions, losing_moves
from .agent import Agent, mcts
from .arena import match
from .catalogue import solution_of
from .checkpoint import Best
from .config import Config
from .folder import Row
from .judgement import Judgement, judge, moves_of
from .oracles import Solution
from .players import Player
from .score import Score

Measure = Callable[[dict, list[Row]], Row]
LADDER = "strength/mcts:"


def make_measure(agent: Agent, config: Config, directory: Path) -> Measure:
    """`(params, rows) -> {"strength/...": number}`, where `rows` is what was measured before.

    Where the game has an exact solution: the share of positions in which the move keeps the game
    value, and the lines lost. Else the score against pure Monte Carlo tree search, at the rung of
    the ladder that `rows` lead to. For Connect Four also the share of moves that lose game value,
    where the solver is installed or the run folder holds positions. Otherwise it draws on nothing
    but the parameters and the seed.

    Raises:
        ValueError: if the positions in the run folder are damaged.
    """
    evaluate, seed = config.evaluate, config.seed
    solution = solution_of(config.game)
    size = evaluate.num_openings
    if solution is not None:

        def hold(params, rows):
            del rows
            with_search = judged(agent.searching(params), solution, seed, size)
            alone = judged(agent.network(params), solution, seed, size)
            return {
                "strength/kept": with_search.kept,
                "strength/kept_without_search": alone.kept,
                "strength/lost_lines": with_search.lost_lines,
                "strength/lines": with_search.num_lines,
            }

        return hold
    if agent.game.num_players != 2:
        return lambda params, rows: {}

    if isinstance(agent.game, ConnectFour):  # A damaged file is refused before anything begins.
        connect_four_positions.read(agent.game, directory)

    def climb(params, rows):
        opponent = mcts(agent.game, rung(rows, evaluate.mcts_simulations))
        score = duel(agent, config, agent.searching(params), opponent)
        return scored(f"strength/{opponent.name}", score) | _losing(params)

    def _losing(params):
        if not isinstance(agent.game, ConnectFour):
            return {}
        positions = connect_four_positions.of_run(agent.game, directory)
        if not positions:
            return {}
        found = {}
        players = ("", agent.searching(params)), ("_without_search", agent.network(params))
        for name, player in players:
            losses = losing_moves.play(player, agent.game, positions, seed, size).losses
            name = f"strength/losing_moves{name}"
            found |= {f"{name}/{kind}": loss.share for kind, loss in losses.items()}
            found[name] = found.pop(f"{name}/all")
        return found

    return climb


def rung(rows: list[Row], first: int) -> int:
    """Simulations of the pure tree search to be met next: twice as many once it is beaten.

    Beaten is what scores less than half, with certainty: the 95 % interval lies above.
    """
    for row in reversed(rows):
        for name in row:
            if name.startswith(LADDER) and name.endswith("/low"):
                simulations = int(name.removeprefix(LADDER).removesuffix("/low"))
                return 2 * simulations if row[name] > 0.5 else simulations
    return first


def challenge(
    best: Best | None, params: Params, num_rounds: int, agent: Agent, config: Config
) -> tuple[Best | None, Row]:
    """Lets a newer network meet the best so far; returns which is the best now, and the score.

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


def duel(agent: Agent, config: Config, player: Player, opponent: Player) -> Score:
    """A match of the size that the settings ask for; always from the same openings."""
    evaluate = config.evaluate
    key = jax.random.fold_in(jax.random.key(config.seed), 1)
    return match(agent.game, player, opponent, key, evaluate.num_openings, evaluate.opening_plies)


def scored(name: str, score: Score) -> Row:
    """A score and its interval as measurements."""
    low, high = score.interval
    return {name: score.mean, f"{name}/low": low, f"{name}/high": high}


def judged(player: Player, solution: Solution, seed: int, size: int) -> Judgement:
    """Holds a player against perfect play, in batches of `size`.

    A match's number of openings is a good size: the search is compiled for it already.
    """
    key = jax.random.fold_in(jax.random.key(seed), 2)
    return judge(solution, moves_of(player.act, solution, key, size))
