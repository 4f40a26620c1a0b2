"""A head that FSDP 2 has sharded into one that is whole, for a forward."""

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
    whole = x.full_tensor(grad_placements=[Partial()] * x.device_mesh.ndim)
    if whole.requires_grad:  # divided here: before torch 2.9 gloo's reduce_scatter summed for Partial("avg")
        whole.register_hook(lambda gradient: gradient / x.device_mesh.size())
    return whole
