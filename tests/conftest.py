"""JAX as the tests want it (strict, on four devices), and what several files of tests share."""

import contextlib
import os
import tempfile

# Most of the time goes to compiling programs that run for milliseconds.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

os.environ["DUOZERO_CACHE"] = "off"  # Tests leave nothing behind.

import jax
import pytest
from duozero import planners
from duozero.games import GAMES, make
from duozero.models import mlp
from duozero.train.oracles import solve
from hypothesis import settings

# What one process has compiled no other compiles again: the first one makes a folder for all.
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    OWN = tempfile.TemporaryDirectory(prefix="duozero_tests_")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = OWN.name
    jax.config.update("jax_compilation_cache_dir", OWN.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)

jax.config.update("jax_num_cpu_devices", 4)  # Before anything has touched a device.
jax.config.update("jax_numpy_rank_promotion", "raise")  # [B, 1] - [B] fails, not broadcasts.

# The first example compiles, and says nothing of how slow the others are.
settings.register_profile("compiled", deadline=None, database=None, max_examples=40)
settings.load_profile("compiled")

# The smallest first: a fault of all games shows at once.
BY_SIZE = sorted(GAMES, key=lambda name: (make(name).num_actions, name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """A key is used once; only mctx, which some files compare with, uses its own again."""
    with jax.debug_key_reuse(not hasattr(item.module, "mctx")):
        return (yield)


@pytest.fixture(scope="session", params=BY_SIZE)
def game(request):
    """Every built-in game: a new one is tested as soon as it is in the table."""
    return make(request.param)


@pytest.fixture(scope="session")
def tic_tac_toe():
    return make("tic_tac_toe")


@pytest.fixture(scope="session")
def tiny(tic_tac_toe):
    """A network that compiles fast, for tic-tac-toe."""
    return mlp(tic_tac_toe, width=16, depth=1)


@pytest.fixture(scope="session", params=["alphazero", "muzero"])
def planner(request, tic_tac_toe, tiny):
    """Both planners, with one network."""
    if request.param == "alphazero":
        return planners.alphazero(tic_tac_toe, tiny)
    return planners.muzero(tic_tac_toe, tiny, num_unroll_steps=2)


@pytest.fixture(scope="session")
def solution(tic_tac_toe):
    """All of tic-tac-toe, solved."""
    return solve(tic_tac_toe)


@pytest.fixture(scope="session")
def race():
    """All of the race to 21, solved."""
    return solve(make("race_to_21"))


COMPILED = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, *_, **__: COMPILED.append(name) if name.endswith("backend_compile_duration") else 0
)


@pytest.fixture(scope="session")
def compilations():
    """A context that counts the programs compiled within it: `with compilations() as count`."""

    @contextlib.contextmanager
    def counter():
        before = len(COMPILED)
        yield lambda: len(COMPILED) - before

    return counter
