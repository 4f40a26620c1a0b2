"""A head that FSDP 2 has sharded into one that is whole, for a forward."""

from typing import Any

import torch
from torch import Tensor

from erce.errors import InputError


def full_tensor(x: Tensor) -> Tensor:
    """Return the whole of x, for a backward too; an InputError for a parameter that ZeRO-3 has partitioned.

    The gradient of a DTensor, as FSDP leaves one, is averaged over the mesh, as FSDP's and DDP's are, and
    goes to its shards.
    """
    if hasattr(x, "ds_id"):
        raise InputError(
            "DeepSpeed's ZeRO-3 has partitioned the head, which is not supported; use DDP, FSDP 2 or ZeRO-2, "
            "or gather the head yourself"
        )
    if not hasattr(x, "full_tensor"):
        return x
    from torch.distributed.tensor import DTensor, Partial

    assert isinstance(x, DTensor)
    # Without these its gradient would pass for one that all processes share.
    summed = x.full_tensor(grad_placements=[Partial()] * x.device_mesh.ndim)
    return _DividedGradient.apply(summed, x.device_mesh.size())  # pyright: ignore[reportReturnType]


class _DividedGradient(torch.autograd.Function):
    """The identity, whose gradient is divided; before torch 2.9 gloo's reduce_scatter summed for "avg"."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, divisor: int) -> Tensor:
        ctx.divisor = divisor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return gradient / ctx.divisor, None
