"""AlphaZero and MuZero trained alike, each held against others and against the other."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax

from . import folder, roster, run
from .agent import named
from .arena import Score, match, match_key
from .catalogue import game_named, solution_of
from .config import Config, differences
from .measure import judged
from .memory import check_search
from .oracles import Judgement
from .players import Player
from .prepared import Run
from .progress import Report
from .report import EXPLAIN_JUDGEMENTS, EXPLAIN_SCORES, judgement_rows, minutes, paragraphs, table
from .run import TrainedRun

OPPONENTS = ("random", "greedy-centre", "mcts:200", "perfect")
NAMES = {"alphazero": "AlphaZero", "muzero": "MuZero"}


@dataclass(frozen=True)
class Comparison:
    """Two runs to train, checked, and how they will be held against others.

    Attributes:
        runs: AlphaZero's and MuZero's.
        directory: holds both, and the report.
        num_openings, opening_plies: of every match.
    """

    runs: list[Run]
    directory: Path
    num_openings: int
    opening_plies: int


@dataclass
class Outcome:
    """What a comparison has found, filled in step by step.

    Attributes:
        trained: both runs.
        scores: by opponent, each planner's.
        judgements: by "network alone" and "with search", each planner's; empty without a solution.
        head_to_head: AlphaZero's score against MuZero.
        seconds: of every phase.
    """

    trained: list[TrainedRun]
    scores: dict[str, list[Score]] = field(default_factory=dict)
    judgements: dict[str, list[Judgement]] = field(default_factory=dict)
    head_to_head: Score | None = None
    seconds: dict[str, float] = field(default_factory=dict)


def prepare(
    configs: list[Config], directory: Path, resume: bool, num_openings: int, opening_plies: int
) -> Comparison:
    """Checks both runs, and touches nothing.

    Raises:
        ValueError: for settings that cannot be run, or a folder that cannot be used.
    """
    if not resume:
        folder.refuse_existing(directory, "add --resume to go on, or choose another with --run")
    elif not any((directory / config.planner).is_dir() for config in configs):
        raise ValueError(f"there is no comparison to resume in {directory}")
    if game_named(configs[0].game).num_players != 2:
        raise ValueError(f"{configs[0].game} is not for two players; a comparison is of matches")
    places = [directory / config.planner for config in configs]
    runs = [
        run.prepare(config, place, resume and place.exists())
        for config, place in zip(configs, places, strict=True)
    ]
    for prepared in runs:
        planner, search = prepared.agent.planner, prepared.config.search
        check_search(planner, search.num_simulations, num_openings)
    return Comparison(runs, directory, num_openings, opening_plies)


def execute(comparison: Comparison, report: Report, should_stop: Callable[[], bool]) -> str | None:
    """Trains both, measures both, and stores and returns the report; None if interrupted."""
    start = time.monotonic()
    for prepared in comparison.runs:  # Both, so that what is resumed needs no settings repeated.
        folder.write_config(prepared.directory, prepared.config)
    trained = []
    for prepared in comparison.runs:
        trained.append(run.execute(prepared, report, should_stop))
        if not trained[-1].finished:
            return None
    outcome = Outcome(trained)
    for one in trained:
        outcome.seconds[f"training {one.run.config.planner}"] = one.rows[-1]["seconds"]
    report.begin("both are measured", 0, 1)
    _measure(comparison, outcome, report)
    outcome.seconds["in all, this time"] = time.monotonic() - start
    text = as_text(comparison, outcome)
    numbers = json.dumps(as_numbers(comparison, outcome), indent=1)
    folder.write(comparison.directory / "report.json", numbers + "\n")
    folder.write(comparison.directory / "report.md", text)
    return text


def _measure(comparison: Comparison, outcome: Outcome, report: Report) -> None:
    """All matches, and where the game is solved, all positions."""
    config = comparison.runs[0].config
    game, solution = comparison.runs[0].agent.game, solution_of(config.game)
    players = [_players(trained) for trained in outcome.trained]
    names = [name for name in OPPONENTS if name != "perfect" or solution is not None]
    opponents = {name: roster.player(name, config.game) for name in names}

    def timed(name: str, measure: Callable[[], Any]) -> Any:
        start = time.monotonic()
        with report.phase(name):
            result = measure()
        outcome.seconds[name] = time.monotonic() - start
        return result

    def meet(first: Player, second: Player) -> Score:
        key = match_key(config.seed)
        return match(game, first, second, key, comparison.num_openings, comparison.opening_plies)

    if solution is not None:
        for at, how in enumerate(("network alone", "with search")):
            outcome.judgements[how] = timed(
                f"every position, {how}",
                lambda at=at: [
                    judged(pair[at], solution, config.seed, comparison.num_openings)
                    for pair in players
                ],
            )
    for name, opponent in opponents.items():
        outcome.scores[name] = timed(
            f"matches against {name}",
            lambda opponent=opponent: [meet(pair[1], opponent) for pair in players],
        )
    outcome.head_to_head = timed(
        "AlphaZero against MuZero", lambda: meet(players[0][1], players[1][1])
    )


def _players(trained: TrainedRun) -> tuple[Player, Player]:
    """The network alone, and with search."""
    agent, params = trained.run.agent, jax.device_get(trained.state.average)
    name = NAMES[trained.run.config.planner]
    return agent.network(params), named(agent.searching(params), name)


def as_text(comparison: Comparison, outcome: Outcome) -> str:
    """The report for people, in Markdown."""
    config, numbers = comparison.runs[0].config, [run.summary(t) for t in outcome.trained]
    rows = [["", *(NAMES[n["planner"]] for n in numbers)]]
    rows += [["training time", *(minutes(n["seconds"]) for n in numbers)]]
    for name in ("rounds", "positions", "updates", "parameters"):
        rows += [[name, *(f"{n[name]:,}" for n in numbers)]]
    simulations = [t.run.config.search.num_simulations for t in outcome.trained]
    rows += [["simulations a move", *map(str, simulations)]]
    rows += [[f"against {name}", *map(str, scores)] for name, scores in outcome.scores.items()]
    rows += judgement_rows(outcome.judgements)
    score, solution = outcome.scores["random"][0], solution_of(config.game)
    notes = [
        f"AlphaZero against MuZero: {outcome.head_to_head}.",
        EXPLAIN_SCORES.format(
            games=score.games,
            distinct=score.distinct,
            openings=comparison.num_openings,
            plies=comparison.opening_plies,
        ),
    ]
    if solution is not None:
        notes.append(EXPLAIN_JUDGEMENTS.format(undecided=len(solution.undecided)))
    else:
        notes.append(f"No exact solution of {config.game} is known here, so none is compared with.")
    seconds = ", ".join(f"{name} {value:.1f} s" for name, value in outcome.seconds.items())
    device = f"{numbers[0]['devices']} x {numbers[0]['device']}"
    notes.append(f"Time on {device}: {seconds}.")
    unlike = differences(*(t.run.config for t in outcome.trained))[1:]
    notes.append(f"Settings that differ, MuZero's first: {'; '.join(unlike) or 'none'}.")
    title = f"# AlphaZero and MuZero on {config.game}, seed {config.seed}"
    return "\n\n".join([title, table(rows), paragraphs(*notes)]) + "\n"


def as_numbers(comparison: Comparison, outcome: Outcome) -> dict[str, Any]:
    """The report for programs."""
    numbers: dict[str, Any] = {
        "game": comparison.runs[0].config.game,
        "seed": comparison.runs[0].config.seed,
        "num_openings": comparison.num_openings,
        "opening_plies": comparison.opening_plies,
        "seconds": outcome.seconds,
        "alphazero_against_muzero": _score(outcome.head_to_head),
    }
    for at, trained in enumerate(outcome.trained):
        numbers[trained.run.config.planner] = run.summary(trained) | {
            "scores": {name: _score(scores[at]) for name, scores in outcome.scores.items()},
            "judgements": {
                how.replace(" ", "_"): both[at]._asdict()
                for how, both in outcome.judgements.items()
            },
            "config": asdict(trained.run.config),
        }
    return numbers


def _score(score: Score | None) -> dict[str, Any]:
    assert score is not None
    return score._asdict() | {"mean": score.mean, "interval": score.interval}
