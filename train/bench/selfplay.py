"""A run's own self-play: how fast it is here, on one core and on all, and where the time goes."""

import functools
from collections.abc import Callable
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ...games import Game
from ...models import Model
from ..build import (
    build_learner,
    build_mesh,
    build_model,
    build_planner,
    build_search,
)
from ..catalogue import game_named
from ..config import Config
from ..memory import check_memory
from ..report import table
from ..selfplay import Games, self_play, start
from .base import Bench, Numbers, Tell, of_run, paragraph, run_title
from .parts import moves_only, null_model, roots_only, rules_only
from .timing import compiled, in_turn, medians, on_one_core, rate, ratio, times

Array = jax.Array


def prepare(config: Config, repeats: int) -> Bench:
    """Self-play on all devices, on one, and part by part.

    Raises:
        ValueError: for settings that cannot be run here.
    """
    game = game_named(config.game)
    model = build_model(game, config)
    planner = build_planner(game, model, config)
    mesh = build_mesh(config.play.num_games, config.learn.batch_size)
    check_memory(planner, build_learner(planner, config, mesh), config)
    measure = functools.partial(_measure, config, game, model, repeats)
    return of_run("selfplay", config, repeats, measure, _as_text)


def _measure(config: Config, game: Game, model: Model, repeats: int, tell: Tell) -> Numbers:
    mesh = build_mesh(config.play.num_games, config.learn.batch_size)
    programs = _programs(config, game, model, mesh, tell)
    tell("timing")
    seconds = in_turn(programs, repeats)
    whole = {name: seconds[name] for name in ("all", "one") if name in seconds}
    positions = config.play.num_games * config.play.num_moves
    simulations = positions * config.search.num_simulations
    return {
        "devices": mesh.size,
        "seconds": seconds,
        "positions_per_second": {name: rate(positions, x) for name, x in whole.items()},
        "simulations_per_second": {name: rate(simulations, x) for name, x in whole.items()},
        "all_over_one": ratio(whole["one"], whole["all"]) if "one" in whole else None,
        "shares": shares({name: median(x) for name, x in seconds.items()}),
    }


def _programs(
    config: Config, game: Game, model: Model, mesh: Mesh, tell: Tell
) -> dict[str, Callable[[], Any]]:
    """Self-play and its parts, compiled; "one" is left out where there is one device only."""
    whole = {"all": (model, mesh), "one": (model, build_mesh(1)), "null": (null_model(game), mesh)}
    if mesh.size == 1:
        del whole["one"]
    programs = {}
    for name, (network, devices) in whole.items():
        tell(f"compiling self-play {_WHAT[name]}")
        params, games = _placed(config, game, network, devices)
        run = compiled(_play(config, game, network, devices), params, games).run
        alone = name == "one" and devices.devices.flat[0].platform == "cpu"
        programs[name] = functools.partial(_on_one_core, run) if alone else run
    params, games = _placed(config, game, model, mesh)
    for name, part, given in (
        ("network", _network(config, model), games.state.observation),
        ("rules", _rules(config, game), games.state),
    ):
        tell(f"compiling {_WHAT[name]}")
        programs[name] = compiled(_spread(part, mesh, P("data")), params, given).run
    return programs


def _on_one_core(run: Callable[[], Any]) -> Any:
    with on_one_core():
        return jax.block_until_ready(run())


def shares(seconds: dict[str, float]) -> dict[str, float]:
    """Where the time of self-play goes; the shares sum to 1, and the rest may be negative.

    Args:
        seconds: `all` of self-play, the same with a `null` network, and alone the `network` and
            the `rules`.
    """
    whole, null, network, rules = (seconds[name] for name in ("all", "null", "network", "rules"))
    parts = {
        "network": network,
        "rules": rules,
        "tree": null - rules,
        "the rest": whole - null - network,
    }
    return {name: part / whole for name, part in parts.items()}


def _placed(config: Config, game: Game, model: Model, mesh: Mesh) -> tuple[Any, Games]:
    """Parameters on every device, and fresh games spread over them."""
    params_key, games_key = jax.random.split(jax.random.key(config.seed))
    keys = jax.random.split(games_key, config.play.num_games)
    games = jax.jit(jax.vmap(lambda key: start(game, key, config.play)))(keys)
    params = jax.jit(model.init)(params_key)
    everywhere, apart = (NamedSharding(mesh, spec) for spec in (P(), P("data")))
    return jax.device_put(params, everywhere), jax.device_put(games, apart)


def _play(config: Config, game: Game, model: Model, mesh: Mesh) -> Callable:
    """Self-play as the learner runs it."""
    planner = build_planner(game, model, config)
    search = build_search(planner, config.search, explore=True)
    reuse = config.search.reuse

    def play(params, games):
        return self_play(game, search, params, jnp.int32(0), games, config.play, reuse)

    return _spread(play, mesh, (P("data"), P(None, "data")))


def _network(config: Config, model: Model) -> Callable:
    """The evaluations that self-play asks for, and nothing else: of the roots, and of the nodes."""
    num_moves, num_simulations = config.play.num_moves, config.search.num_simulations
    if config.planner == "alphazero":
        return roots_only(model, num_moves * (1 + num_simulations))
    roots, nodes = roots_only(model, num_moves), moves_only(model, num_moves * num_simulations)
    return lambda params, observation: (roots(params, observation), nodes(params, observation))


def _rules(config: Config, game: Game) -> Callable:
    """The moves that self-play makes by the rules, played or searched, and nothing else."""
    in_tree = config.search.num_simulations if config.planner == "alphazero" else 0
    run = rules_only(game, config.play.num_moves * (1 + in_tree))
    return lambda params, state: run(state)


def _spread(part: Callable, mesh: Mesh, out_specs: Any) -> Callable:
    """`part(params, games)` with the games spread over the devices."""
    in_specs = (P(), P("data"))
    return jax.shard_map(part, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=False)


_WHAT = {
    "all": "on all devices",
    "one": "on one device",
    "null": "with a null network",
    "network": "the network alone",
    "rules": "the rules alone",
}
_EXPLAIN = (
    "{} made in turn [lowest..highest; of the ratio, of the pairs]. One "
    "core: one device whose threads are held there, which costs some; a process that was never "
    "given more is a tenth faster. Network: its evaluations, alone. Rules: their moves, alone. "
    "Tree: self-play with a network that costs nothing, less the rules. The rest: observations, "
    "and what the network costs inside a search beyond what it does alone (negative if less)."
)


def _as_text(config: Config, repeats: int, found: Numbers) -> str:
    play, search = config.play, config.search
    title = (
        f"{run_title(config)}; {play.num_games} games of {play.num_moves} moves, "
        f"{search.num_simulations} simulations a move ({search.policy})"
    )
    rows = [["", *(_columns(found["devices"])[name] for name in found["positions_per_second"])]]
    for what in ("positions_per_second", "simulations_per_second"):
        rows.append([what.replace("_per_second", "/s"), *map(str, found[what].values())])
    if found["all_over_one"] is not None:
        for row, cell in zip(rows, ("ratio", found["all_over_one"].text(times), ""), strict=True):
            row.append(cell)
    parts = [["share of the time", *found["shares"]]]
    parts += [["", *(f"{share:.1%}" for share in found["shares"].values())]]
    explained = paragraph(_EXPLAIN.format(medians(repeats)))
    return "\n\n".join([paragraph(title), table(rows), table(parts), explained])


def _columns(num_devices: int) -> dict[str, str]:
    one = "one core" if jax.devices()[0].platform == "cpu" else "one device"
    return {"all": f"{num_devices} device{'s' * (num_devices > 1)}", "one": one}
