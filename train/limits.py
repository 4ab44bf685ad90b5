"""What values settings may have. Does not import JAX."""

import math
from typing import Any

from .overlay import as_dict, flatten, overlay, spoken

POSITIVE = {
    *("num_rounds", "checkpoint_every", "width", "depth", "num_blocks", "num_channels"),
    *("num_simulations", "max_num_considered_actions", "num_games", "num_moves", "num_updates"),
    *("batch_size", "learning_rate", "max_gradient_norm", "replay_moves", "num_unroll_steps"),
    *("value_scale", "c_puct", "c_uct", "dirichlet_alpha", "num_openings", "mcts_simulations"),
    "kl_target",
}
FRACTIONS = {"random_moves", "ema_decay", "lambda_", "dirichlet_fraction", "reanalyse", "end_share"}
# These are counted out while compiling, which takes as long as they are many.
MOST: dict[str, int] = dict.fromkeys(
    ("depth", "num_blocks", "num_unroll_steps", "n_step", "opening_plies"), 1_000
)


def check(config: Any) -> Any:
    """The same settings, if they can be run.

    Raises:
        ValueError: naming the first setting that cannot, and what is allowed.
    """
    config = overlay(config, as_dict(config))  # Of the types that they must have.
    for section, name, value in flatten(config):
        label = f"{section}.{spoken(name)}" if section else spoken(name)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{label} = {value}; a finite number is needed")
        if isinstance(value, float) and value and not 1e-30 < abs(value) < 1e30:
            raise ValueError(f"{label} = {value}; it must be 0, or between 1e-30 and 1e30 in size")
        most = MOST[name] if name in MOST else 2**31 - 1
        if isinstance(value, int) and value > most:
            raise ValueError(f"{label} = {value}; it must be at most {most}")
        if name in POSITIVE and not value > 0:
            raise ValueError(f"{label} = {value}; it must be greater than 0")
        if name in FRACTIONS and not 0 <= value <= 1:
            raise ValueError(f"{label} = {value}; it must be from 0 to 1")
        if isinstance(value, int | float) and value < 0:
            raise ValueError(f"{label} = {value}; it must not be negative")
    if config.learn.ema_decay == 1:
        raise ValueError("learn.ema_decay = 1.0; it must be below 1, or nothing is ever learned")
    if config.model.num_bins == 1:
        raise ValueError(
            "model.num_bins = 1; a categorical value needs at least 2 (0 for a scalar)"
        )
    if config.play.num_moves > config.learn.replay_moves:
        raise ValueError(
            f"play.num_moves = {config.play.num_moves} does not fit "
            f"learn.replay_moves = {config.learn.replay_moves}"
        )
    learned, search = config.planner == "muzero", config.search
    if search.reuse and (learned or search.engine == "mctx"):
        who = "muzero, whose root is represented anew" if learned else "mctx, which cannot"
        raise ValueError(f"search.reuse = true with {who}; it needs alphazero and our own engine")
    if search.policy == "uct" and search.engine == "mctx":
        raise ValueError("search.policy = 'uct' with mctx, which lacks it; our own engine has it")
    if learned and config.play.num_moves <= config.learn.num_unroll_steps:
        raise ValueError(
            f"play.num_moves = {config.play.num_moves}; it must be greater than "
            f"learn.num_unroll_steps = {config.learn.num_unroll_steps}"
        )
    return config
