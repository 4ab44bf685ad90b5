"""What a search found at its roots, and the contract of every search."""
# mctx records are of chex, of whose fields pyright knows nothing.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from typing import Any, NamedTuple, Protocol

import jax
import mctx

from ..models.base import Params
from . import scores
from .tree import Node, Tree

Array = jax.Array


class Plan(NamedTuple):
    """What a search found at its roots (`B` games, `A` actions).

    Attributes:
        action: `[B]` int32, the move to play.
        action_weights: `[B, A]`, the improved policy: what the network should have said.
        search_value: `[B]`, for the player to move: what `action_weights` are worth (Gumbel), the
            mean over the tree (the others).
        visit_counts: `[B, A]`.
        qvalues: `[B, A]`, for the player to move; 0 where an action was not visited.
        prior: `[B, A]` probabilities the search started from, noise included.
        tree: everything else that the search knows; None with mctx.
    """

    action: Array
    action_weights: Array
    search_value: Array
    visit_counts: Array
    qvalues: Array
    prior: Array
    tree: Tree | None = None


class Search(Protocol):
    """`(params, keys [B], state [B, ...], temperature [B] or scalar, tree) -> Plan`.

    Each game has a key of its own. `temperature` scales the exploration of the move: at 0 the
    best move is played; at 1 it is drawn as in self-play. A search made with `reuse` goes on from
    what `tree`, the plan's before, holds below each position; games may have moved on or begun
    anew since.
    """

    def __call__(
        self,
        params: Params,
        keys: Array,
        state: Any,
        temperature: Array | float = 0.0,
        tree: Tree | None = None,
    ) -> Plan: ...


def make_plan(
    action: Array, action_weights: Array, tree: Tree | mctx.Tree, root: mctx.RootFnOutput
) -> Plan:
    """What either engine's tree says of the roots; the value is the tree's mean."""
    prior = jax.nn.softmax(root.prior_logits)
    found = tree.summary()
    return Plan(
        *(action, action_weights, found.value, found.visit_counts, found.qvalues, prior),
        tree=tree if isinstance(tree, Tree) else None,
    )


def policy_value(plan: Plan, root: mctx.RootFnOutput) -> Array:
    """The value of the policy that a search recommends, with either engine."""
    counts, logits = plan.visit_counts, root.prior_logits
    node = Node(
        counts, plan.qvalues, logits, counts.sum(axis=-1) + 1, plan.search_value, root.value
    )
    return scores.policy_value(node, plan.action_weights)
