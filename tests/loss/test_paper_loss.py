"""The paper's loss, which the benchmarks compare with: the objective of ours, and its gradients."""

import pytest
import torch
from torch import Tensor

from benchmarks.paper_loss import paper_loss
from erce.loss import Penalty, Renyi, Shannon, SupportSize, linear_entropy_regularized_cross_entropy

N, V, D = 700, 30, 4  # positions of two chunks


def operands(dtype: torch.dtype) -> tuple[list[Tensor], Tensor]:
    generator = torch.Generator().manual_seed(0)
    leaves = [torch.randn(shape, generator=generator, dtype=dtype) for shape in ((N, D), (V, D), (V,))]
    return [x.requires_grad_() for x in leaves], torch.randint(0, V, (N,), generator=generator)


@pytest.mark.parametrize("penalty", [Shannon(), Renyi(0.5), SupportSize(2.0)], ids=str)
def test_it_is_the_objective_of_ours_with_its_gradients(penalty: Penalty):
    leaves, targets = operands(torch.float64)
    hidden, weight, bias = leaves
    papers = paper_loss(hidden, weight, targets, 3.0, penalty, bias)
    ours = linear_entropy_regularized_cross_entropy(
        hidden, weight, targets, lam=3.0, penalty=penalty, bias=bias, reduction="none"
    ).objective
    upstream = torch.linspace(-1, 2, N, dtype=torch.float64)
    torch.testing.assert_close(papers, ours)
    for a, b in zip(*(torch.autograd.grad(x, leaves, upstream) for x in (papers, ours)), strict=True):
        torch.testing.assert_close(a, b)
