"""The loss from hidden states: equal to the loss from logits, for the matmuls and memory that it claims."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from toys.losses import EACH, Counted, Matmuls, penalty_of, reference

from erce.loss import (
    Shannon,
    SupportSize,
    bfloat16_on_cpu,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)

V, D = 50, 7


def operands(n: int, dtype: torch.dtype = torch.float64, v: int = V, d: int = D) -> tuple[Tensor, ...]:
    """hidden, weight, bias and targets of which every fifth is ignored."""
    generator = torch.Generator().manual_seed(n)
    hidden = torch.randn(n, d, generator=generator, dtype=torch.float64)
    weight = torch.randn(v, d, generator=generator, dtype=torch.float64)
    bias = torch.randn(v, generator=generator, dtype=torch.float64)
    targets = torch.randint(0, v, (n,), generator=generator)
    targets[::5] = -100
    return hidden.to(dtype), weight.to(dtype), bias.to(dtype), targets


def gradients(function, tensors: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
    """What `function` makes of copies of the tensors, and the gradients of its sum."""
    leaves = [None if x is None else x.clone().requires_grad_() for x in tensors]
    value = function(*leaves)
    value.sum().backward()
    return (value.detach(), *(x.grad for x in leaves if x is not None))


def upstream(n: int) -> Tensor:
    return torch.linspace(-1, 2, n, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(("n", "rows"), [(1, 512), (37, 8), pytest.param(128, 1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", EACH, ids=str)
def test_it_is_no_further_from_float64_than_autograd_in_the_same_dtype(case, n, rows, dtype):
    *tensors, targets = operands(n, dtype)
    targets = targets.where(targets >= 0, 3)

    def naive(h, w, b):
        return reference(functional.linear(h, w, b), targets, 2.0, case) * upstream(n)

    def ours(h, w, b):
        how = {"lam": 2.0, "penalty": penalty_of(case), "reduction": "none", "chunk_bytes": rows * V * 4}
        return linear_entropy_regularized_cross_entropy(h, w, targets, bias=b, **how).objective * upstream(n)

    truth = gradients(naive, [x.double() for x in tensors])
    budget = gradients(naive, tensors)
    for t, r, o in zip(truth, budget, gradients(ours, tensors), strict=True):
        assert (o.double() - t).abs().max() <= 2 * (r.double() - t).abs().max() + 2e-6 * t.abs().max()


def test_leading_axes_are_rows():
    hidden, weight, _, targets = operands(24)
    for reduction in ("mean", "none"):
        flat, deep = (
            linear_entropy_regularized_cross_entropy(
                hidden.reshape(*shape, D), weight, targets.reshape(shape), lam=1.0, reduction=reduction
            )
            for shape in ((24,), (2, 3, 4))
        )
        for a, b in zip(flat[:3], deep[:3], strict=True):
            assert b.shape == ((2, 3, 4) if reduction == "none" else ())
            assert torch.equal(a.reshape(-1), b.reshape(-1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(
    ("trainable", "reduction", "weighed", "matmuls"),
    [
        ("", "mean", False, 1),
        ("hidden", "mean", True, 2),
        ("hidden", "none", False, 2),
        ("weight", "sum", False, 2),
        ("hidden weight", "mean", True, 3),
        ("hidden weight", "none", False, 4),  # the rows' weights come after the logits are gone
    ],
)
def test_it_takes_as_many_matmuls_as_it_says_and_never_holds_all_logits(
    trainable, reduction, weighed, matmuls, dtype
):
    n, v, d = 60, 90, 6
    hidden, weight, _, targets = operands(n, dtype, v, d)
    for name, x in (("hidden", hidden), ("weight", weight)):
        x.requires_grad_(name in trainable)
    known = {"row_weights": torch.rand(n), "num_items_in_batch": 3} if weighed else {}
    with Matmuls() as seen:
        loss = linear_entropy_regularized_cross_entropy(
            hidden, weight, targets, lam=1.0, reduction=reduction, chunk_bytes=10 * v * 4, **known
        )
        if trainable:
            (loss.objective * torch.rand(loss.objective.shape)).sum().backward()
    scored = n - n // 5
    assert seen.products == matmuls * scored * v * d
    assert seen.largest <= 10 * (v + 6)  # rows of a tile are padded to a multiple of 16


class ValueOnly(Shannon):
    """A penalty whose gradient nobody may ask for."""

    def value_and_logit_grad(self, log_p, p):
        raise AssertionError("gradient work without a gradient")


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("learns", [False, True])
def test_without_a_gradient_to_make_there_is_one_matmul_and_no_gradient_work(reduction, learns):
    hidden, weight, _, targets = operands(20)
    hidden.requires_grad_(learns)
    weight.requires_grad_(learns)
    how = {"lam": 1.0, "penalty": ValueOnly(), "reduction": reduction}
    logits = hidden @ weight.t()
    with Matmuls() as seen, torch.set_grad_enabled(not learns):
        linear = linear_entropy_regularized_cross_entropy(hidden, weight, targets, **how)
        dense = entropy_regularized_cross_entropy(logits, targets, **how)
    assert seen.products == 16 * V * D
    assert not linear.objective.requires_grad
    assert not dense.objective.requires_grad


def test_a_bf16_weight_gradient_is_summed_in_float32():
    """256 chunks of one row each, all pulling the same way: a bf16 sum would stop moving."""
    hidden = torch.ones(256, 4, dtype=torch.bfloat16)
    weight = torch.zeros(8, 4, dtype=torch.bfloat16, requires_grad=True)
    loss = linear_entropy_regularized_cross_entropy(
        hidden, weight, torch.full((256,), 2), lam=0.0, reduction="sum", chunk_bytes=1
    )
    loss.objective.backward()
    expected = torch.full((8, 4), 32.0)
    expected[2] = 32.0 - 256
    torch.testing.assert_close(weight.grad.float(), expected, rtol=1e-2, atol=0)


def test_fp16_operands_survive_logit_gradients_beyond_fp16():
    torch.manual_seed(0)
    hidden, weight = (16 * torch.randn(4, 8)).half().requires_grad_(), (1e-3 * torch.randn(300, 8)).half()
    how = {"lam": 1e6, "penalty": SupportSize(0.5), "reduction": "sum"}
    targets = torch.tensor([0, 1, 2, 3])
    exact = entropy_regularized_cross_entropy(hidden.double() @ weight.double().t(), targets, **how)
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, targets, **how)
    (theirs,) = torch.autograd.grad(exact.objective, hidden)
    (ours,) = torch.autograd.grad(loss.objective, hidden)
    assert ours.isfinite().all()
    assert (ours - theirs).abs().max() < 2e-3 * theirs.abs().max()


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_under_autocast_the_operands_are_rounded_as_a_linear_layers_are(reduction):
    hidden, weight, bias, targets = operands(24, torch.float32)
    weights = torch.rand(24) if reduction == "none" else 1.0

    def run(given: tuple[Tensor, ...], autocast: bool) -> tuple[Tensor, ...]:
        leaves = [x.clone().requires_grad_() for x in given]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            h, w, b = leaves
            loss = linear_entropy_regularized_cross_entropy(
                h, w, targets, lam=2.0, bias=b, reduction=reduction
            )
        (loss.objective * weights).sum().backward()
        return (loss.objective.detach(), *(x.grad for x in leaves))

    cast = run((hidden, weight, bias), autocast=True)
    rounded = run((hidden.bfloat16(), weight.bfloat16(), bias), autocast=False)
    assert [x.dtype for x in cast] == [torch.float32] * 4
    for a, b in zip(cast, rounded, strict=True):
        torch.testing.assert_close(a, b.float(), rtol=1e-2, atol=1e-6)
    torch.testing.assert_close(cast[0], rounded[0], rtol=1e-6, atol=0)


def test_operands_of_different_dtypes_are_taken_in_the_wider_one():
    hidden, weight, _, targets = operands(12)
    mixed = linear_entropy_regularized_cross_entropy(hidden.bfloat16(), weight.float(), targets, lam=1.0)
    wide = linear_entropy_regularized_cross_entropy(
        hidden.bfloat16().float(), weight.float(), targets, lam=1.0
    )
    assert torch.equal(mixed.objective, wide.objective)


def test_a_small_call_takes_few_operations():
    """Their number is what a small call costs; naive autograd takes 37."""
    hidden, weight = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4)
    with Counted(lambda func, args, out: True) as operations:
        linear_entropy_regularized_cross_entropy(
            hidden, weight, torch.arange(3), lam=1.0
        ).objective.backward()
    assert operations.count <= 74


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_gradient_of_a_head_is_written_once_where_all_rows_fit(dtype, monkeypatch):
    monkeypatch.setattr(bfloat16_on_cpu, "bfloat16_is_fast", lambda: True)  # else the weight is converted
    hidden, weight, _, _ = operands(3, dtype, v=16_421, d=5)

    def is_as_large(func: Any, args: Any, out: Any) -> bool:
        is_new = isinstance(out, Tensor) and out.numel() == weight.numel() and not func.is_view
        return is_new and func is not torch.ops.aten.detach.default

    for x in (hidden, weight):
        x.requires_grad_()
    with Counted(is_as_large) as heads:
        linear_entropy_regularized_cross_entropy(
            hidden, weight, torch.arange(3), lam=1.0
        ).objective.backward()
    assert heads.count == 1
