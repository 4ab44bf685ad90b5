"""The parts of a comparison, each a function from trained networks to numbers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from ...models import num_parameters
from .. import players
from ..agent import mcts, named
from ..catalogue import solution_of
from ..folder import read_rows
from ..oracles import Solution
from ..walks import walk
from . import cards as cards_lib
from . import curves as curves_lib
from . import strength as strength_lib
from .contenders import CROSS, Contender
from .disagreements import disagreements
from .measuring import ALONE, GAPS, SEARCH, Measuring
from .strength import Measured
from .tournament import Entrant, tournament
from .truth import valuer

SCALED, SCALED_OPENINGS = 300, 60
"""Positions, and openings over all seeds, that every number of simulations is tried on, at most."""
RATED_OPENINGS = 120
"""Openings over all seeds between two who are rated, at most; everybody meets everybody."""


def training(measuring: Measuring) -> dict[str, Any]:
    """What the training of each planner took, seed by seed."""
    found = {}
    for contender in measuring.contenders[:2]:
        rows = [read_rows(path)[-1] for path in measuring.runs[contender.config.planner]]
        calls = [curves_lib.network_calls(contender.config, row) for row in rows]
        found[contender.name] = {
            "seconds": [row["seconds"] for row in rows],
            "positions": rows[0]["positions"],
            "games": [row["games"] for row in rows],
            "updates": rows[0]["updates"],
            "network calls": calls[0],
            "rounds": rows[0]["round"],
            "simulations": contender.config.search.num_simulations,
            "parameters": num_parameters(contender.params[0]),
        }
    found["device"] = f"{len(jax.devices())} x {jax.devices()[0].device_kind}"
    found["version"] = f"duozero {version('duozero')}, JAX {jax.__version__}"
    return found


def strength(measuring: Measuring) -> dict[str, Any]:
    """Every contender after training, with search and without, by ply where truth is known."""
    found: dict[str, Any] = {
        "truth": measuring.truth.what if measuring.truth else None,
        "players": [],
    }
    solution, measured = solution_of(measuring.game), {}
    for contender in measuring.contenders:
        for how, simulations in ((ALONE, 0), (SEARCH, None)):
            if how == ALONE and contender.name == CROSS:
                continue  # The same network as MuZero's.
            row: dict[str, Any] = {"name": contender.name, "how": how}
            score = measuring.ladder(contender, simulations)
            row["ladder"] = score.estimate
            measured[contender.name, how, "ladder"] = score
            if measuring.truth is not None:
                measuring.pulse()
                kept, plies = strength_lib.by_ply(contender, measuring.truth, simulations)
                row |= {"kept": kept.estimate, "plies": plies}
                measured[contender.name, how, "kept"] = kept
            if solution is not None:
                row["lines"] = _lines(contender, solution, simulations)
            found["players"].append(row)
    measure = "kept" if measuring.truth is not None else "ladder"
    found["measure"] = measure
    found["gaps"] = {
        name: measured[one, SEARCH, measure].above(measured[other, SEARCH, measure])
        for name, (one, other) in GAPS.items()
    }
    found["gained by search"] = {
        name: measured[name, SEARCH, measure].above(measured[name, ALONE, measure])
        for name in ("AlphaZero", "MuZero")
    }
    return found


def _lines(
    contender: Contender, solution: Solution, simulations: int | None
) -> list[dict[str, int]]:
    """Lost lines of play, seed by seed."""
    judged = strength_lib.judgements(contender, solution, simulations)
    return [
        {"lost": one.lost_lines, "of": one.num_lines, "unbeatable": one.unbeatable}
        for one in judged
    ]


def curves(measuring: Measuring) -> dict[str, Any]:
    """Both planners along their training, and after equal expense."""
    both = [_curve(measuring, contender) for contender in measuring.contenders[:2]]
    return {
        "curves": [
            {
                "name": curve.name,
                "spent": {name: x.mean(axis=0) for name, x in curve.spent.items()},
                "strength": [measured.estimate for measured in curve.measured],
            }
            for curve in both
        ],
        "even": curves_lib.even(*both),
    }


def _curve(measuring: Measuring, contender: Contender) -> curves_lib.Curve:
    kept = measuring.along(contender)
    folders = measuring.runs[contender.config.planner]
    rows = [curves_lib.spent(contender.config, read_rows(path), list(kept)) for path in folders]
    measured = [measuring.main(one) for one in kept.values()]
    spent = {name: np.stack([row[name] for row in rows]) for name in curves_lib.BUDGETS}
    return curves_lib.Curve(contender.name, spent, measured)


def ratings(measuring: Measuring) -> dict[str, Any]:
    """All agents, some of them half-trained or without search, and baselines, on one scale."""
    rungs = [mcts(measuring.contenders[0].game, rung) for rung in measuring.budget.rungs]
    entrants = [Entrant(player.name, [player]) for player in rungs]
    entrants.append(Entrant("random", [players.random_player()]))
    solution = solution_of(measuring.game)
    if solution is not None:
        entrants.append(Entrant("perfect", [players.perfect_player(solution)]))
    for contender in measuring.contenders:
        seeds = range(len(contender.params))
        entrants.append(Entrant(contender.name, [contender.player(s) for s in seeds]))
        if contender.name != CROSS:
            alone = [named(contender.player(s, 0), ALONE) for s in seeds]
            entrants.append(Entrant(f"{contender.name}, {ALONE}", alone))
            entrants += _half_trained(measuring, contender)
    sizes = (_share(measuring, RATED_OPENINGS), measuring.opening_plies)
    game = measuring.contenders[0].game
    return tournament(game, entrants, rungs[0].name, *sizes, measuring.pulse)._asdict()


def _half_trained(measuring: Measuring, contender: Contender) -> list[Entrant]:
    """The planner as it was at the middle of what was kept of its training."""
    kept = measuring.along(contender)
    if len(kept) < 2:
        return []
    number = list(kept)[(len(kept) - 1) // 2]
    half, seeds = kept[number], range(len(contender.params))
    name = f"{contender.name} after {number} of {list(kept)[-1]} rounds"
    return [Entrant(name, [half.player(seed) for seed in seeds])]


def _share(measuring: Measuring, openings: int) -> int:
    """Each seed's part of so many openings; no more than those of the other matches."""
    budget = measuring.budget
    return min(budget.num_openings, max(1, openings // len(budget.seeds)))


def scaling(measuring: Measuring) -> dict[str, Any]:
    """Every contender with every number of simulations; where search stops helping."""
    truth = measuring.truth and measuring.truth.some(SCALED)
    openings = _share(measuring, SCALED_OPENINGS)
    budget = replace(measuring.budget, num_openings=openings)
    some = replace(measuring, truth=truth, budget=budget)
    found = [
        measuring.keep(contender.name, partial(_scaled, some, contender))
        for contender in measuring.contenders
    ]
    numbers = {"simulations": budget.simulations, "contenders": found, "openings": openings}
    return numbers | {"truth": truth.what if truth else None}


def _scaled(measuring: Measuring, contender: Contender) -> dict[str, Any]:
    """One of them."""
    simulations = measuring.budget.simulations
    scores = [measuring.ladder(contender, number) for number in simulations]
    kept = [measuring.main(contender, number) for number in simulations if measuring.truth]
    main = kept or scores
    return {
        "name": contender.name,
        "ladder": [score.estimate for score in scores],
        "kept": [one.estimate for one in kept],
        **search_row(list(simulations), main),
        "gained": main[-1].above(main[0]),
    }


def search_row(simulations: list[int], measured: list[Measured]) -> dict[str, Any]:
    """With how many simulations it is strongest, the fewest of them, and which are weaker for sure.

    Where there is no interval, whatever is weaker counts as told.
    """
    at = int(np.argmax([one.estimate.mean for one in measured]))
    apart = [measured[at].above(one) for one in measured]
    weaker = [
        number
        for number, gap in zip(simulations, apart, strict=True)
        if gap.low > 0 or (not gap.known and gap.mean > 0)
    ]
    return {"best": simulations[at], "weaker": weaker}


def cards(measuring: Measuring) -> dict[str, Any]:
    """The learned model's report card."""
    solution = solution_of(measuring.game)
    perfect = None if solution is None else players.perfect_player(solution)
    sizes = (measuring.budget.num_walks, measuring.budget.depth)
    known = (perfect, valuer(measuring.game))
    return cards_lib.cards(measuring.contenders[1], *sizes, *known, measuring.pulse)


def sides(measuring: Measuring) -> dict[str, Any]:
    """Positions in which the two planners disagree."""
    if measuring.truth is None:
        size = measuring.budget.num_openings
        act, key = players.random_player(), jax.random.key(7)
        walks = walk(measuring.contenders[0].game, act, key, 8 * size, 0)
        rows = np.asarray(walks.state.observation)[0].reshape(8 * size, -1)
        different = np.unique(rows, axis=0, return_index=True)[1]
        state = jax.tree.map(lambda x: np.asarray(x)[0, different], walks.state)
        what = f"{len(different):,} positions of random play"
    else:
        state, what = measuring.truth.state, measuring.truth.what
    num = measuring.budget.num_boards
    measuring.pulse()
    found, differ = disagreements(measuring.contenders[:2], state, num, measuring.truth)
    return {
        "positions": found,
        "differ": differ,
        "what": what,
        "seed": measuring.budget.seeds[0],
    }


# What takes longest stands last.
PARTS: dict[str, tuple[str, Callable[[Measuring], dict[str, Any]]]] = {
    "training": ("reading what training took", training),
    "strength": ("measuring strength", strength),
    "curves": ("measuring strength along training", curves),
    "cards": ("unrolling the learned model", cards),
    "sides": ("looking where the planners disagree", sides),
    "ratings": ("playing the tournament", ratings),
    "scaling": ("searching more and less", scaling),
}
