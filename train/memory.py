"""How much memory a run will take, before it takes it."""

import contextlib
import os
from pathlib import Path
from typing import Any

import jax

from ..models import Params
from ..planners import Planner, rollout
from .config import Config
from .learner import Learner


def fits_memory(planner: Planner, learner: Learner, config: Config, num_seeds: int) -> bool:
    """Whether this machine can hold as many runs at once; `learner` is that of a single one."""
    try:
        check_memory(planner, learner, config, num_seeds)
    except ValueError:
        return False
    return True


def check_memory(planner: Planner, learner: Learner, config: Config, num_seeds: int = 1) -> None:
    """Refuses a run that this machine cannot hold; each part is sized before the next is traced.

    Args:
        planner, learner, config: of a single run.
        num_seeds: how many such runs are trained at once; they are evaluated one by one.

    Raises:
        ValueError: with what is needed and what there is.
    """
    key = jax.eval_shape(lambda: jax.random.key(0))
    play, search, learn = config.play, config.search, config.learn
    evaluate = config.evaluate
    try:
        params = jax.eval_shape(planner.init, key)
        # Adam keeps two more, and there is the average.
        refuse_beyond_memory(4 * num_seeds * num_bytes(params), "a network")
        tree = num_seeds * tree_bytes(planner, params, play.num_games, search.num_nodes)
        refuse_beyond_memory(tree, "a search tree")
        matches = tree_bytes(planner, params, evaluate.num_openings, search.num_nodes)
        playouts = rollout(planner.game)
        refuse_beyond_memory(
            max(
                matches, tree_bytes(playouts, {}, evaluate.num_openings, evaluate.mcts_simulations)
            ),
            "an evaluation",
        )
        position = num_seeds * (
            num_bytes(_observation(planner)) + 4 * planner.game.num_actions + 32
        )
        refuse_beyond_memory(position * play.num_games * learn.replay_moves, "a replay")
        batch = position * learn.batch_size * (planner.num_unroll_steps + 1)
        state = num_seeds * num_bytes(jax.eval_shape(learner.init, key))
    except (OverflowError, TypeError, MemoryError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"sizes beyond what can be computed with: {reason}") from error
    refuse_beyond_memory(2 * state + tree + 2 * batch, "a network, replay and search tree")


def _observation(planner: Planner):
    """The shape of one observation."""
    return jax.eval_shape(planner.game.init, jax.eval_shape(lambda: jax.random.key(0))).observation


def tree_bytes(planner: Planner, params: Any, num_games: int, num_nodes: int) -> int:
    """An estimate of what a search of `num_games` at once keeps in its tree."""
    key = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 1))
    state = jax.eval_shape(jax.vmap(planner.game.init), key)
    embedding = jax.eval_shape(planner.root_fn, params, key, state).embedding
    # Per action: a child, its prior, visits, value, reward and discount.
    node = num_bytes(embedding) + 24 * planner.game.num_actions + 32
    return node * num_games * (num_nodes + 1)


def check_search(planner: Planner, num_simulations: int, num_games: int) -> None:
    """Refuses a search that this machine cannot hold.

    Raises:
        ValueError: with what is needed and what there is.
    """
    needed = tree_bytes(planner, shapes(planner), num_games, num_simulations)
    refuse_beyond_memory(needed, f"a search of {num_simulations} simulations")


def shapes(planner: Planner) -> Params:
    """The parameters of a planner, as shapes."""
    return jax.eval_shape(planner.init, jax.eval_shape(lambda: jax.random.key(0)))


def num_bytes(tree: Any) -> int:
    """Bytes of all arrays of `tree`, real or abstract."""
    return sum(x.size * max(x.dtype.itemsize, 1) for x in jax.tree.leaves(tree))


def available_bytes() -> int:
    """Memory of the accelerator, or what is free on this machine."""
    if stats := jax.devices()[0].memory_stats():
        return stats["bytes_limit"]
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(x for x in lines if x.startswith("MemAvailable")).split()[1])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_beyond_memory(needed: int, what: str) -> None:
    """Refuses what this machine cannot hold.

    Raises:
        ValueError: with what is needed and what there is.
    """
    available = available_bytes()
    if needed > available:
        raise ValueError(
            f"{what} of this size would take {needed / 2**30:,.1f} GiB of memory; "
            f"{available / 2**30:,.1f} GiB are available"
        )
