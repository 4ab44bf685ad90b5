"""The search against mctx: the same network, positions and machine, in one run."""
# pyright: reportCallIssue=false

import functools
import itertools
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from ... import planners
from ...games import State, value_range
from ...planners import Planner, engine, policies, scores
from ...planners.draws import split
from ...planners.rollout import random_action
from ...planners.search import Engine
from ..catalogue import game_named
from ..memory import check_search
from ..report import table
from .base import Bench, Numbers, Tell, paragraph
from .parts import moves_only, network_named, roots_only
from .timing import compiled, in_turn, medians, rate, ratio, short, times

Array = jax.Array
ENGINES: tuple[Engine, ...] = ("duozero", "mctx")
POLICIES = {"gumbel": planners.gumbel, "puct": planners.puct}
ROOT_PLIES = 4
"""Random moves before each root."""


class Settings(NamedTuple):
    """What is searched.

    Attributes:
        game, network: by name.
        max_depth: deepest node; None for no limit.
        repeats: measurements of each search.
        seed: of the network, the positions and the searches.
    """

    game: str
    network: str
    max_depth: int | None
    repeats: int
    seed: int


class Cell(NamedTuple):
    """One search to be timed, `batch` games at once."""

    planner: str
    policy: str
    batch: int
    num_simulations: int


def prepare(
    settings: Settings,
    planner_names: Sequence[str],
    policy_names: Sequence[str],
    batches: Sequence[int],
    simulations: Sequence[int],
) -> Bench:
    """Checks that all searches can be run, one for each combination.

    Raises:
        ValueError: for a game or network that does not exist, or a tree beyond this machine.
    """
    game = game_named(settings.game)
    model = network_named(settings.network, game)
    built = {name: getattr(planners, name)(game, model) for name in planner_names}
    cells = {}
    for key in itertools.product(planner_names, policy_names, batches, simulations):
        cell = Cell(*key)
        planner = built[cell.planner]
        name = f"{cell.planner}, {cell.policy}, {cell.batch} x {cell.num_simulations}"
        try:
            check_search(planner, cell.num_simulations, cell.batch)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        cells[name] = functools.partial(_measure, settings, cell, planner)
    return Bench("search", settings._asdict(), cells, functools.partial(_as_text, settings))


def _measure(settings: Settings, cell: Cell, planner: Planner, tell: Tell) -> Numbers:
    """Compiles both engines, times them in turn, and compares their visits."""
    args = _roots(planner, cell.batch, settings.seed)
    programs = {}
    for name in ENGINES:
        tell(f"compiling {name}")
        programs[name] = compiled(_search(cell, planner, settings.max_depth, name), *args)
    runs = {name: program.run for name, program in programs.items()}
    if settings.network != "null":
        tell("compiling the network")
        runs["network"] = compiled(_network(cell, planner), args[0], args[2].observation).run
    tell("comparing visit counts")
    alike = compiled(_with_noise_of_mctx(cell, planner, settings.max_depth), *args).run()
    visits = np.asarray(programs["mctx"].run()[-1])
    tell("timing")
    seconds = in_turn(runs, settings.repeats)
    forward = seconds.pop("network", None)
    if forward is not None:
        forward = [x / cell.num_simulations for x in forward]
    nodes = cell.batch * cell.num_simulations
    return cell._asdict() | {
        "seconds": seconds,
        "forward_seconds": forward,
        "simulations_per_second": {name: rate(nodes, x) for name, x in seconds.items()},
        "ratio": ratio(seconds["mctx"], seconds["duozero"]),
        "overhead": {
            name: median(x) / (cell.num_simulations * median(forward)) if forward else None
            for name, x in seconds.items()
        },
        "temp_bytes": {name: program.temp_bytes for name, program in programs.items()},
        "compile_seconds": {name: program.compile_seconds for name, program in programs.items()},
        "same_visit_counts": float((np.asarray(alike) == visits).all(axis=-1).mean()),
    }


def _roots(planner: Planner, batch: int, seed: int) -> tuple[Any, Array, State]:
    """Parameters, keys `[B]` and positions `[B, ...]` a few random moves into the game."""
    key = jax.random.key(seed)
    params_key, noise_key, state_key, move_key, search_key = jax.random.split(key, 5)

    def position(state_key, move_key):
        def move(state, key):
            action = random_action(key, state.legal_action_mask)
            return planner.game.step(state, action), None

        state = planner.game.init(state_key)
        return jax.lax.scan(move, state, jax.random.split(move_key, ROOT_PLIES))[0]

    keys = (jax.random.split(key, batch) for key in (state_key, move_key))
    state = jax.jit(jax.vmap(position))(*keys)
    params = jax.jit(planner.init)(params_key)
    # An untrained network is indifferent, and what it searches no test of anything.
    leaves, shape = jax.tree.flatten(params)
    noise_keys = jax.random.split(noise_key, len(leaves))
    noisy = [
        x + 0.1 * jax.random.normal(key, x.shape) for x, key in zip(leaves, noise_keys, strict=True)
    ]
    return jax.tree.unflatten(shape, noisy), jax.random.split(search_key, batch), state


def _search(cell: Cell, planner: Planner, max_depth: int | None, name: Engine) -> Callable:
    """What self-play asks for: exploring, and of the outcome all but the tree."""
    search = POLICIES[cell.policy](planner, cell.num_simulations, max_depth=max_depth, engine=name)

    def answer(params, keys, state):
        plan = search(params, keys, state, 1.0)
        return plan.action, plan.action_weights, plan.search_value, plan.qvalues, plan.visit_counts

    return answer


def _network(cell: Cell, planner: Planner) -> Callable:
    """As many evaluations as the search makes: of positions, or of moves in a learned model."""
    assert planner.model is not None
    alone = moves_only if cell.planner == "muzero" else roots_only
    return alone(planner.model, cell.num_simulations)


def _with_noise_of_mctx(cell: Cell, planner: Planner, max_depth: int | None) -> Callable:
    """Our engine with the randomness that `_search` of mctx draws: its visit counts `[B, A]`."""
    low, high = value_range(planner.game)
    mixed = functools.partial(
        scores.completed_by_mix_value, value_scale=0.1 / (high - low), rescale_values=False
    )
    ranged = functools.partial(scores.by_range, value_range=(low, high), fill_fn=scores.node_value)

    def search(params, keys, state):
        *_, root_keys, search_keys = split(keys, 3 if cell.policy == "gumbel" else 4)
        root = planner.root_fn(params, root_keys, state)
        where = (planner.recurrent_fn, cell.num_simulations)
        common = {"invalid_actions": ~state.legal_action_mask, "max_depth": max_depth}
        if cell.policy == "gumbel":
            key, noise_key = jax.random.split(search_keys[0])
            noise = jax.random.gumbel(noise_key, root.prior_logits.shape)
            tree = policies.gumbel_policy(
                *(params, key, root, *where), gumbel=noise, qtransform=mixed, **common
            ).tree
        else:
            key = jax.random.split(search_keys[0], 3)[2]
            # Through probabilities and back, as mctx takes them: the last bit decides ties.
            logits = jnp.asarray(root.prior_logits)
            logits = policies.mix_noise(logits, jnp.zeros_like(logits), 0.0)
            root = mctx.RootFnOutput(
                prior_logits=logits, value=root.value, embedding=root.embedding
            )
            score_fn = functools.partial(scores.puct_score, qtransform=ranged)
            tree = engine.search(
                *(params, key, root, *where),
                root_score_fn=score_fn,
                interior_score_fn=score_fn,
                keyed=True,
                **common,
            )
        return tree.summary().visit_counts

    return search


def _as_text(settings: Settings, found: list[Numbers]) -> str:
    """Two tables for each planner: how fast, and at what cost."""
    parts = []
    for name, cells in itertools.groupby(found, lambda cell: cell["planner"]):
        cells = list(cells)
        weights = "" if settings.network == "null" else ", of random weights"
        parts.append(f"{name} on {settings.game}, network: {settings.network}{weights}")
        parts.append(table([["policy", "batch x N", *_SPEEDS], *map(_speeds, cells)]))
        parts.append(table([["policy", "batch x N", *_COSTS], *map(_costs, cells)]))
    return "\n\n".join([*parts, paragraph(_EXPLAIN.format(medians(settings.repeats)))])


_SPEEDS = ["ours, simulations/s", "mctx", "ours / mctx", "same"]
_COSTS = ["overhead, ours", "mctx", "MB, ours", "mctx", "compiled in s, ours", "mctx"]
_EXPLAIN = (
    "{} made in turn [lowest..highest; of the ratio, of "
    "the pairs]. Searches run on one device, the first (on a CPU that is one core, but for the "
    "network's matrix products). N: simulations a move. Same: the share of searches that visit "
    "alike under the same noise. Overhead: time of a search / (N x time of the network alone). "
    "MB: what XLA holds besides arguments and answers."
)


def _speeds(cell: Numbers) -> list[str]:
    speed = cell["simulations_per_second"]
    return [*_label(cell), str(speed["duozero"]), str(speed["mctx"])] + [
        cell["ratio"].text(times),
        f"{cell['same_visit_counts']:.1%}",
    ]


def _costs(cell: Numbers) -> list[str]:
    row = _label(cell)
    for what, unit in (("overhead", 1.0), ("temp_bytes", 1e6), ("compile_seconds", 1.0)):
        row += ["-" if x is None else short(x / unit) for x in cell[what].values()]
    return row


def _label(cell: Numbers) -> list[str]:
    return [cell["policy"], f"{cell['batch']} x {cell['num_simulations']}"]
