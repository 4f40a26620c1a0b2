"""A class of policies with few supports → what the corollaries promise, and what each loss learns of it.

A member of the class fixes the support at every kind of prompt, and its shapes: rows with that support. A
policy takes any of these shapes at each prompt: more prompts make the class richer, its supports stay few.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from erce.theory.counterexample import root, support_size

STEPS = (1, 2, 3)  # the proof's losses: indicator and support; cross-entropy and support; cross-entropy and S
Loss = Callable[[np.ndarray, int], np.ndarray]  # rows (..., answers), m → loss of each answer, same shape


def lemma_bound(eta: float, order: float) -> float:
    """Return (1 − η^(α/(1−α))) / η, the most by which S of order α < 1 falls short of |supp p|.

    This is the paper's lemma; it holds for p with no entry between 0 and η.
    """
    return (1 - eta ** (order / (1 - order))) / eta


def sharper_bound(eta: float, order: float, support: int) -> float:
    """Return k (1 − (kη)^(α/(1−α))) with k = |supp p|, two steps earlier in the lemma's proof."""
    return support * (1 - min(1.0, support * eta) ** (order / (1 - order)))


def sample_size(step: int, eta: float, supports: int, epsilon: float, delta: float) -> float:
    """Return a corollary's m(ε, δ) before rounding up: λ_m = m in steps 2 and 3, α_m = 1/m in step 3.

    >>> [math.ceil(sample_size(step, 0.125, 2, 0.1, 0.05)) for step in STEPS]  # of the counter-example
    [224360, 551520, 980479]
    """
    if step == 1:
        return 8 / (eta * epsilon) ** 2 * math.log(2 * supports / delta)
    deviation = {2: 18, 3: 32}[step] / (eta * epsilon) ** 2 * math.log(3 * supports / delta)
    strength = (step + 1) / epsilon * math.log(1 / eta)
    # (1 − η^(α/(1−α))) / η < ε/4 ⟺ α/(1−α) < r with r = log1p(−ηε/4) / log η; at α = 1/m, α/(1−α) is
    # 1/(m−1), so m > 1 + 1/r.
    order = 1 + math.log(eta) / math.log1p(-eta * epsilon / 4) if step == 3 else 0.0
    return max(deviation, strength, order)


def risk_bound(step: int, m: int, *, eta: float, supports: int, delta: float) -> float:
    """Return the ε that a step's corollary grants at m samples, with probability 1 − δ; at most 1."""

    def missing_samples(epsilon: float) -> float:
        return sample_size(step, eta, supports, epsilon, delta) - m

    return 1.0 if missing_samples(1.0) >= 0 else root(missing_samples, 1e-9, 1.0)


@dataclass(frozen=True)
class SupportClass:
    """A class of policies: `shapes[r, t, s]` is the s-th row of member r at a prompt of kind t.

    Prompt x is of kind x % kinds. The demonstrator always takes member 0's first shape, whose support is the
    right answers.
    """

    shapes: np.ndarray  # (members, kinds, shapes, answers)
    prompts: int

    @property
    def eta(self) -> float:
        """The least probability above 0 of any answer."""
        return float(self.shapes[self.shapes > 0].min())

    @property
    def supports(self) -> int:
        """The number |R| of different maps from prompts to supports."""
        return len(np.unique(self.shapes[:, :, 0] > 0, axis=0))

    @property
    def risks(self) -> np.ndarray:
        """The probability of a wrong answer, (members, kinds, shapes)."""
        wrong = self.shapes[0, :, 0] == 0
        return (self.shapes * wrong[None, :, None]).sum(-1)


class Demonstrations(NamedTuple):
    """The prompts seen, and how often each of them got each answer."""

    prompts: np.ndarray  # (seen,)
    counts: np.ndarray  # (seen, answers)


def build(family: Sequence[Sequence[Any]], *, prompts: int) -> SupportClass:
    """Build the class of `family[member][kind]`, lists of rows; the first member is the demonstrator's."""
    most = max(len(menu) for member in family for menu in member)
    rows = [[[*menu, *[menu[0]] * (most - len(menu))] for menu in member] for member in family]
    return SupportClass(np.array(rows, dtype=float), prompts)


def peaked(answers: int, support: Sequence[int], top: float) -> list[list[float]]:
    """Return rows with that support: each of its answers in turn has `top`, the others share the rest."""
    rest = (1 - top) / (len(support) - 1)
    return [[top if y == z else rest if y in support else 0.0 for y in range(answers)] for z in support]


def flat(answers: int, support: Sequence[int]) -> list[list[float]]:
    """Return one row, the uniform distribution on the support."""
    return [[float(y in support) / len(support) for y in range(answers)]]


def example(*, prompts: int = 2000, kinds: int = 4) -> SupportClass:
    """Return the page's class: four answers, of which the demonstrator says two, each half of the time.

    Two rivals have larger supports that can follow every demonstration more closely, as in the paper's
    counter-example. The others put a wrong answer in the place of a right one, or say only a wrong answer, at
    some kinds of prompt, and look as good until such a prompt is seen.
    """
    family = list(product((flat(4, [0, 1]), flat(4, [0, 2]), flat(4, [3])), repeat=kinds))
    family += [(peaked(4, support, 5 / 8),) * kinds for support in ([0, 1, 2], [0, 1, 2, 3])]
    return build(family, prompts=prompts)


def sample(family: SupportClass, m: int, rng: np.random.Generator) -> Demonstrations:
    """Sample m independent demonstrations, their prompts uniformly."""
    at = rng.integers(family.prompts, size=m)
    answers = family.shapes.shape[-1]
    cumulative = np.cumsum(family.shapes[0, :, 0], -1)[at % family.shapes.shape[1]]
    given = np.minimum((rng.random(m)[:, None] >= cumulative).sum(-1), answers - 1)
    prompts, inverse = np.unique(at, return_inverse=True)
    counts = np.zeros((len(prompts), answers))
    np.add.at(counts, (inverse, given), 1)
    return Demonstrations(prompts, counts)


def cross_entropy(rows: np.ndarray, m: int) -> np.ndarray:
    """Return −log p(y); inf where p(y) = 0."""
    return -np.log(rows, where=rows > 0, out=np.full(rows.shape, -math.inf))


def indicator(eta: float) -> Loss:
    """Return the loss 1{y outside supp p} / η + |supp p|: step 1 of the proof."""
    return lambda rows, m: (rows == 0) / eta + support_size(rows, 0)[..., None]


def penalised(*, lam: Callable[[int], float], order: Callable[[int], float]) -> Loss:
    """Return the loss −log p(y) + λ_m S(p) of order α_m: step 2 if α_m is 0, step 3 if it falls to 0."""
    return lambda rows, m: cross_entropy(rows, m) + lam(m) * support_size(rows, order(m))[..., None]


def learn(family: SupportClass, seen: Demonstrations, loss: Loss) -> tuple[int, float]:
    """Return the member of the empirical minimiser of the loss that has the largest risk, and this risk.

    Minimisers differ at prompts that were not seen, and where shapes or members tie; a guarantee must hold
    for the worst of them.
    """
    table, risks = loss(family.shapes, int(seen.counts.sum())), family.risks
    kinds = family.shapes.shape[1]
    total, risk = np.zeros(len(table)), np.zeros(len(table))
    prompts_of = np.bincount(np.arange(family.prompts) % kinds, minlength=kinds)
    for kind in range(kinds):
        counts = seen.counts[seen.prompts % kinds == kind]
        cost = _weighted_loss(counts, table[:, kind])  # (seen, members, shapes)
        least = cost.min(-1, keepdims=True)
        among = np.where(cost <= least + _slack(least), risks[:, kind], -1.0)
        total += least[..., 0].sum(0)
        risk += among.max(-1).sum(0) + (prompts_of[kind] - len(counts)) * risks[:, kind].max(-1)
    tied = total <= total.min() + _slack(total.min())
    member = int(np.where(tied, risk, -1.0).argmax())
    return member, float(risk[member] / family.prompts)


def risk_curve(family: SupportClass, loss: Loss, sizes: Sequence[int], *, runs: int, seed: int) -> np.ndarray:
    """Return the risk after learning from fresh samples, (sizes, runs); all losses see the same samples."""
    generators = {m: np.random.default_rng([seed, m]) for m in sizes}
    return np.array(
        [
            [learn(family, sample(family, m, rng), loss)[1] for _ in range(runs)]
            for m, rng in generators.items()
        ]
    )


def _weighted_loss(counts: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return Σ counts · loss over the answers; an infinite loss that no sample meets counts as 0."""
    finite = np.isfinite(table)
    cost = np.tensordot(counts, np.where(finite, table, 0.0), (1, 2))
    infinite = np.tensordot(counts, (~finite).astype(float), (1, 2))
    return np.where(infinite > 0, math.inf, cost)


def _slack(least: np.ndarray) -> np.ndarray:
    """Return the rounding error up to which two losses tie."""
    return 1e-10 * (1 + np.abs(np.where(np.isfinite(least), least, 0.0)))
