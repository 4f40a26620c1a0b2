"""A head that FSDP 2 or ZeRO-3 has sharded: the loss and gradients of one process that has it whole."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torch.distributed.tensor import Replicate, Shard
from toys.shared_heads import D, V, laid_out, operands, training

from erce.loss import linear_entropy_regularized_cross_entropy

KINDS = [{"tied": tied, "frozen": frozen} for tied in (False, True) for frozen in (False, True)]
WAYS = {  # → how often the forward and the backward gather, and how often the backward reduces
    "DDP": [0, 0, 1],
    "FSDP": [1, 0, 1],
    "FSDP, the head apart": [2, 0, 2],
    # Since torch 2.13 FSDP's backward gathers the embeddings again.
    "FSDP, embeddings and head apart": [2, int(torch.__version__ >= "2.13"), 2],
}


@pytest.mark.slow
@pytest.mark.parametrize("reduction", ["mean", pytest.param("none", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_data_parallel_training_has_the_gradients_of_one_process(way, kind, reduction, processes):
    if kind["tied"] and way == "FSDP, the head apart":
        way = "FSDP, embeddings and head apart"  # or FSDP refuses them
    gathers, again, reductions = WAYS[way]
    nothing_apart_learns = kind["frozen"] and (kind["tied"] or way == "FSDP, the head apart")
    for worst, counts in processes.run(training, way, reduction, kind, size=2):
        assert worst < 1e-14
        assert counts == [gathers, again, min(reductions, 1) if nothing_apart_learns else reductions]


LAYOUTS = [
    ([0, 1, 2], [Shard(0)], 1),
    ([0, 1, 2], [Replicate()], 0),
    ([[0, 1, 2]], [Replicate(), Shard(0)], 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(("mesh", "placements", "gathers"), LAYOUTS, ids=str)
def test_a_dtensor_is_gathered_once_and_gets_the_mean_gradient(mesh, placements, gathers, processes):
    reductions = 1 if torch.__version__ >= "2.10" else len(placements)  # also over an axis of one process
    for worst, counts in processes.run(laid_out, mesh, placements):
        assert worst < 1e-13
        assert counts == [3 * gathers, 0, 3 * reductions]  # weight, bias and adapter


def partitioned(values: torch.Tensor) -> torch.nn.Parameter:
    """As ZeRO-3 leaves a parameter: empty, its values elsewhere."""
    x = torch.nn.Parameter(torch.empty(0), requires_grad=False)
    x.ds_id, x.elsewhere = 7, values
    return x


@pytest.fixture
def gathers(monkeypatch):
    """A DeepSpeed that gathers only; the shapes at each entry and exit."""
    seen = []

    class GatheredParameters:
        def __init__(self, parameters):
            self.parameters = parameters

        def __enter__(self):
            seen.append([tuple(x.shape) for x in self.parameters])
            for x in self.parameters:
                x.data = x.elsewhere.clone()

        def __exit__(self, *exception):
            seen.append([tuple(x.shape) for x in self.parameters])
            for x in self.parameters:
                x.data = torch.empty(0)

    deepspeed = SimpleNamespace(zero=SimpleNamespace(GatheredParameters=GatheredParameters))
    monkeypatch.setitem(sys.modules, "deepspeed", deepspeed)
    return seen


@pytest.mark.parametrize("adapted", [False, True], ids=["plain", "adapted"])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_a_frozen_head_under_zero_3_is_gathered_once(reduction, adapted, gathers):
    tensors, targets = operands(torch.float32)
    losses = []
    for make in (torch.clone, partitioned):
        learned = [tensors[name].clone().requires_grad_() for name in ("hidden", "low", "up")]
        loss = linear_entropy_regularized_cross_entropy(
            learned[0],
            make(tensors["weight"]),
            targets,
            bias=make(tensors["bias"]),
            adapter=(learned[1], learned[2]) if adapted else None,
            lam=2.0,
            reduction=reduction,
        )
        loss.objective.sum().backward()
        losses.append([loss.objective.detach(), *(x.grad for x in learned if x.grad is not None)])
    for plain, zero in zip(*losses, strict=True):
        assert torch.equal(plain, zero)
    assert gathers == [[(0,), (0,)], [(V, D), (V,)]]


def test_an_error_partitions_a_zero_3_head_again(gathers):
    weight = partitioned(torch.ones(V, D))
    with pytest.raises(ValueError, match="target 50 is outside the vocabulary"):
        linear_entropy_regularized_cross_entropy(torch.ones(1, D), weight, torch.tensor([V]), lam=1.0)
    assert weight.numel() == 0


def test_training_a_zero_3_head_is_refused(gathers):
    weight = partitioned(torch.ones(V, D)).requires_grad_()
    with pytest.raises(ValueError, match="is to be trained, which is not supported; freeze it"):
        linear_entropy_regularized_cross_entropy(torch.ones(1, D), weight, torch.tensor([0]), lam=1.0)
    assert gathers == []
