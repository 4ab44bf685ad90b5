"""Checkpoints of a run: written whole or not at all, restored bit for bit."""

import contextlib
import dataclasses
import logging
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orbax.checkpoint as ocp

from ..models import Params
from .config import Config, differences
from .packed import pack, pack_settings, unpack, unpack_settings

logging.getLogger("absl").setLevel(logging.CRITICAL)  # What goes wrong, orbax raises as well.


class Best(NamedTuple):
    """A network kept beside the newest; see `measure.challenge`.

    Attributes:
        params: its averaged parameters.
        num_rounds: `[]` int32, rounds of training behind it.
    """

    params: Params
    num_rounds: Any


class Checkpoints:
    """The checkpoints of one run folder; a context manager, which waits for what is being written.

    A checkpoint has these items: `state`, the whole of training; `player`, the averaged
    parameters, which are all that playing needs; and `best`, a `Best`, once there is one.
    Each is a dictionary of numpy arrays by path, and holds the settings of the run as well.
    """

    def __init__(self, directory: Path, config: Config, num_kept: int = 2):
        self._settings = pack_settings(config)
        options = ocp.CheckpointManagerOptions(max_to_keep=num_kept)
        self._path = (directory / "checkpoints").absolute()
        for step, finished in _steps(directory).items():
            if not finished:  # Nobody goes on from it, and orbax would store no other in its place.
                shutil.rmtree(self._path / str(step))
        self._manager = ocp.CheckpointManager(self._path, options=options)

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_) -> None:
        with self._storing():
            self._manager.wait_until_finished()
            self._manager.close()

    def save(self, num_rounds: int, state: Any, player: Any, best: Any = None) -> None:
        """Stores all after `num_rounds`; returns once they are copied, and writes meanwhile.

        Raises:
            OSError: if these, or those of the time before, cannot be stored.
        """
        items = {"state": state, "player": player} | ({} if best is None else {"best": best})
        packed = {
            name: ocp.args.StandardSave(pack(item) | self._settings) for name, item in items.items()
        }
        with self._storing():
            stored = self._manager.save(num_rounds, args=ocp.args.Composite(**packed))
        if not stored:
            raise OSError(f"no checkpoint of round {num_rounds} could be stored; one is there")

    @contextlib.contextmanager
    def _storing(self) -> Iterator[None]:
        """Makes an OSError of whatever orbax raises: of a full disk, a ValueError."""
        try:
            yield
        except Exception as error:
            code = re.search(r"(?:os_error_code='|Errno )(\d+)", str(error))
            reason = os.strerror(int(code[1])) if code else " ".join(str(error).split())[:200]
            raise OSError(f"{self._path}: no checkpoint could be stored: {reason}") from error


def latest(directory: Path) -> int:
    """The rounds behind the newest checkpoint of a run folder; 0 if it has none."""
    return max((step for step, finished in _steps(directory).items() if finished), default=0)


def _steps(directory: Path) -> dict[int, bool]:
    """The checkpoints of a run folder by their rounds, and whether each was finished."""
    paths = [path for path in (directory / "checkpoints").glob("*") if path.is_dir()]
    return {
        int(path.name): (path / "_CHECKPOINT_METADATA").exists()
        for path in paths
        if re.fullmatch("[1-9][0-9]*", path.name)
    }


def holds(directory: Path, item: str) -> bool:
    """Whether the newest checkpoint of a run folder has such an item."""
    return (directory / "checkpoints" / str(latest(directory)) / item).is_dir()


def restore(directory: Path, item: str, like: Any, config: Config) -> Any:
    """An item of the newest checkpoint of a run folder, in the shape of `like`.

    Args:
        directory: the run folder.
        item: `state`, `player` or `best`.
        like: arrays or their shapes, as of `jax.eval_shape`.
        config: the settings that it must have been made with; `num_rounds` may differ.

    Raises:
        ValueError: if there is no checkpoint, it is damaged, or it was made with other settings.
    """
    step = latest(directory)
    if not step:
        raise ValueError(f"{directory} holds no checkpoint yet")
    name = f"checkpoint {step} of {directory}"
    path = (directory / "checkpoints").absolute()
    try:
        with contextlib.closing(ocp.CheckpointManager(path)) as manager:
            args = ocp.args.Composite(**{item: ocp.args.StandardRestore()})
            packed = manager.restore(step, args=args)[item]
    except Exception as error:  # Whatever is wrong with the files, orbax has an error for it.
        earlier = [old for old, finished in _steps(directory).items() if finished and old < step]
        way_out = f"; without it, that of round {max(earlier)} is taken" if earlier else ""
        reason = f"{type(error).__name__} in {directory / 'checkpoints' / str(step)}{way_out}"
        raise ValueError(f"{name} is damaged: {reason}") from error
    made_with = dataclasses.replace(unpack_settings(packed, name), num_rounds=config.num_rounds)
    if unlike := differences(made_with, config):
        raise ValueError(f"{name} is of a run with other settings: {'; '.join(unlike)}")
    return unpack(packed, like, name)
