"""Our search against the tree in plain Python, one position at a time, with the same network.

Run `python tests/time_reference.py`; it is no test.
"""

import functools
import statistics
import time

import jax
import jax.numpy as jnp
import reference_tree
from duozero.planners import puct
from duozero.train.agent import spread
from duozero.train.build import build_model, build_planner
from duozero.train.catalogue import game_named
from duozero.train.config import resolve
from duozero.train.process import start_jax

GAME, GAMES, SIMULATIONS, REPEATS = "gomoku_6x6_4", 128, 400, 5


def main() -> None:
    start_jax()
    config, game = resolve(GAME, "alphazero"), game_named(GAME)
    planner = build_planner(game, build_model(game, config), config)
    params = planner.init(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), GAMES)
    state = jax.jit(jax.vmap(game.init))(keys)
    search = puct(planner, SIMULATIONS)
    ours = spread(lambda params, keys, state, tree: search(params, keys, state))

    root_fn = jax.jit(functools.partial(planner.root_fn, params))
    step_fn = jax.jit(functools.partial(planner.recurrent_fn, params, None))

    def step(state, action):
        output, child = step_fn(jnp.int32([action]), state)
        output = jax.device_get(output)
        return reference_tree.Position(
            *(child, output.prior_logits[0].tolist(), float(output.value[0])),
            *(float(output.reward[0]), float(output.discount[0])),
        )

    def python():
        root = jax.device_get(root_fn(keys[:1], jax.tree.map(lambda x: x[:1], state)))
        position = reference_tree.Position(
            root.embedding, root.prior_logits[0].tolist(), float(root.value[0])
        )
        reference_tree.search(position, step, SIMULATIONS, list(range(game.num_actions)))

    programs = {
        "plain Python, one game": (python, 1),
        f"ours, {GAMES} games on {len(jax.devices())} devices": (
            lambda: jax.block_until_ready(ours(params, keys, state).action),
            GAMES,
        ),
    }
    seconds = {name: [] for name in programs}
    for repeat in range(REPEATS + 1):  # In turn; the first compiles.
        for name, (run, _) in programs.items():
            start = time.perf_counter()
            run()
            if repeat:
                seconds[name].append(time.perf_counter() - start)
    rates = []
    for name, (_, games) in programs.items():
        each = [games * SIMULATIONS / x for x in seconds[name]]
        rates.append(statistics.median(each))
        print(f"{name}: {rates[-1]:,.0f} simulations/s [{min(each):,.0f}..{max(each):,.0f}]")
    print(f"ratio {rates[1] / rates[0]:.1f}, {GAME}, {SIMULATIONS} simulations")


if __name__ == "__main__":
    main()
