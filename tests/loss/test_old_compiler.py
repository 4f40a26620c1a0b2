"""A compiler that does not take the loss: it runs outside, with the same numbers."""

import pytest
import torch

from erce.loss import compiled, entropy_regularized_cross_entropy, linear_entropy_regularized_cross_entropy

SETTINGS = {"lam": 2.0, "chunk_bytes": 100}


def step(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    linear = linear_entropy_regularized_cross_entropy(hidden.tanh(), weight, targets, **SETTINGS)
    from_logits = entropy_regularized_cross_entropy(hidden @ weight.T, targets, lam=2.0)
    return linear.objective * 2 + linear.entropy + from_logits.objective


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at any graph break
def test_it_leaves_the_numbers_as_they_are(monkeypatch):
    monkeypatch.setattr(compiled, "OLD_COMPILER", True)
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    operands = [torch.randn(shape, generator=generator).requires_grad_() for shape in ((6, 4), (5, 4))]
    targets = torch.tensor([0, 1, 2, 3, 4, -100])
    results = []
    for function in (step, torch.compile(step, backend="eager")):
        objective = function(*operands, targets)
        results.append([objective.detach(), *torch.autograd.grad(objective, operands)])
    for plain, broken in zip(*results, strict=True):
        assert torch.equal(plain, broken)
    torch._dynamo.reset()
    with pytest.raises(Exception, match=r"compiles with fullgraph=True, from torch 2\.12 on"):
        torch.compile(step, backend="eager", fullgraph=True)(*operands, targets)
