"""What a setting is worth, seed by seed."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from duozero.train import ablate, cli
from duozero.train.config import Config
from scipy import stats

TINY = """
num_rounds = 1
model = { width = 8, depth = 1 }
search = { num_simulations = 2 }
play = { num_games = 2, num_moves = 6 }
learn = { num_updates = 1, batch_size = 4, replay_moves = 8, num_unroll_steps = 2 }
"""
GAME = "race_to_5_2"


def outcomes(*kept):
    return [{"strength/kept": value, "strength/lost_lines": 3} for value in kept]


def test_an_effect_is_the_difference_seed_by_seed_with_its_t_interval():
    found = {"as it is": outcomes(0.5, 0.7, 0.9), "more": outcomes(0.6, 0.7, 0.95)}
    effects = ablate.compare(found)
    base, more = (effects[name]["strength/kept"] for name in found)
    assert base.mean == base.change == pytest.approx(0.7)
    low, high = stats.t.interval(0.95, 2, loc=0.7, scale=stats.sem([0.5, 0.7, 0.9]))
    assert base.half == pytest.approx((high - low) / 2)
    assert (more.mean, more.change) == pytest.approx((0.75, 0.05))
    low, high = stats.t.interval(0.95, 2, loc=0.05, scale=stats.sem([0.1, 0.0, 0.05]))
    assert more.half == pytest.approx((high - low) / 2)
    assert effects["more"]["strength/lost_lines"] == (3.0, 0.0, 0.0)


def test_one_seed_has_no_interval():
    assert np.isnan(ablate.half_width(np.array([0.5])))


@pytest.fixture
def command(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    changes = ("--change", "learn.augment=false,learn.lambda=0.5")
    common = ("--config", str(tmp_path / "tiny.toml"), "--run", str(tmp_path / "out"))
    return ["ablate", GAME, "--seeds", "0,1", *common, *changes]


@pytest.mark.slow
def test_every_change_is_trained_with_every_seed_once(tmp_path, command, capsys):
    assert cli.main(command) == 0
    shown = capsys.readouterr().out
    assert "| as it is " in shown and "| learn.augment=false,learn.lambda=0.5 " in shown
    stored = json.loads((tmp_path / "out/ablation.json").read_text())
    assert [len(runs) for runs in stored["runs"].values()] == [2, 2]
    configs = sorted((tmp_path / "out").glob("*/config.toml"))
    assert len(configs) == 4
    assert ["lambda = 0.5" in path.read_text() for path in configs].count(True) == 2
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*/metrics.jsonl")}
    assert cli.main(command) == 0  # What is finished is not done again.
    assert before == {path: path.stat().st_mtime_ns for path in before}
    report = tmp_path / "out/as-it-is_1/report.json"
    whole = report.read_text()
    report.write_text(whole[:99])
    assert cli.main(command) == 2
    assert "as-it-is_1/report.json is damaged; without that file" in capsys.readouterr().err
    report.unlink()
    assert cli.main(command) == 0
    assert report.read_text() == whole


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("learn.lamda=1", "unknown setting 'learn.lamda'; did you mean 'learn.lambda'"),
        ("learn.foo=1", "unknown setting 'learn.foo'; known: "),
        ("learn.lambda", "'learn.lambda' changes nothing; write SETTING=VALUE"),
        ("learn.lambda=much", "learn.lambda = 'much'; a number is needed"),
        ("evaluate.mcts_simulations=7", "evaluate.mcts_simulations=7 is no change of training"),
        ("seed=3", "seed=3 is no change of training"),
        ("learn.lambda=7", "learn.lambda = 7.0; it must be from 0 to 1"),
        ("learn.num_updates=1", "learn.num_updates=1 changes nothing"),
    ],
)
def test_a_change_that_cannot_be_is_one_line(tmp_path, command, capsys, change, says):
    assert cli.main([*command[:-1], change]) == 2
    shown = capsys.readouterr()
    assert says in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("model.width=4", "--change model.width=4 is given twice"),
        ("model.width=04", "model.width=4 and model.width=04 are the same change"),
        ("model.width=+4", "model.width=4 and model.width=+4 are the same change"),
    ],
)
def test_changes_that_are_alike_are_one_line(tmp_path, command, capsys, other, says):
    assert cli.main([*command[:-1], "model.width=4", "--change", other]) == 2
    shown = capsys.readouterr()
    assert says in shown.err and shown.err.count("\n") == 1 and not shown.out
    assert not (tmp_path / "out").exists()


def test_means_of_lines_are_no_whole_numbers_and_shares_end_at_all():
    lines, share = "strength/lost_lines", "strength/kept"
    assert ablate._cell("as it is", lines, ablate.Effect(0.5, 0.5, 6.4)) == "0.5 [0.0, 6.9]"
    assert ablate._cell("other", lines, ablate.Effect(1, 0.5, 6)) == "1.0, +0.5 [-5.5, +6.5]"
    wide = ablate.Effect(0.98, 0.98, 0.3)
    assert ablate._cell("as it is", share, wide) == "98.00 [68.00, 100.00]"


def test_changes_that_would_share_a_folder_are_refused(tmp_path):
    config, learn = Config(), Config().learn
    rates = {f"learning_rate={text}": float(text) for text in ("1e-2", "1e+2")}
    changes = {
        name: replace(config, learn=replace(learn, learning_rate=rate))
        for name, rate in rates.items()
    }
    with pytest.raises(
        ValueError, match="1e-2 and .*1e.2 would share the folder learning_rate-1e-2"
    ):
        ablate.prepare(config, changes, [0], tmp_path)


@pytest.mark.parametrize("contents", ["{", "3", "{}", '{"strength/kept": "x"}'])
def test_a_damaged_report_is_named(tmp_path, contents):
    whole, torn = (SimpleNamespace(directory=tmp_path / name) for name in ("whole", "torn"))
    for one, text in ((whole, '{"strength/kept": 0.5, "seed": 1}'), (torn, contents)):
        one.directory.mkdir()
        (one.directory / "report.json").write_text(text)
    assert ablate._outcomes(ablate.Ablation({"a": [whole]}, tmp_path)) == {  # pyright: ignore
        "a": [{"strength/kept": 0.5}]
    }
    with pytest.raises(OSError, match="torn/report.json is damaged; without that file"):
        ablate._outcomes(ablate.Ablation({"a": [torn], "b": [whole]}, tmp_path))  # pyright: ignore
