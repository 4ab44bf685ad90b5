"""h, g and f. Imports `games`, for shapes and ranges only."""

from .base import Model, Network, Params, computing_in, functional, num_parameters
from .consistency import consistent
from .conv import RESNETS, cnn, resnet
from .heads import Head, categorical, scalar
from .mlp import mlp

__all__ = [
    "RESNETS",
    "Head",
    "Model",
    "Network",
    "Params",
    "categorical",
    "cnn",
    "computing_in",
    "consistent",
    "functional",
    "mlp",
    "num_parameters",
    "resnet",
    "scalar",
]
