"""Batched tree search with any planner, by three policies: Gumbel, PUCT and UCT.

All run on our engine; Gumbel and PUCT on mctx as well, as the reference.
"""
# mctx's records are of chex, of whose fields and methods pyright knows nothing.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import functools
from collections.abc import Callable
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp

from ..games.base import value_range
from . import policies, reference, scores
from .base import Planner, mask_logits
from .draws import legal_dirichlet, sample_action, split
from .plan import Search, make_plan, policy_value
from .reuse import below_position
from .tree import Tree

Array = jax.Array
Normalize = Literal["range", "minmax", "none"]
Engine = Literal["duozero", "mctx"]


def gumbel(
    planner: Planner,
    num_simulations: int = 32,
    *,
    max_num_considered_actions: int = 16,
    value_scale: float = 0.1,
    normalize: Normalize = "range",
    max_depth: int | None = None,
    reuse: bool = False,
    engine: Engine = "duozero",
) -> Search:
    """Gumbel MuZero's search (https://openreview.net/forum?id=bERaNdoegnO).

    Args:
        planner: what the tree steps through.
        num_simulations: nodes added to the tree per move.
        max_num_considered_actions: how many root actions sequential halving starts from.
        value_scale: weight of the values against the prior. mctx's 0.1 belongs to "minmax", which
            always stretches them to all of [0, 1]; with "range" the paper's 1 (its c_scale) gets
            more out of a network that has learned.
        normalize: "range" scales values to [0, 1] by the game's declared range, "minmax" by what
            is in the tree (with a learned model that turns noise into certainty wherever all
            moves are equal), "none" leaves them.
        max_depth: deepest node; None for no limit.
        reuse: go on from the tree of the search before, made with the same settings; sequential
            halving counts new visits only.
        engine: "mctx" draws its noise per batch, from the first key.

    Raises:
        ValueError: for what is not allowed, and `reuse` with a planner or an engine that cannot.
    """
    _check(num_simulations, max_depth, normalize=normalize, engine=engine)
    recall = _recall(planner, num_simulations, reuse, engine)
    low, high = value_range(planner.game) if normalize == "range" else (0.0, 1.0)
    # A shift of all values changes no score, so scaling them by the range is enough for both.
    settings: dict[str, Any] = {
        "value_scale": value_scale / (high - low),
        "rescale_values": normalize == "minmax",
    }

    def search(params, keys, state, temperature: Array | float = 0.0, tree=None):
        keys, root_keys, search_keys = split(keys, 3)
        root = planner.root_fn(params, root_keys, state)
        scale = jnp.broadcast_to(temperature, keys.shape)[:, None]
        common: dict[str, Any] = {
            "num_simulations": num_simulations,
            "invalid_actions": ~state.legal_action_mask,
            "max_depth": max_depth,
            "max_num_considered_actions": max_num_considered_actions,
        }
        where = (params, search_keys[0], root, planner.recurrent_fn)
        if engine == "mctx":
            output = reference.gumbel_policy(
                *where, gumbel_scale=scale, settings=settings, **common
            )
        else:
            draw = jax.vmap(lambda key: jax.random.gumbel(key, root.prior_logits.shape[1:]))
            output = policies.gumbel_policy(
                *where,
                gumbel=scale * draw(keys),
                qtransform=functools.partial(scores.completed_by_mix_value, **settings),
                **common,
                **recall(tree, state),
            )
        plan = make_plan(output.action, output.action_weights, output.tree, root)
        return plan._replace(search_value=policy_value(plan, root))

    return search


def puct(
    planner: Planner,
    num_simulations: int = 32,
    *,
    c_puct: float = 1.25,
    dirichlet_fraction: float = 0.0,
    dirichlet_alpha: float = 0.3,
    normalize: Normalize = "range",
    max_depth: int | None = None,
    reuse: bool = False,
    engine: Engine = "duozero",
) -> Search:
    """PUCT, the search of AlphaZero and MuZero (https://arxiv.org/abs/1911.08265, appendix B).

    Args:
        planner: what the tree steps through.
        num_simulations: nodes added to the tree per move.
        c_puct: weight of the prior against the values, which slowly grows with the visits.
        dirichlet_fraction: share of noise in the root's prior, over legal moves only.
        dirichlet_alpha: concentration of that noise.
        normalize: "range" brings values to [0, 1] by the game's declared range, "minmax" by the
            node's value and its children's; "none" leaves them. An unvisited move counts as its
            node does so far, for "minmax" as the worst, for "none" as 0.
        max_depth: deepest node; None for no limit.
        reuse: go on from the tree of the search before, made with the same settings.
        engine: "mctx" breaks ties at random.

    Raises:
        ValueError: for what is not allowed, and `reuse` with a planner or an engine that cannot.
    """
    _check(num_simulations, max_depth, normalize=normalize, engine=engine)
    qtransform = _qtransform(planner, normalize)
    score_fn = functools.partial(scores.puct_score, c_init=c_puct, qtransform=qtransform)
    policy = functools.partial(policies.visit_policy, score_fn=score_fn)
    if engine == "mctx":
        policy = functools.partial(
            reference.puct_policy, planner=planner, normalize=normalize, pb_c_init=c_puct
        )
    recall = _recall(planner, num_simulations, reuse, engine)
    noise = (dirichlet_fraction, dirichlet_alpha)
    return _by_visits(planner, num_simulations, policy, max_depth, recall, noise)


def uct(
    planner: Planner,
    num_simulations: int = 32,
    *,
    c_uct: float = 2.0**0.5,
    normalize: Normalize = "range",
    max_depth: int | None = None,
    reuse: bool = False,
) -> Search:
    """UCT: UCB1 at every node, without a prior (https://doi.org/10.1007/11871842_29).

    Args:
        planner: what the tree steps through.
        num_simulations: nodes added to the tree per move; a node's moves are all tried once
            before one is tried again.
        c_uct: weight of the exploration; the square root of 2 is made for values in [0, 1].
        normalize, max_depth, reuse: as for `puct`.

    Raises:
        ValueError: for what is not allowed, and `reuse` with a planner that cannot.
    """
    _check(num_simulations, max_depth, normalize=normalize)
    score_fn = functools.partial(
        scores.ucb1_score, c=c_uct, qtransform=_qtransform(planner, normalize)
    )
    policy = functools.partial(policies.visit_policy, score_fn=score_fn)
    recall = _recall(planner, num_simulations, reuse)
    return _by_visits(planner, num_simulations, policy, max_depth, recall)


Recall = Callable[[Tree | None, Any], dict[str, Any]]
"""`(tree, state) -> settings` of a policy that goes on from an earlier tree."""


def _by_visits(
    planner: Planner,
    num_simulations: int,
    policy: Callable[..., policies.PolicyOutput],
    max_depth: int | None,
    recall: Recall,
    noise: tuple[float, float] = (0.0, 1.0),
) -> Search:
    """A search that plays by its visits; `noise` is the share and concentration of Dirichlet's."""
    fraction, alpha = noise

    def search(params, keys, state, temperature: Array | float = 0.0, tree=None):
        action_keys, noise_keys, root_keys, search_keys = split(keys, 4)
        root = planner.root_fn(params, root_keys, state)
        if fraction:
            drawn = legal_dirichlet(noise_keys, alpha, state.legal_action_mask)
            logits = policies.mix_noise(root.prior_logits, drawn, fraction)
            root = root.replace(prior_logits=mask_logits(logits, state.legal_action_mask))
        output = policy(
            *(params, search_keys[0], root, planner.recurrent_fn, num_simulations),
            invalid_actions=~state.legal_action_mask,
            max_depth=max_depth,
            **recall(tree, state),
        )
        action = sample_action(action_keys, output.action_weights, temperature)
        return make_plan(action, output.action_weights, output.tree, root)

    return search


def _check(num_simulations: int, max_depth: int | None, **chosen: str) -> None:
    """Refuses what no search can do; JAX would say so late, or not at all."""
    for name, value in {"num_simulations": num_simulations, "max_depth": max_depth}.items():
        if value is not None and value < 1:
            raise ValueError(f"{name}={value}; it must be at least 1")
    for name, kind in {"normalize": Normalize, "engine": Engine}.items():
        if name in chosen and chosen[name] not in get_args(kind):
            allowed = ", ".join(get_args(kind))
            raise ValueError(f"{name}={chosen[name]!r}; allowed: {allowed}")


def _recall(
    planner: Planner, num_simulations: int, reuse: bool, engine: Engine = "duozero"
) -> Recall:
    """What a search keeps of the one before: as many nodes as it adds, at most."""
    position_fn = planner.position_fn
    if not reuse:
        return lambda tree, state: {}
    if position_fn is None or engine == "mctx":
        what = "a learned model" if position_fn is None else "mctx"
        raise ValueError(f"{what} cannot reuse a tree; the rules and our engine can")

    def recall(tree, state):
        if tree is None:
            return {"reserve": num_simulations}
        kept = below_position(tree, state, position_fn, num_simulations + 1)
        return {"reserve": num_simulations, "kept": kept}

    return recall


def _qtransform(planner: Planner, normalize: Normalize) -> scores.QTransform:
    if normalize == "range":
        limits = value_range(planner.game)
        return functools.partial(scores.by_range, value_range=limits, fill_fn=scores.node_value)
    return {"minmax": scores.by_parent_and_siblings, "none": scores.raw_qvalues}[normalize]
