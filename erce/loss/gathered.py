"""A head that FSDP 2 or DeepSpeed's ZeRO-3 has sharded into one that is whole, for a forward."""

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from erce.errors import InputError


def is_dtensor(x: Tensor | None) -> bool:
    return hasattr(x, "full_tensor")


@contextmanager
def gathered(
    weight: Tensor, bias: Tensor | None, up: Tensor | None
) -> Iterator[tuple[Tensor, Tensor | None, Tensor | None]]:
    """Yield the whole head; it is gathered first where FSDP or DeepSpeed's ZeRO-3 has split it.

    A frozen parameter of ZeRO-3's stays whole for as long as the caller keeps it; a trained one is an
    InputError.
    """
    partitioned = [x for x in (weight, bias, up) if x is not None and hasattr(x, "ds_id")]
    if any(x.requires_grad for x in partitioned):
        raise InputError(
            "the head is partitioned by DeepSpeed's ZeRO-3 and is to be trained, which is not supported; "
            "freeze it, as under LoRA, or use ZeRO-2"
        )
    with _whole(partitioned):
        yield _kept(weight), None if bias is None else _kept(bias), None if up is None else _kept(up)


def _whole(partitioned: list[Tensor]) -> AbstractContextManager[Any]:
    if not partitioned:
        return nullcontext()
    return importlib.import_module("deepspeed").zero.GatheredParameters(partitioned)


def _kept(x: Tensor) -> Tensor:
    """Return the whole of x, for a backward too.

    The gradient of a DTensor, as FSDP leaves one, is averaged over the mesh, as FSDP's and DDP's are, and
    goes to its shards.
    """
    if hasattr(x, "ds_id"):
        return x.detach()  # its present memory: ZeRO-3 partitions it again, into other memory
    if not is_dtensor(x):
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
