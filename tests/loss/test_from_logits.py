"""The loss from logits: against the definitions in float64, at every edge, and its reductions and errors."""

import math

import pytest
import torch
from mpmath import mp, mpf
from torch import Tensor
from torch.nn import functional
from toys.losses import EACH, FAMILY, LAMS, penalty_of, truth

from erce.loss import Renyi, entropy_regularized_cross_entropy

V = 96


def rows(kind: str) -> tuple[Tensor, Tensor]:
    """Twelve float32 rows of a kind, and their targets."""
    generator = torch.Generator().manual_seed(0)
    z = 3 * torch.randn(12, V, generator=generator)
    y = 1 + 3 * torch.randint(0, V // 3, (12,), generator=generator)
    at_target = functional.one_hot(y, V)
    beside = functional.one_hot((y + 1) % V, V)
    signs = torch.randint(0, 2, (12, V), generator=generator) * 2 - 1
    masked = z.clone()
    masked[:, ::3] = -math.inf
    return {
        "normal": z,
        "confident": z + 20 * at_target,
        "confidently wrong": z + 20 * beside,
        "one-hot": z + 200 * at_target,
        "ties": z.round().clamp(max=3),
        "uniform": torch.zeros_like(z),
        "±1e4": 1e4 * signs,
        "normal × 1e4": 1e4 * z,
        "shifted by 1e4": z + 1e4,
        "shifted by −1e4": z - 1e4,
        "−inf columns": masked,
    }[kind], y


KINDS = (
    *("normal", "confident", "confidently wrong", "one-hot", "ties", "uniform", "±1e4", "normal × 1e4"),
    *("shifted by 1e4", "shifted by −1e4", "−inf columns"),
)


def relative(error: Tensor, scale: Tensor) -> float:
    """The worst row's, with room for what float64 loses in the definitions (confident rows, order ≈ 1)."""
    return ((error.abs() - 1e-11).clamp(min=0) / (scale + 1e-30)).max().item()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", EACH, ids=str)
@pytest.mark.parametrize(
    ("dtype", "budget"),
    [(torch.float32, 1e-5), pytest.param(torch.float64, 2e-11, marks=pytest.mark.slow)],
    ids=str,
)
def test_objective_and_gradient_are_the_definitions_row_by_row(case, kind, dtype, budget):
    z, y = rows(kind)
    for lam in LAMS:
        value, grad = truth(z, y, lam, case)
        logits = z.to(dtype, copy=True).requires_grad_()
        loss = entropy_regularized_cross_entropy(
            logits, y, lam=lam, penalty=penalty_of(case), reduction="none"
        )
        loss.objective.sum().backward()
        assert loss.objective.dtype == logits.grad.dtype == dtype
        parts = loss.nll.abs() + abs(lam) * loss.entropy.abs()
        assert relative(loss.objective.detach() - value, parts) < budget
        assert relative((logits.grad - grad).abs().amax(-1), grad.abs().amax(-1)) < budget


@pytest.mark.parametrize("case", [c for c in FAMILY if c[1] in (0.5, 0.999, 1, 2, math.inf)], ids=str)
@pytest.mark.parametrize("exponent", [-3, -7, -12, -30])
def test_a_confident_row_keeps_its_relative_precision(case, exponent):
    """1 − p(target) ≈ 10^exponent in float32, where 1 − p or p − 1 would round to nothing."""
    far = math.log(10.0) * exponent
    z = torch.tensor([[0.0, far - 0.3, far, far - 1.7]], requires_grad=True)
    loss = entropy_regularized_cross_entropy(z, torch.tensor([0]), lam=8.0, penalty=penalty_of(case))
    loss.objective.backward()
    with mp.workdps(80):
        e = [mp.exp(mpf(x)) for x in z[0].tolist()]
        p = [x / sum(e) for x in e]
        nll, entropy, grad = _exact(p, *case)
    assert loss.nll.item() == pytest.approx(float(nll), rel=1e-5)
    assert loss.entropy.item() == pytest.approx(float(entropy), rel=1e-5, abs=1e-37)
    expected = [float(-(1 - p[0]) + 8 * grad[0]), *(float(p[j] + 8 * grad[j]) for j in (1, 2, 3))]
    assert z.grad[0].tolist() == pytest.approx(expected, rel=2e-5)


def _exact(p: list, name: str, order: float) -> tuple:
    """nll of column 0, penalty and its logit gradient of one row, in mpmath's precision."""
    nll = -mp.log(p[0])
    if order == math.inf:
        r = -mp.log(p[0])
        grad = [x - (j == 0) for j, x in enumerate(p)]
    elif order == 1:
        r = -sum(x * mp.log(x) for x in p)
        grad = [-x * (mp.log(x) + r) for x in p]
    else:
        a = mpf(order)
        moment = sum(x**a for x in p)
        r = mp.log(moment) / (1 - a)
        grad = [a / (1 - a) * (x**a / moment - x) for x in p]
    return (nll, mp.exp(r), [mp.exp(r) * g for g in grad]) if name == "support-size" else (nll, r, grad)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_without_a_penalty_it_is_cross_entropy(reduction):
    torch.manual_seed(0)
    z, y = 5 * torch.randn(2, 9, 31), torch.randint(0, 31, (2, 9))
    y[0, :4] = y[1, 8] = 30  # an ignored index may be a token
    ours, theirs = z.clone().requires_grad_(), z.clone().requires_grad_()
    loss = entropy_regularized_cross_entropy(ours, y, lam=0, ignore_index=30, reduction=reduction)
    expected = functional.cross_entropy(theirs.transpose(1, 2), y, ignore_index=30, reduction=reduction)
    upstream = torch.rand_like(expected)
    loss.objective.backward(upstream)
    expected.backward(upstream)
    torch.testing.assert_close(loss.objective, expected)
    torch.testing.assert_close(ours.grad, theirs.grad)
    assert not ours.grad[0, :4].any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_logits_are_scored_in_float32(dtype):
    torch.manual_seed(0)
    z, y = (8 * torch.randn(5, 500)).to(dtype).requires_grad_(), torch.randint(0, 500, (5,))
    loss = entropy_regularized_cross_entropy(z, y, lam=4.0, reduction="none")
    value, grad = truth(z.detach(), y, 4.0, ("shannon", 1.0))
    loss.objective.sum().backward()
    assert loss.objective.dtype == torch.float32
    torch.testing.assert_close(loss.objective.detach().double(), value, rtol=1e-5, atol=0)
    torch.testing.assert_close(z.grad, grad.to(dtype), rtol=torch.finfo(dtype).eps, atol=1e-6)


@pytest.mark.parametrize("lam", [1.0, 1e6])
def test_in_float16_a_later_scale_of_the_loss_costs_no_more_than_autograd(lam):
    """Without float32 in between small gradients are 0 by then, and those of a large λ infinite."""
    torch.manual_seed(0)
    z, y = (4 * torch.randn(64, 4000)).half(), torch.randint(0, 4000, (64,))
    scale = 2.0**16 / lam
    exact = truth(z, y, lam, ("shannon", 1.0))[1] * scale / 64
    log_p = z.requires_grad_().log_softmax(-1, dtype=torch.float32)
    nll = -log_p.gather(-1, y[:, None])[:, 0]
    theirs = (nll - lam * (log_p.exp() * log_p).sum(-1)).mean() * scale
    ours = entropy_regularized_cross_entropy(z, y, lam=lam).objective * scale
    errors = [(torch.autograd.grad(total, z)[0] - exact).abs().median() for total in (ours, theirs)]
    assert errors[0] <= 1.01 * errors[1]


def test_neither_the_logits_nor_the_targets_are_written_to():
    z, y = torch.randn(3, 8, requires_grad=True), torch.tensor([1, 2, 3])
    before = z.detach().clone()
    entropy_regularized_cross_entropy(z, y, lam=1.0).objective.backward()
    assert torch.equal(z.detach(), before)
    assert y.tolist() == [1, 2, 3]


def test_a_long_tail_costs_a_large_order_no_digits():
    """Σ p^order is 5e-4 of Σ p here: 1 minus what it lacks would have lost three of seven digits."""
    z = torch.full((1, 40_000), -3.0)
    z[0, 0] = 0.0
    penalty = entropy_regularized_cross_entropy(z, torch.tensor([0]), lam=0.0, penalty=Renyi(5.0)).entropy
    exact = (5 * z.double().log_softmax(-1)).logsumexp(-1) / -4
    assert penalty.item() == pytest.approx(exact.item(), rel=3e-7)
