"""What a search is made of, each part alone: the network, the rules, and a network without cost."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ...games import Game, State, value_range
from ...models import Model, Network, Params, cnn, mlp, resnet, scalar
from ...models.conv import RESNETS
from ...models.heads import DISCOUNTS
from ..overlay import unknown

Array = jax.Array


def null_model(game: Game) -> Model:
    """Costs nothing and says nothing, so that only the tree and the rules are left of a search.

    Its logits and values are 0, as those of an untrained network are: both grow the same tree.
    """
    head = scalar(*value_range(game))

    class Null:
        def represent(self, observation: Array) -> Array:
            return jnp.zeros((observation.shape[0], 1))

        def dynamics(self, embedding: Array, action: Array) -> tuple[Array, Array, Array]:
            del action
            zeros = jnp.zeros((embedding.shape[0], head.size))
            return embedding, zeros, jnp.zeros((embedding.shape[0], len(DISCOUNTS)))

        def predict(self, embedding: Array) -> tuple[Array, Array]:
            batch = embedding.shape[0]
            return jnp.zeros((batch, game.num_actions)), jnp.zeros((batch, head.size))

    return Model(lambda key: {}, lambda params: Null(), value=head, reward=head)


NETWORKS: dict[str, Callable[[Game], Model]] = {
    "null": null_model,
    "mlp": mlp,
    "cnn": cnn,
    "resnet": resnet,
    **{f"resnet_{size}": lambda game, of=of: resnet(game, *of) for size, of in RESNETS.items()},
}
"""Networks by the name that the command line knows them by; resnet is resnet_small."""


def network_named(name: str, game: Game) -> Model:
    """The network called `name` for this game.

    Raises:
        ValueError: if there is none, or the game has no board to be convolved.
    """
    if name not in NETWORKS:
        raise ValueError(unknown("network", name, NETWORKS))
    return NETWORKS[name](game)


def roots_only(model: Model, num: int) -> Callable[[Params, Array], Array]:
    """`num` evaluations by h and f, one after another: `(params, observation [B, ...]) -> [B]`."""

    def run(params: Params, observation: Array) -> Array:
        net = model.bind(params)

        def evaluate(said: Array, _: None) -> tuple[Array, None]:
            # Without a trace of the last answer in it, XLA would compute one for all.
            hint = 1e-9 * said.reshape(-1, *[1] * (observation.ndim - 1))
            return _said(net, net.represent(observation.astype(jnp.float32) + hint)), None

        return jax.lax.scan(evaluate, jnp.zeros(observation.shape[0]), length=num)[0]

    return run


def moves_only(model: Model, num: int) -> Callable[[Params, Array], Array]:
    """`num` evaluations by g and f, one after another; arguments as for `roots_only`."""

    def run(params: Params, observation: Array) -> Array:
        net = model.bind(params)

        def evaluate(carry: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
            embedding, said = carry
            action = (said > 0).astype(jnp.int32)
            embedding, reward, ending = net.dynamics(embedding, action)
            said = _said(net, embedding) + reward.sum(-1) + ending.sum(-1)
            return (embedding, said), None

        like = jax.eval_shape(net.represent, observation)
        start = jnp.zeros(like.shape, like.dtype), jnp.zeros(observation.shape[0])
        return jax.lax.scan(evaluate, start, length=num)[0][1]

    return run


def _said(net: Network, embedding: Array) -> Array:
    """A number for each game, `[B]`, which depends on all that f says."""
    logits, value = net.predict(embedding)
    return logits.sum(-1) + value.sum(-1)


def rules_only(game: Game, num: int) -> Callable[[State], Any]:
    """`num` moves by the rules in each game, without observations: `state [B, ...] -> state`."""

    def move(state: Any, _: None) -> tuple[Any, None]:
        action = jnp.argmax(state.legal_action_mask, axis=-1).astype(jnp.int32)
        return jax.vmap(game.step)(state, action).replace(observation=None), None

    def run(state: Any) -> Any:
        return jax.lax.scan(move, state.replace(observation=None), length=num)[0]

    return run
