"""Validation outcomes of surviving λ and of cross-entropy → gains with p-values that allow for the search."""

from collections.abc import Mapping, Sequence

import numpy as np

from erce.stats import Gain, holm, paired_gain, welch
from erce.study.search.steps import Tested

# λ → one array a seed: (problems, samples), or () for an accuracy
OutcomesByLam = Mapping[float, Sequence[np.ndarray]]


def against_zero(survivors: Sequence[float], arms: OutcomesByLam, *, family: int) -> tuple[Tested, ...]:
    """Test every survivor against λ = 0, paired over problems, with Holm's p among `family` λ.

    The survivors were chosen on these very outcomes, so every λ that might have survived counts as a test. A
    dropped λ counts with p = 1, which is valid for whatever reason it was dropped. Accuracies without
    problems are tested by Welch's t over seeds; with fewer than two seeds in an arm there is no test.
    """
    gains = [_gain(arms[lam], arms[0.0]) for lam in survivors]
    known = [1.0 if gain is None else gain.p for gain in gains]
    adjusted = holm([*known, *[1.0] * (family - len(known))])[: len(known)]
    return tuple(
        Tested(
            lam, _difference(arms[lam], arms[0.0]), p, float(holms), family, gain.covers if gain else "none"
        )
        for lam, gain, p, holms in zip(survivors, gains, known, adjusted, strict=True)
    )


def mean_accuracy(cells: Sequence[np.ndarray]) -> float:
    """Return the mean over the seeds that have outcomes, rounded, so that equal means are a tie."""
    return round(float(np.mean([cell.mean() for cell in cells if cell.size])), 12)


def _difference(treated: Sequence[np.ndarray], baseline: Sequence[np.ndarray]) -> float:
    return round(mean_accuracy(treated) - mean_accuracy(baseline), 12)


def _gain(treated: Sequence[np.ndarray], baseline: Sequence[np.ndarray]) -> Gain | None:
    if treated[0].ndim == 2:
        return paired_gain(np.stack(treated), np.stack(baseline))
    if min(len(treated), len(baseline)) < 2:
        return None
    return welch([float(accuracy) for accuracy in treated], [float(accuracy) for accuracy in baseline])
