"""What a network can know of Connect Four: `python tests/fit_exact.py [RUN or NETWORK.npz ...]`.

Fits the shipped AlphaZero's network to exact values and moves of random positions, instead of
training it by play, and then holds it and the networks given against 1,800 other positions. With
the solver (the extra `oracle`), on two cores about a quarter of an hour.
"""

import random
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from duozero.games import make
from duozero.train import connect_four_positions as positions
from duozero.train.connect_four_oracle import Solver
from duozero.train.losing_moves import play
from duozero.train.network_file import shipped_path
from duozero.train.process import start_jax
from duozero.train.trained import load

NUM_LABELLED, NUM_UPDATES, BATCH, SIMULATIONS = 36_000, 3_000, 256, 64
GAME = make("connect_four")


def labelled(solver, held_out):
    """Moves and scores of positions none of which is held out, most of them early or middle."""
    boards = np.asarray(positions.replay(GAME, [position.moves for position in held_out]).board)
    rng, seen, found = random.Random(1), set(map(positions.key_of, boards)), []
    while len(found) < NUM_LABELLED:
        plies = [rng.randrange(*((0, 38) if rng.random() < 0.4 else (3, 21))) for _ in range(256)]
        drawn = [positions.random_moves(rng, num_moves) for num_moves in plies]
        found += [(x, solver.scores(x)) for x in positions.fresh(GAME, drawn, seen)]
        print(f"\r{len(found)} positions solved", end="", flush=True)
    print()
    return found


def arrays(rows):
    """Observations, a policy uniform over the moves that keep the value, and the value."""
    state = positions.replay(GAME, [moves for moves, _ in rows])
    scores = np.array([[-99 if score is None else score for score in row] for _, row in rows])
    best = scores.max(axis=1)
    keeps = (scores > -99) & (np.sign(scores) == np.sign(best)[:, None])
    policy = keeps / keeps.sum(axis=1, keepdims=True)
    return state.observation, jnp.asarray(policy, jnp.float32), jnp.sign(jnp.float32(best))


def predict(model, params, observation):
    net = model.bind(params)
    return net.predict(net.represent(observation))


def fit(model, observation, policy, value):
    schedule = optax.cosine_decay_schedule(3e-3, NUM_UPDATES)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))

    @jax.jit
    def update(params, memory, key):
        rows = jax.random.randint(key, (BATCH,), 0, len(value))
        turned = jax.random.bernoulli(jax.random.fold_in(key, 1), shape=(BATCH, 1))
        seen = observation[rows]
        seen = jnp.where(turned[..., None, None], seen[:, :, ::-1], seen)
        wanted = jnp.where(turned, policy[rows, ::-1], policy[rows])

        def loss(params):
            logits, outputs = predict(model, params, seen)
            moves = optax.safe_softmax_cross_entropy(logits, wanted)
            return (moves + model.value.loss(outputs, value[rows])).mean()

        change, memory = optimizer.update(jax.grad(loss)(params), memory)
        return optax.apply_updates(params, change), memory

    params = model.init(jax.random.key(0))
    memory = optimizer.init(params)
    for key in jax.random.split(jax.random.key(1), NUM_UPDATES):
        params, memory = update(params, memory, key)
    return params


def report(name, agent, params, held_out):
    model = agent.planner.model
    observation, _, value = arrays(held_out)
    mean = model.value.mean(predict(model, params, observation)[1])
    wrong = np.asarray(jnp.sign(jnp.round(mean)) != value)
    kinds = np.array([" ".join(position.kind) for position in held_out])
    players = {"alone": agent.network(params), "with search": agent.searching(params)}
    print(f"{name}: values on the wrong side, % (draws: between -1/2 and 1/2)")
    print(
        "  " + ", ".join(f"{x} {100 * wrong[kinds == x].mean():.1f}" for x in dict.fromkeys(kinds))
    )
    for how, player in players.items():
        losses = play(player, GAME, held_out, seed=0, size=150).losses
        print(f"{name}, {how}: moves that lose game value, % [95 % interval] number")
        print("  " + ", ".join(f"{kind} {found}" for kind, found in losses.items()), flush=True)


def main():
    start_jax()
    solver = Solver()
    held_out = positions.sample(GAME, solver, num_per_kind=300)
    shipped = load(shipped_path("connect_four", "alphazero"), SIMULATIONS)
    for path in map(Path, sys.argv[1:]):
        trained = load(path, SIMULATIONS)
        report(str(path), trained.agent, trained.params, held_out)
    report("shipped", shipped.agent, shipped.params, held_out)
    rows = labelled(solver, held_out)
    params = fit(shipped.agent.planner.model, *arrays(rows))
    report("fitted", shipped.agent, params, held_out)


if __name__ == "__main__":
    main()
