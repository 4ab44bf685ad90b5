"""Runs in their folders: the same bits after an interruption, and never written over."""

import dataclasses
import json
import re
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from duozero.train import checkpoint, course, folder, lock, packed
from duozero.train.config import Config, resolve, to_toml
from duozero.train.prepared import prepare
from duozero.train.progress import Silent, strength
from duozero.train.run import execute, train
from duozero.train.trained import load, load_player

SETTINGS = {
    "num_rounds": 4,
    "evaluate_every": 0,
    "checkpoint_every": 2,
    "model": {"width": 8, "depth": 1},
    "search": {"num_simulations": 2},
    "play": {"num_games": 4, "num_moves": 6},
    "learn": {
        "num_updates": 2,
        "batch_size": 8,
        "replay_moves": 16,
        "num_unroll_steps": 2,
        "ema_decay": 0.5,
        "schedule": "cosine",
    },
    "evaluate": {"num_openings": 4, "mcts_simulations": 2},
}


def tiny(planner: str, **changes) -> Config:
    return dataclasses.replace(resolve("race_to_5_2", planner, SETTINGS, {}), **changes)


def bits(state):
    keys = lambda x: jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)  # noqa: E731
    return [np.asarray(jax.random.key_data(x) if keys(x) else x) for x in jax.tree.leaves(state)]


def same(one, other) -> bool:
    pairs = zip(bits(one), bits(other), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


@pytest.fixture(
    scope="module", params=["alphazero", pytest.param("muzero", marks=pytest.mark.slow)]
)
def straight(request, tmp_path_factory):
    """A run of four rounds without a break."""
    return train(tiny(request.param), tmp_path_factory.mktemp("runs") / "straight")


def test_two_rounds_and_two_more_are_four(straight, tmp_path):
    config, asked = straight.run.config, []
    stopped = train(
        config, tmp_path / "run", should_stop=lambda: asked.append(0) or len(asked) == 2
    )
    assert not stopped.finished
    assert len(stopped.rows) == 2
    resumed = train(config, tmp_path / "run", resume=True)
    assert resumed.finished
    assert same(resumed.state, straight.state)
    rows = [json.loads(x) for x in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    for row, before in zip(rows, straight.rows, strict=True):
        timed = {"seconds", "positions_per_second"}
        assert {k: v for k, v in row.items() if k not in timed} == {
            k: v for k, v in before.items() if k not in timed
        }


@pytest.mark.slow
def test_measuring_does_not_touch_training(straight, tmp_path):
    config = dataclasses.replace(straight.run.config, evaluate_every=1)
    assert same(train(config, tmp_path / "run").state, straight.state)


def test_a_finished_run_holds_its_settings_checkpoints_and_report(straight):
    directory = straight.run.directory
    assert folder.stored_config(directory) == straight.run.config
    steps = [p.name for p in (directory / "checkpoints").iterdir()]
    assert sorted(steps) == ["2", "4"]
    report = json.loads((directory / "report.json").read_text())
    assert report["positions"] == 4 * 4 * 6
    lines = (directory / "report.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    last = straight.rows[-1]
    assert ["best/round", str(last["best/round"])] in rows
    assert rows[-1] == ["4", "96", f"{last['seconds']:.0f}", strength(last)]


def test_the_player_of_a_run_has_its_averaged_parameters(straight):
    trained = load(straight.run.directory)
    assert same(trained.params, straight.state.average)
    assert not same(trained.params, straight.state.params)


def test_a_checkpoint_that_was_not_finished_leaves_the_earlier_one(straight, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    (run / "checkpoints/4").rename(run / "checkpoints/4.orbax-checkpoint-tmp")
    assert checkpoint.latest(run) == 2
    resumed = train(straight.run.config, run, resume=True)
    assert same(resumed.state, straight.state)
    assert [row["round"] for row in folder.read_rows(run)] == [1, 2, 3, 4]


def test_a_run_killed_before_its_first_checkpoint_starts_again(straight, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(ValueError, match="a report and no checkpoint"):
        train(straight.run.config, run, resume=True)
    (run / "report.json").unlink()
    assert same(train(straight.run.config, run, resume=True).state, straight.state)


def test_a_damaged_checkpoint_is_refused_in_one_line(straight, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    shutil.rmtree(run / "checkpoints/4/player")
    message = (
        "checkpoint 4 of .* is damaged: .* in .*/checkpoints/4; without it, that of round 2 is"
    )
    with pytest.raises(ValueError, match=message):
        load(run)
    shutil.rmtree(run / "checkpoints/4")
    assert load(run).num_rounds == 2


def test_a_checkpoint_that_was_not_finished_is_stored_again(tmp_path):
    config, state = tiny("alphazero"), {"x": jnp.arange(3)}
    with checkpoint.Checkpoints(tmp_path, config) as checkpoints:
        checkpoints.save(2, state, state)
    for step in (4, 8):
        shutil.copytree(tmp_path / "checkpoints/2", tmp_path / f"checkpoints/{step}")
        (tmp_path / f"checkpoints/{step}/_CHECKPOINT_METADATA").unlink()
    assert checkpoint.latest(tmp_path) == 2
    with checkpoint.Checkpoints(tmp_path, config) as checkpoints:
        checkpoints.save(4, {"x": jnp.arange(3) + 1}, state)
        with pytest.raises(OSError, match="no checkpoint of round 4 could be stored"):
            checkpoints.save(4, state, state)
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["2", "4"]
    assert checkpoint.restore(tmp_path, "state", state, config)["x"].tolist() == [1, 2, 3]


def test_a_full_disk_is_an_error_of_the_system(tmp_path, monkeypatch):
    """orbax calls it a ValueError, of any length."""
    said = "RESOURCE_EXHAUSTED: Error writing file [os_error_code='28'] [and so on]\n" * 100

    def full(*args, **kwargs):
        raise ValueError(said)

    config, state = tiny("alphazero"), {"x": jnp.arange(3)}
    with checkpoint.Checkpoints(tmp_path, config) as checkpoints:
        monkeypatch.setattr(checkpoints._manager, "save", full)
        with pytest.raises(OSError, match="checkpoints: .* could be stored: No space left on dev"):
            checkpoints.save(2, state, state)
        said = "something else\nat length"
        with pytest.raises(OSError, match="stored: something else at length$"):
            checkpoints.save(2, state, state)


@pytest.mark.parametrize(
    "damage", [{"games": None}, {"seconds": "x"}, {"seconds": float("inf")}, {"updates": -1}]
)
def test_measurements_are_read_up_to_the_first_that_is_damaged(tmp_path, damage):
    row = {"positions": 1, "updates": 2, "games": 3, "seconds": 0.5, "loss/policy": float("nan")}
    for number in (1, 2, 3):
        folder.append_row(tmp_path, {"round": number} | row | (damage if number == 3 else {}))
    assert [row["round"] for row in folder.read_rows(tmp_path)] == [1, 2]
    (tmp_path / "metrics.jsonl").write_text('{"round": 1}\n')
    assert folder.read_rows(tmp_path) == []
    (tmp_path / "metrics.jsonl").write_text("[" * 100_000)
    assert folder.read_rows(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "edited", "difference"),
    [
        ("width = 8", "width = 9", "model.width = 9 instead of 8"),
        ("seed = 0", "seed = 1", "seed = 1 instead of 0"),
        ("ema_decay = 0.5", "", "learn.ema_decay = 0.0 instead of 0.5"),
        ('game = "race_to_5_2"', "", "game = 'tic_tac_toe' instead of 'race_to_5_2'"),
    ],
)
def test_settings_that_are_not_the_checkpoints_are_refused_by_name(
    straight, tmp_path, line, edited, difference
):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    settings = (run / "config.toml").read_text()
    assert line in settings
    (run / "config.toml").write_text(settings.replace(line, edited))
    message = re.escape(f"checkpoint 4 of {run} is of a run with other settings: {difference}")
    with pytest.raises(ValueError, match=f"^{message}$"):
        load(run)
    with pytest.raises(ValueError, match=f"^{message}$"):
        train(folder.stored_config(run), run, resume=True)


def test_settings_that_were_cut_short_are_refused(straight, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    settings = (run / "config.toml").read_text()
    (run / "config.toml").write_text(settings[: settings.index("[play]")])
    with pytest.raises(ValueError, match="play.num_games = 128 instead of 4; play.num_moves = 16"):
        load(run)
    with pytest.raises(ValueError, match="play.num_games = 4 instead of 128"):
        train(straight.run.config, run, resume=True)


@pytest.mark.slow
def test_a_run_older_than_a_setting_plays_and_goes_on(straight, tmp_path, monkeypatch):
    config, run = straight.run.config, tmp_path / "run"
    older = lambda config: to_toml(config).replace("value_weight = 1.0\n", "")  # noqa: E731
    for module in (course, packed):
        monkeypatch.setattr(module, "to_toml", older)
    asked = []
    train(config, run, should_stop=lambda: asked.append(0) or len(asked) == 2)
    monkeypatch.undo()
    assert "value_weight" not in (run / "config.toml").read_text()
    key = jax.random.key(0)
    position = jax.vmap(straight.run.agent.game.init)(key[None])
    assert load_player(run)(jax.random.key(1)[None], position).shape == (1,)
    assert same(train(config, run, resume=True).state, straight.state)


def test_a_checkpoint_without_settings_is_refused(straight, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "pack_settings", lambda config: {})
    train(straight.run.config, tmp_path / "run")
    with pytest.raises(ValueError, match="4 of .* does not say with which settings it was made"):
        load(tmp_path / "run")


def test_a_tree_is_unpacked_only_into_its_own_shape_and_type():
    tree = {"a": jnp.zeros((2, 3)), "key": jax.random.key(0)}
    arrays = packed.pack(tree)
    assert same(packed.unpack(arrays, jax.eval_shape(lambda: tree), "it"), tree)
    for wrong, is_ in (
        ({"a": jnp.zeros((2, 4))}, r"float32\[2, 3\], not float32\[2, 4\]"),
        ({"a": jnp.zeros((2, 3), jnp.int32)}, r"float32\[2, 3\], not int32\[2, 3\]"),
        ({"b": jnp.zeros(1)}, r"nothing, not float32\[1\]"),
        ({"key": jnp.zeros(3, jnp.uint32)}, r"uint32\[2\], not uint32\[3\]"),
    ):
        with pytest.raises(ValueError, match=r"^it is of another game or network: .* is " + is_):
            packed.unpack(arrays, wrong, "it")


def test_measurements_that_a_checkpoint_presupposes_must_be_there(straight, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(straight.run.directory, run)
    (run / "metrics.jsonl").write_text("null\n")
    with pytest.raises(ValueError, match="metrics.jsonl of .* is damaged in line 1;"):
        train(straight.run.config, run, resume=True)


def test_a_folder_is_not_used_twice(straight):
    with pytest.raises(ValueError, match="add --resume"):
        train(straight.run.config, straight.run.directory)


def test_a_new_folder_leaves_its_neighbours_alone(tmp_path):
    (tmp_path / "mine.part").mkdir()
    (tmp_path / "mine.part/config.toml").write_text("another's")
    folder.begin(tmp_path / "mine", "config.toml", "new")
    folder.write(tmp_path / "mine/config.toml", "newer")
    assert (tmp_path / "mine/config.toml").read_text() == "newer"
    assert (tmp_path / "mine.part/config.toml").read_text() == "another's"
    assert len(list(tmp_path.rglob("*"))) == 4


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        folder.begin(tmp_path / "mine", "config.toml", "new")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_called_by_the_name_that_was_given(tmp_path):
    path = tmp_path / "nowhere/mine.npz"
    with pytest.raises(FileNotFoundError) as refusal:
        folder.write(path, b"")
    assert refusal.value.filename == str(path)


def test_a_folder_is_for_one_at_a_time(tmp_path):
    mine = tmp_path / "mine"
    with (
        lock.entered(mine, "config.toml", "first"),
        pytest.raises(OSError, match="another process is at work in .*mine"),
        lock.entered(mine, "config.toml", "second"),
    ):
        pass
    with lock.entered(mine, "config.toml", "second"):  # The file that is left locks nobody out.
        assert (mine / "config.toml").read_text() == "first"


def test_a_run_that_others_went_on_with_meanwhile_is_not_trained(straight, tmp_path):
    config, run = straight.run.config, tmp_path / "run"
    early = prepare(config, run)
    shutil.copytree(straight.run.directory, run)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(OSError, match="was trained to round 4 meanwhile"):
        execute(early, Silent(), lambda: False)
    assert before == {path: path.read_bytes() for path in before}


def test_other_settings_do_not_resume(straight):
    config = dataclasses.replace(straight.run.config, seed=5)
    with pytest.raises(ValueError, match="seed = 5 instead of 0"):
        train(config, straight.run.directory, resume=True)
    fewer = dataclasses.replace(straight.run.config, num_rounds=3)
    with pytest.raises(ValueError, match="num_rounds = 3 instead of 4"):
        train(fewer, straight.run.directory, resume=True)
