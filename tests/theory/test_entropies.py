"""S and R in numpy: equal to the torch definitions, and with the four properties that the paper asks of S."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from erce.loss import Renyi, Shannon, SupportSize
from erce.theory.entropies import penalty, renyi, shannon, support_size

QUICK = settings(deadline=None, max_examples=30)
ORDERS = (1e-3, 0.1, 0.5, 0.999, 1.0, 1 + 1e-9, 1.001, 2.0, 5.0, 100.0, math.inf)
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
    np.testing.assert_allclose(shannon(row), Shannon()(torch.as_tensor(row).log()).numpy(), 1e-12, 1e-12)


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
    assert support_size(np.full(number, 1 / number), order) == pytest.approx(number, rel=1e-12)
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


@QUICK
@given(row=ROWS, order=st.floats(0.05, 5.0), seed=st.integers(0, 99))
def test_s_is_continuous(row, order, seed):
    assume(len(row) > 1)
    step = 1e-9 * np.random.default_rng(seed).dirichlet(np.ones(len(row)))
    near = (1 - 1e-9) * row + step
    reach = len(row) * (1e-9) ** min(order, 1) * 30 + 1e-6
    assert abs(renyi(near, order) - renyi(row, order)) <= reach * (1 + 1 / abs(order - 1 + 1e-3))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: renyi([0.5, 0.6], 1), "sum to 1"),
        (lambda: renyi([1.5, -0.5], 1), "at least 0"),
        (lambda: renyi([1.0], -1), "at least 0"),
        (lambda: renyi([1.0], math.nan), "at least 0"),
        (lambda: renyi([], 1), "at least one answer"),
        (lambda: penalty("T_1", [1.0]), "write 'R_'"),
    ],
)
def test_what_is_no_distribution_or_order_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
