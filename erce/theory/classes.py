"""A family of supports → a class of policies with a demonstrator, samples of it, and what each loss learns.

A member of the family fixes the support at every kind of prompt, and the shapes: rows with that support. A
policy takes any of these shapes at each prompt: more prompts make the class richer, while its supports stay
few.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from erce.errors import InputError
from erce.theory.entropies import Floats, support_size

Menu = Sequence[Sequence[float]]  # rows over the answers, all with the same support


@dataclass(frozen=True)
class SupportClass:
    """A class of policies: `shapes[r, t, s]` is the s-th row of member r at a prompt of kind t.

    Prompt x is of kind x % kinds. The demonstrator always takes member 0's first shape, whose support is the
    right answers.
    """

    shapes: Floats  # (members, kinds, shapes, answers)
    prompts: int

    @property
    def eta(self) -> float:
        """Return the least probability above 0 of any answer."""
        return float(self.shapes[self.shapes > 0].min())

    @property
    def supports(self) -> int:
        """Return |R|, the number of different maps from prompts to supports."""
        return len(np.unique(self.shapes[:, :, 0] > 0, axis=0))

    @property
    def risks(self) -> Floats:
        """Return the probability of a wrong answer, (members, kinds, shapes)."""
        wrong = self.shapes[0, :, 0] == 0
        return (self.shapes * wrong[None, :, None]).sum(-1)


class Sample(NamedTuple):
    """The demonstrator's answers: the prompts seen, and how often each prompt got each answer."""

    prompts: Floats  # (seen,)
    counts: Floats  # (seen, answers)


class Learnt(NamedTuple):
    """The member of the class that a learner returns, and its risk."""

    member: int
    risk: float


Loss = Callable[[Floats, int], Floats]  # rows (..., answers), m → loss of each answer, same shape


def build(family: Sequence[Sequence[Menu]], *, prompts: int) -> SupportClass:
    """Build the class of `family[member][kind]`, lists of rows; the first member is the demonstrator's.

    >>> pair = build([[[[0.5, 0.5, 0]]], [[[5 / 8, 1 / 8, 1 / 4], [1 / 8, 5 / 8, 1 / 4]]]], prompts=9)
    >>> pair.eta, pair.supports, pair.risks[1].tolist()
    (0.125, 2, [[0.25, 0.25]])
    """
    most = max(len(menu) for member in family for menu in member)
    rows = [[[*menu, *[menu[0]] * (most - len(menu))] for menu in member] for member in family]
    shapes = np.asarray(rows, dtype=float)
    if shapes.ndim != 4:
        raise InputError("every member needs a menu for each kind of prompt, every row the same answers")
    if not np.allclose(shapes.sum(-1), 1) or (shapes < 0).any():
        raise InputError("a shape is no distribution: its entries must be at least 0 and sum to 1")
    if ((shapes > 0) != (shapes[:, :, :1] > 0)).any():
        raise InputError("the shapes of one menu have different supports; make them different members")
    if prompts < 1:
        raise InputError(f"prompts = {prompts!r}; there must be at least one")
    return SupportClass(shapes, prompts)


def peaked(answers: int, support: Sequence[int], top: float) -> list[list[float]]:
    """Return rows with that support: each of its answers in turn has `top`, the others share the rest.

    >>> peaked(3, [0, 2], 0.75)
    [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]
    """
    if len(support) < 2:
        return [[float(y in support) for y in range(answers)]]
    rest = (1 - top) / (len(support) - 1)
    return [[top if y == z else rest if y in support else 0.0 for y in range(answers)] for z in support]


def flat(answers: int, support: Sequence[int]) -> list[list[float]]:
    """Return one row, the uniform distribution on the support."""
    return [[float(y in support) / len(support) for y in range(answers)]]


def draw(family: SupportClass, m: int, rng: np.random.Generator) -> Sample:
    """Draw m independent demonstrations of prompts drawn uniformly."""
    at = rng.integers(family.prompts, size=m)
    answers = family.shapes.shape[-1]
    cumulative = np.cumsum(family.shapes[0, :, 0], -1)[at % family.shapes.shape[1]]
    drawn = np.minimum((rng.random(m)[:, None] >= cumulative).sum(-1), answers - 1)
    prompts, inverse = np.unique(at, return_inverse=True)
    counts = np.zeros((len(prompts), answers))
    np.add.at(counts, (inverse, drawn), 1)
    return Sample(prompts, counts)


def cross_entropy(rows: Floats, m: int) -> Floats:
    """Return −log p(y); inf where p(y) = 0."""
    return -np.log(rows, where=rows > 0, out=np.full(rows.shape, -math.inf))


def indicator(eta: float) -> Loss:
    """Return the loss 1{y outside supp p} / η + |supp p|: step 1 of the proof."""
    return lambda rows, m: (rows == 0) / eta + support_size(rows, 0)[..., None]


def penalised(*, lam: Callable[[int], float], order: Callable[[int], float]) -> Loss:
    """Return the loss −log p(y) + λ_m S(p) of order α_m: step 2 if α_m is 0, step 3 if α_m falls towards 0.

    >>> loss = penalised(lam=float, order=lambda m: 1 / m)
    >>> loss(np.array([0.5, 0.5]), 4).round(4).tolist()
    [8.6931, 8.6931]
    """
    return lambda rows, m: cross_entropy(rows, m) + lam(m) * support_size(rows, order(m))[..., None]


def learn(family: SupportClass, sample: Sample, loss: Loss) -> Learnt:
    """Return the empirical minimiser of the loss over the whole class that has the largest risk.

    Minimisers differ at prompts that were not seen, and where shapes or members tie; a guarantee must hold
    for the worst of them.
    """
    m = int(sample.counts.sum())
    table, risks = loss(family.shapes, m), family.risks
    kinds = family.shapes.shape[1]
    total, risk = np.zeros(len(table)), np.zeros(len(table))
    prompts_of = np.bincount(np.arange(family.prompts) % kinds, minlength=kinds)
    for kind in range(kinds):
        counts = sample.counts[sample.prompts % kinds == kind]
        cost = _weighted_loss(counts, table[:, kind])  # (seen, members, shapes)
        least = cost.min(-1, keepdims=True)
        among = np.where(cost <= least + _slack(least), risks[:, kind], -1.0)
        total += least[..., 0].sum(0)
        risk += among.max(-1).sum(0) + (prompts_of[kind] - len(counts)) * risks[:, kind].max(-1)
    tied = total <= total.min() + _slack(total.min())
    member = int(np.where(tied, risk, -1.0).argmax())
    return Learnt(member, float(risk[member] / family.prompts))


def risk_curve(family: SupportClass, loss: Loss, sizes: Sequence[int], *, runs: int, seed: int) -> Floats:
    """Return the risk after learning from fresh samples, (sizes, runs); all losses see the same samples."""
    risks = np.zeros((len(sizes), runs))
    for i, m in enumerate(sizes):
        rng = np.random.default_rng([seed, m])
        for j in range(runs):
            risks[i, j] = learn(family, draw(family, m, rng), loss).risk
    return risks


def example(*, prompts: int = 2000, kinds: int = 4) -> SupportClass:
    """Return the page's class: four answers, of which the demonstrator says two, each half of the time.

    Two rivals have larger supports that can follow every demonstration more closely, as in the paper's
    counter-example. The others put a wrong answer in the place of a right one, or say only a wrong answer, at
    some kinds of prompt, and look as good until such a prompt is seen.
    """
    right, half_wrong, wrong = flat(4, [0, 1]), flat(4, [0, 2]), flat(4, [3])
    family: list[Sequence[Menu]] = list(product((right, half_wrong, wrong), repeat=kinds))
    family += [[peaked(4, support, 5 / 8)] * kinds for support in ([0, 1, 2], [0, 1, 2, 3])]
    return build(family, prompts=prompts)


def _weighted_loss(counts: Floats, table: Floats) -> Floats:
    """Return Σ counts · loss over the answers; an infinite loss that no sample meets counts as 0."""
    finite = np.isfinite(table)
    cost = np.tensordot(counts, np.where(finite, table, 0.0), (1, 2))
    infinite = np.tensordot(counts, (~finite).astype(float), (1, 2))
    return np.where(infinite > 0, math.inf, cost)


def _slack(least: Floats) -> Floats:
    """Return the rounding error up to which two losses tie."""
    return 1e-10 * (1 + np.abs(np.where(np.isfinite(least), least, 0.0)))
