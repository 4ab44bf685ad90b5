"""A game between a person and a player, whatever it is shown on."""

import functools
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from ..games import Game
from . import roster
from .catalogue import game_named
from .players import Player


@dataclass
class Session:
    """One game between a person and a player.

    Attributes:
        game: the rules.
        opponent: the other player.
        person: player id of the person.
        state: the position, unbatched.
        key: randomness of the opponent; each move has its own by number.
        past: the positions before each move, the first first.
        tree: of the opponent's last search.
    """

    game: Game
    opponent: Player
    person: int
    state: Any
    key: jax.Array
    past: list[Any] = field(default_factory=list)
    tree: Any = None

    @property
    def ended(self) -> bool:
        return bool(self.state.terminated | self.state.truncated)

    @property
    def persons_turn(self) -> bool:
        return int(self.state.current_player) == self.person

    def play(self, action: int) -> None:
        """Makes a move that is known to be legal."""
        self.past.append(self.state)
        self.state = _step(self.game)(self.state, jnp.int32(action))

    def answer(self) -> int:
        """The opponent's move, which is not made yet."""
        keys, state = self.roots()
        if not self.opponent.reuse:
            return int(self.opponent(keys, state)[0])
        assert self.opponent.plan is not None
        plan = self.opponent.plan(keys, state, self.tree)
        self.tree = plan.tree
        return int(plan.action[0])

    def undo(self) -> bool:
        """Goes back to where the person last had a choice; False if there was none."""
        mine = [at for at, state in enumerate(self.past) if state.current_player == self.person]
        if not mine:
            return False
        self.state = self.past[mine[-1]]
        del self.past[mine[-1] :]
        return True

    def roots(self) -> tuple[jax.Array, Any]:
        """Keys and position as a batch of one."""
        keys = jax.random.fold_in(self.key, len(self.past))[None]
        return keys, jax.tree.map(lambda x: x[None], self.state)


def prepare(
    game: str,
    against: str | None = None,
    first: bool | None = None,
    simulations: int | None = None,
    seed: int | None = None,
    reuse: bool = False,
) -> Session:
    """Sets up a game.

    Args:
        game: its name.
        against: the player, see `roster.NAMES`; None for the one of `roster.default_opponent`.
        first: whether the person moves first; None lets chance decide.
        simulations: nodes per move instead of a run's own.
        seed: for the same game again; None for another each time.
        reuse: the opponent, a run, goes on from the tree of its last move.

    Raises:
        ValueError: if the game or the player does not exist, or they do not go together.
    """
    rules = game_named(game)
    if rules.num_players != 2:
        raise ValueError(f"{game} is a game of {rules.num_players}; 2 are needed to play")
    against = roster.default_opponent(game) if against is None else against
    opponent = roster.player(against, game, simulations, reuse=reuse)
    seed = secrets.randbelow(2**31) if seed is None else seed
    first = random.Random(seed).random() < 0.5 if first is None else first
    start_key, key = jax.random.split(jax.random.key(seed))
    state = jax.jit(rules.init)(start_key)
    opener = int(state.current_player)
    return Session(rules, opponent, opener if first else 1 - opener, state, key)


@functools.cache
def _step(game: Game) -> Callable:
    return jax.jit(game.step)
