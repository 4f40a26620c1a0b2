"""Proposition 3.2: simulated learners against every sample there is, and the λ that mend them."""

import math
from itertools import product

import numpy as np
import pytest

from scripts.theory import counterexample, learning
from scripts.theory.counterexample import (
    PROMPTS,
    H,
    U,
    distinct,
    penalty,
    renyi,
    support_size,
    switch_lam,
    wrong_probability,
)

SWITCHES = {
    "S_0": 0.2231, "S_0.1": 0.2382, "S_0.25": 0.2639, "S_0.5": 0.3174, "S_1": 0.4848, "S_2": 1.6736,
    "R_0": 0.5503, "R_0.1": 0.5808, "R_0.25": 0.6329, "R_0.5": 0.7407, "R_1": 1.0774, "R_2": 3.4575,
}  # fmt: skip


def share_by_enumeration(m, prompts, loss):
    """Every sample there is, each with the general class's own minimiser."""
    shapes = np.array([[np.stack([U, U])], [H]])
    family = learning.SupportClass(shapes, prompts)
    samples = [np.array(flat).reshape(m, 2) for flat in product(range(prompts), range(2), repeat=m)]
    wrong = 0
    for pairs in samples:
        seen, inverse = np.unique(pairs[:, 0], return_inverse=True)
        counts = np.zeros((len(seen), 3))
        np.add.at(counts, (inverse, pairs[:, 1]), 1)
        wrong += learning.learn(family, learning.Demonstrations(seen, counts), loss)[0]
    return wrong / len(samples)


@pytest.mark.parametrize(
    ("m", "prompts", "lam"), [(1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 2, 0), (3, 1, 0), (3, 2, 0.1), (3, 2, 0.3)]
)
def test_the_simulated_learner_errs_as_often_as_over_all_samples(m, prompts, lam):
    loss = learning.penalised(lam=lambda m: lam, order=lambda m: 1.0)
    expected = share_by_enumeration(m, prompts, loss)
    simulated = wrong_probability(m, prompts, lam=lam, kind="S_1", runs=20_000)
    assert simulated == pytest.approx(expected, abs=0.02)


def test_a_seed_decides_what_is_simulated():
    shares = [wrong_probability(5, 10, runs=200, seed=seed) for seed in (0, 0, 1, 2)]
    assert shares[0] == shares[1]
    assert len(set(shares)) > 1


def test_cross_entropy_errs_as_often_as_the_corrections_say():
    expected = {1: 1, 2: 0.75, 3: 0.58, 5: 0.60, 10: 0.94, 30: 1, 100: 1}
    for m, share in expected.items():
        assert wrong_probability(m, PROMPTS["paper"](m)) == pytest.approx(share, abs=0.06)
    assert wrong_probability(400, prompts=100) == 0  # repeated prompts help


def test_the_corrected_number_of_prompts_serves_every_m_and_the_papers_only_from_3():
    corrected, printed = PROMPTS["corrected"], PROMPTS["paper"]
    assert min(distinct(m, corrected(m)) for m in range(1, 1001)) == pytest.approx(0.6067, abs=5e-5)
    assert min(distinct(m, printed(m)) for m in range(3, 1001)) == pytest.approx(2 / 9)
    assert math.prod(1 - i / printed(3) for i in range(1, 4)) == 0  # as printed, to i = m
    assert distinct(2, 1) == 0  # N_2 as printed


@pytest.mark.parametrize(("kind", "lam"), SWITCHES.items())
def test_the_learner_switches_where_the_corrections_say(kind, lam):
    assert switch_lam(kind) == pytest.approx(lam, abs=5e-5)
    assert wrong_probability(30, 900, lam=switch_lam(kind) * 1.0001, kind=kind) == 0
    assert wrong_probability(30, 900, lam=switch_lam(kind) * 0.9999, kind=kind) > 1 / 8


def test_above_some_order_no_lam_helps():
    last = counterexample.last_order()
    assert support_size(H[0], last) == pytest.approx(support_size(U, last))
    assert math.isfinite(switch_lam(f"R_{last - 0.01}"))
    assert switch_lam(f"R_{last + 0.01}") == math.inf


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: wrong_probability(0, 3), "at least one of either"),
        (lambda: renyi([0.5, 0.6], 1), "sum to 1"),
        (lambda: renyi([1.5, -0.5], 1), "at least 0"),
        (lambda: renyi([1.0], -1), "order"),
        (lambda: penalty("T_1", [1.0]), "no penalty 'T_1'; write 'R_'"),
    ],
)
def test_what_is_no_distribution_sample_or_penalty_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
