"""Batched tree search with any planner, by two policies: Gumbel and PUCT.

Each runs on our engine, or on mctx as the reference.
"""
# mctx's records are of chex, of whose fields and methods pyright knows nothing.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false

import functools
from typing import Any, Literal, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import mctx

from ..games.base import value_range
from ..models.base import Params
from . import policies, scores
from .base import Planner, mask_logits

Array = jax.Array
Normalize = Literal["range", "minmax", "none"]
Engine = Literal["duozero", "mctx"]


class Plan(NamedTuple):
    """What a search found at its roots (`B` games, `A` actions).

    Attributes:
        action: `[B]` int32, the move to play.
        action_weights: `[B, A]`, the improved policy: what the network should have said.
        search_value: `[B]`, for the player to move.
        visit_counts: `[B, A]`.
        qvalues: `[B, A]`, for the player to move; 0 where an action was not visited.
        prior: `[B, A]` probabilities the search started from, noise included.
    """

    action: Array
    action_weights: Array
    search_value: Array
    visit_counts: Array
    qvalues: Array
    prior: Array


class Search(Protocol):
    """`(params, keys [B], state [B, ...], temperature [B] or scalar) -> Plan`.

    Each game has a key of its own. `temperature` scales the exploration of the move: at 0 the
    best move is played; at 1 it is drawn as in self-play.
    """

    def __call__(
        self, params: Params, keys: Array, state: Any, temperature: Array | float = 0.0
    ) -> Plan: ...


def gumbel(
    planner: Planner,
    num_simulations: int = 32,
    *,
    max_num_considered_actions: int = 16,
    value_scale: float = 0.1,
    normalize: Normalize = "range",
    max_depth: int | None = None,
    engine: Engine = "duozero",
) -> Search:
    """Gumbel MuZero's search (https://openreview.net/forum?id=bERaNdoegnO).

    Args:
        planner: what the tree steps through.
        num_simulations: nodes added to the tree per move.
        max_num_considered_actions: how many root actions sequential halving starts from.
        value_scale: weight of the values against the prior.
        normalize: "range" scales values to [0, 1] by the game's declared range, "minmax" by what
            is in the tree (with a learned model that turns noise into certainty wherever all
            moves are equal), "none" leaves them.
        max_depth: deepest node; None for no limit.
        engine: "mctx" draws its noise per batch, from the first key.
    """
    low, high = value_range(planner.game) if normalize == "range" else (0.0, 1.0)
    # A shift of all values changes no score, so scaling them by the range is enough for both.
    settings: dict[str, Any] = {
        "value_scale": value_scale / (high - low),
        "rescale_values": normalize == "minmax",
    }

    def search(params, keys, state, temperature: Array | float = 0.0):
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
            qtransform = functools.partial(mctx.qtransform_completed_by_mix_value, **settings)
            output = mctx.gumbel_muzero_policy(
                *where, qtransform=qtransform, gumbel_scale=scale, **common
            )
            return _plan(output.action, output.action_weights, output.search_tree.summary(), root)
        noise = jax.vmap(lambda key: jax.random.gumbel(key, root.prior_logits.shape[1:]))(keys)
        qtransform = functools.partial(scores.completed_by_mix_value, **settings)
        output = policies.gumbel_policy(
            *where, gumbel=scale * noise, qtransform=qtransform, **common
        )
        return _plan(output.action, output.action_weights, output.tree.summary(), root)

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
        engine: "mctx" breaks ties at random.
    """
    qtransform, theirs = {
        "range": (
            functools.partial(
                scores.by_range, value_range=value_range(planner.game), fill_fn=scores.node_value
            ),
            functools.partial(_mctx_by_range, value_range=value_range(planner.game)),
        ),
        "minmax": (scores.by_parent_and_siblings, mctx.qtransform_by_parent_and_siblings),
        "none": (scores.raw_qvalues, lambda tree, node: tree.qvalues(node)),
    }[normalize]

    def search(params, keys, state, temperature: Array | float = 0.0):
        action_keys, noise_keys, root_keys, search_keys = split(keys, 4)
        root = planner.root_fn(params, root_keys, state)
        if dirichlet_fraction:
            noise = legal_dirichlet(noise_keys, dirichlet_alpha, state.legal_action_mask)
            logits = policies.mix_noise(root.prior_logits, noise, dirichlet_fraction)
            root = root.replace(prior_logits=mask_logits(logits, state.legal_action_mask))
        common: dict[str, Any] = {
            "num_simulations": num_simulations,
            "invalid_actions": ~state.legal_action_mask,
            "max_depth": max_depth,
        }
        where = (params, search_keys[0], root, planner.recurrent_fn)
        if engine == "mctx":
            output = mctx.muzero_policy(
                *where, qtransform=theirs, pb_c_init=c_puct, dirichlet_fraction=0.0, **common
            )
            summary = output.search_tree.summary()
        else:
            output = policies.puct_policy(*where, qtransform=qtransform, c_init=c_puct, **common)
            summary = output.tree.summary()
        action = sample_action(action_keys, output.action_weights, temperature)
        return _plan(action, output.action_weights, summary, root)

    return search


def legal_dirichlet(keys: Array, alpha: float, legal_action_mask: Array) -> Array:
    """Dirichlet noise `[B, A]` over the legal actions of each game; 0 on the others."""

    def draw(key, legal):
        # In logarithms: with a small alpha the numbers themselves may all round to zero.
        weights = jax.random.loggamma(key, alpha, legal.shape)
        return jax.nn.softmax(jnp.where(legal, weights, -jnp.inf))

    return jax.vmap(draw)(keys, legal_action_mask)


def sample_action(keys: Array, action_weights: Array, temperature: Array | float) -> Array:
    """Draws `[B]` actions by `action_weights ** (1 / temperature)`; at 0 the largest, the first
    of equals."""
    temperature = jnp.broadcast_to(temperature, keys.shape)[:, None]
    tiny = jnp.finfo(action_weights.dtype).tiny
    logits = jnp.where(action_weights > 0, jnp.log(jnp.maximum(action_weights, tiny)), -jnp.inf)
    drawn = jax.vmap(jax.random.categorical)(keys, logits / jnp.maximum(temperature, 1e-3))
    best = jnp.argmax(action_weights, axis=-1)
    return jnp.where(temperature[:, 0] > 0, drawn, best).astype(jnp.int32)


def split(keys: Array, num: int = 2) -> tuple[Array, ...]:
    """`num` independent keys from each of `keys [B]`, as `num` times `[B]`."""
    return jax.vmap(lambda key: tuple(jax.random.split(key, num)))(keys)


def _plan(action: Array, action_weights: Array, summary: Any, root: mctx.RootFnOutput) -> Plan:
    prior = jax.nn.softmax(root.prior_logits)
    return Plan(action, action_weights, summary.value, summary.visit_counts, summary.qvalues, prior)


def _mctx_by_range(tree: mctx.Tree, node: Array, value_range: tuple[float, float]) -> Array:
    low, high = value_range
    visited = tree.children_visits[node] > 0
    q = jnp.where(visited, tree.qvalues(node), tree.node_values[node])
    return (q - low) / (high - low)
