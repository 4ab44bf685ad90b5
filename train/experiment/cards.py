"""The learned model's errors by depth, over seeds, for several kinds of play."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ...planners import Planner, Search
from ..build import build_search
from ..config import SearchConfig
from ..players import Player, random_player
from ..report_card import Errors, report_card
from ..walks import Walks, walk
from .contenders import Contender, agent_of, exploring
from .intervals import Estimate, error, estimate

Array = jax.Array
SELF_PLAY = "self-play"
SHARES = ("end", "turn", "illegal")
"""Errors that are probabilities."""
Card = dict[str, list[Estimate | None]]
"""By the name of an error its mean at every depth, `[D + 1]`; None where nothing is compared."""


def cards(
    contender: Contender,
    num_walks: int,
    depth: int,
    perfect: Player | None = None,
    value: Callable[[Any], np.ndarray] | None = None,
    pulse: Callable[[], None] = lambda: None,
) -> dict[str, Card]:
    """The report cards of MuZero's networks in self-play, random play and perfect play.

    A model can be good only where it has been.

    Args:
        contender: MuZero.
        num_walks: positions of each kind of play, for each seed.
        depth: moves that the model is unrolled for.
        perfect: plays perfectly; None leaves that kind of play out.
        value: the true value of positions; None where it is not known.
        pulse: called before each network is looked at; may end all by raising.

    Raises:
        ValueError: if the contender has no learned model.
    """
    if contender.config.planner != "muzero":
        raise ValueError(f"only muzero has a learned model, {contender.config.planner} has none")
    game = contender.game

    def self_play(seed: int, key: Array) -> Walks:
        own = functools.partial(exploring, contender.config, contender.params[seed])
        return walk(
            game, own(1.0), key, num_walks, depth, explore=contender.config.play, settled=own(0.0)
        )

    kinds: dict[str, Callable[[int, Array], Walks]] = {
        SELF_PLAY: self_play,
        "random play": lambda seed, key: walk(game, random_player(), key, num_walks, depth),
    }
    if perfect is not None:
        kinds["perfect play"] = lambda seed, key: walk(game, perfect, key, num_walks, depth)
    found: dict[str, list[Errors]] = {kind: [] for kind in kinds}
    for seed in range(len(contender.params)):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), 6), (len(kinds), 2))
        for (kind, walks_of), (walk_key, search_key) in zip(kinds.items(), keys, strict=True):
            pulse()
            walks = walks_of(seed, walk_key)
            found[kind].append(errors(contender, seed, walks, search_key, value))
    return {kind: over_seeds(by_seed) for kind, by_seed in found.items()}


def errors(
    contender: Contender,
    seed: int,
    walks: Walks,
    key: Array,
    value: Callable[[Any], np.ndarray] | None = None,
) -> Errors:
    """The errors of one network along real games; see `report_card`."""
    truth = None if value is None else value(walks.state)
    planner = agent_of(contender.config).planner
    search_of = _search_of(replace(contender.config.search, reuse=False))
    return report_card(planner, contender.params[seed], walks, search_of, key, truth)


@functools.lru_cache(maxsize=8)
def _search_of(search: SearchConfig) -> Callable[[Planner], Search]:
    """One for the same settings, so that what is compiled for it is compiled once."""
    return lambda planner: build_search(planner, search)


def over_seeds(found: list[Errors]) -> Card:
    """Means with intervals of what was measured for each seed."""
    rows = [errors._asdict() for errors in found]
    depths = range(next(iter(rows[0].values())).shape[1])
    return {
        name: [_mean([row[name][:, depth] for row in rows], name in SHARES) for depth in depths]
        for name in rows[0]
    }


def _mean(by_seed: list[np.ndarray], share: bool) -> Estimate | None:
    by_seed = [x for x in by_seed if not np.isnan(x).all()]
    if not by_seed:
        return None
    return estimate(by_seed, share=True) if share else error(by_seed)
