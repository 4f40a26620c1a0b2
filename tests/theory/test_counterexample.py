"""Proposition 3.2: exact against brute force and simulation, every figure of the page; what S must be."""

import math
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from erce.loss import Renyi, SupportSize
from erce.theory import counterexample, learning
from erce.theory.counterexample import (
    H,
    U,
    clash_probabilities,
    corrected_prompts,
    distinct,
    paper_prompts,
    penalty,
    renyi,
    simulate,
    support_size,
    switch_lam,
    wrong_probability,
)

SWITCHES = {
    "S_0": 0.2231, "S_0.1": 0.2382, "S_0.25": 0.2639, "S_0.5": 0.3174, "S_1": 0.4848, "S_2": 1.6736,
    "R_0": 0.5503, "R_0.1": 0.5808, "R_0.25": 0.6329, "R_0.5": 0.7407, "R_1": 1.0774, "R_2": 3.4575,
}  # fmt: skip
QUICK = settings(deadline=None, max_examples=30)
ORDERS = (1e-3, 0.1, 0.5, 0.99, 1.0, 1.01, 2.0, 5.0, 100.0, math.inf)
EDGES = [
    [1.0],
    [1.0, 0.0, 0.0],
    [0.5, 0.5, 0.0],
    [0.25] * 4,
    [1 - 1e-12, 1e-12],
    [1 - 1e-300, 1e-300, 0.0],
    [5 / 8, 1 / 8, 1 / 4],
]
WEIGHT = st.one_of(st.just(0.0), st.floats(1e-6, 1.0))
ROWS = st.lists(WEIGHT, min_size=1, max_size=10).filter(any).map(lambda row: np.array(row) / sum(row))
ANY_ORDER = st.one_of(st.sampled_from((0.0, *ORDERS)), st.floats(0.0, 6.0))


def check_against_torch(row, order):
    log_p = torch.as_tensor(np.asarray(row)).log()
    for ours, theirs in ((renyi, Renyi(order)), (support_size, SupportSize(order))):
        np.testing.assert_allclose(ours(row, order), theirs(log_p).numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("row", EDGES, ids=str)
def test_an_edge_is_what_torch_makes_of_it(row, order):
    check_against_torch(row, order)


@QUICK
@given(row=ROWS, order=st.sampled_from(ORDERS))
def test_numpy_and_torch_are_one_definition(row, order):
    check_against_torch(row, order)


def test_rows_are_over_the_last_axis():
    rows = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3))
    for order in (0.0, 0.5, 1.0, 2.0, 50.0, math.inf):
        expected = [[float(support_size(row, order)) for row in block] for block in rows]
        np.testing.assert_allclose(support_size(rows, order), expected, rtol=1e-13)


@QUICK
@given(row=ROWS, order=ANY_ORDER, seed=st.integers(0, 99))
def test_s_ignores_the_order_of_the_answers_and_those_of_probability_0(row, order, seed):
    shuffled = np.random.default_rng(seed).permutation(np.append(row, [0.0, 0.0]))
    np.testing.assert_allclose(support_size(shuffled, order), support_size(row, order), rtol=1e-10)


@QUICK
@given(row=ROWS, order=ANY_ORDER)
def test_s_lies_between_one_answer_and_the_support(row, order):
    assert 1 - 1e-12 <= support_size(row, order) <= np.count_nonzero(row) * (1 + 1e-12)


@QUICK
@given(number=st.integers(1, 30), order=ANY_ORDER)
def test_s_of_a_flat_distribution_is_its_size(number, order):
    assert support_size(np.full(number, 1 / number), order) == pytest.approx(number, rel=1e-9)
    assert support_size(np.eye(number)[0], order) == 1


@QUICK
@given(first=ROWS, second=ROWS, order=ANY_ORDER)
def test_s_multiplies_over_independent_parts(first, second, order):
    both = support_size(np.outer(first, second).ravel(), order)
    assert both == pytest.approx(support_size(first, order) * support_size(second, order), rel=1e-9)


@QUICK
@given(row=ROWS)
def test_s_falls_with_the_order_from_the_support_to_one_over_the_largest(row):
    sizes = [float(support_size(row, order)) for order in (0.0, *ORDERS)]
    assert all(a >= b * (1 - 1e-12) for a, b in pairwise(sizes))
    assert sizes[0] == np.count_nonzero(row)
    assert sizes[-1] == pytest.approx(1 / row.max(), rel=1e-12)


def share_by_enumeration(m, prompts, loss):
    """Every sample there is, each with the general class's own minimiser."""
    family = learning.build([[[U]], [H]], prompts=prompts)
    wrong = 0
    samples = list(product(range(prompts), range(2), repeat=m))
    for flat in samples:
        pairs = np.array(flat).reshape(m, 2)
        seen, inverse = np.unique(pairs[:, 0], return_inverse=True)
        counts = np.zeros((len(seen), 3))
        np.add.at(counts, (inverse, pairs[:, 1]), 1)
        member, risk = learning.learn(family, learning.Demonstrations(seen, counts), loss)
        assert risk == (counterexample.RISK if member else 0)
        wrong += member
    return wrong / len(samples)


@pytest.mark.parametrize(("m", "prompts"), [(1, 1), (2, 2), (3, 3), (4, 2), (3, 1), (4, 3)])
def test_the_exact_probability_is_that_of_all_samples(m, prompts):
    assert wrong_probability(m, prompts) == pytest.approx(
        share_by_enumeration(m, prompts, learning.cross_entropy), abs=1e-9
    )


@pytest.mark.parametrize("lam", [0.1, 0.3, 0.6])
def test_the_exact_probability_holds_with_a_penalty(lam):
    loss = learning.penalised(lam=lambda m: lam, order=lambda m: 1.0)
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
    assert simulate(m, rule(m), runs=2000, seed=m) / 2000 == pytest.approx(
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


def test_above_some_order_no_lam_helps():
    last = counterexample.last_order()
    assert support_size(H[0], last) == pytest.approx(support_size(U, last))
    assert math.isfinite(switch_lam(f"R_{last - 0.01}"))
    assert switch_lam(f"R_{last + 0.01}") == switch_lam("R_inf") == math.inf


def test_the_penalised_learner_needs_one_sample_and_cross_entropy_more_than_any():
    needed = partial(counterexample.samples_needed, delta=0.05, up_to=60)
    assert needed(float, lambda m: f"S_{1 / m}") == 1
    assert needed(lambda m: 0.0, lambda m: "S_0") is None
    assert needed(lambda m: m / 50, lambda m: "S_0") == 12  # m / 50 > 0.2231


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: clash_probabilities(0, 3), "at least one of either"),
        (lambda: renyi([0.5, 0.6], 1), "sum to 1"),
        (lambda: renyi([1.5, -0.5], 1), "at least 0"),
        (lambda: renyi([1.0], -1), "order = -1 must be at least 0"),
        (lambda: renyi([1.0], math.nan), "order = nan must be at least 0"),
        (lambda: penalty("T_1", [1.0]), "no penalty 'T_1'; write 'R_'"),
    ],
)
def test_what_is_no_distribution_sample_or_penalty_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
