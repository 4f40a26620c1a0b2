"""A head that FSDP 2 or DeepSpeed's ZeRO-3 has sharded into one that is whole, for a forward."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from erce.errors import InputError


def full_tensor(x: Tensor) -> Tensor:
    """Return the whole of a DTensor, as FSDP leaves one, and any other tensor as it is.

    The gradient is averaged over the mesh, as FSDP's and DDP's are, and goes to its shards.
    """
    if not is_dtensor(x):
        return x
    from torch.distributed.tensor import DTensor, Partial

    assert isinstance(x, DTensor)
    # Without these its gradient would pass for one that all processes share.
    summed = x.full_tensor(grad_placements=[Partial()] * x.device_mesh.ndim)
    return _DividedGradient.apply(summed, x.device_mesh.size())  # pyright: ignore[reportReturnType]


def is_dtensor(x: Tensor | None) -> bool:
    return hasattr(type(x), "full_tensor")  # the compiler sees methods of the type only


def is_partitioned(*head: Tensor | None) -> bool:
    return any(hasattr(x, "ds_id") for x in head)


@contextmanager
def gathered(
    weight: Tensor, bias: Tensor | None, up: Tensor | None
) -> Iterator[tuple[Tensor, Tensor | None, Tensor | None]]:
    """Give the head whole where DeepSpeed's ZeRO-3 has left an empty parameter.

    A frozen parameter stays whole for as long as the caller keeps it; a trained one is an InputError.
    """
    partitioned = [x for x in (weight, bias, up) if x is not None and is_partitioned(x)]
    if any(x.requires_grad for x in partitioned):
        raise InputError(
            "the head is partitioned by DeepSpeed's ZeRO-3 and is to be trained, which is not supported; "
            "freeze it, as under LoRA, or use ZeRO-2"
        )
    with importlib.import_module("deepspeed").zero.GatheredParameters(partitioned):
        yield _kept(weight), None if bias is None else _kept(bias), None if up is None else _kept(up)


def _kept(x: Tensor) -> Tensor:
    """Return a parameter's present memory, for a backward: ZeRO-3 partitions it again, into other memory."""
    return x.detach() if is_partitioned(x) else x


class _DividedGradient(torch.autograd.Function):
    """The identity, whose gradient is divided; before torch 2.9 gloo's reduce_scatter summed for "avg"."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, divisor: int) -> Tensor:
        ctx.divisor = divisor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return gradient / ctx.divisor, None
