"""Trees of arrays, and settings, as files keep them: numpy arrays by path."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .config import Config, from_toml, to_toml

SETTINGS = "settings"  # No path in a tree is called so: they begin with a bracket or a dot.


def pack_settings(config: Config) -> dict[str, np.ndarray]:
    """The text of the settings, `[num_bytes]` uint8, under the name that keeps them apart."""
    return {SETTINGS: np.array(bytearray(to_toml(config).encode()))}


def unpack_settings(packed: Mapping[str, Any], origin: object) -> Config:
    """The settings that were packed with a tree.

    Raises:
        ValueError: if there are none, or they cannot be used; it names their `origin`.
    """
    if SETTINGS not in packed:
        raise ValueError(f"{origin} does not say with which settings it was made")
    return from_toml(np.asarray(packed[SETTINGS]).tobytes(), origin)


def pack(tree: Any) -> dict[str, np.ndarray]:
    """Copies to the host, which later donation cannot touch. Keys become numbers.

    Empty arrays are left out: orbax does not take them, and their shape says all.
    """
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    numbers = {
        jax.tree_util.keystr(path): np.array(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        for path, leaf in leaves
    }
    return {path: array for path, array in numbers.items() if array.size}


def unpack(packed: Mapping[str, Any], like: Any, origin: object) -> Any:
    """The tree that was packed, in the shape of `like`: arrays, or their shapes.

    Raises:
        ValueError: naming the first array that `origin` lacks, or holds in another shape or type.
    """

    def leaf(path, expected):
        name = jax.tree_util.keystr(path)
        if not expected.size:
            return jnp.zeros(expected.shape, expected.dtype)
        key = _is_key(expected)
        numbers = jax.eval_shape(jax.random.key_data, expected) if key else expected
        found = packed.get(name)
        if found is None or (found.shape, found.dtype) != (numbers.shape, numbers.dtype):
            has = "nothing" if found is None else f"{found.dtype}{list(found.shape)}"
            raise ValueError(
                f"{origin} is of another game or network: {name} is {has}, "
                f"not {numbers.dtype}{list(numbers.shape)}"
            )
        # A copy that belongs to JAX alone, so that it can be donated.
        return jax.random.wrap_key_data(jnp.array(found)) if key else jnp.array(found)

    return jax.tree_util.tree_map_with_path(leaf, like)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
