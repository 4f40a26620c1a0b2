"""η, |R|, ε and δ → what the lemma and the corollaries promise: gaps, sample sizes, risks at m samples."""

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.optimize import root_scalar

from erce.errors import InputError

Schedule = Callable[[int], float]  # m → λ_m or α_m


class SampleSizes(NamedTuple):
    """The least m that each condition of a corollary asks for; 0 if there is no such condition."""

    deviation: float  # Hoeffding's inequality and a union bound over the supports
    strength: float  # λ_m is large enough
    order: float  # α_m is small enough

    @property
    def samples(self) -> int:
        return math.ceil(max(self))


def lemma_bound(eta: float, order: float) -> float:
    """Return (1 − η^(α/(1−α))) / η, the most by which S of order α < 1 falls short of |supp p|.

    This is the paper's lemma; it holds for p with no entry between 0 and η.

    >>> round(lemma_bound(0.125, 0.1), 4)
    1.6504
    """
    return (1 - eta ** _exponent(eta, order)) / eta


def sharper_bound(eta: float, order: float, support: int) -> float:
    """Return k (1 − (kη)^(α/(1−α))) with k = |supp p|, which the lemma's proof has before its last two steps.

    It is never above `lemma_bound`, and 0 if kη = 1, since p is then flat.

    >>> round(sharper_bound(0.125, 0.1, 3), 4)
    0.3098
    """
    if not 1 <= support <= 1 / eta * (1 + 1e-12):
        raise InputError(f"a support of {support} answers of at least {eta:g} each does not sum to 1")
    return support * (1 - min(1.0, support * eta) ** _exponent(eta, order))


def step_1(eta: float, supports: int, epsilon: float, delta: float) -> SampleSizes:
    """Return m(ε, δ) = ⌈8 / (ηε)² log(2|R|/δ)⌉, for the indicator and the support; |supp p| ≤ 1/η.

    >>> step_1(0.125, 2, 0.1, 0.05).samples
    224360
    """
    return SampleSizes(8 / (eta * epsilon) ** 2 * math.log(2 * supports / delta), 0.0, 0.0)


def step_2(eta: float, supports: int, epsilon: float, delta: float) -> SampleSizes:
    """Return m(ε, δ) for cross-entropy and the support at λ_m = m: the appendix's first corollary.

    >>> step_2(0.125, 2, 0.1, 0.05).samples
    551520
    """
    return SampleSizes(_deviation(18, eta, supports, epsilon, delta), 3 / epsilon * math.log(1 / eta), 0.0)


def step_3(eta: float, supports: int, epsilon: float, delta: float) -> SampleSizes:
    """Return m(ε, δ) for cross-entropy and S at λ_m = m and α_m = 1/m: the corollary of Section 4.

    >>> step_3(0.125, 2, 0.1, 0.05).samples  # the counter-example's η and |R|
    980479
    """
    # (1 − η^(α/(1−α))) / η < ε/4 ⟺ α/(1−α) < r with r = log1p(−ηε/4) / log η; at α = 1/m, α/(1−α) is
    # 1/(m−1), so m > 1 + 1/r.
    order = 1 + math.log(eta) / math.log1p(-eta * epsilon / 4)
    return SampleSizes(_deviation(32, eta, supports, epsilon, delta), 4 / epsilon * math.log(1 / eta), order)


STEPS = {1: step_1, 2: step_2, 3: step_3}


def risk_bound(step: int, m: int, *, eta: float, supports: int, delta: float) -> float:
    """Return the ε that a step's corollary grants at m samples, with probability 1 − δ.

    A bound of 1 or more is returned as 1: it says nothing, since every risk is at most 1.

    >>> [round(risk_bound(3, m, eta=0.125, supports=2, delta=0.05), 3) for m in (100, 10_000, 1_000_000)]
    [1.0, 0.99, 0.099]
    """
    if not (0 < eta <= 1 and supports >= 1 and 0 < delta < 1):
        raise InputError(
            f"η = {eta!r}, |R| = {supports!r}, δ = {delta!r}: η in (0, 1], at least one support, δ in (0, 1)"
        )

    def missing_samples(epsilon: float) -> float:
        return max(STEPS[step](eta, supports, epsilon, delta)) - m

    smallest = 1e-9
    if missing_samples(1.0) >= 0:
        return 1.0
    if missing_samples(smallest) <= 0:
        return smallest
    return float(root_scalar(missing_samples, bracket=(smallest, 1.0), xtol=1e-15).root)


def least_samples(schedule: Schedule, condition: Callable[[float], bool], *, up_to: int = 10**12) -> int:
    """Return the first m at which a sequence such as λ_m or α_m meets a condition that it then keeps meeting.

    >>> least_samples(math.sqrt, lambda lam: lam > 83.2)
    6923
    """
    high = 1
    while not condition(schedule(high)):
        high *= 2
        if high > up_to:
            raise InputError(f"the sequence does not meet the condition by m = {up_to}; it may never do so")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if condition(schedule(middle)) else (middle, high)
    return high


def step_3_terms(
    eta: float, supports: int, epsilon: float, delta: float, *, lam: Schedule, order: Schedule
) -> SampleSizes:
    """Return what the theorem asks for: `step_3` for any sequences λ_m ↑ ∞ and α_m ↓ 0.

    >>> step_3_terms(0.125, 2, 0.1, 0.05, lam=math.sqrt, order=lambda m: 1 / m)[1:]
    (6919.0, 666.0)
    """
    enough = 4 / epsilon * math.log(1 / eta)
    strength = least_samples(lam, lambda value: value > enough)
    close = least_samples(order, lambda value: value < 1 and lemma_bound(eta, value) < epsilon / 4)
    return SampleSizes(_deviation(32, eta, supports, epsilon, delta), float(strength), float(close))


def _deviation(constant: float, eta: float, supports: int, epsilon: float, delta: float) -> float:
    return constant / (eta * epsilon) ** 2 * math.log(3 * supports / delta)


def _exponent(eta: float, order: float) -> float:
    if not 0 < eta <= 1:
        raise InputError(
            f"η = {eta!r} must lie above 0 and be at most 1: the least probability of any answer"
        )
    if not 0 < order < 1:
        raise InputError(f"order = {order!r} must lie between 0 and 1, where the lemma holds")
    return order / (1 - order)
