"""Targets → how many of them are scored, read from a GPU while the model computes.

The loss must know the number before it can be launched. The count is queued before the model, so the host
waits for what came before the model and not for the model itself.
"""

import torch
from torch import Tensor


class ScoredCount:
    """A count on its way from a GPU; elsewhere, and under a compiler, the loss counts for itself."""

    def __init__(self, targets: Tensor, ignore_index: int) -> None:
        self._count: Tensor | None = None
        if torch.compiler.is_compiling() or not targets.is_cuda:
            return
        count = (targets != ignore_index).sum()
        with torch.cuda.device_of(targets):
            pinned = torch.empty_like(count, device="cpu", pin_memory=True)
            self._count = pinned.copy_(count, non_blocking=True)
            self._copied = torch.cuda.current_stream().record_event()

    def read(self) -> int | None:
        """Return the number, once it has arrived; None where the loss is to count."""
        if self._count is None:
            return None
        self._copied.synchronize()
        return int(self._count)
