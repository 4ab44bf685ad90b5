"""The contract between rules and everything else.

A game is a set of pure functions over an immutable `State`, written for ONE game (no batch axis)
and batched by the caller with `jax.vmap`. Names and meanings follow pgx, so a `pgx.Env` is a
`Game` as it stands.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

Array = jax.Array


class State(struct.PyTreeNode):
    """A position. Games subclass it with their own board fields.

    Attributes:
        current_player: `[]` int32, id of the player to move.
        observation: `[*observation_shape]`, seen by `current_player`. Search trees leave it out.
        rewards: `[num_players]` float32, earned by the last move, indexed by player id.
        terminated: `[]` bool, the game has ended.
        truncated: `[]` bool, the game was cut short (step limit).
        legal_action_mask: `[num_actions]` bool, all True once the game has ended.
    """

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array


@runtime_checkable
class Game(Protocol):
    """What planners and training ask of the rules."""

    @property
    def id(self) -> str: ...
    @property
    def num_players(self) -> int: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def observation_shape(self) -> tuple[int, ...]: ...
    def init(self, key: Array) -> Any: ...
    def step(self, state: Any, action: Array, key: Array | None = None) -> Any: ...


class Symmetries(NamedTuple):
    """Paired maps of observation and action under which the rules do not change.

    Attributes:
        observation: `[S, prod(observation_shape)]` int32; the image of a flat observation `x`
            under symmetry `s` is `x[observation[s]]`.
        action: `[S, num_actions]` int32; action `a` becomes `action[s, a]`.
    """

    observation: np.ndarray
    action: np.ndarray


class BoardGame:
    """Template for a game of perfect information: `_init`, `_step`, `_observe` are its rules.

    This class adds what all games share: a finished game stays finished with zero reward, and
    an illegal move loses at once. How people read and write the game is up to the subclass.

    Attributes:
        value_range: the lowest and the highest return a player can reach.
    """

    id: str
    num_players: int = 2
    num_actions: int
    observation_shape: tuple[int, ...]
    value_range: tuple[float, float] = (-1.0, 1.0)

    def init(self, key: Array) -> Any:
        """The opening position; `key` draws which player moves first."""
        state = self._init(key)
        return state.replace(observation=self._observe(state))

    def step(self, state: Any, action: Array, key: Array | None = None) -> Any:
        """Plays `action` (`[]` int32); total: ended games stay, an illegal move loses.

        An illegal move ends the game where it stands: the board and the player to move stay.
        """
        del key  # The rules are deterministic.
        done = state.terminated | state.truncated
        exists = (action >= 0) & (action < self.num_actions)
        illegal = ~done & ~(state.legal_action_mask[action] & exists)
        forfeit = jnp.ones(self.num_players).at[state.current_player].set(-1.0)
        kept = state.replace(
            terminated=state.terminated | illegal,
            rewards=jnp.where(illegal, forfeit, 0.0),
        )
        moved = self._step(state, action)
        state = jax.tree.map(lambda old, new: jnp.where(done | illegal, old, new), kept, moved)
        ended = state.terminated | state.truncated
        state = state.replace(legal_action_mask=state.legal_action_mask | ended)
        return state.replace(observation=self._observe(state))

    def _init(self, key: Array) -> Any:
        raise NotImplementedError

    def _step(self, state: Any, action: Array) -> Any:
        raise NotImplementedError

    def _observe(self, state: Any) -> Array:
        raise NotImplementedError

    @property
    def symmetries(self) -> Symmetries:
        """The identity alone, unless the game knows better."""
        return identity(self)

    def action_to_string(self, action: int) -> str:
        """How a person writes `action`."""
        return str(action)

    def string_to_action(self, text: str) -> int:
        """The action that a person wrote.

        Raises:
            ValueError: if `text` names no action; the message says what is allowed.
        """
        names = [self.action_to_string(a) for a in range(self.num_actions)]
        if text in names:
            return names.index(text)
        near = [a for a, name in enumerate(names) if name.lower() == text.strip().lower()]
        if len(near) != 1:
            raise ValueError(
                f"no move {text!r} in {self.id}; moves are written {names[0]} to {names[-1]}"
            )
        return near[0]

    def to_string(self, state: Any) -> str:
        """A text picture of one position."""
        raise NotImplementedError


def identity(game: Game) -> Symmetries:
    """The trivial symmetry group, which every game has."""
    size = int(np.prod(game.observation_shape))
    return Symmetries(
        np.arange(size, dtype=np.int32)[None], np.arange(game.num_actions, dtype=np.int32)[None]
    )


def symmetries(game: Game) -> Symmetries:
    """What the game declares; the identity for games (of pgx, say) that declare nothing."""
    return getattr(game, "symmetries", None) or identity(game)


def value_range(game: Game) -> tuple[float, float]:
    """The range of returns the game declares, `(-1, 1)` where it declares nothing."""
    return getattr(game, "value_range", (-1.0, 1.0))
