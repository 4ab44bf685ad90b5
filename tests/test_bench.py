"""Benchmarks measure what they say, in turn, and keep what is found when they are stopped."""

import json
import re
import time

import jax
import jax.numpy as jnp
import mctx  # noqa: F401 - It uses keys again: see `conftest.py`.
import numpy as np
import pytest
from duozero.train import cli
from duozero.train.bench import base, selfplay, timing
from duozero.train.bench.parts import null_model
from jax.experimental.compilation_cache import compilation_cache

TINY_RUN = (
    "--game tic_tac_toe --repeats 1 --model.width 8 --model.depth 1 --search.num-simulations 4 "
    "--play.num-games 2 --play.num-moves 4 --learn.num-updates 2 --learn.batch-size 2 "
    "--learn.replay-moves 8 --learn.num-unroll-steps 2 --play.opening-plies 0"
)
TINY_SEARCH = "bench search --game tic_tac_toe --batch 2 --simulations 4 --repeats 1"


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(timing, "LEAST_SECONDS", 1e-9)


def run(command, tmp_path, capsys):
    """The numbers that a benchmark keeps, and what it prints."""
    path = tmp_path / "bench.json"
    assert cli.main([*command.split(), "--json", str(path)]) == 0
    shown = capsys.readouterr()
    assert max(map(len, shown.out.splitlines())) <= 100
    assert shown.out.startswith("cpu: 4 x cpu, jax ")
    assert "timing" in shown.err
    numbers = json.loads(path.read_text())
    assert numbers["finished"]
    return numbers["cells"], shown.out


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy, planner, network", [("gumbel", "alphazero", "null"), ("puct", "muzero", "mlp")]
)
def test_both_engines_are_timed_and_visit_alike(policy, planner, network, tmp_path, capsys):
    command = f"{TINY_SEARCH} --policy {policy} --planner {planner} --network {network}"
    cells, shown = run(command, tmp_path, capsys)
    assert [cell["policy"] for cell in cells] == [policy]
    for cell in cells:
        assert cell["same_visit_counts"] == 1.0
        ours, theirs = (cell["seconds"][name][0] for name in ("duozero", "mctx"))
        assert cell["ratio"]["median"] == pytest.approx(theirs / ours)
        assert cell["simulations_per_second"]["duozero"]["median"] == pytest.approx(8 / ours)
        forward = cell["forward_seconds"]
        expected = None if network == "null" else pytest.approx(theirs / (4 * forward[0]))
        assert cell["overhead"]["mctx"] == expected
        assert min(*cell["temp_bytes"].values(), *cell["compile_seconds"].values()) > 0
    assert f"{planner} on tic_tac_toe, network: {network}" in shown


@pytest.mark.slow
def test_self_play_is_timed_whole_and_in_parts(tmp_path, capsys):
    (found,), shown = run(f"bench selfplay --planner muzero {TINY_RUN}", tmp_path, capsys)
    assert set(found["seconds"]) == {"all", "one", "null", "network", "rules"}
    assert found["devices"] == 2
    whole = found["seconds"]["all"][0]
    assert found["positions_per_second"]["all"]["median"] == pytest.approx(8 / whole)
    assert found["simulations_per_second"]["all"]["median"] == pytest.approx(32 / whole)
    assert sum(found["shares"].values()) == pytest.approx(1)
    assert "simulations/s" in shown


@pytest.mark.slow
def test_updates_are_timed(tmp_path, capsys):
    (found,), shown = run(f"bench train {TINY_RUN}", tmp_path, capsys)
    for loop in ("turn", "scan"):
        seconds = found["seconds"][loop][0]
        assert found["updates_per_second"][loop]["median"] == pytest.approx(2 / seconds)
        assert found["positions_per_second"][loop]["median"] == pytest.approx(4 / seconds)
    assert "positions learned" in shown


WRONG = {
    "bench": "a benchmark is needed; known: search, selfplay, train",
    "bench serch": "did you mean 'search'?",
    "bench search --batch 0": "a whole number from 1",
    "bench search --batch 1,": "a whole number from 1",
    "bench search --batch 2000000000": "alphazero, gumbel, 2000000000 x 32: a search of",
    "bench search --simulations 4,x": "'x'; a whole number",
    "bench search --repeats 0": "a whole number from 1",
    "bench search --policy gumbl": "did you mean 'gumbel'?",
    "bench search --planner muzro": "did you mean 'muzero'?",
    "bench search --network rensnet": "did you mean 'resnet'?",
    "bench search --network cnn --game race_to_21": "use the mlp",
    "bench search --game gomok_6x6_4": "did you mean 'gomoku_6x6_4'?",
    "bench search --json result/a.json": "did you mean 'results'?",
    "bench search --json nowhere/b/a.json": "there is no directory nowhere;",
    "bench search --json results": "is a directory",
    "bench selfplay --game tic_tac_to": "did you mean 'tic_tac_toe'?",
    "bench selfplay --planner both": "allowed: alphazero, muzero",
    "bench selfplay --learn.replay-moves 2000000000": "GiB are available",
    "bench train --learn.batch-size 0": "must be greater than 0",
    "bench train --learn.replay-moves 2000000000": "GiB are available",
}


@pytest.mark.parametrize("command", WRONG)
def test_what_is_wrong_takes_one_line_before_anything_is_compiled(
    command, tmp_path, monkeypatch, capsys, compilations
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    with compilations() as count:
        assert cli.main(command.split()) == 2
    assert count() <= 1  # The bins of a categorical value are laid out.
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(r"duozero: [^\n]+\n", shown.err)
    assert WRONG[command] in shown.err


def stopped(tell):
    tell("timing")
    raise KeyboardInterrupt


def test_what_is_finished_survives_ctrl_c(tmp_path, capsys):
    path = tmp_path / "bench.json"
    cells = {"first": lambda tell: {"speed": timing.spread([1.0, 4.0, 2.0])}, "second": stopped}
    benchmark = base.Bench("toy", {}, cells, lambda found: f"{len(found)} found")
    assert base.execute(benchmark, path) == 130
    shown = capsys.readouterr()
    assert shown.out.endswith("\n1 found\n")
    assert shown.err == "  2/2 second: timing\n"
    numbers = json.loads(path.read_text())
    assert not numbers["finished"]
    assert numbers["cells"] == [{"speed": {"median": 2.0, "low": 1.0, "high": 4.0}}]
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_before_anything_is_finished_writes_nothing(tmp_path, capsys):
    benchmark = base.Bench("toy", {}, {"only": stopped}, str)
    assert base.execute(benchmark, tmp_path / "bench.json") == 130
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert not any(tmp_path.iterdir())


@pytest.fixture
def kept_programs(tmp_path):
    """A directory where JAX keeps what it compiles."""
    settings = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for values in (settings, before):
        for name, value in values.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        if values is settings:
            yield tmp_path


def test_programs_are_compiled_anew_for_a_benchmark_alone(kept_programs):
    with timing.without_compilation_cache():
        timing.compiled(lambda x: x + 1, 1.0)
    assert not any(kept_programs.iterdir())
    timing.compiled(lambda x: x + 1, 1.0)
    assert any(kept_programs.iterdir())


def test_programs_take_turns():
    calls = []
    programs = {name: lambda name=name: calls.append(name) for name in "abc"}
    timing.in_turn(programs, 3)
    turns = re.sub(r"(.)\1*", r"\1", "".join(calls))  # A program may fill its turn with many calls.
    assert turns == "abc" * 4
    assert {name: len(x) for name, x in timing.in_turn(programs, 3).items()} == dict.fromkeys(
        "abc", 3
    )


def test_a_short_program_is_called_until_it_can_be_timed(monkeypatch):
    monkeypatch.setattr(timing, "LEAST_SECONDS", 0.05)
    calls = []
    (seconds,) = timing.in_turn({"nap": lambda: calls.append(time.sleep(0.01))}, 1)["nap"]
    assert 3 <= len(calls) <= 6
    assert 0.009 < seconds < 0.05


def test_a_ratio_is_of_the_medians_and_its_spread_of_the_pairs():
    assert timing.ratio([2.0, 4.0, 9.0], [1.0, 1.0, 3.0]) == (4.0, 2.0, 4.0)
    assert str(timing.rate(1000, [0.5, 1.0, 0.25])) == "2k [1k..4k]"


@pytest.mark.parametrize(
    "number, text",
    [(0, "0"), (0.1234, "0.123"), (999.6, "1k"), (476_123, "476k"), (999_900, "1M"), (2e9, "2G")],
)
def test_numbers_are_short(number, text):
    assert timing.short(number) == text


def test_the_shares_of_the_parts_sum_to_one():
    seconds = {"all": 10.0, "one": 15.0, "null": 4.0, "network": 5.0, "rules": 1.0}
    found = selfplay.shares(seconds)
    assert found == {"network": 0.5, "rules": 0.1, "tree": 0.3, "the rest": pytest.approx(0.1)}


@pytest.mark.slow
def test_a_null_network_says_what_an_untrained_one_says(tic_tac_toe, tiny):
    state = jax.vmap(tic_tac_toe.init)(jax.random.split(jax.random.key(0), 2))

    def answers(model, params):
        net = model.bind(params)
        embedding, reward, discount = net.dynamics(
            net.represent(state.observation), jnp.zeros(2, jnp.int32)
        )
        logits, value = net.predict(embedding)
        return model.reward.mean(reward), discount, logits, model.value.mean(value)

    untrained = answers(tiny, tiny.init(jax.random.key(1)))
    nothing = answers(null_model(tic_tac_toe), {})
    jax.tree.map(np.testing.assert_array_equal, nothing, untrained)


def test_one_measurement_has_no_median():
    assert timing.medians(1) == "Single measurements"
    assert timing.medians(3) == "Medians of 3 measurements"
