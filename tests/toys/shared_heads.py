"""What tests run in several processes: the loss with a sharded head, against one process."""

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Placement, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from erce.loss import linear_entropy_regularized_cross_entropy

N, V, D, R = 24, 50, 7, 3
HEAD = ("weight", "bias", "up")


def operands() -> tuple[dict[str, Tensor], Tensor]:
    """In float64, and targets of which every fifth is ignored."""
    generator = torch.Generator().manual_seed(1)
    shapes = {"hidden": (N, D), "weight": (V, D), "bias": (V,), "low": (N, R), "up": (V, R)}
    tensors = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()
    }
    tensors["hidden"][3] *= 9  # a confident row
    targets = torch.randint(0, V, (N,), generator=generator)
    targets[::5] = -100
    return tensors, targets


class Collectives(TorchDispatchMode):
    """The names of those that are begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        library, name = func._schema.name.split("::")
        if "c10d" in library and "wait" not in name:
            self.begun.append(name)
        return func(*args, **(kwargs or {}))

    def count(self, part: str) -> int:
        return sum(part in name for name in self.begun)


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
    tensors, targets = operands()
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
