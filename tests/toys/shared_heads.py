"""What tests run in several processes: the loss with a split or sharded head, against one process."""

import math
from collections.abc import Iterator

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Placement, Replicate, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from erce.errors import DivergedError, InputError
from erce.loss import Loss, linear_entropy_regularized_cross_entropy

N, V, D, R = 24, 50, 7, 3
HEAD = ("weight", "bias", "up")


def operands(dtype: torch.dtype) -> tuple[dict[str, Tensor], Tensor]:
    """Rounded to the dtype, and targets of which every fifth is ignored."""
    generator = torch.Generator().manual_seed(1)
    shapes = {"hidden": (N, D), "weight": (V, D), "bias": (V,), "low": (N, R), "up": (V, R)}
    tensors = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()
    }
    tensors["hidden"][3] *= 9  # a confident row,
    tensors["hidden"][4] = 0  # and one where, without a bias, every token ties
    targets = torch.randint(0, V, (N,), generator=generator)
    targets[::5] = -100
    return {name: x.to(dtype) for name, x in tensors.items()}, targets


def outcome(
    tensors: dict[str, Tensor], targets: Tensor, learns: tuple[str, ...], settings: dict
) -> dict[str, Tensor]:
    """All of `Loss`, and the gradients of whatever learns."""
    tensors = {name: x.clone().requires_grad_(name in learns) for name, x in tensors.items()}
    adapter = (tensors["low"], tensors["up"]) if "low" in tensors else None
    loss = linear_entropy_regularized_cross_entropy(
        tensors["hidden"],
        tensors["weight"],
        targets,
        bias=tensors.get("bias"),
        adapter=adapter,
        diagnose=True,
        **settings,
    )
    weights = torch.linspace(-1, 2, loss.objective.numel(), dtype=torch.float64)
    total = (loss.objective.reshape(-1) * weights).sum()
    (total if loss.lse is None else total + loss.lse.square().sum()).backward()
    results = {
        name: x.detach()
        for name, x in zip(Loss._fields, loss, strict=True)
        if x is not None and name != "tail_share"
    }
    return results | {f"d {name}": tensors[name].grad for name in learns if name in tensors}


def differences(group, split: tuple[int, ...], cases: list[dict]) -> list[str]:
    """Which numbers are further from those of one process in float64 than one process is in their dtype."""
    rank = dist.get_rank(group)
    mine = slice(sum(split[:rank]), sum(split[: rank + 1]))
    return [wrong for case in cases for wrong in _differences(group, max(split), mine, case)]


def _differences(group, widest: int, mine: slice, case: dict) -> Iterator[str]:
    tensors, targets, settings = _prepared(**case)
    dtype, learns = case["dtype"], case["learns"]
    settings.setdefault("chunk_bytes", 7 * widest * dtype.itemsize)  # 3 chunks
    one = exact = outcome(tensors, targets, learns, settings)
    part = {name: x[mine] if name in HEAD else x for name, x in tensors.items()}
    results = outcome(part, targets, learns, settings | {"group": group})
    if dtype != torch.float64:
        exact = outcome({name: x.double() for name, x in tensors.items()}, targets, learns, settings)
    for name, truth in exact.items():
        least = (1e-10 if dtype == torch.float64 else 2e-6) * truth.abs().max().clamp(min=1)
        allowed = 2 * (one[name].double() - truth).abs().max() + least
        of_mine = truth[mine] if name.removeprefix("d ") in HEAD else truth
        error = (results[name].double() - of_mine).abs().max()
        if not error <= allowed or results[name].dtype != one[name].dtype:
            yield f"{name} of {dtype}, {learns}, {settings}: {float(error):.2g} > {float(allowed):.2g}"


def _prepared(
    *, dtype, learns, uses, masked=0, shift=0.0, **settings
) -> tuple[dict[str, Tensor], Tensor, dict]:
    """Operands, targets and what else the loss is given; the first `masked` tokens are none."""
    tensors, targets = operands(dtype)
    tensors["bias"] += shift
    tensors["bias"][:masked] = -math.inf
    targets[(targets >= 0) & (targets < masked)] = V - 2
    return {name: x for name, x in tensors.items() if name in ("hidden", "weight", *uses)}, targets, settings


def complaint(group, spoil: str, settings: dict) -> str | None:
    """What a process hears if the targets or the shard of process 1 are spoiled."""
    rank = dist.get_rank(group)
    tensors, targets = operands(torch.float64)
    weight = tensors["weight"][20 * rank :][:20]
    if spoil == "layout":
        weight = distribute_tensor(tensors["weight"], DeviceMesh.from_group(group, "cpu"), [Replicate()])
    elif spoil == "target":
        targets[7] = V
    elif spoil == "shard":
        weight = weight[: 20 * (rank != 1)]
    elif spoil and rank == 1:
        weight[3, 2] = float(spoil)
    settings = {"lam": 1.0, "group": group, "chunk_bytes": 900, **settings}
    try:
        linear_entropy_regularized_cross_entropy(tensors["hidden"], weight, targets, **settings)
    except (InputError, DivergedError) as error:
        return str(error)
    return None


def tail_shares(group) -> list[float]:
    """What a diagnosis says of the tail where no process has whole rows."""
    tensors, targets = operands(torch.float64)
    weight = tensors["weight"][20 * dist.get_rank(group) :][:20]
    form = linear_entropy_regularized_cross_entropy
    loss = form(tensors["hidden"], weight, targets, lam=1.0, group=group, diagnose=True)
    assert loss.tail_share is not None
    return [float(loss.tail_share)]


class Collectives(TorchDispatchMode):
    """The names and sizes of those that are begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[tuple[str, int]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        library, name = func._schema.name.split("::")
        if "c10d" in library and "wait" not in name:
            flat, _ = torch.utils._pytree.tree_flatten(args)
            self.begun.append((name, max(x.numel() for x in flat if isinstance(x, Tensor))))
        return func(*args, **(kwargs or {}))

    def count(self, part: str) -> int:
        return sum(part in name for name, _ in self.begun)


def exchanged(group, learns: tuple[str, ...]) -> list[list[tuple[str, int]]]:
    """What the forward begins and what the backward begins, for 20 positions in 2 chunks of 10."""
    tensors, _ = operands(torch.float64)
    hidden = tensors["hidden"][:20].clone().requires_grad_("hidden" in learns)
    weight = tensors["weight"][20 * dist.get_rank(group) :][:20].clone().requires_grad_("weight" in learns)
    settings = {"lam": 1.0, "group": group, "chunk_bytes": 10 * 20 * 8}
    with Collectives() as forward:
        loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.arange(20), **settings)
    with Collectives() as backward:
        if learns:
            loss.objective.backward()
    return [forward.begun, backward.begun]


def numbers(group, targets: Tensor) -> list[float]:
    """The loss and d hidden, as every process has them."""
    tensors, _ = operands(torch.float32)
    weight = tensors["weight"][20 * dist.get_rank(group) :][:20]
    hidden = tensors["hidden"].requires_grad_()
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, targets, lam=8.0, group=group)
    loss.objective.backward()
    return [*(float(x.detach()) for x in loss[:3]), *hidden.grad.flatten().tolist()]


class Model(torch.nn.Module):
    """Embeddings, a layer and a head that the loss uses without its forward."""

    def __init__(self, *, tied: bool, frozen: bool) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(11, 6, dtype=torch.float64)
        self.body = torch.nn.Linear(6, 6, dtype=torch.float64)
        self.lm_head = torch.nn.Linear(6, 11, bias=False, dtype=torch.float64)
        if tied:
            self.lm_head.weight = self.embed.weight
        generator = torch.Generator().manual_seed(0)
        for x in self.parameters():
            x.data = torch.randn(x.shape, dtype=x.dtype, generator=generator)
        self.lm_head.weight.requires_grad_(not frozen)

    def forward(self, ids: Tensor, targets: Tensor, items: int, reduction: str) -> Tensor:
        hidden = self.body(self.embed(ids)).tanh()
        settings = {"reduction": reduction, "num_items_in_batch": items if reduction == "mean" else None}
        loss = linear_entropy_regularized_cross_entropy(
            hidden, self.lm_head.weight, targets, lam=2.0, **settings
        )
        return loss.objective if reduction == "mean" else loss.objective.sum() / items


def wrapped(model: Model, settings: str, group) -> torch.nn.Module:
    if settings == "DDP":
        return DistributedDataParallel(model, process_group=group)
    mesh = DeviceMesh.from_group(group, "cpu")
    if settings == "FSDP, the head apart":
        fully_shard(model.lm_head, mesh=mesh)
    elif settings == "FSDP, embeddings and head apart":
        fully_shard([model.embed, model.lm_head], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def training(group, settings: str, reduction: str, kind: dict) -> tuple[float, list[int]]:
    """The worst difference of a gradient to that of one process with the whole batch; how often the forward
    and the backward gather, and how often the backward reduces."""
    ids = torch.randint(0, 11, (4, 5), generator=torch.Generator().manual_seed(0))
    targets = ids.roll(-1, 1)
    targets[0, :4] = -100  # the first process has fewer to score
    items = int((targets != -100).sum())
    one = Model(**kind)
    one(ids, targets, items, reduction).backward()
    model = wrapped(Model(**kind), settings, group)
    mine = slice(2 * dist.get_rank(group), 2 * dist.get_rank(group) + 2)
    with Collectives() as forward:
        loss = model(ids[mine], targets[mine], items, reduction) * dist.get_world_size(group)
    with Collectives() as backward:
        loss.backward()
    worst = 0.0
    for x, truth in zip(model.parameters(), one.parameters(), strict=True):
        assert (x.grad is None) == (truth.grad is None)
        if x.grad is not None:
            whole = x.grad.full_tensor() if isinstance(x.grad, DTensor) else x.grad
            worst = max(worst, float((whole - truth.grad).abs().max()))
    return worst, [forward.count("gather"), backward.count("gather"), backward.count("reduce")]


def laid_out(group, mesh: list, placements: list[Placement]) -> tuple[float, list[int]]:
    """The same for a head that is a DTensor, against the mean of what the processes have."""
    tensors, targets = operands(torch.float64)
    hidden = tensors["hidden"].roll(dist.get_rank(group), 0)
    layout = DeviceMesh("cpu", mesh)
    low, settings = tensors["low"].roll(dist.get_rank(group), 0), {"lam": 8.0, "reduction": "sum"}
    whole = [tensors[name].clone().requires_grad_() for name in HEAD]
    parts = [distribute_tensor(tensors[name], layout, placements).requires_grad_() for name in HEAD]
    form = linear_entropy_regularized_cross_entropy
    form(hidden, whole[0], targets, bias=whole[1], adapter=(low, whole[2]), **settings).objective.backward()
    with Collectives() as forward:
        loss = form(hidden, parts[0], targets, bias=parts[1], adapter=(low, parts[2]), **settings)
    with Collectives() as backward:
        loss.objective.backward()
    worst = 0.0
    for part, truth in zip(parts, whole, strict=True):
        dist.all_reduce(truth.grad)
        assert part.grad.placements == tuple(placements)
        worst = max(
            worst, float((part.grad.full_tensor() - truth.grad / dist.get_world_size(group)).abs().max())
        )
    return worst, [forward.count("gather"), backward.count("gather"), backward.count("reduce")]
