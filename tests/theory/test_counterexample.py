"""Proposition 1: exact against brute force and simulation, and every figure of the corrections."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from erce.theory import classes, counterexample
from erce.theory.counterexample import (
    H,
    U,
    clash_probabilities,
    corrected_prompts,
    distinct,
    paper_prompts,
    simulate,
    switch_lam,
    wrong_probability,
)
from erce.theory.entropies import support_size

SWITCHES = {
    "S_0": 0.2231, "S_0.1": 0.2382, "S_0.25": 0.2639, "S_0.5": 0.3174, "S_1": 0.4848, "S_2": 1.6736,
    "R_0": 0.5503, "R_0.1": 0.5808, "R_0.25": 0.6329, "R_0.5": 0.7407, "R_1": 1.0774, "R_2": 3.4575,
}  # fmt: skip


def share_by_enumeration(m, prompts, loss):
    """Every sample there is, each with the general class's own minimiser."""
    family = classes.build([[[U]], [H]], prompts=prompts)
    wrong = 0
    samples = list(product(range(prompts), range(2), repeat=m))
    for flat in samples:
        pairs = np.array(flat).reshape(m, 2)
        seen, inverse = np.unique(pairs[:, 0], return_inverse=True)
        counts = np.zeros((len(seen), 3))
        np.add.at(counts, (inverse, pairs[:, 1]), 1)
        learnt = classes.learn(family, classes.Sample(seen, counts), loss)
        assert learnt.risk == (counterexample.RISK if learnt.member else 0)
        wrong += learnt.member
    return wrong / len(samples)


@pytest.mark.parametrize(("m", "prompts"), [(1, 1), (2, 2), (3, 3), (4, 2), (3, 1), (4, 3)])
def test_the_exact_probability_is_that_of_all_samples(m, prompts):
    assert wrong_probability(m, prompts) == pytest.approx(
        share_by_enumeration(m, prompts, classes.cross_entropy), abs=1e-9
    )


@pytest.mark.parametrize("lam", [0.1, 0.3, 0.6])
def test_the_exact_probability_holds_with_a_penalty(lam):
    loss = classes.penalised(lam=lambda m: lam, order=lambda m: 1.0)
    expected = share_by_enumeration(3, 2, loss)
    assert wrong_probability(3, 2, lam=lam, kind="S_1") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("m", "prompts"), [(1, 5), (7, 7), (50, 10), (300, 300**2), (1000, 499_500)])
def test_clash_probabilities_sum_to_one_and_have_the_right_mean(m, prompts):
    probabilities = clash_probabilities(m, prompts)
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    mean = 0.0
    for n in range(min(m, 60) + 1):  # samples of one prompt, of which the rarer answer has so many
        ones = np.arange(n + 1)
        mean += binom.pmf(n, m, 1 / prompts) * float(np.minimum(ones, n - ones) @ binom.pmf(ones, n, 0.5))
    assert probabilities @ np.arange(m // 2 + 1) == pytest.approx(prompts * mean, abs=1e-7)


@pytest.mark.parametrize("m", [1, 2, 51, 400, 1000])
def test_a_single_prompt_clashes_as_often_as_a_coin(m):
    ones = np.arange(m + 1)
    expected = np.bincount(np.minimum(ones, m - ones), weights=binom.pmf(ones, m, 0.5))
    np.testing.assert_allclose(clash_probabilities(m, 1), expected, atol=1e-9)


@pytest.mark.parametrize("rule", [paper_prompts, corrected_prompts, lambda m: 20])
@pytest.mark.parametrize("m", [2, 5, 12, 60])
def test_simulated_learners_err_as_often_as_computed(rule, m):
    exact = wrong_probability(m, rule(m))
    assert simulate(m, rule(m), runs=2000, seed=m).wrong / 2000 == pytest.approx(
        exact, abs=4.5 * math.sqrt(exact * (1 - exact) / 2000) + 1e-3
    )


def test_a_seed_decides_what_is_simulated():
    runs = [simulate(5, 10, runs=200, seed=seed) for seed in (0, 0, 1, 2)]
    assert runs[0] == runs[1]
    assert len(set(runs)) > 1


def test_cross_entropy_errs_as_often_as_the_corrections_say():
    expected = {1: 1, 2: 0.75, 3: 0.58, 5: 0.60, 10: 0.94, 30: 1, 100: 1}
    computed = {m: round(wrong_probability(m, paper_prompts(m)), 2) for m in expected}
    assert computed == expected


@pytest.mark.parametrize("m", [3, 5, 10, 100, 1000])
def test_cross_entropy_errs_at_least_when_all_prompts_differ(m):
    for rule in (paper_prompts, corrected_prompts):
        assert wrong_probability(m, rule(m)) >= distinct(m, rule(m)) - 1e-9 > 1 / 8


def test_the_corrected_number_of_prompts_serves_every_m_and_the_papers_only_from_3():
    assert min(distinct(m, corrected_prompts(m)) for m in range(1, 1001)) == pytest.approx(0.6067, abs=5e-5)
    assert min(distinct(m, paper_prompts(m)) for m in range(3, 1001)) == pytest.approx(2 / 9)
    assert math.prod(1 - i / paper_prompts(3) for i in range(1, 4)) == 0  # as printed, to i = m
    assert distinct(2, 1) == 0  # N_2 as printed


@pytest.mark.parametrize(("kind", "lam"), SWITCHES.items())
def test_the_learner_switches_where_the_corrections_say(kind, lam):
    assert switch_lam(kind) == pytest.approx(lam, abs=5e-5)


@pytest.mark.parametrize("kind", ["S_0", "S_1", "R_1", "R_2"])
def test_just_above_the_switch_no_sample_misleads_and_just_below_some_do(kind):
    lam = switch_lam(kind)
    assert wrong_probability(30, 900, lam=lam * 1.0001, kind=kind) == 0
    assert wrong_probability(30, 900, lam=lam * 0.9999, kind=kind) >= distinct(30, 900) - 1e-9
    assert simulate(30, 900, runs=300, seed=0, lam=lam * 1.0001, kind=kind).wrong == 0


def test_above_some_order_no_lam_helps():
    last = counterexample.last_order()
    assert support_size(H[0], last) == pytest.approx(support_size(U, last))
    assert math.isfinite(switch_lam(f"R_{last - 0.01}"))
    assert switch_lam(f"R_{last + 0.01}") == switch_lam("R_inf") == math.inf


def test_the_penalised_learner_needs_one_sample_and_cross_entropy_more_than_any():
    needed = counterexample.samples_needed
    assert needed(float, lambda m: f"S_{1 / m}", up_to=60) == 1
    assert needed(lambda m: 0.0, lambda m: "S_0", up_to=60) is None
    assert needed(lambda m: m / 50, lambda m: "S_0", up_to=60) == 12  # m / 50 > 0.2231
    assert needed(lambda m: 0.0, lambda m: "S_0", epsilon=0.3, up_to=60) == 1


def test_no_samples_and_no_prompts_are_refused():
    with pytest.raises(ValueError, match="at least one of either"):
        clash_probabilities(0, 3)
