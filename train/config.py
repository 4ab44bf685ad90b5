"""Settings: what can be chosen, what is allowed, and where it comes from. Does not import JAX.

What is stored without a setting has its default. So the default of a new setting must reproduce
what was before it, and a default never changes: runs that are older than a setting stay what they
were. What works better goes into presets.toml.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import tomli_w

from .limits import check
from .overlay import as_dict, flatten, overlay, spoken

PRESETS = Path(__file__).with_name("presets.toml")
WORDS = ("budget", "reached")
"""What a preset says to people; no settings."""


@dataclass(frozen=True)
class ModelConfig:
    """The network, the same for both planners."""

    kind: Literal["mlp", "cnn", "resnet"] = "mlp"
    """Fully connected; three plain convolutions; residual blocks."""
    width: int = 128
    """Units of each layer (mlp)."""
    depth: int = 2
    """Residual layers in each of h and g (mlp)."""
    num_blocks: int = 4
    """Residual blocks in each of h and g (resnet)."""
    num_channels: int = 64
    """Channels of each block (resnet). 20 blocks of 256 is the size of AlphaGo Zero."""
    num_bins: int = 0
    """Bins of a categorical value and reward over the game's range; 0 for scalars."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Numbers that layers compute in; parameters stay float32. bfloat16 is for accelerators."""


@dataclass(frozen=True)
class SearchConfig:
    """The tree search, in self-play and in evaluation."""

    policy: Literal["gumbel", "puct", "uct"] = "gumbel"
    """Gumbel MuZero's sequential halving, AlphaZero's PUCT, or UCB1 without a prior."""
    engine: Literal["duozero", "mctx"] = "duozero"
    """Our search, or mctx as the reference."""
    num_simulations: int = 32
    """Nodes added to the tree per move."""
    max_depth: int = 0
    """Deepest node of the tree; 0 for no limit."""
    reuse: bool = False
    """Go on from the part of the last move's tree that is still true (alphazero)."""
    normalize: Literal["range", "minmax"] = "range"
    """Scale values by the game's declared range, or by the values found in the tree."""
    max_num_considered_actions: int = 16
    """Root moves that sequential halving starts from (gumbel)."""
    value_scale: float = 0.1
    """Weight of the values against the prior (gumbel); the paper's is 1, mctx's 0.1."""
    c_puct: float = 1.25
    """Weight of the prior against the values (puct)."""
    c_uct: float = 1.4
    """Weight of exploration against the values (uct)."""
    dirichlet_fraction: float = 0.25
    """Share of noise in the root's prior during self-play (puct)."""
    dirichlet_alpha: float = 0.3
    """Concentration of that noise over the legal moves (puct)."""

    @property
    def num_nodes(self) -> int:
        """Of a tree besides its root: those that a search adds, and those it may have kept."""
        return self.num_simulations * (2 if self.reuse else 1)


@dataclass(frozen=True)
class PlayConfig:
    """Self-play."""

    num_games: int = 128
    """Games played at once."""
    num_moves: int = 16
    """Moves in each game per round."""
    opening_plies: int = 0
    """Each game begins with 0 to this many random moves."""
    random_moves: float = 0.0
    """Share of later moves that are random."""
    temperature_plies: int = 1_000
    """Moves of a game that are explored; after them the best is played."""


@dataclass(frozen=True)
class LearnConfig:
    """What is learned from self-play, and how."""

    num_updates: int = 16
    """Gradient steps per round."""
    batch_size: int = 256
    """Positions per gradient step."""
    learning_rate: float = 1e-3
    """Of AdamW."""
    schedule: Literal["constant", "cosine", "kl"] = "constant"
    """Cosine falls to a fiftieth of the rate by the last round; kl follows the policy's change."""
    kl_target: float = 0.02
    """KL divergence of the policy per round that the rate aims at; 4 times it ends a round (kl)."""
    weight_decay: float = 1e-4
    """L2 regularisation, through AdamW."""
    max_gradient_norm: float = 5.0
    """Longer gradients are shortened to this."""
    ema_decay: float = 0.0
    """Of the averaged parameters that play and are evaluated, per update; 0 for no average."""
    value_weight: float = 1.0
    """Weight of the value in the loss."""
    consistency_weight: float = 0.0
    """Weight of drawing unrolled embeddings to those of the real positions (muzero)."""
    priority: float = 0.0
    """Exponent of the search's error in how often a position is drawn; 0 draws all alike."""
    end_share: float = 0.0
    """Share of positions drawn so near a game's end that the unroll reaches it (muzero)."""
    reanalyse: float = 0.0
    """Stored positions searched anew per round, as a share of those played."""
    augment: bool = True
    """Learn from every symmetry the game declares."""
    lambda_: float = 1.0
    """Value targets: 1 the outcome of the game, 0 the next search value, or between."""
    n_step: int = 0
    """Value targets from this many moves and the search value there; 0 for lambda."""
    replay_moves: int = 512
    """Moves kept per game."""
    num_unroll_steps: int = 5
    """Moves the learned model is trained to look ahead (muzero)."""
    discount: Literal["predicted", "constant"] = "predicted"
    """Whether the model predicts ends and turns, or assumes alternation for ever (muzero)."""


@dataclass(frozen=True)
class EvaluateConfig:
    """How strength is measured during training."""

    num_openings: int = 100
    """Random openings of a match, each played from both seats."""
    opening_plies: int = 2
    """Random moves before a match begins."""
    mcts_simulations: int = 100
    """Of the pure tree search met first where there is no exact solution; doubled when beaten."""


@dataclass(frozen=True)
class Config:
    """A training run."""

    game: str = "tic_tac_toe"
    """Name of the game."""
    planner: Literal["alphazero", "muzero"] = "alphazero"
    """Search with the rules, or with a learned model."""
    seed: int = 0
    """Two runs with the same settings and seed are the same run."""
    num_rounds: int = 200
    """Rounds of self-play and learning."""
    evaluate_every: int = 50
    """Rounds between measurements of strength; 0 for none before the end."""
    checkpoint_every: int = 50
    """Rounds between checkpoints."""
    snapshot_every: int = 0
    """Rounds between networks that are kept as files; 0 for none."""
    model: ModelConfig = field(default_factory=ModelConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    play: PlayConfig = field(default_factory=PlayConfig)
    learn: LearnConfig = field(default_factory=LearnConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)


def preset(game: str, planner: str, budget: str = "") -> Config:
    """The settings shipped for a game and planner; for games that have none, those for `any`.

    Those of its family (`gomoku` for `gomoku_9x9_5`) come first, those of its own name over them;
    over both, what either has for the `budget` of a comparison.
    """
    shipped = tomllib.loads(PRESETS.read_text())
    config = Config(game=game, planner=planner)  # pyright: ignore[reportArgumentType]
    family = game.split("_")[0] if ":" not in game else game
    names = [name for name in (family, game) if name in shipped] or ["any"]
    tables = [(name, key) for name in names for key in ("both", planner)]
    for name, key in [*tables, *((name, budget) for name in names)]:
        given = shipped[name].get(key, {})
        config = overlay(config, {k: v for k, v in given.items() if k not in WORDS})
    return config


def recipes() -> list[list[str]]:
    """Game, planner, budget and what it reached, of every preset that says so."""
    return [
        [game, planner, *(given[word] for word in WORDS)]
        for game, planners in tomllib.loads(PRESETS.read_text()).items()
        for planner, given in planners.items()
        if any(word in given for word in WORDS)
    ]


def resolve(
    game: str,
    planner: str | None = None,
    file: dict[str, Any] | None = None,
    flags: dict[str, Any] | None = None,
    budget: str = "",
) -> Config:
    """The settings of a run: the preset, under a settings file, under what was typed.

    A file may name a planner, which counts where `planner` is None; the game is always `game`.

    Raises:
        ValueError: for settings that do not exist, or cannot be run.
    """
    file = {name: value for name, value in (file or {}).items() if name != "game"}
    file["planner"] = file.get("planner", Config.planner) if planner is None else planner
    overlay(Config(), file)  # Refuses a planner that does not exist before its preset is looked up.
    return check(overlay(overlay(preset(game, file["planner"], budget), file), flags or {}))


def to_toml(config: Config) -> str:
    """The settings as a file that `from_toml` reads back."""
    return tomli_w.dumps(as_dict(config))


def from_toml(text: bytes, origin: object) -> Config:
    """The settings that a run has stored; those it does not name have their defaults.

    Raises:
        ValueError: if they cannot be read, or do not fit; it names their `origin`.
    """
    try:
        return check(overlay(Config(), tomllib.loads(text.decode())))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{origin} holds settings that cannot be used: {error}") from None


def differences(old: Config, new: Config) -> list[str]:
    """Names every setting in which two runs differ, with both values."""
    pairs = zip(flatten(old), flatten(new), strict=True)
    return [
        f"{section}{'.' if section else ''}{spoken(name)} = {after!r} instead of {before!r}"
        for (section, name, before), (_, _, after) in pairs
        if before != after
    ]
