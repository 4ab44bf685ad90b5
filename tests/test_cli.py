"""The command line: what each command does, and one line for whatever a person gets wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from duozero.train import cli, folder, network_file, process
from duozero.train.trained import load

TINY = """
num_rounds = 2
evaluate_every = 0
[model]
width = 8
depth = 1
[search]
num_simulations = 2
[play]
num_games = 4
num_moves = 6
[learn]
num_updates = 2
batch_size = 8
replay_moves = 16
num_unroll_steps = 2
[evaluate]
num_openings = 4
"""
GAME = "race_to_5_2"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with a settings file and a trained run in it."""
    place = tmp_path_factory.mktemp("cli")
    (place / "tiny.toml").write_text(TINY)
    (place / "broken.toml").write_text("num_rounds 2")
    (place / "odd.toml").write_text("[search]\nnum_simulatons = 2\n")
    before = os.getcwd()
    os.chdir(place)
    assert cli.main(["train", GAME, "--config", "tiny.toml", "--run", "run"]) == 0
    (place / "half").mkdir()
    (place / "unborn").mkdir()
    shutil.copy("run/config.toml", "unborn/config.toml")
    (place / "torn").mkdir()
    (place / "torn/config.toml").write_text("game = 'race_")
    (place / "newer").mkdir()
    (place / "newer/config.toml").write_text(f"game = '{GAME}'\n[learn]\nwarmth = 3\n")
    shutil.copytree("run", "edited")
    settings = (place / "run/config.toml").read_text()
    (place / "edited/config.toml").write_text(settings.replace("seed = 0", "seed = 7"))
    (place / "junk.npz").write_text("junk")
    trained = load(place / "run")
    network_file.save("net.npz", trained.config, trained.params, trained.num_rounds)
    yield place
    os.chdir(before)


def listing(place):
    return {p: p.stat().st_mtime_ns for p in place.rglob("*")}


def test_help_answers_without_jax():
    code = (
        "import sys\n"
        "from duozero.train.cli import main\n"
        "assert main(['train', '--help']) == 0 == main(['--help'])\n"
        "heavy = {'jax', 'flax', 'orbax', 'optax', 'mctx', 'numpy', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "--search.num-simulations N" in shown.stdout


@pytest.mark.slow
def test_devices_that_are_not_there_are_one_line():
    for command in ("games", "train race_to_5_2", "play race_to_5_2 --against random"):
        run = [sys.executable, "-m", "duozero.train.cli", *command.split()]
        absent = os.environ | {"JAX_PLATFORMS": "nowhere"}
        shown = subprocess.run(run, capture_output=True, text=True, env=absent)
        assert shown.returncode == 2 and not shown.stdout
        assert re.fullmatch(r"duozero: JAX does not start [^\n]*nowhere[^\n]*\n", shown.stderr)


def test_each_command_has_help(capsys):
    for command in cli.COMMANDS:
        assert cli.main([command, "--help"]) == 0
        assert f"usage: duozero {command}" in capsys.readouterr().out


def test_the_games_are_listed(capsys):
    assert cli.main(["games"]) == 0
    shown = capsys.readouterr().out
    solved = dict(re.findall(r"^\| (\w+) .*\| ([a-z ]+?) +\|$", shown.partition("\n\n")[0], re.M))
    assert solved.pop("connect_four") == "with the oracle extra"
    assert solved.pop("tic_tac_toe") == "yes"
    assert solved.pop("gomoku_6x6_4") == "no"
    assert re.search(
        r"^\| race_to_50_6 +\| muzero +\| [\d,]+ positions.*every position", shown, re.M
    )


WRONG = {
    "trian": "did you mean 'train'?",
    "train": "the following arguments are required: GAME",
    "train race_to_5_2 4": "unexpected '4'",
    "train tic_tac_to": "did you mean 'tic_tac_toe'?",
    "train gomoku_2x2_5": "must be 3 to 25",
    "train nowhere:Game": "no game 'nowhere:Game'",
    "train race_to_5_2 --planner muzro": "did you mean 'muzero'?",
    "train race_to_5_2 --serch.policy puct": "did you mean --search.policy?",
    "train race_to_5_2 --search.policy": "expected one argument",
    "train race_to_5_2 --search.policy puck": "did you mean 'puct'?",
    "train race_to_5_2 --search.num-simulations x": "a whole number is needed",
    "train race_to_5_2 --play.num-games 0": "must be greater than 0",
    "train race_to_5_2 --play.num-games -4": "must be greater than 0",
    "train race_to_5_2 --play.random-moves 2": "must be from 0 to 1",
    "train race_to_5_2 --play.num-games 2000000000": "GiB are available",
    "train race_to_5_2 --learn.replay-moves 2000000000": "GiB are available",
    "train race_to_5_2 --model.width 1000000000": "GiB are available",
    "train race_to_5_2 --search.num-simulations 2000000000": "GiB are available",
    "train race_to_5_2 --config none.toml": "cannot read settings from none.toml",
    "train race_to_5_2 --config broken.toml": "is not a settings file",
    "train race_to_5_2 --config odd.toml": "did you mean 'search.num_simulations'?",
    "train race_to_5_2 --run run": "exists and is left as it is; add --resume",
    "train race_to_5_2 --run none --resume": "there is no run folder none",
    "train race_to_5_2 --run half --resume": "holds no config.toml",
    "train race_to_5_2 --run torn --resume": "torn/config.toml holds settings that cannot",
    "train race_to_5_2 --run newer --resume": "unknown setting 'learn.warmth'",
    "train race_to_6_2 --run run --resume": "game = 'race_to_6_2' instead of 'race_to_5_2'",
    "train race_to_5_2 --run run --resume --model.width 9": "model.width = 9 instead of 8",
    "train race_to_5_2 --run run --resume --planner muzero": "planner = 'muzero' instead of",
    "compare race_to_5_2 --run run": "exists and is left as it is",
    "compare race_to_5_2 --run none --resume": "no comparison to resume in none",
    "compare race_to_5_2 --run run --resume": "no comparison to resume in run",
    "compare race_to_5_2 --budget slow": "unknown budget 'slow'; known: quick, standard, thorough",
    "compare race_to_5_2 --budget quik": "did you mean 'quick'?",
    "compare race_to_5_2 --seeds 1,x": "a whole number from 0",
    "compare race_to_5_2 --seed 1": "unknown flag --seed; did you mean --seeds?",
    "compare race_to_5_2 --planner muzero": "unknown flag --planner",
    "compare race_to_5_2 --play.num-games 2000000000": "GiB are available",
    "evaluate run": "required: --against",
    "evaluate none --against random": "there is no run folder none",
    "evaluate half --against random": "holds no config.toml",
    "evaluate torn --against random": "torn/config.toml holds settings that cannot",
    "evaluate newer --against random": "unknown setting 'learn.warmth'",
    "evaluate edited --against random": "edited is of a run with other settings: seed = 7 instead",
    "evaluate unborn --against random": "holds no checkpoint yet",
    "evaluate tiny.toml --against random": "tiny.toml is a file, not a run folder",
    "evaluate none.npz --against random": "none.npz: No such file or directory",
    "evaluate junk.npz --against random": "junk.npz is damaged, or no network file (",
    "evaluate net.npz --against random --best": "net.npz holds one network",
    "evaluate run --against junk.npz": "junk.npz is damaged, or no network file (",
    "evaluate run --against network:none.npz": "duozero: none.npz: No such file or directory",
    "evaluate run --against none.npz": "nor is none.npz a file or folder",
    "evaluate run --against tiny.toml": "tiny.toml is a file, not a run folder",
    "evaluate run --against mtcs": "did you mean 'mcts'?",
    "evaluate run --against mcts:0": "a number of simulations from 1",
    "evaluate run --against mcts:9999999 --openings 1000000": "GiB are available",
    "evaluate run --against network:none": "there is no run folder none",
    "evaluate run --against network:random": "random has no network; network: goes before alphaz",
    "play": "the following arguments are required: GAME",
    "play chess": "unknown game 'chess'",
    "play race_to_5_2 --against alphazero": "no network of alphazero is shipped for race_to_5_2",
    "evaluate run --against network:muzero": "no network of muzero is shipped for race_to_5_2",
    "play gomoku_6x6_4 --against perfect": "no perfect player of gomoku_6x6_4",
    "play race_to_6_2 --against run": "plays race_to_5_2, not race_to_6_2",
    "play race_to_6_2 --against net.npz": "net.npz plays race_to_5_2, not race_to_6_2",
    "play race_to_5_2 --first --second": "not allowed with",
}


# What loads JAX and more before it can refuse is left to CI.
QUICK = ("train", "games", "trian", "bench")


@pytest.mark.parametrize(
    "command",
    [pytest.param(c, marks=() if c.split(" ")[0] in QUICK else pytest.mark.slow) for c in WRONG],
)
def test_what_is_wrong_takes_one_line_and_changes_nothing(command, place, capsys):
    before = listing(place)
    assert cli.main(command.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(r"duozero: [^\n]+\n", shown.err)
    assert WRONG[command] in shown.err
    assert listing(place) == before


def test_a_run_says_what_it_does_and_what_came_of_it(place, capsys):
    assert cli.main(["train", GAME, "--config", "tiny.toml", "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "compiling and playing the first games" in shown
    assert "round 2/2" in shown
    assert "loses" in shown
    assert (place / f"runs/{GAME}_alphazero_1/report.md").is_file()


@pytest.mark.slow
def test_more_rounds_may_be_asked_for(place, capsys):
    shutil.copytree("run", "longer")
    assert cli.main(["train", GAME, "--run", "longer", "--resume", "--num-rounds", "3"]) == 0
    assert [row["round"] for row in folder.read_rows(place / "longer")] == [1, 2, 3]
    assert folder.stored_config(place / "longer").num_rounds == 3


@pytest.mark.slow
def test_a_run_is_held_against_another_player(place, capsys):
    assert cli.main(["evaluate", "run", "--against", "random", "--openings", "4"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"against random +\| [\d.]+ \[", shown)
    assert "keeps the value, with search" in shown
    command = "evaluate net.npz --against network:run --openings 4 --simulations 3 --json"
    assert cli.main(command.split()) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["score"]["wins"] + numbers["score"]["draws"] + numbers["score"]["losses"] == 8
    what = {"game": GAME, "player": "net.npz", "against": "network:run", "openings": 4, "seed": 0}
    assert what.items() <= numbers.items()


@pytest.mark.slow
def test_both_planners_are_compared(place, capsys):
    assert cli.main(f"compare {GAME} --config tiny.toml --run both".split()) == 0
    shown = capsys.readouterr().out
    assert "simulations a move AlphaZero keeps the game value in" in shown
    assert "MuZero's network, real rules" in shown
    report = (place / "both/report.md").read_text()
    for name in ("plies", "training", "search", "model", "ratings"):
        assert f"(figures/{name}.svg)" in report
        assert (place / f"both/figures/{name}.png").is_file()
    assert "report.html" in shown and (place / "both/report.html").is_file()
    assert (
        cli.main(["evaluate", "both/runs/muzero_0", "--against", "random", "--openings", "4"]) == 0
    )


def test_only_the_threads_that_outlive_a_checkpoint_are_not_heard(monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "__unraisablehook__", heard.append)
    late, other, else_ = (
        SimpleNamespace(exc_value=error)
        for error in (
            RuntimeError("Event loop is closed"),
            RuntimeError("another"),
            ValueError("loop is closed"),
        )
    )
    for found in (late, other, else_):
        process._unraisable(found)
    assert heard == [other, else_]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [["help"], ["train", "--help"]])
def test_output_that_cannot_be_written_is_one_line_and_code_2(arguments):
    command = [sys.executable, "-m", "duozero.train.cli", *arguments]
    quiet = os.environ | {"PYTHONUNBUFFERED": ""}
    with open("/dev/full", "w") as full:
        it = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=quiet)
    assert (it.returncode, it.stderr) == (2, "duozero: No space left on device\n")


@pytest.mark.slow
def test_ctrl_c_saves_and_says_how_to_go_on(place):
    command = [sys.executable, "-m", "duozero.train.cli", "train", GAME, "--config", "tiny.toml"]
    command += ["--run", "stopped", "--num-rounds", "1000000", "--play.num-games", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        while not (place / "stopped/metrics.jsonl").exists() or not folder.read_rows(
            place / "stopped"
        ):
            assert it.poll() is None, it.communicate()
            time.sleep(0.1)
        it.send_signal(signal.SIGINT)
        out, _ = it.communicate(timeout=60)
        assert it.returncode == 130
    last = out.splitlines()[-1]
    how = f"duozero train {GAME} --planner alphazero --resume --run stopped"
    assert last == f"saved; go on with: {how}"
    checkpoints = [int(p.name) for p in (place / "stopped/checkpoints").iterdir()]
    assert max(checkpoints) == folder.read_rows(place / "stopped")[-1]["round"]
