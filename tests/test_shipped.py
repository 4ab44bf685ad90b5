"""Shipped networks: what the maintainer's command takes, and who plays by their names."""

import dataclasses
import shutil

import pytest
from duozero.games import make
from duozero.train import config, network_file, roster, session, shipped
from duozero.train.config import resolve
from duozero.train.run import train
from duozero.train.trained import load

GAME = "race_to_5_2"
PRESETS = f"""
[{GAME}.both]
num_rounds = 2
checkpoint_every = 1
model = {{ width = 8, depth = 1 }}
search = {{ num_simulations = 2 }}
play = {{ num_games = 4, num_moves = 6 }}
learn = {{ num_updates = 2, batch_size = 8, replay_moves = 16, num_unroll_steps = 2 }}
evaluate = {{ num_openings = 4 }}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a recipe and two runs, of which one follows it."""
    place = tmp_path_factory.mktemp("shipped")
    (place / "presets.toml").write_text(PRESETS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "PRESETS", place / "presets.toml")
        measured = {
            "seed": 3,
            "evaluate_every": 2,
            "evaluate": {"num_openings": 3},
        }  # Free to choose.
        train(resolve(GAME, "muzero", None, measured), place / "run")
        train(resolve(GAME, "muzero", None, {"model": {"width": 9}}), place / "other")
    return place


@pytest.fixture
def files(place, tmp_path, monkeypatch):
    """An empty folder for what is shipped."""
    monkeypatch.setattr(config, "PRESETS", place / "presets.toml")
    monkeypatch.setattr(network_file, "SHIPPED", tmp_path)
    return tmp_path


def ship(*runs):
    return shipped.main([*map(str, runs), "--commit", "abc1234", "--reached", "loses one game"])


@pytest.mark.slow
def test_a_run_of_the_recipe_is_shipped_and_plays_by_its_planners_name(place, files, capsys):
    assert ship(place / "run") == 0
    assert {path.name for path in files.iterdir()} == {f"{GAME}_muzero.npz", "README.md"}
    page = (files / "README.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {GAME}"))
    size = f"{(files / f'{GAME}_muzero.npz').stat().st_size / 1000:,.0f} kB"
    recipe = f"`duozero train {GAME} --planner muzero --seed 3`"
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == [GAME, "muzero", recipe, "3", "abc1234", "loses one game", size]
    assert roster.player("muzero", GAME).name == "muzero"
    assert roster.player("network:muzero", GAME).plan is None
    with pytest.raises(
        ValueError,
        match=f"^no network of alphazero is shipped for {GAME}; shipped: {GAME}_muzero$",
    ):
        roster.player("alphazero", GAME)


@pytest.mark.slow
def test_a_run_of_other_settings_is_refused_by_name(place, files, capsys):
    assert ship(place / "run", place / "other") == 2
    shown = capsys.readouterr().err
    assert shown.endswith("other was not trained as shipped: model.width = 9 instead of 8\n")
    assert not list(files.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["checkpoints/2", "report.json"])
def test_a_run_that_is_not_finished_is_refused(place, files, tmp_path, capsys, missing):
    run = tmp_path / "run"
    shutil.copytree(place / "run", run)
    gone = run / missing
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert ship(run) == 2
    assert "run is not finished: " in capsys.readouterr().err
    assert not network_file.all_shipped()


@pytest.mark.slow
def test_files_that_are_too_large_are_refused(place, files, monkeypatch, capsys):
    monkeypatch.setattr(shipped, "MOST_BYTES_EACH", 1_000)
    assert ship(place / "run") == 2
    assert f"{GAME}_muzero.npz has " in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(config, "PRESETS", place / "presets.toml")
    monkeypatch.setattr(network_file, "SHIPPED", files)
    (files / "other_muzero.npz").write_bytes(bytes(6_000))
    monkeypatch.setattr(shipped, "MOST_BYTES", 6_500)
    assert ship(place / "run") == 2
    assert "all files together have " in capsys.readouterr().err
    assert [path.name for path in files.iterdir()] == ["other_muzero.npz"]


@pytest.mark.slow
def test_a_file_that_is_replaced_does_not_count_twice(place, files, monkeypatch, capsys):
    assert ship(place / "run") == 0
    (path,) = network_file.all_shipped()
    monkeypatch.setattr(shipped, "MOST_BYTES", path.stat().st_size)
    assert ship(place / "run") == 0


@pytest.mark.slow
def test_who_names_nobody_plays_the_shipped_alphazero_or_else_mcts(place, files):
    assert session.prepare(GAME).opponent.name == "mcts:400"
    trained = load(place / "run")
    changed = dataclasses.replace(trained.config, planner="alphazero")
    path = network_file.shipped_path(GAME, "alphazero")
    network_file.save(path, changed, trained.params, 2)
    assert session.prepare(GAME).opponent.name == "alphazero"


# What is shipped indeed.


@pytest.mark.parametrize("path", network_file.all_shipped(), ids=lambda path: path.stem)
def test_each_shipped_file_holds_what_its_name_says(path):
    trained = load(path)
    assert path == network_file.shipped_path(trained.config.game, trained.config.planner)
    assert make(trained.config.game).id == trained.config.game
    assert trained.num_rounds == trained.config.num_rounds
    assert path.stat().st_size <= shipped.MOST_BYTES_EACH


def test_the_page_about_the_shipped_files_is_what_they_say():
    assert (network_file.SHIPPED / "README.md").read_text() == shipped.readme()
    assert sum(p.stat().st_size for p in network_file.all_shipped()) <= shipped.MOST_BYTES
