"""A head that FSDP 2 or DeepSpeed's ZeRO-3 has sharded into one that is whole, for a forward."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from erce.errors import InputError


@contextmanager
def gathered(
    weight: Tensor, bias: Tensor | None, up: Tensor | None
) -> Iterator[tuple[Tensor, Tensor | None, Tensor | None]]:
    """Give the head whole where FSDP has left a DTensor or DeepSpeed's ZeRO-3 an empty parameter.

    The gradient of a DTensor is averaged over its mesh, as FSDP's and DDP's are, and goes to its shards. A
    frozen ZeRO-3 parameter stays whole for as long as the caller keeps it; a trained one is an InputError.
    """
    partitioned = [x for x in (weight, bias, up) if x is not None and hasattr(x, "ds_id")]
    if not partitioned:
        yield _whole(weight), None if bias is None else _whole(bias), None if up is None else _whole(up)
        return
    if any(x.requires_grad for x in partitioned):
        raise InputError(
            "the head is partitioned by DeepSpeed's ZeRO-3 and is to be trained, which is not supported; "
            "freeze it, as under LoRA, or use ZeRO-2"
        )
    with importlib.import_module("deepspeed").zero.GatheredParameters(partitioned):
        yield _kept(weight), None if bias is None else _kept(bias), None if up is None else _kept(up)


def is_dtensor(x: Tensor | None) -> bool:
    return hasattr(type(x), "full_tensor")  # the compiler sees methods of the type only


def _kept(x: Tensor) -> Tensor:
    """Return a parameter's present memory, for a backward: ZeRO-3 partitions it again, into other memory."""
    return x.detach() if hasattr(x, "ds_id") else x


def _whole(x: Tensor) -> Tensor:
    if not is_dtensor(x):
        return x
    from torch.distributed.tensor import DTensor, Partial

    assert isinstance(x, DTensor)
    # Without these its gradient would pass for one that all processes share.
    return x.full_tensor(grad_placements=[Partial("avg")] * x.device_mesh.ndim)
