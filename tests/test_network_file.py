"""Network files: a trained player in one file, the same as from its run folder."""

import io
import os
import zipfile

import jax
import numpy as np
import pytest
from duozero.train import network_file, roster
from duozero.train.catalogue import game_named
from duozero.train.config import resolve, to_toml
from duozero.train.run import train
from duozero.train.trained import load, load_player
from test_checkpoint import SETTINGS as TINY

GAME = "race_to_5_2"
SETTINGS = TINY | {"num_rounds": 1}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.slow) for name in ("alphazero", "muzero")],
)
def place(request, tmp_path_factory):
    """A folder with a run and its network file."""
    place = tmp_path_factory.mktemp("files")
    train(resolve(GAME, request.param, SETTINGS), place / "run")
    trained = load(place / "run")
    network_file.save(place / "net.npz", trained.config, trained.params, trained.num_rounds)
    return place


def edited(path, **changes):
    """The contents of a network file with some of its arrays replaced, or left out for None."""
    with np.load(path) as file:
        arrays = dict(file) | changes
    out = io.BytesIO()
    np.savez(out, **{name: array for name, array in arrays.items() if array is not None})
    return out.getvalue()


def test_a_file_holds_the_player_of_its_run(place):
    run, file = load(place / "run"), load(place / "net.npz")
    assert file.config == run.config
    assert file.num_rounds == run.num_rounds == 1
    assert jax.tree.structure(file.params) == jax.tree.structure(run.params)
    for one, other in zip(*map(jax.tree.leaves, (file.params, run.params)), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_a_file_is_a_player_wherever_a_run_is(place):
    game = game_named(GAME)
    start = jax.vmap(game.init)(jax.random.split(jax.random.key(0), 8))
    moves = lambda player: player(jax.random.split(jax.random.key(1), 8), start)  # noqa: E731
    for spec in ("{}", "network:{}"):
        by_run, by_file = (
            roster.player(spec.format(place / name), GAME) for name in ("run", "net.npz")
        )
        assert by_file.name == spec.format(place / "net.npz")
        assert (by_file.plan is None) == spec.startswith("network:")
        assert np.array_equal(moves(by_run), moves(by_file))
    assert np.array_equal(
        moves(load_player(place / "net.npz", 3)),
        moves(load_player(place / "run", 3)),
    )


def test_the_same_network_is_the_same_bytes(place):
    trained = load(place / "net.npz")
    again = network_file.to_bytes(trained.config, trained.params, trained.num_rounds)
    assert again == (place / "net.npz").read_bytes()


def test_a_file_older_than_a_setting_plays_with_its_default(place, tmp_path):
    config = load(str(place / "net.npz")).config
    older = to_toml(config).replace("value_weight = 1.0\n", "").encode()
    assert len(older) < len(to_toml(config))
    path = tmp_path / "older.npz"
    path.write_bytes(edited(place / "net.npz", settings=np.array(bytearray(older))))
    assert load(path).config == config


def test_a_file_cut_anywhere_or_with_a_byte_changed_is_refused(place, tmp_path):
    whole, path = (place / "net.npz").read_bytes(), tmp_path / "net.npz"
    for size in range(0, len(whole), len(whole) // 20):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"net.npz is damaged, or no network file \(\w+\)$"):
            network_file.load(path)
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        data = [info.header_offset + 30 + len(info.filename) + 40 for info in file.infolist()]
    for at in data:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ValueError, match="net.npz is damaged"):
            network_file.load(path)


def foreign(place):
    array, pickled = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3))
    np.savez(pickled, num_rounds=np.array([{}], object), allow_pickle=True)
    net = place / "net.npz"
    with np.load(net) as file:
        name = next(name for name in file.files if name.startswith("["))
        shape = file[name].shape
    yield b"not a network", "is damaged, or no network file"
    yield array.getvalue(), "is damaged, or no network file"
    yield pickled.getvalue(), "is damaged, or no network file"
    yield edited(net, num_rounds=None), r"no network file \(KeyError\)"
    yield edited(net, num_rounds=np.zeros(2)), r"no network file \(TypeError\)"
    yield edited(net, settings=None), "does not say with which settings it was made"
    yield edited(net, settings=np.zeros(3)), "holds settings that cannot be used"
    odd = np.array(bytearray(b"[learn]\nwarmth = 3"))
    yield edited(net, settings=odd), "unknown setting 'learn.warmth'"
    yield edited(net, **{name: None}), "is of another game or network: .* is nothing"
    yield edited(net, **{name: np.zeros((3, 1), "f4")}), r"is float32\[3, 1\], not"
    yield edited(net, **{name: np.full(shape, "a")}), r"is <U1\["


def test_foreign_files_are_refused_in_one_line(place, tmp_path):
    path = tmp_path / "net.npz"
    for contents, message in foreign(place):
        path.write_bytes(contents)
        with pytest.raises(ValueError, match=message) as refusal:
            load(path)
        assert str(refusal.value).startswith(str(path))
        assert "\n" not in str(refusal.value)


def test_a_file_for_another_game_imports_nothing(place, tmp_path, monkeypatch):
    (tmp_path / "own_trap.py").write_text("open('sprung', 'w')\n")
    monkeypatch.chdir(tmp_path)
    odd = np.array(bytearray(b"game = 'own_trap:Mine'"))
    (tmp_path / "net.npz").write_bytes(edited(place / "net.npz", settings=odd))
    for spec in ("net.npz", "network:net.npz"):
        with pytest.raises(ValueError, match=r"^net.npz plays own_trap:Mine, not race_to_5_2$"):
            roster.player(spec, GAME)
    assert not (tmp_path / "sprung").exists()


def test_a_file_is_written_whole_or_not_at_all(place, tmp_path, monkeypatch):
    trained, path = load(place / "net.npz"), tmp_path / "net.npz"
    path.write_bytes(b"before")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        network_file.save(path, trained.config, trained.params, 1)
    assert path.read_bytes() == b"before"


def test_a_name_that_players_would_not_know_is_refused(place, tmp_path):
    trained = load(place / "net.npz")
    with pytest.raises(ValueError, match="ends in .npz"):
        network_file.save(tmp_path / "net", trained.config, trained.params, 1)
    assert not list(tmp_path.iterdir())
