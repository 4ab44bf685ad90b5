"""Matches: both seats of every opening, known scores, and the interval on a score."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make
from duozero.planners.rollout import random_action
from duozero.train.arena import match
from duozero.train.oracles import solve
from duozero.train.players import (
    Player,
    greedy_centre_player,
    mcts_player,
    perfect_player,
    random_player,
)
from duozero.train.score import Score
from toys import Bonus, Walk


@pytest.mark.parametrize(
    ("score", "mean", "interval"),
    [
        # Wilson's interval of 8 successes in 10, from its formula, and its two ends.
        (Score(8, 0, 2), 0.8, (0.490, 0.943)),
        (Score(50, 0, 50), 0.5, (0.404, 0.596)),
        (Score(0, 100, 0), 0.5, (0.404, 0.596)),
        (Score(100, 0, 0), 1.0, (0.963, 1.0)),
        (Score(0, 0, 100), 0.0, (0.0, 0.037)),
        (Score(1, 2, 1), 0.5, (0.150, 0.850)),
        # Ten games played ten times over are ten games.
        (Score(80, 0, 20, distinct=10), 0.8, (0.490, 0.943)),
    ],
)
def test_the_interval_is_that_of_wilson(score, mean, interval):
    assert score.mean == mean
    assert score.interval == pytest.approx(interval, abs=5e-4)
    assert score.interval[0] <= score.mean <= score.interval[1]


def test_a_score_prints_in_percent():
    assert str(Score(8, 1, 1)) == "85.0 [54.1, 96.5] +8 =1 -1"


def test_every_opening_is_played_from_both_seats(tic_tac_toe):
    """A player that always takes the first free cell, against itself: each pair is even."""
    first_free = Player(
        "first",
        jax.jit(lambda keys, state: state.legal_action_mask.argmax(axis=1).astype(jnp.int32)),
    )
    score = match(tic_tac_toe, first_free, first_free, jax.random.key(0), 40, 3)
    assert score.games == 80
    assert score.wins == score.losses > 0


def test_without_an_opening_a_deterministic_pair_plays_one_game_twice(tic_tac_toe):
    first_free = Player(
        "first",
        jax.jit(lambda keys, state: state.legal_action_mask.argmax(axis=1).astype(jnp.int32)),
    )
    score = match(tic_tac_toe, first_free, first_free, jax.random.key(0), 1, 0)
    assert score == Score(1, 0, 1, distinct=2)


def test_openings_differ_and_are_the_same_for_both_seats(tic_tac_toe):
    """What both players are shown first, as a set of positions, is the same."""
    seen = {"one": [], "other": []}

    def watching(name):
        def act(keys, state):
            seen[name].append(np.asarray(state.observation).sum(axis=-1).reshape(-1, 9))
            return jax.vmap(random_action)(keys, state.legal_action_mask)

        return Player(name, act)

    match(tic_tac_toe, watching("one"), watching("other"), jax.random.key(0), 16, 2)
    one, other = (sorted(map(tuple, seen[name][0])) for name in ("one", "other"))
    assert one == other
    assert len(set(one)) > 5 and {sum(position) for position in one} == {2}


@pytest.mark.slow
def test_against_itself_a_player_scores_a_half(tic_tac_toe):
    score = match(tic_tac_toe, random_player(), random_player(), jax.random.key(0), 300)
    assert abs(score.mean - 0.5) < 0.06


@pytest.mark.slow
def test_the_same_key_is_the_same_match(tic_tac_toe):
    players = random_player(), greedy_centre_player(tic_tac_toe)

    def play(seed):
        return match(tic_tac_toe, *players, jax.random.key(seed), 20)

    assert play(1) == play(1)
    assert play(1) != play(2) or play(1) != play(3)


@pytest.mark.slow
def test_a_perfect_player_never_loses_and_beats_a_random_one(tic_tac_toe, solution):
    perfect = perfect_player(solution)
    # From the empty board, where perfect play is a draw.
    score = match(tic_tac_toe, perfect, random_player(), jax.random.key(0), 100, 0)
    assert score.losses == 0
    assert score.mean > 0.9
    assert match(tic_tac_toe, perfect, perfect, jax.random.key(1), 20, 0) == Score(
        0, 40, 0, distinct=2
    )


@pytest.mark.slow
def test_players_are_as_strong_as_they_should_be(tic_tac_toe):
    def against(player):
        return match(tic_tac_toe, player, random_player(), jax.random.key(0), 50).mean

    assert against(greedy_centre_player(tic_tac_toe)) > 0.6
    assert against(mcts_player(tic_tac_toe, 32)) > 0.85


def test_in_the_race_who_is_perfect_wins_from_every_won_opening(race):
    """Half the openings of one ply are lost for who moves next: each is won from one seat."""
    perfect = perfect_player(race)
    score = match(race.game, perfect, perfect, jax.random.key(0), 30, 1)
    assert score.wins == score.losses == 30


@pytest.mark.slow
def test_extra_turns_and_rewards_on_the_way_are_added_up():
    """The toy pays a quarter at 5 and the rest at the end; no sum of those is nothing."""
    game = Bonus(11)
    perfect = perfect_player(solve(game))
    score = match(game, perfect, random_player(), jax.random.key(0), 50, 0)
    assert score.games == 100 and score.draws == 0
    assert score.mean > 0.6
    even = match(game, perfect, perfect, jax.random.key(0), 20, 2)
    assert even.wins == even.losses == 20


def test_openings_stop_short_of_the_end():
    game = make("race_to_5_2")
    score = match(game, random_player(), random_player(), jax.random.key(0), 20, 40)
    assert score.games == 40 and score.draws == 0
    assert score.wins == score.losses, "one move is left, and it wins"


@pytest.mark.parametrize(
    ("game", "sizes", "message"),
    [
        (Walk(), (10, 2), "a game of 1; 2 are needed"),
        (make("tic_tac_toe"), (0, 2), "0 openings"),
        (make("tic_tac_toe"), (1, -1), "at least 0 plies"),
    ],
)
def test_what_is_no_match_is_refused(game, sizes, message):
    with pytest.raises(ValueError, match=message):
        match(game, random_player(), random_player(), jax.random.key(0), *sizes)


@pytest.mark.slow
def test_a_match_of_a_size_already_played_compiles_nothing(tic_tac_toe, compilations):
    players = random_player(), greedy_centre_player(tic_tac_toe)
    match(tic_tac_toe, *players, jax.random.key(0), 25)
    with compilations() as count:
        match(tic_tac_toe, *players, jax.random.key(1), 25)
    assert count() == 0
