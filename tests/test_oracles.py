"""Exact solutions against known facts, and what is said of agents with them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.games import make
from duozero.train import report
from duozero.train.experiment.chapters import _lost
from duozero.train.judgement import judge, moves_of
from duozero.train.oracles import solve
from duozero.train.players import perfect_player, random_player
from toys import Bonus, Walk


def test_tic_tac_toe_has_5478_positions_and_is_a_draw(solution):
    assert len(solution.ended) == 5478
    assert len(solution.undecided) == 4520
    assert solution.value[0] == 0
    assert (solution.action_values[0] == 0).all()


def test_every_position_is_worth_its_best_move(solution):
    where = solution.undecided
    best = solution.action_values[where].max(axis=1)
    np.testing.assert_array_equal(solution.value[where], best)
    assert not solution.value[solution.ended].any()
    assert solution.optimal[where].any(axis=1).all()
    assert not solution.optimal[solution.ended].any()
    assert not (solution.optimal & ~solution.state.legal_action_mask).any()


def test_children_are_what_the_rules_lead_to(solution, tic_tac_toe):
    position, action = np.nonzero(solution.child >= 0)
    chosen = np.random.default_rng(0).choice(len(position), 512, replace=False)
    position, action = position[chosen], action[chosen]
    state = jax.tree.map(lambda x: x[position], solution.state)
    child = jax.jit(jax.vmap(tic_tac_toe.step))(state, action)
    reached = solution.child[position, action]
    np.testing.assert_array_equal(child.observation, solution.state.observation[reached])
    np.testing.assert_array_equal(child.terminated, solution.ended[reached])


def test_the_race_is_lost_exactly_with_a_multiple_of_four_to_go(race):
    total = race.state.total[race.undecided]
    lost = race.value[race.undecided] == -1
    np.testing.assert_array_equal(lost, (21 - total) % 4 == 0)
    assert (race.value[race.undecided][~lost] == 1).all()
    assert race.optimal[0].tolist() == [True, False, False]


def test_extra_turns_and_rewards_on_the_way_are_solved():
    def value(total):
        """For the player to move, by hand."""
        best = -9.0
        for add in (1, 2, 3):
            child = total + add
            if child <= 11:
                gain = 0.75 if child == 11 else 0.25 if child == 5 else 0.0
                after = 0.0 if child == 11 else value(child)
                best = max(best, gain + (after if child % 4 == 0 else -after))
        return best

    solved = solve(Bonus(11))
    for total, got, ended in zip(solved.state.total, solved.value, solved.ended, strict=True):
        assert got == (0 if ended else value(int(total)))


def test_one_player_takes_all_there_is():
    assert solve(Walk()).value[0] == 0.75


def test_a_game_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="more than 100 positions"):
        solve(make("tic_tac_toe"), max_positions=100)


class Around(Walk):
    """Three steps lead back to the start."""

    def _step(self, state, action):
        moved = super()._step(state, action)
        return moved.replace(total=moved.total % 3, terminated=jnp.bool_(False))


class Blind(Walk):
    """How many steps were made is not seen, but ends the game."""

    def _observe(self, state):
        return jnp.zeros(4, bool)


class Unpaid(Bonus):
    """What a move earns depends on who makes it, which is not seen; all else is."""

    def _step(self, state, action):
        moved = super()._step(state, action)
        return moved.replace(rewards=jnp.where(state.current_player == 0, moved.rewards, 0.0))


class Stuck(Walk):
    """After two steps there is no move."""

    def _step(self, state, action):
        moved = super()._step(state, action)
        return moved.replace(legal_action_mask=jnp.full(3, moved.total < 2))


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (Around(), "can come back to an earlier position"),
        (Blind(), "observations hide"),
        (Unpaid(), "observations hide"),
        (Stuck(), "without a legal move"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Walk | Bonus) else "",
)
def test_a_game_that_cannot_be_solved_so_is_refused(game, reason):
    with pytest.raises(ValueError, match=reason):
        solve(game, max_positions=1000)


def test_states_that_differ_in_nothing_that_counts_are_one_position():
    """A race to 5 by 1 or 2, in which who is to move is no part of what is seen: 0 to 5."""
    assert len(solve(make("race_to_5_2")).ended) == 6


def test_perfect_moves_keep_every_value_and_lose_no_line(solution):
    moves = moves_of(perfect_player(solution).act, solution, jax.random.key(0))
    verdict = judge(solution, moves)
    assert verdict.kept == 1 and verdict.lost_lines == 0 and verdict.unbeatable
    assert verdict.num_lines > 100


def test_who_plays_perfectly_from_a_lost_start_is_doomed_and_loses_nothing_by_himself():
    """To 5 by 1 or 2: who moves first wins, by 2. Second, only what the other gives away is won."""
    solved = solve(make("race_to_5_2"))
    moves = np.asarray(solved.optimal).argmax(axis=1)
    verdict = judge(solved, moves)
    # Second, after 2 it adds 1 (nothing keeps a lost value better), and the other adds 2 and wins,
    # or adds 1 and has lost; after 1 it adds 1 and has won: the other reaches 3 or 4, not 5.
    assert (verdict.kept, verdict.lost_lines, verdict.doomed_lines) == (1, 0, 1)
    assert report.lines(verdict) == f"0 of {verdict.num_lines}"
    blameless = verdict._replace(doomed_lines=0)
    assert report.lines(blameless) == f"0 of {verdict.num_lines}: unbeatable"


def test_perfect_moves_are_all_the_optimal_ones(race):
    """Of several moves that keep the value, each is drawn at some time."""
    player = perfect_player(race)
    seen = np.zeros_like(race.optimal)
    for seed in range(30):
        moves = moves_of(player.act, race, jax.random.key(seed), size=32)
        seen[race.undecided, moves[race.undecided]] = True
    np.testing.assert_array_equal(seen, race.optimal)


def test_random_moves_lose_lines_and_keep_less(solution):
    moves = moves_of(random_player().act, solution, jax.random.key(0))
    assert not (moves[solution.undecided] < 0).any() and (moves[solution.ended] == -1).all()
    verdict = judge(solution, moves)
    assert 0.4 < verdict.kept < 0.8
    assert verdict.lost_lines > 10


def test_a_comparison_calls_unbeatable_only_who_loses_no_line_at_all():
    none, doomed = ({"lost": 0, "of": 9, "unbeatable": said} for said in (True, False))
    assert _lost([none]) == "none: unbeatable"
    assert _lost([doomed]) == "none"
    assert _lost([none, doomed]) == "none with 2 seeds"


def test_who_always_adds_one_is_judged_as_by_hand(race):
    """To 5 by 1 or 2: adding 1 keeps the value of the totals 1, 2 (lost anyway) and 4."""
    solved = solve(make("race_to_5_2"))
    verdict = judge(solved, np.zeros(len(solved.ended), int))
    optimal = {0: {1}, 1: {0}, 2: {0, 1}, 3: {1}, 4: {0}}
    kept = [0 in moves for moves in optimal.values()]
    assert verdict.kept == sum(kept) / len(kept)

    def lines(total, mine, held=False):
        if total == 5:  # Who is to move now has just been beaten.
            return np.array([int(mine and held), int(mine and not held), 1])
        held = held or (total != 2) == mine  # Only 2 is lost for whoever is to move there.
        steps = [1] if mine else [s for s in (1, 2) if total + s <= 5]
        return sum(lines(total + s, not mine, held) for s in steps)

    lost, doomed, total = lines(0, True) + lines(0, False)
    assert (verdict.lost_lines, verdict.doomed_lines, verdict.num_lines) == (lost, doomed, total)
    assert lost and doomed
    del race


def test_breaking_the_rules_loses(race):
    """At 20 only adding 1 is legal; adding 3 there loses every line that comes there."""
    best = race.optimal.argmax(axis=1)
    before = judge(race, best)
    best[np.flatnonzero(race.state.total == 20)] = 2
    after = judge(race, best)
    assert after.kept < before.kept == 1
    assert after.lost_lines > before.lost_lines
    assert after.num_lines == before.num_lines
