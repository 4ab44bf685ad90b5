"""Checkpoints of a run: written whole or not at all, restored bit for bit."""

import contextlib
import logging
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

logging.getLogger("absl").setLevel(logging.WARNING)  # orbax tells of every step it takes.


IDENTITY = "identity"


class Checkpoints:
    """The checkpoints of one run folder; a context manager, which waits for what is being written.

    A checkpoint has two items: `state`, the whole of training, and `player`, the averaged
    parameters, which are all that playing needs. Both are dictionaries of numpy arrays by path.
    """

    def __init__(self, directory: Path, identity: int = 0, num_kept: int = 2):
        self._identity = identity
        options = ocp.CheckpointManagerOptions(max_to_keep=num_kept)
        path = (directory / "checkpoints").absolute()
        self._manager = ocp.CheckpointManager(path, options=options)

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *_) -> None:
        self._manager.wait_until_finished()
        self._manager.close()

    def save(self, num_rounds: int, state: Any, player: Any) -> None:
        """Stores both after `num_rounds`; returns once they are copied, and writes meanwhile."""
        identity = {IDENTITY: np.array([self._identity], np.uint32)}
        items = ocp.args.Composite(
            state=ocp.args.StandardSave(_pack(state) | identity),
            player=ocp.args.StandardSave(_pack(player) | identity),
        )
        self._manager.save(num_rounds, args=items)


def latest(directory: Path) -> int:
    """The rounds behind the newest checkpoint of a run folder; 0 if it has none."""
    steps = (directory / "checkpoints").glob("[0-9]*/_CHECKPOINT_METADATA")
    return max((int(p.parent.name) for p in steps if p.parent.name.isdigit()), default=0)


def restore(directory: Path, item: str, like: Any, identity: int = 0) -> Any:
    """The newest `state` or `player` of a run folder, in the shape of `like`.

    Args:
        directory: the run folder.
        item: which of the two.
        like: arrays or their shapes, as of `jax.eval_shape`.
        identity: of the run that it must belong to, see `folder.identity`.

    Raises:
        ValueError: if there is no checkpoint, it is damaged, or it is of another shape.
    """
    step = latest(directory)
    if not step:
        raise ValueError(f"{directory} holds no checkpoint yet")
    path = (directory / "checkpoints").absolute()
    try:
        with contextlib.closing(ocp.CheckpointManager(path)) as manager:
            args = ocp.args.Composite(**{item: ocp.args.StandardRestore()})
            packed = manager.restore(step, args=args)[item]
    except Exception as error:  # Whatever is wrong with the files, orbax has an error for it.
        reason = type(error).__name__
        raise ValueError(f"checkpoint {step} of {directory} is damaged ({reason})") from error
    if IDENTITY not in packed or packed[IDENTITY][0] != identity:
        raise ValueError(f"checkpoint {step} of {directory} is of a run with other settings")
    return _unpack(packed, like, directory)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _pack(tree: Any) -> dict[str, np.ndarray]:
    """Copies to the host, which later donation cannot touch. Keys become numbers.

    Empty arrays are left out: orbax does not take them, and their shape says all.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    numbers = {
        jax.tree_util.keystr(path): np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        for path, leaf in leaves
    }
    return {path: array for path, array in numbers.items() if array.size}


def _unpack(packed: dict[str, np.ndarray], like: Any, directory: Path) -> Any:
    def leaf(path, expected):
        name = jax.tree_util.keystr(path)
        found = packed.get(
            name, np.zeros(expected.shape, np.float32) if not expected.size else None
        )
        key = _is_key(expected)
        if (
            found is None
            or found.shape[: expected.ndim] != expected.shape
            or (not key and found.shape != expected.shape)
        ):
            has = "nothing" if found is None else f"shape {found.shape}"
            raise ValueError(
                f"{directory} is a run of another game or network: {name} has {has}, "
                f"not shape {expected.shape}"
            )
        # A copy that belongs to JAX alone, so that it can be donated.
        if key:
            return jax.random.wrap_key_data(jnp.array(found))
        return jnp.array(found, expected.dtype)

    return jax.tree_util.tree_map_with_path(leaf, like)
