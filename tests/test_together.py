"""Seeds trained as one program: each is what it is alone, in its own folder."""

import dataclasses
import json
import shutil
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from duozero import planners
from duozero.planners import gumbel
from duozero.train import cli, memory, network_file, together
from duozero.train.prepared import prepare
from duozero.train.progress import Silent
from duozero.train.run import TrainedRun, execute_together, train
from duozero.train.trained import load, load_player
from test_checkpoint import same, tiny
from test_learner import build, numbers
from toys import any_move, keys

pytestmark = pytest.mark.slow
FULL = {
    "learn": {
        "ema_decay": 0.5,
        "priority": 1.0,
        "end_share": 0.5,
        "reanalyse": 0.3,
        "schedule": "kl",
    }
}


def each_alone(learner, num_rounds):
    """Two seeds, one after the other."""
    found = []
    for key in keys(2):
        state = learner.init(key)
        for _ in range(num_rounds):
            state, metrics = learner.learn(learner.play(state), 2)
        found.append((state, metrics))
    return found


def assert_close(alone, both):
    for seed, one in enumerate(alone):
        for x, y in zip(numbers(one), numbers(both), strict=True):
            np.testing.assert_allclose(x, y[seed], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scan", [True, False])
def test_seeds_learn_together_as_each_does_alone(tic_tac_toe, tiny, scan):
    planner = planners.muzero(tic_tac_toe, tiny, num_unroll_steps=2)
    alone = each_alone(build(planner, any_move(), scan_updates=scan), 2)
    learner = build(planner, any_move(), scan_updates=scan, num_seeds=2)
    state = learner.init(keys(2))
    for _ in range(2):
        state, metrics = learner.learn(learner.play(state), 2)
    assert_close([one for one, _ in alone], state)
    assert all(x.shape == (2, 2) for x in metrics.values())
    for seed, (_, own) in enumerate(alone):
        for name, x in own.items():
            np.testing.assert_allclose(x, metrics[name][:, seed], rtol=1e-4, atol=1e-4)


def test_all_that_a_learner_can_do_is_done_together(planner):
    search = gumbel(planner, 4)
    alone = each_alone(build(planner, search, settings=FULL, scan_updates=True), 2)
    learner = build(planner, search, settings=FULL, scan_updates=True, num_seeds=2)
    state = learner.init(keys(2))
    for _ in range(2):
        state, _ = learner.learn(learner.play(state), 2)
    assert_close([one for one, _ in alone], state)
    assert len(state.games.ply.sharding.device_set) == 2


def runs_of(directory, seeds=(0, 1), resume=False):
    """All of one recipe, so that little is compiled; `resume` where there is something."""
    config = tiny("alphazero", num_rounds=3, snapshot_every=2)
    places = {seed: directory / str(seed) for seed in seeds}
    return [
        prepare(dataclasses.replace(config, seed=seed), place, resume and place.exists())
        for seed, place in places.items()
    ]


def stopping_after(num_rounds):
    asked = []
    return lambda: asked.append(0) or len(asked) == num_rounds


def never():
    return False


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> list[TrainedRun]:
    """Two seeds trained together without a break, with a network kept of every other round."""
    return execute_together(runs_of(tmp_path_factory.mktemp("together")), Silent(), never)


def test_a_run_trained_together_is_the_run_trained_alone(pair, tmp_path):
    config = pair[1].run.config
    alone = train(config, tmp_path / "alone")
    for x, y in zip(numbers(alone.state), numbers(pair[1].state), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)
    for row, own in zip(pair[1].rows, alone.rows, strict=True):
        assert list(row) == list(own)
        timed = {"seconds", "positions_per_second"}
        assert row == pytest.approx(own | {k: row[k] for k in timed}, rel=1e-3)
    seconds = [row["seconds"] for row in pair[1].rows]
    assert seconds == sorted(seconds) == [row["seconds"] for row in pair[0].rows]


@pytest.fixture
def stopped(tmp_path):
    """A folder with the same two, stopped after a round."""
    found = execute_together(runs_of(tmp_path), Silent(), stopping_after(1))
    assert not any(one.finished for one in found)
    return tmp_path


def test_stopped_and_resumed_together_is_bit_for_bit_together(pair, stopped):
    resumed = execute_together(runs_of(stopped, resume=True), Silent(), never)
    for one, straight in zip(resumed, pair, strict=True):
        assert one.finished and same(one.state, straight.state)
        assert [row["games"] for row in one.rows] == [row["games"] for row in straight.rows]


def test_what_was_begun_together_is_finished_alone(pair, stopped):
    alone = train(pair[1].run.config, stopped / "1", resume=True)
    assert_close([alone.state], jax.tree.map(lambda x: x[None], pair[1].state))


def test_a_folder_trained_together_is_evaluated_like_any(pair, capsys):
    directory = pair[1].run.directory
    trained = load(directory)
    assert trained.num_rounds == 3 and same(trained.params, pair[1].state.average)
    report = json.loads((directory / "report.json").read_text())
    assert (report["seed"], report["rounds"]) == (1, 3)
    match = ["--against", "random", "--openings", "4", "--json"]
    assert cli.main(["evaluate", str(directory), *match]) == 0
    assert json.loads(capsys.readouterr().out)["score"]["distinct"] > 0


def test_networks_are_kept_as_files_that_play(pair):
    for one in pair:
        places = sorted((one.run.directory / "networks").iterdir())
        assert [path.name for path in places] == ["round_00002.npz", "round_00003.npz"]
        assert [network_file.load(path).num_rounds for path in places] == [2, 3]
        assert same(load(places[-1]).params, load(one.run.directory).params)
        assert not same(load(places[0]).params, load(places[-1]).params)
    key = jax.random.key(0)
    position = jax.vmap(pair[0].run.agent.game.init)(key[None])
    assert load_player(places[0])(jax.random.key(1)[None], position).shape == (1,)


def test_only_what_is_missing_is_trained(pair, tmp_path, monkeypatch):
    groups = []

    def count(runs, *rest, **settings):
        groups.append([one.config.seed for one in runs])
        return execute_together(runs, *rest, **settings)

    monkeypatch.setattr(together.run, "execute_together", count)
    monkeypatch.setattr(together, "vectorised", lambda alike, num_seeds: True)
    shutil.copytree(pair[0].run.directory, tmp_path / "0")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "0").rglob("*")}
    trained = together.train_all(runs_of(tmp_path, (2, 0, 3), resume=True), Silent(), never)
    assert trained is not None
    assert groups == [[2, 3]]
    assert [one.run.config.seed for one in trained] == [2, 0, 3]
    assert all(one.finished and len(one.rows) == 3 for one in trained)
    assert same(trained[1].state, pair[0].state)
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_what_is_interrupted_is_saved_and_nothing_is_returned(tmp_path):
    """In turn, as on any CPU: the second has not begun."""
    assert together.train_all(runs_of(tmp_path), Silent(), stopping_after(1)) is None
    assert [one.num_done for one in runs_of(tmp_path, resume=True)] == [1, 0]


def test_seeds_are_one_program_on_accelerators_where_they_fit(tmp_path, monkeypatch):
    one, _ = runs_of(tmp_path)
    assert not together.vectorised(one, 2)  # On a CPU.
    accelerator = SimpleNamespace(platform="gpu")
    monkeypatch.setattr(together, "jax", SimpleNamespace(devices=lambda: [accelerator]))
    assert together.vectorised(one, 2)
    assert not together.vectorised(one, 1)
    assert not together.vectorised(one, 10**9)
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    assert not together.vectorised(one, 2)
