"""How wrong a learned model is, by how many moves it has been unrolled.

Publications show such curves against what the network itself says of the real position. Where a
game is solved, the true value is known as well, and whether a search makes good what the model
gets wrong.
"""
# pyright: reportCallIssue=false

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from ..models.base import Params
from ..planners.base import Planner, mask_logits, transition
from ..planners.plan import Search
from .walks import Walks

Array = jax.Array


class Errors(NamedTuple):
    """What an unrolled model says against the truth: `[N, D + 1]`, NaN where nothing is compared.

    Depth 0 is the position itself. Nor is anything past the move that ends a game.

    Attributes:
        reward: |predicted - real| of the move that led there.
        end: probability of the wrong answer to whether that move ended the game.
        turn: probability of the wrong answer to who moves next, given that somebody does.
        value: |predicted - true game value|, 0 where the game has ended.
        value_to_network: |predicted - what the network says of the real position|.
        searched_value: as `value`, after a search from the unrolled embedding.
        policy: KL divergence over legal moves from the policy at the real position, in nats.
        illegal: probability of illegal moves.
        embedding: distance to that of the real position, as a share of its length.
    """

    reward: np.ndarray
    end: np.ndarray
    turn: np.ndarray
    value: np.ndarray
    value_to_network: np.ndarray
    searched_value: np.ndarray
    policy: np.ndarray
    illegal: np.ndarray
    embedding: np.ndarray


def report_card(
    planner: Planner,
    params: Params,
    walks: Walks,
    search_of: Callable[[Planner], Search],
    key: Array,
    true_value: np.ndarray | None = None,
) -> Errors:
    """Unrolls a learned model along real games, and compares at every depth.

    Args:
        planner: whose `model` is unrolled.
        params: of the model.
        walks: the real games.
        search_of: makes the search whose value is compared: `build_search`, say.
        key: of the searches.
        true_value: `[D + 1, N]`, for the player to move; None where it is not known.
    """
    found, unrolled, ended = _comparing(planner)(params, walks)
    found = {name: np.asarray(x).astype(float) for name, x in found.items()}
    searched = _searched(planner, params, search_of, walks, unrolled, key)
    return _masked(found, searched, np.asarray(ended), true_value)


@functools.lru_cache(maxsize=8)
def _comparing(planner: Planner) -> Callable:
    """`(params, walks) -> (errors by name, embeddings, ended)`, each `[D + 1, N, ...]`."""
    model = planner.model
    assert model is not None

    @jax.jit
    def compare(params, walks):
        depth, num = walks.action.shape
        net = model.bind(params)
        flat = lambda x: x.reshape(-1, *x.shape[2:])  # noqa: E731
        deep = lambda x: x.reshape(depth + 1, num, *x.shape[1:])  # noqa: E731
        real = net.represent(flat(walks.state.observation))
        embedding = deep(real)[0]
        unrolled, rewards, endings = [embedding], [], []
        for action in walks.action:
            embedding, reward, ending = net.dynamics(embedding, action)
            unrolled.append(embedding)
            rewards.append(model.reward.mean(reward))
            endings.append(jax.nn.softmax(ending))
        unrolled = jnp.stack(unrolled)
        logits, value = net.predict(flat(unrolled))
        real_logits, real_value = net.predict(real)
        before = jax.tree.map(lambda x: x[:-1], walks.state)
        after = jax.tree.map(lambda x: x[1:], walks.state)
        reward, discount = jax.vmap(jax.vmap(transition))(before, after)
        ending = jnp.stack(endings)
        ended = walks.state.terminated | walks.state.truncated
        mask = flat(walks.state.legal_action_mask)
        policies = [jax.nn.log_softmax(mask_logits(x, mask)) for x in (real_logits, logits)]
        real_value = jnp.where(ended, 0.0, deep(model.value.mean(real_value)))
        apart = (flat(unrolled) - real).reshape(len(real), -1).astype(jnp.float32)
        size = jnp.linalg.norm(real.reshape(len(real), -1).astype(jnp.float32), axis=-1)
        turn = jnp.where(discount > 0, ending[..., 1], ending[..., 2])
        found = {
            "reward": jnp.abs(jnp.stack(rewards) - reward),
            "end": jnp.where(ended[1:], 1 - ending[..., 0], ending[..., 0]),
            "turn": 1 - turn / jnp.maximum(ending[..., 1:].sum(axis=-1), 1e-30),
            "predicted": deep(model.value.mean(value)),
            "value_to_network": jnp.abs(deep(model.value.mean(value)) - real_value),
            "policy": deep(
                jnp.where(mask, jnp.exp(policies[0]) * (policies[0] - policies[1]), 0).sum(-1)
            ),
            "illegal": deep(jnp.where(mask, 0.0, jax.nn.softmax(logits)).sum(axis=-1)),
            "embedding": deep(jnp.linalg.norm(apart, axis=-1) / (size + 1e-6)),
        }
        return found, unrolled, ended

    return compare


class _Root(NamedTuple):
    """What a search needs to know of a position that is an embedding."""

    embedding: Any
    legal_action_mask: Array


@functools.lru_cache(maxsize=8)
def _searching(planner: Planner, search_of: Callable[[Planner], Search]) -> Callable:
    """A search from embeddings, with the real legal moves."""
    model = planner.model
    assert model is not None

    def root_fn(params, keys, root):
        del keys
        logits, value = model.bind(params).predict(root.embedding)
        return mctx.RootFnOutput(
            prior_logits=mask_logits(logits, root.legal_action_mask),
            value=model.value.mean(value),
            embedding=root.embedding,
        )

    return jax.jit(search_of(dataclasses.replace(planner, root_fn=root_fn)))


def _searched(planner, params, search_of, walks: Walks, unrolled: Array, key: Array) -> np.ndarray:
    """`[D + 1, N]`, the values of searches from unrolled embeddings."""
    search = _searching(planner, search_of)
    values = []
    for step, embedding in enumerate(unrolled):
        keys = jax.random.split(jax.random.fold_in(key, step), len(embedding))
        root = _Root(embedding, walks.state.legal_action_mask[step])
        values.append(search(params, keys, root).search_value)
    return np.asarray(jnp.stack(values)).astype(float)


def _masked(
    found: dict[str, np.ndarray],
    searched: np.ndarray,
    ended: np.ndarray,
    true_value: np.ndarray | None,
) -> Errors:
    """Turns `[D + 1, N]` into `[N, D + 1]` with NaN where nothing can be said."""
    nothing = np.full((1, ended.shape[1]), np.nan)
    played = ~ended[:-1]  # The move was made in a game that had not ended.
    reached = np.concatenate([~ended[:1], played])  # So was the position reached.
    truth = np.full(ended.shape, np.nan) if true_value is None else np.where(ended, 0, true_value)
    moves = {n: np.where(played, found[n], np.nan) for n in ("reward", "end", "turn")}
    moves["turn"] = np.where(ended[1:], np.nan, moves["turn"])
    going = {n: np.where(ended, np.nan, found[n]) for n in ("policy", "illegal", "embedding")}
    values = {
        "value": np.abs(found["predicted"] - truth),
        "value_to_network": found["value_to_network"],
        "searched_value": np.where(ended, np.nan, np.abs(searched - truth)),
    }
    moves = {name: np.concatenate([nothing, x]) for name, x in moves.items()}
    values = {name: np.where(reached, x, np.nan) for name, x in values.items()}
    return Errors(**{name: x.T for name, x in (moves | values | going).items()})


def by_depth(errors: Errors) -> dict[str, np.ndarray]:
    """The mean of every error at every depth, `[D + 1]`; NaN where nothing was compared."""
    with np.errstate(invalid="ignore"):
        return {
            name: np.where((~np.isnan(x)).any(axis=0), np.nansum(x, axis=0), np.nan)
            / np.maximum((~np.isnan(x)).sum(axis=0), 1)
            for name, x in errors._asdict().items()
        }
