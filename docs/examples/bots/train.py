"""Makes weights.npz: a small network learns from recorded decisions when `outlaw` leaves a town."""

import numpy as np
from features import features

import harness

NEURONS, STEPS, RATE = 16, 2000, 0.5

seen, answers = [], []
for seed in range(60):
    match = harness.play_match("el-paso", ["outlaw", "outlaw", "diehard"], seed=seed)
    for seat in (0, 1):
        for turn in match.positions(seat):
            if turn.view.phase == "answer":
                seen.append(features(turn.view))
                answers.append(turn.chosen.kind == "leave")
x, y = np.array(seen), np.array(answers, dtype=float)

rng = np.random.default_rng(1)
hidden, out = rng.normal(0, 0.5, (x.shape[1], NEURONS)), rng.normal(0, 0.5, NEURONS)
for _ in range(STEPS):
    middle = np.tanh(x @ hidden)
    error = (1 / (1 + np.exp(-middle @ out)) - y) / len(y)
    hidden -= RATE * x.T @ (np.outer(error, out) * (1 - middle**2))
    out -= RATE * middle.T @ error
np.savez("weights.npz", hidden=hidden, out=out)

right = ((np.tanh(x @ hidden) @ out > 0) == y).mean()
print(f"{len(y)} decisions, {right:.0%} as the expert made them; always staying would be {1 - y.mean():.0%}")
