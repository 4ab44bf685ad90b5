"""A trained network in a single file `NAME.npz`: parameters by path, settings, where it is from."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..models import Params
from .config import Config
from .folder import safe, write
from .packed import pack, pack_settings, unpack_settings

SHIPPED = Path(__file__).with_name("shipped")
"""Files of the library itself, `GAME_PLANNER.npz`."""


class Network(NamedTuple):
    """What a file holds.

    Attributes:
        config: the settings of the run.
        num_rounds: rounds of training behind it.
        arrays: the averaged parameters, for `packed.unpack`.
        commit: of the program that trained it; may be empty.
        reached: how strong it is, in words; may be empty.
    """

    config: Config
    num_rounds: int
    arrays: dict[str, np.ndarray]
    commit: str
    reached: str


def save(path: Path | str, config: Config, params: Params, num_rounds: int) -> None:
    """Writes a file that `load` reads, whole or not at all, over one that is there.

    Raises:
        ValueError: for a name that does not end in .npz, by which players know it.
    """
    if Path(path).suffix != ".npz":
        raise ValueError(f"{path}: the name of a network file ends in .npz")
    write(Path(path), to_bytes(config, params, num_rounds))


def to_bytes(
    config: Config, params: Params, num_rounds: int, commit: str = "", reached: str = ""
) -> bytes:
    """The contents of a file: the same for the same arguments."""
    facts = {"num_rounds": num_rounds, "commit": commit, "reached": reached}
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **facts, **pack_settings(config), **pack(params))
    return file.getvalue()


def load(path: Path | str) -> Network:
    """The network in a file.

    Raises:
        ValueError: if it is damaged, or none.
        OSError: if it cannot be read.
    """
    contents = Path(path).read_bytes()
    try:
        with np.load(io.BytesIO(contents), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = int(arrays.pop("num_rounds")), str(arrays.pop("commit")), str(arrays.pop("reached"))
    except Exception as error:  # Of many kinds, for whatever a foreign file may hold.
        raise ValueError(
            f"{path} is damaged, or no network file ({type(error).__name__})"
        ) from error
    config = unpack_settings(arrays, path)
    return Network(config, facts[0], arrays, *facts[1:])


def all_shipped() -> list[Path]:
    """The files that are shipped."""
    return sorted(SHIPPED.glob("*.npz"))


def shipped_path(game: str, planner: str) -> Path:
    """Where the file for a game and planner is, if one is shipped."""
    return SHIPPED / f"{safe(game)}_{planner}.npz"
