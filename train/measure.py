"""How strong a network is, during training."""

from collections.abc import Callable

import jax

from .agent import Agent, mcts
from .arena import match
from .config import Config
from .oracles import Judgement, Solution, judge, moves_of
from .players import Player
from .roster import solution_of

Measure = Callable[[dict], dict[str, float]]


def make_measure(agent: Agent, config: Config) -> Measure:
    """`params -> {"strength/...": number}`; draws on nothing but the parameters and the seed.

    Where the game has an exact solution: the share of positions in which the move keeps the game
    value, and the lines lost. Else the score against pure Monte Carlo tree search.
    """
    evaluate, seed = config.evaluate, config.seed
    key = jax.random.fold_in(jax.random.key(seed), 1)
    solution = solution_of(config.game)
    if solution is not None:

        def hold(params):
            size = evaluate.num_openings
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
        return lambda params: {}
    opponent = mcts(agent.game, evaluate.mcts_simulations)

    def play(params):
        player = agent.searching(params)
        sizes = (evaluate.num_openings, evaluate.opening_plies)
        score = match(agent.game, player, opponent, key, *sizes)
        low, high = score.interval
        name = f"strength/{opponent.name}"
        return {name: score.mean, f"{name}/low": low, f"{name}/high": high}

    return play


def judged(player: Player, solution: Solution, seed: int, size: int) -> Judgement:
    """Holds a player against perfect play, in batches of `size`.

    A match's number of openings is a good size: the search is compiled for it already.
    """
    key = jax.random.fold_in(jax.random.key(seed), 2)
    return judge(solution, moves_of(player.act, solution, key, size))
