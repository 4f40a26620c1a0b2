"""Validation outcomes like those of a GSM8K study, drawn by chance: no model, no training."""

import numpy as np

# λ → shift of the log odds of every problem, for accuracies near the paper's 0.49, 0.505, 0.53, 0.55, 0.58.
GSM8K = {0.0: 0.0, 0.3: 0.13, 1.0: 0.33, 3.0: 0.54, 8.0: 0.82}
IDLE = dict.fromkeys(GSM8K, 0.0)


def draw_grid(rng, shifts, *, problems=500, samples=4, spread=3.0, own=1.0):
    """{λ: (problems, samples) of 0 and 1}: problems hard or easy for all λ, and each λ's own effects."""
    difficulty = rng.normal(-0.04, spread, problems)
    return {
        lam: (
            rng.random((problems, samples))
            < 1 / (1 + np.exp(-(difficulty + shift + rng.normal(0, own, problems))))[:, None]
        ).astype(int)
        for lam, shift in shifts.items()
    }


class Cells:
    """A study whose cells are drawn when a search asks for them, the same for the same (lam, seed)."""

    def __init__(self, accuracies, *, problems=300, samples=4, seed=0):
        self.accuracies, self.samples, self.seed = accuracies, samples, seed
        self.difficulty = np.random.default_rng(seed).normal(0, 2, problems)

    def __call__(self, lam, seed):
        rng = np.random.default_rng([self.seed, round(1000 * lam), seed])
        chance = 1 / (1 + np.exp(-(self.difficulty + self.accuracies(lam))))
        return (rng.random((len(self.difficulty), self.samples)) < chance[:, None]).astype(int)
