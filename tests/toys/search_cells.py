"""Validation outcomes like those of a GSM8K study, drawn by chance: no model, no training."""

import numpy as np


class Cells:
    """A study whose cells are drawn when a search asks for them, the same for the same (lam, seed)."""

    def __init__(self, accuracies, *, problems=300, samples=4, seed=0):
        self.accuracies, self.samples, self.seed = accuracies, samples, seed
        self.difficulty = np.random.default_rng(seed).normal(0, 2, problems)

    def __call__(self, lam, seed):
        rng = np.random.default_rng([self.seed, round(1000 * lam), seed])
        chance = 1 / (1 + np.exp(-(self.difficulty + self.accuracies(lam))))
        return (rng.random((len(self.difficulty), self.samples)) < chance[:, None]).astype(int)
