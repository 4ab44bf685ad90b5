"""A trained run against another player, and against perfect play."""

import json
from dataclasses import dataclass
from pathlib import Path

import jax

from . import roster
from .arena import match
from .measure import judged
from .oracles import Judgement
from .players import Player
from .progress import Silent, for_terminal
from .report import EXPLAIN_JUDGEMENTS, EXPLAIN_SCORES, judgement_rows, table


@dataclass(frozen=True)
class Evaluation:
    """A match to be played.

    Attributes:
        trained: the run.
        opponent: the other player.
        num_openings, opening_plies, seed: of the match.
    """

    trained: roster.Trained
    opponent: Player
    num_openings: int
    opening_plies: int
    seed: int


def prepare(
    directory: Path,
    against: str,
    num_openings: int = 100,
    opening_plies: int = 2,
    simulations: int | None = None,
    seed: int = 0,
    reuse: bool = False,
) -> Evaluation:
    """Loads both players; with `reuse` the run goes on from the tree of its last move.

    Raises:
        ValueError: if one of them does not exist, or they cannot play each other.
    """
    trained = roster.load(directory, simulations, num_openings, reuse)
    game = trained.agent.game
    if game.num_players != 2:
        raise ValueError(f"{trained.config.game} is not for two players, so there is no match")
    opponent = roster.player(against, trained.config.game, simulations, num_openings)
    return Evaluation(trained, opponent, num_openings, opening_plies, seed)


def execute(evaluation: Evaluation, as_json: bool = False) -> int:
    """Plays, and prints the score and, where the game is solved, how good every move is."""
    trained, config = evaluation.trained, evaluation.trained.config
    key = jax.random.key(evaluation.seed)
    sizes = (evaluation.num_openings, evaluation.opening_plies)
    report = Silent() if as_json else for_terminal()
    with report.phase(f"compiling and playing against {evaluation.opponent.name}"):
        score = match(trained.agent.game, trained.searching, evaluation.opponent, key, *sizes)
    solution = roster.solution_of(config.game)
    judgements: dict[str, list[Judgement]] = {}
    if solution is not None:
        for how, player in (("network alone", trained.network), ("with search", trained.searching)):
            judgement = judged(player, solution, evaluation.seed, evaluation.num_openings)
            judgements[how] = [judgement]
    if as_json:
        numbers = score._asdict() | {"mean": score.mean, "interval": score.interval}
        more = {how.replace(" ", "_"): j[0]._asdict() for how, j in judgements.items()}
        print(json.dumps({"score": numbers} | more))
        return 0
    rows = [
        ["", f"{config.planner}, {config.search.num_simulations} simulations a move"],
        ["game", config.game],
        ["rounds of training", f"{trained.num_rounds:,}"],
        [f"against {evaluation.opponent.name}", str(score)],
        *judgement_rows(judgements),
    ]
    print(table(rows))
    where = {"openings": sizes[0], "plies": sizes[1]}
    print("\n" + EXPLAIN_SCORES.format(games=score.games, distinct=score.distinct, **where))
    if solution is not None:
        print("\n" + EXPLAIN_JUDGEMENTS.format(undecided=len(solution.undecided)))
    return 0
