"""A trained run against another player, and against perfect play."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..games.connect_four import ConnectFour
from . import connect_four_positions, losing_moves, roster
from .arena import match, match_key
from .catalogue import solution_of
from .connect_four_oracle import Position, Solver
from .judgement import Judgement
from .measure import judged
from .players import Player
from .progress import Report, Silent, for_terminal
from .report import EXPLAIN_JUDGEMENTS, EXPLAIN_SCORES, judgement_rows, paragraphs, table
from .trained import Trained, load


@dataclass(frozen=True)
class Evaluation:
    """A match to be played.

    Attributes:
        path: of the run folder or network file.
        trained: what it holds.
        opponent: the other player.
        num_openings, opening_plies, seed: of the match.
        positions: of Connect Four, with their true scores, where the run folder holds some.
    """

    path: Path
    trained: Trained
    opponent: Player
    num_openings: int
    opening_plies: int
    seed: int
    positions: list[Position] | None


def prepare(
    path: Path,
    against: str,
    num_openings: int = 100,
    opening_plies: int = 2,
    simulations: int | None = None,
    seed: int = 0,
    reuse: bool = False,
    best: bool = False,
) -> Evaluation:
    """Loads both players; with `reuse` the run goes on from the tree of its last move.

    With `best` it plays with its best network so far, see `measure.challenge`.

    Raises:
        ValueError: if one of them does not exist, or they cannot play each other.
    """
    trained = load(path, simulations, num_openings, reuse, best)
    game = trained.agent.game
    if game.num_players != 2:
        raise ValueError(f"{trained.config.game} is not for two players, so there is no match")
    opponent = roster.player(against, trained.config.game, simulations, num_openings)
    known = isinstance(game, ConnectFour)
    positions = connect_four_positions.read(game, path) if known else None
    sizes = (num_openings, opening_plies, seed)
    return Evaluation(path, trained, opponent, *sizes, positions)


def execute(evaluation: Evaluation, as_json: bool = False) -> int:
    """Plays, and prints the score and, where the game is solved, how good every move is."""
    trained, config = evaluation.trained, evaluation.trained.config
    key = match_key(evaluation.seed)
    sizes = (evaluation.num_openings, evaluation.opening_plies)
    report = Silent() if as_json else for_terminal()
    plays = _connect_four(evaluation, report)
    with report.phase(f"compiling and playing against {evaluation.opponent.name}"):
        score = match(trained.agent.game, trained.searching, evaluation.opponent, key, *sizes)
    judgements = _judgements(evaluation)
    if as_json:
        numbers = score._asdict() | {"mean": score.mean, "interval": score.interval}
        more: dict[str, Any] = {h.replace(" ", "_"): j[0]._asdict() for h, j in judgements.items()}
        more |= {"search": dataclasses.asdict(config.search)}
        what = {
            "game": config.game,
            "player": str(evaluation.path),
            "planner": config.planner,
            "rounds": trained.num_rounds,
            "against": evaluation.opponent.name,
            "openings": evaluation.num_openings,
            "opening_plies": evaluation.opening_plies,
            "seed": evaluation.seed,
        }
        print(json.dumps(what | {"score": numbers} | more | losing_moves.numbers(plays)))
        return 0
    kept = ", its tree kept" if config.search.reuse else ""
    rows = [
        ["", f"{config.planner}, {config.search.num_simulations} simulations a move{kept}"],
        ["game", config.game],
        ["rounds of training", f"{trained.num_rounds:,}"],
        [f"against {evaluation.opponent.name}", str(score)],
        *judgement_rows(judgements),
        *losing_moves.opening_rows(plays),
    ]
    print(table(rows))
    where = {"openings": sizes[0], "plies": sizes[1]}
    explained = EXPLAIN_SCORES.format(games=score.games, distinct=score.distinct, **where)
    print("\n" + paragraphs(explained))
    solution = solution_of(config.game)
    if solution is not None:
        print("\n" + paragraphs(EXPLAIN_JUDGEMENTS.format(undecided=len(solution.undecided))))
    if any(found.losses for found in plays.values()):
        file = evaluation.path / connect_four_positions.NAME
        told = (
            f" The positions, with the true score of every move: {file}" if file.is_file() else ""
        )
        explained = paragraphs(losing_moves.EXPLAIN + told)
        print(f"\n{table(losing_moves.rows(plays))}\n\n{explained}")
    return 0


def _players(evaluation: Evaluation) -> dict[str, Player]:
    trained = evaluation.trained
    return {"network alone": trained.network, "with search": trained.searching}


def _judgements(evaluation: Evaluation) -> dict[str, list[Judgement]]:
    """How both players compare with the solution of the game, where there is one."""
    solution = solution_of(evaluation.trained.config.game)
    if solution is None:
        return {}
    sizes = (evaluation.seed, evaluation.num_openings)
    return {how: [judged(who, solution, *sizes)] for how, who in _players(evaluation).items()}


def _connect_four(evaluation: Evaluation, report: Report) -> dict[str, losing_moves.Play]:
    """What both players do in positions of Connect Four; nothing in other games."""
    game, positions = evaluation.trained.agent.game, evaluation.positions
    if not isinstance(game, ConnectFour):
        return {}
    if positions is None:
        positions = _solved(game, evaluation.path, report)
    sizes = (evaluation.seed, evaluation.num_openings)
    with report.phase("compiling and judging moves"):
        return {
            how: losing_moves.play(who, game, positions, *sizes)
            for how, who in _players(evaluation).items()
        }


def _solved(game: ConnectFour, path: Path, report: Report) -> list[Position]:
    """Positions with their true scores, kept in a run folder; says what stands in the way."""
    try:
        solver = Solver()
    except ValueError as error:
        print(f"duozero: losing moves are not counted: {error}", file=sys.stderr)
        return []
    with report.phase("solving positions, once"):
        positions = connect_four_positions.sample(game, solver)
    try:
        if path.is_dir():
            connect_four_positions.write(path, positions, solver.name)
    except OSError as error:
        print(f"duozero: the positions are not kept: {error}", file=sys.stderr)
    return positions
