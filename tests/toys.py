"""Small games that break habits, and a model that knows the rules by heart."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
from duozero.games import BoardGame, State
from duozero.models import Head, Model
from duozero.planners import Plan
from duozero.planners.rollout import random_action
from duozero.train.oracles import Solution


class TotalState(State):
    """`total`: `[]` int32, the sum of all moves so far."""

    total: jax.Array


class Bonus(BoardGame):
    """Add 1 to 3 in turn; a multiple of 4 earns another turn, 5 a quarter, `target` the rest.

    So the turn does not always pass, rewards come on the way, and moves become illegal.
    """

    id = "bonus"
    num_actions = 3

    def __init__(self, target: int = 11):
        self.target = target
        self.observation_shape = (target + 1,)

    def _init(self, key):
        return TotalState(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(3, jnp.bool_),
            total=jnp.int32(0),
        )

    def _step(self, state, action):
        total = state.total + jnp.int32(action) + 1
        gain = jnp.where(total == self.target, 0.75, jnp.where(total == 5, 0.25, 0.0))
        mover = state.current_player
        return state.replace(
            total=total,
            current_player=jnp.where(total % 4 == 0, mover, 1 - mover),
            rewards=jnp.full(2, -gain).at[mover].set(gain),
            terminated=total == self.target,
            legal_action_mask=total + jnp.arange(1, 4) <= self.target,
        )

    def _observe(self, state):
        return jnp.arange(self.target + 1) == state.total


class Walk(BoardGame):
    """One player takes three steps of 0, 1 or 2; each pays an eighth of its length at once."""

    id = "walk"
    num_players = 1
    num_actions = 3
    observation_shape = (4,)
    value_range = (0.0, 1.0)

    def _init(self, key):
        del key
        return TotalState(
            current_player=jnp.int32(0),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(1),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(3, jnp.bool_),
            total=jnp.int32(0),
        )

    def _step(self, state, action):
        return state.replace(
            total=state.total + 1,
            rewards=jnp.float32(action)[None] / 8,
            terminated=state.total + 1 == 3,
        )

    def _observe(self, state):
        return jnp.arange(4) == state.total


def keys(number, first=0):
    """Fresh keys, `[number]`, from seeds counted from `first`."""
    return jax.vmap(jax.random.key)(jnp.arange(first, first + number))


def at(solution: Solution, index):
    """The positions `index` of a solved game, `[len(index), ...]`."""
    return jax.tree.map(lambda x: jnp.asarray(x[np.asarray(index)]), solution.state)


def exact(solution: Solution) -> Model:
    """h, g and f that look everything up in a solved game; an embedding is a position's number.

    Parameters are `logits` `[N, A]` and `value` `[N]`, what f says of each position, whatever
    that may be; `init` draws both. Rules and ends are exact, and legal moves are known to f.
    """
    num_positions, num_actions = solution.child.shape
    rows = solution.state.observation.reshape(num_positions, -1).astype(np.uint32)
    mix = np.random.default_rng(0).integers(0, 2**32, rows.shape[1], dtype=np.uint32)
    codes = (rows * mix).sum(axis=1, dtype=np.uint32)
    order = np.argsort(codes)
    assert len(np.unique(codes)) == num_positions
    # An ended game stays where it is, without reward.
    stays = solution.child < 0
    own = np.arange(num_positions, dtype=np.int32)[:, None]
    child = jnp.asarray(np.where(stays, own, solution.child))
    reward = jnp.asarray(np.where(stays, 0.0, solution.reward), jnp.float32)
    discount = np.where(stays, 0.0, solution.discount)
    classes = np.stack([discount == 0, discount > 0, discount < 0], axis=-1)
    classes = jnp.asarray(np.where(classes, 0.0, -1e9), jnp.float32)
    legal = jnp.asarray(solution.state.legal_action_mask)
    ended = jnp.asarray(solution.ended)

    def represent(observation):
        flat = observation.reshape(observation.shape[0], -1).astype(jnp.uint32)
        code = (flat * jnp.asarray(mix)[None]).sum(axis=1, dtype=jnp.uint32)
        return jnp.asarray(order)[jnp.searchsorted(jnp.asarray(codes[order]), code)]

    def dynamics(number, action):
        return child[number, action], reward[number, action][:, None], classes[number, action]

    def bind(params):
        def predict(number):
            logits = params["logits"][number]
            logits = logits - logits.max(axis=-1, keepdims=True)
            logits = jnp.where(legal[number], logits, jnp.finfo(logits.dtype).min)
            return logits, jnp.where(ended[number], 0.0, params["value"][number])[:, None]

        return SimpleNamespace(represent=represent, dynamics=dynamics, predict=predict)

    def init(key):
        logits_key, value_key = jax.random.split(key)
        return {
            "logits": jax.random.normal(logits_key, (num_positions, num_actions)),
            "value": jax.random.uniform(value_key, (num_positions,), minval=-1.0),
        }

    as_is = Head(1, lambda output: output[..., 0], lambda output, target: 0.0 * target)
    return Model(init, bind, value=as_is, reward=as_is)  # pyright: ignore


def any_move():
    """A search that compiles at once: random legal moves, and its temperature as the value."""

    def search(params, keys, state, temperature=0.0, tree=None):
        del params, tree
        mask = state.legal_action_mask
        action = jax.vmap(random_action)(keys, mask)
        prior = mask / mask.sum(axis=-1, keepdims=True)
        value = jnp.broadcast_to(jnp.asarray(temperature, jnp.float32), action.shape)
        return Plan(action, prior, value, jnp.zeros_like(prior), jnp.zeros_like(prior), prior)

    return search
