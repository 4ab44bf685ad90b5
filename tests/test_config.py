"""Settings: defaults, then the preset, then a file, then what is typed; all of it checked."""

import dataclasses

import pytest
from duozero.train.config import Config, from_toml, preset, recipes, resolve, to_toml
from duozero.train.flags import docstrings, read_changes
from duozero.train.limits import check
from duozero.train.overlay import flatten, overlay, read_toml


def test_flags_go_before_the_file_and_the_file_before_the_preset():
    file = {"learn": {"batch_size": 32, "num_updates": 3}}
    flags = {"learn": {"batch_size": 64}}
    config = resolve("tic_tac_toe", "muzero", file, flags)
    assert config.learn.batch_size == 64
    assert config.learn.num_updates == 3
    untouched = preset("tic_tac_toe", "muzero")
    assert config.search == untouched.search
    assert config.planner == "muzero"


def test_a_file_may_choose_the_planner_and_a_flag_another():
    assert resolve("tic_tac_toe", None, {"planner": "muzero"}, {}).planner == "muzero"
    assert resolve("tic_tac_toe", "alphazero", {"planner": "muzero"}, {}).planner == "alphazero"
    assert resolve("tic_tac_toe", None, {}, {}).planner == "alphazero"


@pytest.mark.parametrize("planner", ["alphazero", "muzero"])
@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four", "gomoku_6x6_4", "race_to_21"])
def test_every_preset_can_be_run_and_read_back(game, planner):
    config = check(preset(game, planner))
    assert from_toml(to_toml(config).encode(), "it") == config


def test_what_a_preset_says_in_words_is_no_setting(tmp_path, monkeypatch):
    text = """
        [any.both]
        seed = 1
        checkpoint_every = 7
        [race.both]
        seed = 2
        [race_to_21.muzero]
        budget = "a day"
        reached = "nothing"
        num_rounds = 3
    """
    (tmp_path / "presets.toml").write_text(text)
    monkeypatch.setattr("duozero.train.config.PRESETS", tmp_path / "presets.toml")
    assert preset("race_to_21", "muzero") == Config("race_to_21", "muzero", 2, 3)
    assert preset("mine:Game", "muzero") == Config("mine:Game", "muzero", 1, checkpoint_every=7)
    assert recipes() == [["race_to_21", "muzero", "a day", "nothing"]]
    with pytest.raises(ValueError, match="unknown setting 'reached'"):
        resolve("race_to_21", "muzero", {"reached": "the top"})
    (tmp_path / "presets.toml").write_text(text.replace("num_rounds", "num_round"))
    with pytest.raises(ValueError, match="did you mean 'num_rounds'"):
        preset("race_to_21", "muzero")


def test_every_preset_states_the_positions_that_it_plays():
    for game, planner, budget, _ in recipes():
        config = preset(game, planner)
        play = config.play
        played = f"{config.num_rounds * play.num_games * play.num_moves:,} positions"
        assert budget.startswith(played), f"{game} by {planner}: {budget}"


def test_every_preset_says_what_both_planners_reached():
    told = {(game, planner) for game, planner, *_ in recipes()}
    for game in ("tic_tac_toe", "connect_four", "gomoku_6x6_4", "race_to_21"):
        assert {(game, "alphazero"), (game, "muzero")} <= told
        assert preset(game, "muzero").model != preset("mine:Game", "muzero").model


def test_lambda_is_called_so_wherever_it_is_written():
    for name in ("lambda", "lambda_"):
        assert resolve("race_to_21", None, {"learn": {name: 0.3}}).learn.lambda_ == 0.3
        assert read_changes(f"learn.{name}=0.3") == {"learn": {"lambda_": 0.3}}
        with pytest.raises(ValueError, match=r"^learn\.lambda = 3\.0; it must be from 0 to 1"):
            resolve("race_to_21", None, {"learn": {name: 3.0}})
        with pytest.raises(ValueError, match=r"^learn\.lambda = 'x'; a number is needed"):
            resolve("race_to_21", None, {"learn": {name: "x"}})


def test_what_is_stored_without_a_setting_has_its_default():
    stored = to_toml(preset("tic_tac_toe", "muzero")).replace("num_updates = 32\n", "")
    config = from_toml(stored.encode(), "it")
    assert config.learn.num_updates == 16
    assert config.learn.learning_rate == 5e-3


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"game = 'race_", "at end of document"),
        (b"game = '\xff'", "can't decode byte 0xff"),
        (b"[search]\nnum_simulation = 3", "did you mean 'search.num_simulations'?"),
        (b"search = 3", "is a table of settings, not 3"),
        (b"num_rounds = 0", "num_rounds = 0; it must be greater than 0"),
        (b"x = " + b"[" * 100_000, "maximum recursion depth"),
    ],
)
def test_stored_settings_that_cannot_be_used_are_refused_in_one_line(stored, message):
    with pytest.raises(ValueError, match="^it holds settings that cannot be used: ") as refusal:
        from_toml(stored, "it")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_every_setting_says_what_it_is():
    default = Config()
    for holder in (default, *(v for v in vars(default).values() if dataclasses.is_dataclass(v))):
        for name, sentence in docstrings(type(holder)).items():
            assert sentence.endswith(".") or dataclasses.is_dataclass(getattr(holder, name)), name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"serch": {}}, "unknown setting 'serch'; did you mean 'search'?"),
        ({"search": {"num_simulation": 3}}, "did you mean 'search.num_simulations'?"),
        ({"search": 3}, "is a table of settings, not 3"),
        ({"search": {"num_simulations": "many"}}, "= 'many'; a whole number is needed"),
        ({"search": {"num_simulations": True}}, "= True; a whole number is needed"),
        ({"search": {"policy": "puck"}}, "did you mean 'puct'? allowed: gumbel, puct, uct"),
        ({"learn": {"augment": 1}}, "= 1; true or false is needed"),
        ({"search": {"num_simulations": 0}}, "= 0; it must be greater than 0"),
        ({"learn": {"num_updates": 2**31}}, "it must be at most 2147483647"),
        ({"learn": {"learning_rate": float("nan")}}, "a finite number is needed"),
        ({"play": {"random_moves": 1.5}}, "it must be from 0 to 1"),
        ({"seed": -1}, "it must not be negative"),
        ({"model": {"num_bins": 1}}, "needs at least 2"),
        ({"model": {"depth": 10**6}}, "it must be at most 1000"),
        ({"planner": "muzero", "search": {"reuse": True}}, "it needs alphazero"),
        ({"search": {"reuse": True, "engine": "mctx"}}, "mctx, which cannot"),
        ({"search": {"policy": "uct", "engine": "mctx"}}, "mctx, which lacks it"),
        ({"play": {"num_moves": 600}}, "does not fit learn.replay_moves"),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_is_allowed(settings, message):
    with pytest.raises(ValueError, match=".") as refusal:
        check(overlay(Config(), settings))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_rounds": "x"}, "num_rounds = 'x'; a whole number is needed"),
        ({"num_rounds": 2.0}, "num_rounds = 2.0; a whole number is needed"),
        ({"planner": "both"}, "planner = 'both'; allowed: alphazero, muzero"),
        ({"game": None}, "game = None; a text is needed"),
        ({"model": 3}, "model = 3; a ModelConfig is needed"),
        (
            {"learn": dataclasses.replace(Config().learn, batch_size=None)},
            "learn.batch_size = None",
        ),
    ],
)
def test_settings_made_by_hand_are_checked_alike(changes, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        check(dataclasses.replace(Config(), **changes))


def test_whole_numbers_serve_where_numbers_are_needed():
    assert overlay(Config(), {"learn": {"learning_rate": 1}}).learn.learning_rate == 1.0


def test_a_file_that_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("num_rounds 3")
    with pytest.raises(ValueError, match="is not a settings file"):
        read_toml(path)


def test_every_setting_is_listed_once():
    names = [(section, name) for section, name, _ in flatten(Config())]
    assert len(names) == len(set(names))
