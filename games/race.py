"""Race to a total: players add a small number in turn, who says the target wins."""

import jax
import jax.numpy as jnp

from .base import BoardGame, State


class RaceState(State):
    """`total`: `[]` int32, the sum of all moves so far."""

    total: jax.Array


class Race(BoardGame):
    """Players add 1 to `maximum`, who reaches `target` exactly wins; action `a` adds `a + 1`.

    Who moves at a total that leaves a multiple of `maximum + 1` to go loses against a player who
    always restores one, so perfect play is known at every size. Observation `[target + 1]` bool:
    the total, one-hot.

    Raises:
        ValueError: unless target is 2 to 1000 and maximum is 1 to target.
    """

    def __init__(self, target: int = 21, maximum: int = 3):
        classic = (target, maximum) == (21, 3)
        self.id = "race_to_21" if classic else f"race_to_{target}_{maximum}"
        if not 2 <= target <= 1000:
            raise ValueError(f"{self.id}: the target {target} is out of range, 2 to 1000")
        if not 1 <= maximum <= target:
            raise ValueError(f"{self.id}: the maximum {maximum} is out of range, 1 to {target}")
        self.target, self.maximum = target, maximum
        self.num_actions = maximum
        self.observation_shape = (target + 1,)

    def _init(self, key: jax.Array) -> RaceState:
        return RaceState(
            current_player=jax.random.bernoulli(key).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, jnp.bool_),
            rewards=jnp.zeros(2),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(self.maximum, jnp.bool_),
            total=jnp.int32(0),
        )

    def _step(self, state: RaceState, action: jax.Array) -> RaceState:
        total = state.total + jnp.int32(action) + 1
        won = total == self.target
        return state.replace(
            total=total,
            current_player=1 - state.current_player,
            rewards=jnp.where(won, jnp.full(2, -1.0).at[state.current_player].set(1.0), 0.0),
            terminated=won,
            legal_action_mask=total + jnp.arange(1, self.maximum + 1) <= self.target,
        )

    def _observe(self, state: RaceState) -> jax.Array:
        return jnp.arange(self.target + 1) == state.total

    def action_to_string(self, action: int) -> str:
        return str(int(action) + 1)

    def to_string(self, state: RaceState) -> str:
        return f"total {int(state.total)} of {self.target}"
