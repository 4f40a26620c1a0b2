"""A head that FSDP 2 has sharded: the loss and gradients of one process that has it whole."""

import pytest
import torch
from torch.distributed.tensor import Replicate, Shard
from toys.shared_heads import laid_out, training

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


def test_a_head_that_zero_3_has_partitioned_is_refused():
    weight = torch.nn.Parameter(torch.empty(0))
    weight.ds_id = 7  # as DeepSpeed leaves it
    with pytest.raises(ValueError, match=r"ZeRO-3 has partitioned the head.*; use DDP, FSDP 2"):
        linear_entropy_regularized_cross_entropy(torch.ones(1, 7), weight, torch.tensor([0]), lam=1.0)
