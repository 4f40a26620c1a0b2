"""A head that is split over processes: by the vocabulary (tensor parallel), or sharded by FSDP or DeepSpeed.

Every process has some rows of the vocabulary. Per chunk the sums of its rows are added up over the group, in
two collectives over a few numbers a row; d hidden, a sum over the vocabulary, is added up once at the end.
"""

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

import torch
import torch.distributed as dist
from torch import Tensor

from erce.loss.chunks import Gradients, Operands, Plan, Wanted, sweep
from erce.loss.passes import Sums
from erce.loss.settle import Scores


def sizes(weight: Tensor, group: dist.ProcessGroup) -> list[int]:
    """How many rows of the vocabulary each process of the group has, in the order of the ranks."""
    mine = torch.tensor([len(weight)], device=weight.device)
    found = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
    dist.all_gather(found, mine, group=group)
    of_each = torch.cat(found).tolist()
    if 0 in of_each:
        raise ValueError(
            f"process {of_each.index(0)} of the group has no rows of the vocabulary, all have {of_each}; "
            f"leave it out of the group"
        )
    return of_each


def sweep_shard(
    operands: Operands, plan: Plan, wanted: Wanted, *, group: dist.ProcessGroup, sizes: list[int]
) -> tuple[Scores, Gradients]:
    """`chunks.sweep` where the operands have this process's rows of the vocabulary, the targets all of it."""
    order = plan.criterion.order
    assert order is not None
    rank = dist.get_rank(group)
    local = replace(
        plan,
        targets=plan.targets - sum(sizes[:rank]),  # outside of this shard where another has it
        combine=lambda sums: _added_up(sums, order, group),
        widest=max(sizes),  # all make the same chunks, or their collectives would not meet
    )
    scores, gradients = sweep(_centred(operands, plan, group), local, wanted)
    for x in (gradients.hidden, gradients.low):
        if x is not None:
            dist.all_reduce(x, group=group)
    return scores, gradients


def _centred(operands: Operands, plan: Plan, group: dist.ProcessGroup) -> Operands:
    """The bias minus its largest entry in the whole vocabulary, as `chunks` has it in one process."""
    if operands.bias is None or plan.criterion.transform.softcap is not None:
        return operands
    exact = reduce(torch.promote_types, (x.dtype for x in operands if x is not None), torch.float32)
    bias = operands.bias.to(exact)
    largest = bias.amax()
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    return operands._replace(bias=bias - largest)


def _added_up(sums: Sums, order: float, group: dist.ProcessGroup) -> Sums:
    # A maximum may lose a NaN; infinity stays, and is refused like one.
    largest = torch.stack([sums.shift.masked_fill(sums.shift.isnan(), math.inf), sums.target])
    dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
    moved = _moved(sums, largest[0], order)
    columns = torch.stack(moved[3:])
    dist.all_reduce(columns, group=group)
    return Sums(largest[0], largest[0], largest[1], *columns)


def _moved(sums: Sums, shift: Tensor, order: float) -> Sums:
    """The same sums relative to another, larger shift."""
    empty = sums.shift.isneginf()  # every column here is masked: its sums are 0
    by = (sums.shift - shift).masked_fill(empty, 0)
    r, s = by.exp(), sums.others + (sums.target - sums.shift).masked_fill(empty, -math.inf).exp()
    bent, powers = sums.bent, sums.powers
    if order == 1:
        bent = r * (bent + by * s)
    elif math.isinf(order):
        bent = bent.masked_fill(by < 0, 0)
    else:
        k = abs(order - 1)
        curve = torch.expm1(k * by) / k
        if order > 1:
            bent, powers = r * ((k * by).exp() * bent + s * curve), powers * (order * by).exp()
        else:
            bent = r * bent + (order * by).exp() * (s + (order - 1) * bent) * curve
    total = sums.total + by * sums.finite
    return Sums(
        shift, shift, sums.target, sums.others * r, bent, powers, sums.squares * r * r, total, sums.finite
    )


@contextmanager
def gathered(
    weight: Tensor, bias: Tensor | None, up: Tensor | None, *, split: bool
) -> Iterator[tuple[Tensor, Tensor | None, Tensor | None]]:
    """The head, whole where FSDP has left a DTensor or DeepSpeed's ZeRO-3 an empty parameter.

    The gradient of a DTensor is averaged over its mesh, as FSDP's and DDP's are, and goes to its shards. A
    ZeRO-3 parameter that is trained is a ValueError; one that is not stays whole for as long as the caller
    keeps it. So is a DTensor where the head is `split` over a group, and has its parts in plain tensors.
    """
    head = (weight, bias, up)
    if split and any(map(_is_dtensor, head)):
        raise ValueError(
            "the head is a DTensor, which is gathered, but with a group each process gives its part of the "
            "vocabulary; give weight.to_local(), or leave out group"
        )
    partitioned = [x for x in head if x is not None and hasattr(x, "ds_id")]
    if not partitioned:
        yield _whole(weight), None if bias is None else _whole(bias), None if up is None else _whole(up)
        return
    if any(x.requires_grad for x in partitioned):
        raise ValueError(
            "the head is partitioned by DeepSpeed's ZeRO-3 and is to be trained, which is not supported; "
            "freeze it, as under LoRA, or use ZeRO-2"
        )
    with importlib.import_module("deepspeed").zero.GatheredParameters(partitioned):
        yield _kept(weight), None if bias is None else _kept(bias), None if up is None else _kept(up)


def _kept(x: Tensor) -> Tensor:
    """A partitioned parameter's present memory: it gets other, empty memory when it is partitioned again, and
    a backward may want this."""
    return x.detach() if hasattr(x, "ds_id") else x


def _is_dtensor(x: Tensor | None) -> bool:
    return hasattr(type(x), "full_tensor")  # the compiler sees methods of the type only


def _whole(x: Tensor) -> Tensor:
    if not _is_dtensor(x):
        return x
    from torch.distributed.tensor import DTensor, Partial

    assert isinstance(x, DTensor)
    # Without these its gradient would pass for one that all processes share.
    return x.full_tensor(grad_placements=[Partial("avg")] * x.device_mesh.ndim)
