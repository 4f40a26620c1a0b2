"""A class of policies with few supports → what the corollaries promise, and what each loss learns of it.

A member of the class fixes the support at every kind of prompt, and its shapes: rows with that support. A
policy takes any of these shapes at each prompt: more prompts make the class richer, its supports stay few.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from scripts.theory.counterexample import support_size

STEPS = (1, 2, 3)  # the proof's losses: indicator and support; cross-entropy and support; cross-entropy and S
EXCLUDED = 1e12  # the loss of an answer that a policy never gives
ROUNDING = 1e-10  # the relative error up to which two losses tie
Loss = Callable[[np.ndarray, int], np.ndarray]  # rows (..., answers), m → loss of each answer, same shape


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


def rows_on(support: Sequence[int], *, answers: int, top: float | None = None) -> np.ndarray:
    """Return the shapes with that support, (answers, answers): row y gives `top` to answer y.

    The other answers of the support share the rest; without `top` all have the same. A row y outside the
    support repeats the first.
    """
    top = 1 / len(support) if top is None else top
    rows = np.zeros((answers, answers))
    rows[:, support] = (1 - top) / max(1, len(support) - 1)
    rows[range(answers), [y if y in support else support[0] for y in range(answers)]] = top
    return rows


def example(*, prompts: int = 2000, kinds: int = 4) -> SupportClass:
    """Return the page's class: four answers, of which the demonstrator says two, each half of the time.

    Two rivals have larger supports that can follow every demonstration more closely, as in the paper's
    counter-example. The others put a wrong answer in the place of a right one, or say only a wrong answer, at
    some kinds of prompt, and look as good until such a prompt is seen.
    """
    family = list(product([rows_on(support, answers=4) for support in ([0, 1], [0, 2], [3])], repeat=kinds))
    family += [(rows_on(support, answers=4, top=5 / 8),) * kinds for support in ([0, 1, 2], [0, 1, 2, 3])]
    return SupportClass(np.array(family), prompts)


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
    """Return −log p(y), and `EXCLUDED` where p(y) = 0, which no other loss makes up for."""
    return -np.log(rows, where=rows > 0, out=np.full(rows.shape, -EXCLUDED))


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
        cost = np.tensordot(counts, table[:, kind], (1, 2))  # (seen, members, shapes)
        least = cost.min(-1, keepdims=True)
        among = np.where(cost <= least + ROUNDING * (1 + least), risks[:, kind], -1.0)
        total += least[..., 0].sum(0)
        risk += among.max(-1).sum(0) + (prompts_of[kind] - len(counts)) * risks[:, kind].max(-1)
    tied = total <= total.min() + ROUNDING * (1 + total.min())
    member = int(np.where(tied, risk, -1.0).argmax())
    return member, float(risk[member] / family.prompts)


def risk_curve(family: SupportClass, loss: Loss, sizes: Sequence[int], *, runs: int, seed: int) -> np.ndarray:
    """Return the risk after learning from fresh samples, (sizes, runs); all losses see the same samples."""
    risks = np.empty((len(sizes), runs))
    for row, m in zip(risks, sizes, strict=True):
        rng = np.random.default_rng([seed, m])
        row[:] = [learn(family, sample(family, m, rng), loss)[1] for _ in range(runs)]
    return risks
