"""Made-up rules, and PUCT search in plain Python, one game and one visit at a time."""

import math
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import mctx
import numpy as np

NUM_ACTIONS = 5
NUM_STATES = 499


def world(seed=0, ends=0.1, keeps=0.4, noise=0.0):
    """Made-up rules as tables `[states, ...]`: half the moves pay, each state has its opinion."""
    random = np.random.default_rng(seed)
    shape = (NUM_STATES, NUM_ACTIONS)
    kind = random.random(shape)
    return {
        "after": random.integers(NUM_STATES, size=shape).astype(np.int32),
        "reward": (random.uniform(-1, 1, shape) * (random.random(shape) < 0.5)).astype(np.float32),
        "discount": np.select([kind < ends, kind < ends + keeps], [0, 1], -1).astype(np.float32),
        "logits": random.normal(size=shape).astype(np.float32),
        "value": random.uniform(-1, 1, NUM_STATES).astype(np.float32),
        "noise": np.float32(noise),
    }


def step_world(params, key, action, embedding):
    at = (embedding["state"], action)
    state = params["after"][at]
    output = mctx.RecurrentFnOutput(
        reward=params["reward"][at] + params["noise"] * jax.random.uniform(key, action.shape),
        discount=params["discount"][at],
        prior_logits=params["logits"][state],
        value=params["value"][state],
    )
    return output, embedding | {"state": state}


def world_root(params, states):
    states = jnp.asarray(states)
    embedding = {"state": states, "nothing": None, "empty": jnp.zeros((states.size, 0))}
    return mctx.RootFnOutput(
        prior_logits=jnp.asarray(params["logits"])[states],
        value=jnp.asarray(params["value"])[states],
        embedding=embedding,
    )


@dataclass
class Position:
    """A node: what the network said of it, and the mean of what was seen below it."""

    state: int
    logits: list[float]
    value: float
    reward: float = 0.0
    discount: float = 0.0
    visits: int = 1
    children: dict[int, "Position"] = field(default_factory=dict)

    def qvalue(self, action: int) -> float:
        child = self.children[action]
        return child.reward + child.discount * child.value


def puct(position: Position, actions: list[int]) -> int:
    """The action to try, values scaled by the extremes of the node and its children."""
    q = {action: position.qvalue(action) for action in position.children}
    low, high = min([position.value, *q.values()]), max([position.value, *q.values()])
    top = max(position.logits)
    priors = [math.exp(logit - top) for logit in position.logits]
    c = (1.25 + math.log((position.visits + 19653) / 19652)) * math.sqrt(position.visits)

    def score(action: int) -> float:
        tried = position.children.get(action)
        explore = c * priors[action] / sum(priors) / (1 + (tried.visits if tried else 0))
        return (q.get(action, low) - low) / max(high - low, 1e-8) + explore

    return max(actions, key=score)


def ucb1(position: Position, actions: list[int]) -> int:
    """The action to try: each once, then by the mean and the logarithm of all tries."""
    total = sum(child.visits for child in position.children.values())

    def score(action: int) -> float:
        if action not in position.children:
            return math.inf
        tries = position.children[action].visits
        return position.qvalue(action) + math.sqrt(2 * math.log(total) / tries)

    return max(actions, key=score)


def search(
    root: Position, step, num_simulations: int, legal_actions: list[int], choose=puct
) -> None:
    """Grows `root` in place; `step(state, action)` returns a new `Position`."""
    for _ in range(num_simulations):
        position, moves, actions = root, [], legal_actions
        while True:
            action = choose(position, actions)
            moves.append((position, action))
            if action not in position.children:
                break
            position, actions = position.children[action], list(range(len(position.logits)))
        leaf = position.children[action] = step(position.state, action)
        outcome = leaf.value
        for position, action in reversed(moves):
            child = position.children[action]
            outcome = child.reward + child.discount * outcome
            position.value += (outcome - position.value) / (position.visits + 1)
            position.visits += 1
