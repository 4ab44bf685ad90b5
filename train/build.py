"""From settings to the functions that they stand for."""

import jax
import optax

from .. import planners
from ..games import Game
from ..models import Model, cnn, computing_in, consistent, mlp, resnet
from ..planners import Planner, Search
from .config import Config, ModelConfig, SearchConfig
from .learner import Learner, make_learner
from .replay import ReturnFn
from .targets import lambda_return, n_step_return


def build_model(game: Game, config: Config) -> Model:
    """The network of a run."""
    model = _network(game, config.model)
    # Under both planners, so that each takes the parameters of the other.
    return consistent(game, model) if config.learn.consistency_weight else model


def _network(game: Game, config: ModelConfig) -> Model:
    if config.kind == "mlp":
        model = mlp(game, config.width, config.depth, config.num_bins)
    elif config.kind == "cnn":
        model = cnn(game, num_bins=config.num_bins)
    else:
        model = resnet(game, config.num_blocks, config.num_channels, config.num_bins)
    return model if config.dtype == "float32" else computing_in(config.dtype, model)


def build_planner(game: Game, model: Model, config: Config) -> Planner:
    """The planner of a run: the only place where the two part ways."""
    if config.planner == "alphazero":
        return planners.alphazero(game, model)
    constant = -1.0 if game.num_players == 2 else 1.0
    discount = constant if config.learn.discount == "constant" else None
    return planners.muzero(game, model, config.learn.num_unroll_steps, discount)


def build_search(planner: Planner, config: SearchConfig, explore: bool = False) -> Search:
    """The search of a run; root noise only where it is meant to `explore`."""
    common = {
        "num_simulations": config.num_simulations,
        "normalize": config.normalize,
        "max_depth": config.max_depth or None,
        "reuse": config.reuse,
    }
    if config.policy == "uct":
        return planners.uct(planner, c_uct=config.c_uct, **common)
    common["engine"] = config.engine
    if config.policy == "gumbel":
        return planners.gumbel(
            planner,
            max_num_considered_actions=config.max_num_considered_actions,
            value_scale=config.value_scale,
            **common,
        )
    return planners.puct(
        planner,
        c_puct=config.c_puct,
        dirichlet_fraction=config.dirichlet_fraction if explore else 0.0,
        dirichlet_alpha=config.dirichlet_alpha,
        **common,
    )


def build_optimizer(config: Config) -> optax.GradientTransformation:
    """AdamW under a clipped gradient; its weight decay is the loss's L2."""
    learn = config.learn
    steps = config.num_rounds * learn.num_updates
    rate = learn.learning_rate
    if learn.schedule == "cosine":
        rate = optax.cosine_decay_schedule(learn.learning_rate, steps, alpha=0.02)
    return optax.chain(
        optax.clip_by_global_norm(learn.max_gradient_norm),
        optax.adamw(rate, weight_decay=learn.weight_decay),
    )


def build_returns(config: Config) -> ReturnFn:
    """The value targets of a run."""
    learn = config.learn
    if learn.n_step:
        return lambda moves: n_step_return(moves, learn.n_step)
    return lambda moves: lambda_return(moves, learn.lambda_)


def build_learner(
    planner: Planner,
    config: Config,
    mesh: jax.sharding.Mesh,
    scan_updates: bool | None = None,
    num_seeds: int = 0,
) -> Learner:
    """The training loop of a run, or with `num_seeds` of as many at once.

    The updates of a round are one program (`scan_updates`) where that is faster: but on a CPU the
    gradient of a convolution inside a loop is many times slower (`duozero bench train`).
    """
    if scan_updates is None:
        on_cpu = mesh.devices.flat[0].platform == "cpu"
        scan_updates = config.model.kind == "mlp" or not on_cpu
    return make_learner(
        planner,
        build_search(planner, config.search, explore=True),
        build_optimizer(config),
        build_returns(config),
        config,
        mesh,
        num_seeds,
        scan_updates,
    )


def build_mesh(*sizes: int) -> jax.sharding.Mesh:
    """The devices of this process, over which games are spread: as many as divide all `sizes`."""
    devices = jax.devices()
    while any(size % len(devices) for size in sizes):
        devices.pop()
    auto = (jax.sharding.AxisType.Auto,)
    return jax.make_mesh((len(devices),), ("data",), axis_types=auto, devices=devices)
