"""Matches between players."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ..games import Game, State
from ..planners.rollout import random_action
from ..planners.tree import Tree
from .players import Player
from .score import Score


def match_key(seed: int) -> jax.Array:
    """Of the matches that belong to a seed."""
    return jax.random.fold_in(jax.random.key(seed), 3)


def match(
    game: Game,
    first: Player,
    second: Player,
    key: jax.Array,
    num_openings: int = 100,
    opening_plies: int = 2,
) -> Score:
    """Plays `num_openings` random openings, each from both seats: twice as many games.

    Each player looks only at the games in which it is to move, as one batch of `num_openings`.

    Args:
        game: the rules, for two players.
        first: whose score is returned.
        second: the opponent.
        key: openings and all moves follow from it.
        num_openings: N.
        opening_plies: random moves before the players take over; the opening stops short of
            ending the game.

    Raises:
        ValueError: if the game is not for two, or there is nothing to play.
    """
    outcome, number = _outcomes(game, first, second, key, num_openings, opening_plies)
    counts = ((outcome > 0).sum(), (outcome == 0).sum(), (outcome < 0).sum())
    return Score(*map(int, counts), distinct=2 * int(number.max() + 1))


def points(game: Game, first: Player, second: Player, key: jax.Array, *sizes: int) -> np.ndarray:
    """As `match`: the first player's points per game from each opening that was drawn, `[D]`.

    1 a win, 0.5 a draw. An opening that was drawn again only counts with its mean, so that all
    `D <= num_openings` stand for themselves. `sizes` are the number of openings and their length.

    Raises:
        ValueError: as `match`.
    """
    outcome, number = _outcomes(game, first, second, key, *sizes)
    gained = ((1 + np.sign(outcome)) / 2).mean(axis=0)
    return np.bincount(number, gained) / np.bincount(number)


def _outcomes(
    game: Game,
    first: Player,
    second: Player,
    key: jax.Array,
    num_openings: int,
    opening_plies: int,
) -> tuple[np.ndarray, np.ndarray]:
    """`[2, N]`, what the first player gained from either seat; `[N]`, the openings' numbers."""
    if game.num_players != 2:
        raise ValueError(f"a match in {game.id}, a game of {game.num_players}; 2 are needed")
    if num_openings < 1 or opening_plies < 0:
        raise ValueError(
            f"a match of {num_openings} openings of {opening_plies} plies; "
            "at least 1 opening of at least 0 plies is needed"
        )
    openings, turns, advance = _rules(game)
    opening_key, play_key = jax.random.split(key)
    opening = openings(jax.random.split(opening_key, num_openings), opening_plies)
    state = jax.tree.map(lambda x: jnp.concatenate([x, x]), opening)
    seat = jnp.repeat(jnp.arange(2), num_openings)  # The player id that `first` has.
    outcome = jnp.zeros(2 * num_openings)
    trees: list[Tree | None] = [None, None]
    ply = 0
    while True:
        keys = jax.random.split(jax.random.fold_in(play_key, ply), (2, num_openings))
        where, count, position = turns(state, seat)
        count = np.asarray(count)
        if not count.any():
            break
        actions = [jnp.zeros(num_openings, jnp.int32)] * 2
        for i, player in enumerate((first, second)):
            # Whoever has no move to make is not asked: near the end that saves a search.
            if count[i] and player.reuse:
                actions[i], trees[i] = _act_on(
                    player, keys[i], position[i], where[i], trees[i], len(seat)
                )
            elif count[i]:
                actions[i] = player.act(keys[i], position[i])
        state, outcome = advance(state, outcome, seat, where, jnp.stack(actions))
        ply += 1
    rows = np.asarray(opening.observation).reshape(num_openings, -1)
    number = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return np.asarray(outcome).reshape(2, num_openings), number


def _act_on(
    player: Player,
    keys: jax.Array,
    position: State,
    where: jax.Array,
    tree: Tree | None,
    num_games: int,
) -> tuple[jax.Array, Tree]:
    """The moves `[N]` in the games `where` `[N]`, going on from the player's trees of all games."""
    assert player.plan is not None
    mine = None if tree is None else _lanes(tree, where)
    # By way of the host, as in `searching_player`.
    plan = jax.tree.map(lambda x: jnp.asarray(np.asarray(x)), player.plan(keys, position, mine))
    if tree is None:
        blank = lambda x: jnp.zeros((len(x), num_games, *x.shape[2:]), x.dtype)  # noqa: E731
        tree = jax.tree.map(blank, plan.tree)
    return plan.action, _put_lanes(tree, where, plan.tree)


@jax.jit
def _lanes(tree: Tree, where: jax.Array) -> Tree:
    return jax.tree.map(lambda x: x.at[:, where].get(mode="clip"), tree)


@functools.partial(jax.jit, donate_argnums=0)
def _put_lanes(tree: Tree, where: jax.Array, lanes: Tree) -> Tree:
    return jax.tree.map(lambda x, new: x.at[:, where].set(new, mode="drop"), tree, lanes)


@functools.lru_cache(maxsize=8)
def _rules(game: Game) -> tuple[Callable, Callable, Callable]:
    """What a match does between the players' moves, compiled once per game.

    openings: `(keys [N], plies) -> state [N, ...]`.
    turns: `(state [2N, ...], seat [2N]) -> (where [2, N], count [2], (state [N, ...], state))`,
        for each player up to N games in which it is to move; spare places hold index 2N.
    advance: `(state, outcome [2N], seat, where, action [2, N]) -> (state, outcome)`.
    """
    step = jax.vmap(game.step)

    def ended(state):
        return state.terminated | state.truncated

    def keep(choice, new, old):
        pick = jax.vmap(lambda c, a, b: jax.tree.map(lambda x, y: jnp.where(c, x, y), a, b))
        return pick(choice, new, old)

    @jax.jit
    def openings(keys, plies):
        def move(ply, state):
            ply_keys = jax.vmap(jax.random.fold_in, (0, None))(keys, ply)
            child = step(state, jax.vmap(random_action)(ply_keys, state.legal_action_mask))
            return keep(ended(child), state, child)

        return jax.lax.fori_loop(0, plies, move, jax.vmap(game.init)(keys))

    @jax.jit
    def turns(state, seat):
        num_games = seat.shape[0]
        mine = state.current_player == seat
        masks = jnp.stack([mine, ~mine]) & ~ended(state)[None]
        where = jnp.stack(
            [jnp.nonzero(m, size=num_games // 2, fill_value=num_games)[0] for m in masks]
        )
        at = lambda index: jax.tree.map(lambda x: x.at[index].get(mode="clip"), state)  # noqa: E731
        return where, masks.sum(axis=1), (at(where[0]), at(where[1]))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def advance(state, outcome, seat, where, action):
        blank = jnp.zeros(seat.shape[0], jnp.int32)
        moved = blank.astype(bool).at[where.ravel()].set(True, mode="drop")
        child = step(state, blank.at[where.ravel()].set(action.ravel(), mode="drop"))
        gain = jnp.take_along_axis(child.rewards, seat[:, None], axis=1)[:, 0]
        return keep(moved, child, state), outcome + jnp.where(moved, gain, 0.0)

    return openings, turns, advance
