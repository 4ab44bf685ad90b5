"""Results as JSON, and back."""

from typing import Any

import numpy as np

from .intervals import Estimate


def plain(value: Any) -> Any:
    """Named tuples as dictionaries, arrays as lists, NaN as null: what JSON can hold."""
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): plain(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def as_estimate(value: dict[str, Any]) -> Estimate:
    """What `plain` made of an estimate."""
    low, high = (np.nan if value[end] is None else value[end] for end in ("low", "high"))
    return Estimate(value["mean"], low, high, tuple(value["by_seed"]))
