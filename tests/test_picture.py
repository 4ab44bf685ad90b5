"""What people see of a search: its principal variation, and a picture of its tree."""

import functools
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.planners import line_text, policies, principal_variation, rollout, scores, svg
from duozero.planners.tree import UNVISITED, Tree
from toys import Bonus, keys

LINES = SimpleNamespace(id="lines", num_players=2, action_to_string="abcdefgh".__getitem__)


def search(game, states, **settings):
    """The trees of a Gumbel search by playouts from `states`, and the visits of the moves."""
    planner = rollout(game)

    @jax.jit
    def grow(key, root_keys, state):
        root = planner.root_fn({}, root_keys, state)
        noise = jnp.zeros(root.prior_logits.shape)
        output = policies.gumbel_policy(
            *({}, key, root, planner.recurrent_fn, 64),
            gumbel=noise,
            qtransform=functools.partial(scores.completed_by_mix_value, rescale_values=False),
            invalid_actions=~state.legal_action_mask,
            **settings,
        )
        return output.tree, output.tree.summary().visit_counts

    states = jax.tree.map(lambda *x: jnp.stack(x), *states)
    return grow(jax.random.key(9), keys(len(states.terminated)), states)


@pytest.fixture(scope="module")
def found(tic_tac_toe):
    """Trees of at most three moves: x to win on c1, and the empty board."""
    opening = winning = tic_tac_toe.init(jax.random.key(0))
    for move in ("a1", "a3", "b1", "b3"):
        winning = tic_tac_toe.step(winning, tic_tac_toe.string_to_action(move))
    return search(tic_tac_toe, [winning, opening], max_depth=3)


def grown(*nodes, num_actions=8):
    """The tree of one game made of `(parent, action, visits, value, reward, discount)`, the root's
    first three of which say nothing; priors are equal."""
    parent, action, visits, values, rewards, discounts = map(np.array, zip(*nodes, strict=True))
    children = np.full((len(nodes), 1, num_actions), UNVISITED)
    children[parent[1:], 0, action[1:]] = np.arange(1, len(nodes))
    flat = (np.float32(x)[:, None] for x in (visits, values, values, rewards, discounts))
    return Tree(children, np.zeros(children.shape, np.float32), *flat, embeddings=None)  # pyright: ignore


ROOT = (0, 0, 10, 0.0, 0.0, 0.0)


def drawn(picture):
    """The boxes of a picture by title, with their left and top edge; and its paths."""
    image = ElementTree.fromstring(picture)
    name = "{http://www.w3.org/2000/svg}"
    boxes = {}
    for group in image.iter(f"{name}g"):
        title, box = group.find(f"{name}title"), group.find(f"{name}rect")
        boxes[title.text] = float(box.get("x")), float(box.get("y"))
    return boxes, list(image.iter(f"{name}path"))


def test_a_win_in_one_is_the_whole_line(tic_tac_toe, found):
    tree, visits = found
    (move,) = principal_variation(tree, 0)
    assert tic_tac_toe.action_to_string(move.action) == "c1"
    assert move.ended and move.visits == visits[0, move.action]
    assert move.qvalue == move.value == 1.0
    assert move.prior == pytest.approx(1 / 5)
    assert line_text(tic_tac_toe, [move]) == f"c1 ({move.visits} visits, +1.00)"


def test_the_line_is_no_deeper_than_the_tree(found):
    tree, visits = found
    line = principal_variation(tree, 1)
    assert len(line) == 3
    assert line[0].visits == visits[1].max()
    assert [move.mover for move in line] == [1, -1, 1]
    assert all(a.visits > b.visits for a, b in zip(line, line[1:], strict=False))


def test_the_player_who_moves_twice_keeps_the_sign():
    game = Bonus()
    state = game.init(jax.random.key(0))
    # From 7, whoever adds 1 moves again and ends the game; from 4, only adding 3 is allowed here.
    seven, four = (state.replace(total=jnp.int32(total)) for total in (7, 4))
    four = four.replace(legal_action_mask=jnp.array([False, False, True]))
    tree, _ = search(game, [seven, four])
    mine, theirs = (principal_variation(tree, index) for index in (0, 1))
    assert [(move.action, move.mover) for move in mine] == [(0, 1), (2, 1)]
    assert mine[0].value > 0 and mine[1].value == 0.75 and mine[1].ended
    assert [(move.action, move.mover) for move in theirs] == [(2, 1), (0, -1), (2, -1)]
    assert theirs[0].value < 0 and theirs[1].value < 0 < theirs[1].qvalue
    assert (theirs[2].qvalue, theirs[2].value) == (0.75, -0.75)


def test_equal_visits_are_told_apart_by_value_and_then_by_order():
    tree = grown(ROOT, *((0, action, 3, value, 0, -1) for action, value in enumerate([1, -1, -1])))
    assert [move.action for move in principal_variation(tree, 0)] == [1]


def test_a_predicted_end_ends_the_line():
    nodes = [(0, 0, 9, 0.5, 0.25, -0.9), (1, 1, 8, 0.5, 1.0, -0.2), (2, 2, 7, 1.0, 1.0, 0.0)]
    line = principal_variation(grown(ROOT, *nodes), 0)
    assert [move.action for move in line] == [0, 1]
    assert [move.value for move in line] == pytest.approx([0.25 - 0.45, -(1.0 - 0.1)])
    assert line_text(LINES, line) == "a (9 visits, -0.20)  b (8 visits, -0.90)"


def test_a_picture_holds_the_numbers_of_the_search(tic_tac_toe, found):
    tree, visits = found
    boxes, _ = drawn(svg(tic_tac_toe, tree, 1, max_depth=1, max_width=9))
    root, *others = boxes
    assert re.match(r"root: 65 visits, [+-]\d\.\d\d, node 0", root)
    shown = {title.split(":")[0]: int(re.search(r"(\d+) visit", title)[1]) for title in others}
    assert shown == {tic_tac_toe.action_to_string(a): int(n) for a, n in enumerate(visits[1])}
    assert sum(shown.values()) == 64
    assert all("prior 11%" in title for title in others)


def test_a_picture_shows_every_value_to_the_player_at_the_root():
    nodes = [(0, 0, 9, 0.5, 0, -1), (1, 1, 8, 0.25, 0, -1), (2, 2, 7, 0, 1, 0)]
    boxes, _ = drawn(svg(LINES, grown(ROOT, *nodes), 0))
    assert list(boxes) == [
        "root: 10 visits, +0.00, node 0",
        "a: 9 visits, -0.50, prior 12%, node 1",
        "b: 8 visits, +0.25, prior 12%, node 2",
        "c: 7 visits, +1.00, prior 12%, game over, node 3",
    ]


def test_a_picture_keeps_its_limits_and_says_what_it_leaves_out(tic_tac_toe, found):
    boxes, paths = drawn(svg(tic_tac_toe, found[0], 1, max_depth=2, max_width=3))
    assert len({top for _, top in boxes.values()}) == 3
    assert len(boxes) <= 1 + 3 + 9
    assert len(paths) == len(boxes) - 1
    titles = list(boxes)
    assert "+6 more" in titles[0]
    assert any("more" in title for title in titles[1:])


def test_boxes_do_not_overlap_and_parents_stand_above_the_middle_of_their_children():
    random = np.random.default_rng(0)
    free = [(0, action) for action in range(8)]
    nodes = [ROOT]
    while len(nodes) < 80:
        parent, action = free.pop(random.integers(len(free)))
        free += [(len(nodes), action) for action in range(8)]
        nodes.append((parent, action, random.integers(1, 9), 0.0, 0.0, -1.0))
    boxes, _ = drawn(svg(LINES, grown(*nodes), 0, max_depth=80, max_width=8))
    place = {int(title.rsplit(" ", 1)[1]): at for title, at in boxes.items()}
    assert len(place) == len(nodes)
    for row in {top for _, top in place.values()}:
        assert (np.diff(sorted(left for left, top in place.values() if top == row)) > 72).all()
    for node, (left, top) in place.items():
        below = [place[n] for n, move in enumerate(nodes) if n and move[0] == node]
        if below:
            middle = (min(below)[0] + max(below)[0]) / 2
            assert left == pytest.approx(middle, abs=0.1)
            assert all(top + 76 < under for _, under in below)


def test_the_principal_variation_is_drawn_in_black(found, tic_tac_toe):
    _, paths = drawn(svg(tic_tac_toe, found[0], 1, max_depth=2))
    assert [path.get("stroke") for path in paths].count("#222222") == 2


def test_any_name_of_a_move_can_be_drawn():
    tree = grown(ROOT, *((0, action, 2, 0.0, 0, -1) for action in range(2)))
    odd = SimpleNamespace(
        id="<&>", num_players=2, action_to_string=["<&>\x00\n\"'", "é" * 30].__getitem__
    )
    picture = svg(odd, tree, 0)
    assert picture.isascii()
    assert [title.split(":")[0] for title in drawn(picture)[0]] == ["root", "<&> \"'", "é" * 30]
    assert line_text(odd, principal_variation(tree, 0)) == "<&> \"' (2 visits, +0.00)"


def test_a_game_that_cannot_write_its_moves_numbers_them():
    alone = SimpleNamespace(id="alone", num_players=1)
    tree = grown(ROOT, (0, 5, 1, float("nan"), 0, 1))
    assert line_text(alone, principal_variation(tree, 0)) == "5 (1 visit, +nan)"
    assert "opponent" not in svg(alone, tree, 0)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="max_depth 0 and max_width 4"):
        svg(LINES, grown(ROOT), 0, max_depth=0)
    with pytest.raises(ValueError, match="no tree"):
        principal_variation(None, 0)


def test_a_line_may_begin_with_another_move_than_the_most_visited():
    tree = grown(
        ROOT, (0, 0, 6, 0.0, 0.0, -1.0), (0, 3, 3, 0.0, 0.0, -1.0), (2, 5, 2, 0.0, 0.0, -1.0)
    )
    lines = {first: principal_variation(tree, 0, first) for first in (None, 3, 7)}
    assert {first: [move.action for move in line] for first, line in lines.items()} == {
        None: [0],
        3: [3, 5],
        7: [0],  # It was not tried.
    }
