"""Settings put over other settings: dataclasses under dictionaries, each value checked."""

import dataclasses
import difflib
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints


def overlay(config: Any, settings: dict[str, Any], where: str = "") -> Any:
    """`config` with nested `settings` put over it, each checked against its type.

    Raises:
        ValueError: for a name that is no setting, or a value that does not fit.
    """
    types = get_type_hints(type(config))
    fields, changes = {spoken(name): name for name in types}, {}
    for given, value in settings.items():
        if (label := spoken(given)) not in fields:
            raise ValueError(unknown("setting", where + given, [where + known for known in fields]))
        name = fields[label]
        old = getattr(config, name)
        if dataclasses.is_dataclass(old):
            if not isinstance(value, dict):
                raise ValueError(f"setting {where + label!r} is a table of settings, not {value!r}")
            changes[name] = overlay(old, value, f"{where}{label}.")
        else:
            changes[name] = _fit(where + label, value, types[name])
    return dataclasses.replace(config, **changes)


def as_dict(config: Any) -> dict[str, Any]:
    """Settings nested as in a file, by the names that people know them by."""
    return dataclasses.asdict(
        config, dict_factory=lambda items: {spoken(name): value for name, value in items}
    )


def spoken(name: str) -> str:
    """A setting as people know it: `lambda`, though in Python it has to be `lambda_`."""
    return name.rstrip("_")


def flatten(config: Any) -> Iterator[tuple[str, str, Any]]:
    """Yields `(section, name, value)` of every single setting; the section is "" at the top."""
    for item in dataclasses.fields(config):
        value = getattr(config, item.name)
        if dataclasses.is_dataclass(value):
            yield from (
                (item.name, f.name, getattr(value, f.name)) for f in dataclasses.fields(value)
            )
        else:
            yield "", item.name, value


def from_text(name: str, text: str, kind: Any) -> Any:
    """What a person wrote for the setting `name`, as the type `kind`.

    Raises:
        ValueError: if it is not written as one.
    """
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{name} = {text!r}; allowed: true, false")
        return text.lower() == "true"
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"{name} = {text!r}; {_KINDS[kind]} is needed") from None
    return text


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """The sentence for a name that does not exist: what was given, the nearest, all of them."""
    known = list(known)
    near = difflib.get_close_matches(given, known, n=1)
    # What stands before the dot is the same in many, and makes nothing near.
    last = [name.rpartition(".")[2] for name in (given, *near)]
    hint = f"did you mean {near[0]!r}? " if difflib.get_close_matches(last[0], last[1:]) else ""
    return f"unknown {what} {given!r}; {hint}known: {', '.join(known)}"


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a settings file.

    Raises:
        ValueError: if there is none, or it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"cannot read settings from {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a settings file: {error}") from None


_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _fit(name: str, value: Any, kind: Any) -> Any:
    """`value` as the type `kind`, or a ValueError that says what is allowed."""
    if get_origin(kind) is Literal:
        allowed = get_args(kind)
        if value in allowed:
            return value
        near = difflib.get_close_matches(str(value), allowed, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"{name} = {value!r}; {hint}allowed: {', '.join(allowed)}")
    if kind is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    if type(value) is not kind:
        needed = _KINDS.get(kind, f"a {kind.__name__}")
        raise ValueError(f"{name} = {value!r}; {needed} is needed")
    return value
