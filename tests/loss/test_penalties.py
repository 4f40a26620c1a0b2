"""The penalties themselves: their definitions, their bounds and limits, and how they are named."""

import doctest
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from toys.losses import DEFINITIONS, EACH, penalty_of

from erce.loss import PENALTIES, Renyi, Shannon, SupportSize, entropy_regularized_cross_entropy, make_penalty

LOGITS = st.lists(st.floats(-40, 40), min_size=1, max_size=12).map(
    lambda row: torch.tensor([row], dtype=torch.float64)
)
CASES = st.sampled_from(EACH)


def log_p_of(logits: Tensor) -> Tensor:
    return logits.log_softmax(-1)


def logit_grad(logits: Tensor, case: tuple[str, float]) -> Tensor:
    log_p = log_p_of(logits)
    return penalty_of(case).value_and_logit_grad(log_p, log_p.exp())[1]


@pytest.mark.parametrize("beta", [0.5, 0.7, 1.5])
def test_gem_is_a_renyi_penalty_of_order_one_over_beta_and_strength_beta_minus_one(beta):
    logits = torch.randn(5, 11, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([3, 1, 4, 1, 5])
    log_p, q = logits.log_softmax(-1), (logits / beta).softmax(-1).detach()
    gem = (-log_p[torch.arange(5), targets] + (q * log_p).sum(-1)).sum()
    ours = entropy_regularized_cross_entropy(
        logits, targets, lam=beta - 1, penalty=Renyi(1 / beta), reduction="sum"
    )
    (wanted,), (got,) = (torch.autograd.grad(loss, logits) for loss in (gem, ours.objective))
    torch.testing.assert_close(got, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PENALTIES)
def test_every_penalty_shows_a_value_in_its_docstring(name):
    """Its class is its definition, and the example says by another hand what that comes to."""
    assert doctest.DocTestFinder(recurse=False).find(type(make_penalty(name, 1.0)))[0].examples


@settings(deadline=None)
@given(logits=LOGITS, case=st.sampled_from([case for case in EACH if case[0] in DEFINITIONS]))
def test_value_is_the_paper_s_formula(logits, case):
    log_p = log_p_of(logits)
    expected = DEFINITIONS[case[0]](log_p, case[1])
    torch.testing.assert_close(penalty_of(case)(log_p), expected, rtol=1e-9, atol=1e-11)


@settings(deadline=None)
@given(logits=LOGITS, case=CASES, shift=st.floats(-1e4, 1e4), seed=st.integers(0, 99))
def test_shifting_logits_changes_nothing_and_permuting_them_permutes_the_gradient(logits, case, shift, seed):
    order = torch.randperm(logits.shape[-1], generator=torch.Generator().manual_seed(seed))
    target = seed % logits.shape[-1]

    def run(z: Tensor, y: int) -> tuple[Tensor, Tensor]:
        z = z.clone().requires_grad_()
        loss = entropy_regularized_cross_entropy(z, torch.tensor([y]), lam=2.0, penalty=penalty_of(case))
        return loss.objective.detach(), torch.autograd.grad(loss.objective, z)[0]

    value, grad = run(logits, target)
    for z, y, back in (
        (logits + shift, target, slice(None)),
        (logits[:, order], order.tolist().index(target), order.argsort()),
    ):
        if (case[1] == math.inf) and len(set(z[0].tolist())) != len(set(logits[0].tolist())):
            continue  # the shift has rounded two logits together, and ties share the gradient
        moved, moved_grad = run(z, y)
        torch.testing.assert_close(moved, value, rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(moved_grad[:, back], grad, rtol=1e-8, atol=1e-8)


@settings(deadline=None)
@given(logits=LOGITS, step=st.sampled_from([1e-3, 1e-6, 1e-9, 1e-12]), side=st.sampled_from([-1, 1]))
def test_order_1_is_the_limit_from_both_sides(logits, step, side):
    """R falls with the order at half the variance of log p: no cancellation, however near."""
    log_p = log_p_of(logits)
    slope = (log_p.exp() * (log_p + Shannon()(log_p)) ** 2).sum() / 2
    near = Renyi(1 + side * step)(log_p)
    curvature = 2e3 * step**2
    torch.testing.assert_close(
        near, Shannon()(log_p) - side * step * slope, rtol=1e-12, atol=1e-13 + curvature
    )
    towards = logit_grad(logits, ("renyi", 1 + side * step)) - logit_grad(logits, ("shannon", 1.0))
    assert towards.abs().max() <= 4e3 * step


def test_tied_maxima_share_the_gradient_of_order_inf():
    grad = logit_grad(torch.tensor([[1.0, 1.0, 0.0]]), ("renyi", math.inf))
    assert grad[0, 0] == grad[0, 1]
    p = torch.tensor([1.0, 1.0, 0.0]).softmax(-1)
    torch.testing.assert_close(grad[0], p - torch.tensor([0.5, 0.5, 0.0]))


@pytest.mark.parametrize("family", [Renyi, SupportSize])
@pytest.mark.parametrize("order", [0, -1, 1e9, math.nan, -math.inf, "2", None])
def test_an_order_that_is_not_above_0_is_refused(family, order):
    with pytest.raises(ValueError, match=f"{family.__name__} .* over 0, .*, got {order!r}; 1 is"):
        family(order)


@pytest.mark.parametrize(
    ("name", "order", "way_out"),
    [
        ("reny", 2.0, "did you mean 'renyi'"),
        ("Shannon", 1.0, "did you mean 'shannon'"),
        ("qqq", 1.0, rf"{', '.join(PENALTIES)} \(your own: package.module:N"),
        ("shannon", 2.0, "takes no order, got 2.0; leave it out, or name 'renyi'"),
        ("renyi", 0.0, "got 0.0"),
    ],
)
def test_a_penalty_that_cannot_be_made_says_why(name, order, way_out):
    with pytest.raises(ValueError, match=f"(?i){name}.*{way_out}"):
        make_penalty(name, order)
