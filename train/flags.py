"""Command-line flags made from the settings, with errors of one line. Does not import JAX."""

import argparse
import ast
import dataclasses
import difflib
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

from .config import Config
from .overlay import flatten, from_text, spoken, unknown


class Parser(argparse.ArgumentParser):
    """argparse, but what it cannot read is a ValueError of one line."""

    def __init__(self, command: str, usage: str, description: str):
        super().__init__(
            prog=f"duozero {command}",
            description=description,
            usage=f"duozero {command} {usage} [--flag value ...]".replace("  ", " "),
            allow_abbrev=False,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=34),
        )

    def error(self, message: str):
        raise ValueError(f"{message} ({self.prog} --help says what is allowed)")

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parses `arguments`; flags may be written with `_` for `-`.

        Raises:
            ValueError: for a flag that does not exist, naming the nearest, and for anything else.
        """
        known = sorted(self._option_string_actions)
        flags = [_dashed(a).split("=")[0] for a in arguments if a.startswith("--") and a != "--"]
        for flag in flags:
            if flag not in known:
                near = difflib.get_close_matches(flag, known, n=1)
                hint = f"did you mean {near[0]}? " if near else ""
                self.error(f"unknown flag {flag}; {hint}".rstrip("; "))
        namespace, extra = self.parse_known_args([_dashed(a) for a in arguments])
        if extra:
            self.error(f"unexpected {' '.join(map(repr, extra))}")
        return namespace


def number(kind: type, least: float = 0, most: float = 2**31 - 1) -> Callable[[str], Any]:
    """A reader of numbers from `least` to `most`, for argparse."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
            if least <= value <= most:
                return value
        except ValueError:
            pass
        what = "a whole number" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"{text!r}; {what} from {least} to {most} is needed")

    return read


def one_of(what: str, known: Sequence[str]) -> Callable[[str], str]:
    """A reader of names, for argparse, which knows the nearest to one that does not exist."""

    def read(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(unknown(what, text, known))
        return text

    return read


def several(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """A reader of what `read` reads, several times with commas between."""
    return lambda text: [read(part) for part in text.split(",")]


def add_settings(parser: Parser, leave_out: Sequence[str]) -> None:
    """Adds a flag for every setting but those named, grouped as in the settings file."""
    default = Config()
    about = "Defaults in brackets; what is shipped for a game (train/presets.toml) overrides them."
    groups = {"": parser.add_argument_group("the run", about)}
    for section, name, value in flatten(default):
        holder = getattr(default, section) if section else default
        if section not in groups:
            groups[section] = parser.add_argument_group(section, type(holder).__doc__)
        if name in leave_out:
            continue
        groups[section].add_argument(
            _flag(section, name),
            dest=f"{section}.{name}",
            metavar=_metavar(get_type_hints(type(holder))[name]),
            default=argparse.SUPPRESS,
            help=f"{docstrings(type(holder))[name]} [{_plain(value)}]".replace("%", "%%"),
        )


def given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were typed, nested as in a settings file.

    Raises:
        ValueError: for one that is not written as its type.
    """
    default, given = Config(), {}
    for section, name, _ in flatten(default):
        text = getattr(arguments, f"{section}.{name}", None)
        if text is not None:
            holder = getattr(default, section) if section else default
            kind = get_type_hints(type(holder))[name]
            value = from_text(_flag(section, name), text, kind)
            (given.setdefault(section, {}) if section else given)[name] = value
    return given


def read_changes(text: str) -> dict[str, Any]:
    """Settings written `learn.n_step=3,num_rounds=10`, nested as in a settings file.

    Raises:
        ValueError: for one that does not exist, or is not written as its type.
    """
    default, given = Config(), {}
    kinds = {}
    for section, name, _ in flatten(default):
        holder = getattr(default, section) if section else default
        label = _flag(section, name).removeprefix("--").replace("-", "_")
        kinds[label] = (section, name, get_type_hints(type(holder))[name])
    for part in text.split(","):
        label, equals, value = part.strip().partition("=")
        if not equals:
            raise ValueError(f"{part.strip()!r} changes nothing; write SETTING=VALUE")
        label = spoken(label.removeprefix("--").replace("-", "_"))
        if label not in kinds:
            raise ValueError(unknown("setting", label, kinds))
        section, name, kind = kinds[label]
        (given.setdefault(section, {}) if section else given)[name] = from_text(label, value, kind)
    return given


def docstrings(cls: type) -> dict[str, str]:
    """The sentence below each field of a dataclass."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # pyright: ignore
    found = {field.name: "" for field in dataclasses.fields(cls)}
    for field, after in zip(body, body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(after, ast.Expr):
            found[field.target.id] = inspect.cleandoc(after.value.value)  # pyright: ignore
    return found


def _flag(section: str, name: str) -> str:
    name = spoken(name).replace("_", "-")
    return f"--{section}.{name}" if section else f"--{name}"


def _dashed(argument: str) -> str:
    """`--a_b=c_d` as `--a-b=c_d`."""
    if not argument.startswith("--"):
        return argument
    flag, equals, value = argument.partition("=")
    return spoken(flag).replace("_", "-") + equals + value


def _metavar(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return {int: "N", float: "X", bool: "true|false"}.get(kind, "TEXT")


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
