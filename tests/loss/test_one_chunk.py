"""A head that learns from rows of one chunk: what the forward keeps, and what the backward writes."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from erce.loss import linear_entropy_regularized_cross_entropy

N, V, D = 3, 16_421, 5


class Heads(TorchDispatchMode):
    """Counts the results as large as the head, a gradient's buffers among them."""

    def __init__(self) -> None:
        super().__init__()
        self.written = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        is_new = isinstance(out, torch.Tensor) and out.numel() == V * D and not func.is_view
        self.written += is_new and func is not torch.ops.aten.detach.default
        return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_its_gradient_is_written_once_where_all_rows_fit(dtype):
    generator = torch.Generator().manual_seed(0)
    hidden, weight = (torch.randn(k, D, generator=generator).to(dtype).requires_grad_() for k in (N, V))
    with Heads() as heads:
        linear_entropy_regularized_cross_entropy(
            hidden, weight, torch.arange(N), lam=1.0
        ).objective.backward()
    assert heads.written == 1
