"""A head that is split over processes: the loss and gradients of one process that has it whole."""

import math
import sys
from types import SimpleNamespace

import pytest
import torch
from in_processes import (
    HEAD,
    D,
    N,
    V,
    complaint,
    differences,
    exchanged,
    laid_out,
    numbers,
    operands,
    training,
)
from loss_definitions import FAMILY, penalty_of
from processes import Processes
from torch.distributed.tensor import Replicate, Shard

from erce.loss import (
    DFT,
    EAFT,
    Focal,
    LabelSmoothing,
    Renyi,
    Shannon,
    SupportSize,
    linear_entropy_regularized_cross_entropy,
)
from erce.loss.shards import gathered

FROZEN, TRAINED = ("hidden", "low"), ("hidden", "low", *HEAD)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with Processes(tmp_path_factory.mktemp("processes")) as processes:
        yield processes


@pytest.mark.parametrize("case", [case for case in FAMILY if case[1] != 0.1], ids=str)
def test_every_penalty_is_that_of_one_process(case, processes):
    how = {"learns": TRAINED, "uses": ("bias",), "penalty": penalty_of(case), "dtype": torch.float64}
    cases = [{**how, "lam": lam} for lam in (0.0, 8.0, -0.1)]
    cases += [{**how, "lam": 8.0, "dtype": torch.float32, "logit_scale": scale} for scale in (1.0, 30.0)]
    cases += [{**how, "lam": 8.0, "uses": ()}, {**how, "lam": 8.0, "dtype": torch.bfloat16}]
    for split in ((7, 30, 13), (31, 19)):
        assert processes.run(differences, split, cases, size=len(split)) == [[]] * len(split)


@pytest.mark.parametrize("split", [(1, 48, 1), (1, 1, 48), (49, 1), (50,)], ids=str)
def test_a_shard_may_be_one_token_or_all(split, processes):
    how = {"learns": TRAINED, "uses": ("bias",), "lam": 8.0, "dtype": torch.float64}
    cases = [{**how, "penalty": penalty} for penalty in (Shannon(), Renyi(0.5), SupportSize(2.0))]
    assert processes.run(differences, split, cases, size=len(split)) == [[]] * len(split)


SETTINGS = {
    "label smoothing": {"objective": LabelSmoothing(0.2), "uses": ()},
    "DFT": {"objective": DFT(), "uses": ()},
    "focal": {"objective": Focal(2.0), "uses": ()},
    "soft cap": {"softcap": 3.0, "logit_scale": 1.7, "temperature": 0.6, "uses": ("bias",)},
    "scale": {"logit_scale": 0.3, "temperature": 0.6, "uses": ("bias",)},
    "a large bias": {"shift": 1e4, "uses": ("bias",)},
    "an adapter": {"uses": ("low", "up")},
    "weights": {"row_weights": torch.linspace(0, 2, N), "lam": torch.linspace(-1, 8, N), "uses": ()},
    "a masked shard": {"masked": 7, "uses": ("bias",)},
    "a masked, smoothed shard": {"masked": 8, "objective": LabelSmoothing(0.2), "uses": ("bias",)},
    "all at once": {
        "objective": LabelSmoothing(0.2),
        "softcap": 9.0,
        "temperature": 0.6,
        "row_weights": torch.linspace(0, 2, N),
        "lam": torch.linspace(-1, 8, N),
        "uses": ("bias", "low", "up"),
    },
}
REDUCTIONS = [
    {"reduction": "mean", "learns": TRAINED, "dtype": torch.float64, "num_items_in_batch": 7.0},
    {"reduction": "sum", "learns": FROZEN, "dtype": torch.float32},
    {"reduction": "none", "learns": FROZEN, "dtype": torch.float64},
    {"reduction": "none", "learns": TRAINED, "dtype": torch.float32},
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_is_that_of_one_process(setting, processes):
    cases = [
        {"lam": 8.0, "penalty": penalty, **SETTINGS[setting], **reduction}
        for penalty in (Shannon(), Renyi(0.5), SupportSize(2.0))
        for reduction in REDUCTIONS
    ]
    assert processes.run(differences, (7, 30, 13), cases) == [[]] * 3


@pytest.mark.slow
def test_the_sums_of_the_kernels_add_up_too(tmp_path, monkeypatch):
    pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    how = {"lam": 8.0, "learns": TRAINED, "dtype": torch.float32}
    cases = [
        {**how, "penalty": penalty, **SETTINGS[setting]}
        for penalty in (Shannon(), Renyi(0.5), SupportSize(2.0), Renyi(math.inf))
        for setting in ("a masked, smoothed shard", "all at once")
    ]
    with Processes(tmp_path) as interpreting:
        assert interpreting.run(differences, (7, 30, 13), cases) == [[]] * 3


NO_SOFTMAX = "the logits of position 1 (its index when flattened) have no softmax"
REFUSED = [
    ("target", {}, f"target {V} is outside the vocabulary of {V} tokens"),
    ("shard", {}, "process 1 of the group has no rows of the vocabulary, all have [20, 0, 10]; leave it out"),
    ("layout", {}, "the head is a DTensor, which is gathered, but with a group each process gives its part"),
    ("nan", {}, NO_SOFTMAX),
    ("inf", {}, NO_SOFTMAX),
    ("nan", {"penalty": Renyi(math.inf)}, NO_SOFTMAX),
    ("", {"objective": EAFT()}, "no diagnosis, got EAFT(top=20), Shannon() and diagnose=False"),
    ("", {"diagnose": True}, "no diagnosis, got CrossEntropy(), Shannon() and diagnose=True"),
    ("", {"method": "checkpoint"}, "method='checkpoint' has the whole vocabulary; leave out group"),
]


@pytest.mark.parametrize(("spoil", "how", "sentence"), REFUSED, ids=str)
def test_all_processes_hear_the_same_complaint(spoil, how, sentence, processes):
    first, *others = processes.run(complaint, spoil, how)
    assert sentence in first
    assert others == [first, first]


@pytest.mark.parametrize("learns", [(), ("hidden",), ("hidden", "weight")], ids=str)
def test_processes_exchange_a_few_numbers_a_row_and_d_hidden_once(learns, processes):
    chunk = [("allreduce_", 2 * 10), ("allreduce_", 6 * 10)]
    d_hidden = [("allreduce_", 20 * D)] if learns else []
    assert processes.run(exchanged, learns) == [[[("allgather_", 1), *chunk, *chunk, *d_hidden], []]] * 3


def test_all_processes_have_the_same_numbers_to_the_bit(processes):
    first, *others = processes.run(numbers, torch.arange(N))
    assert any(first)
    assert others == [first, first]


def test_nothing_to_score_is_zero_in_every_process(processes):
    assert processes.run(numbers, torch.full((N,), -100)) == [[0.0] * (6 + N * D)] * 3


@pytest.mark.slow
def test_a_compiled_call_with_a_group_falls_back_to_the_same_numbers(processes):
    targets = torch.arange(N)
    assert processes.run(numbers, targets, True, size=2) == processes.run(numbers, targets, size=2)


KINDS = [{"tied": tied, "frozen": frozen} for tied in (False, True) for frozen in (False, True)]
WAYS = {  # → how often the forward and the backward gather, and how often the backward reduces
    "DDP": [0, 0, 1],
    "FSDP": [1, 0, 1],
    "FSDP, the head apart": [2, 0, 2],
    "FSDP, embeddings and head apart": [2, 1, 2],  # the backward gathers the embeddings
}


@pytest.mark.parametrize("reduction", ["mean", "none"])
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


@pytest.mark.parametrize(("mesh", "placements", "gathers"), LAYOUTS, ids=str)
def test_a_dtensor_is_gathered_once_and_gets_the_mean_gradient(mesh, placements, gathers, processes):
    for worst, counts in processes.run(laid_out, mesh, placements, False):
        assert worst < 1e-13
        assert counts == [3 * gathers, 0, 3]  # weight, bias and adapter


@pytest.mark.slow
def test_a_dtensor_may_be_compiled(processes):
    for worst, _ in processes.run(laid_out, [0, 1, 2], [Shard(0)], True):
        assert worst < 1e-13


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


ZERO_3 = [{"reduction": "mean"}, {"reduction": "none"}, {"reduction": "none", "method": "checkpoint"}]


def zero_3(how: dict, adapted: bool, form) -> None:
    tensors, targets = operands(torch.float32)
    found = []
    for make in (torch.clone, partitioned):
        learned = [tensors[name].clone().requires_grad_() for name in ("hidden", "low", "up")]
        loss = form(
            learned[0],
            make(tensors["weight"]),
            targets,
            bias=make(tensors["bias"]),
            adapter=(learned[1], learned[2]) if adapted else None,
            lam=2.0,
            **how,
        )
        loss.objective.sum().backward()
        found.append([loss.objective.detach(), *(x.grad for x in learned if x.grad is not None)])
    for plain, zero in zip(*found, strict=True):
        assert torch.equal(plain, zero)


@pytest.mark.parametrize("adapted", [False, True], ids=["plain", "adapted"])
@pytest.mark.parametrize("how", ZERO_3, ids=str)
def test_a_frozen_head_under_zero_3_is_gathered_once(how, adapted, gathers):
    zero_3(how, adapted, linear_entropy_regularized_cross_entropy)
    assert gathers == [[(0,), (0,)], [(V, D), (V,)]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at any graph break
def test_a_compiled_call_with_a_zero_3_head_falls_back(gathers):
    zero_3(
        {"reduction": "mean"}, True, torch.compile(linear_entropy_regularized_cross_entropy, backend="eager")
    )
    assert gathers == [[(0,), (0,)], [(V, D), (V,)]]


def test_an_error_partitions_a_zero_3_head_again(gathers):
    weight = partitioned(torch.ones(V, D))
    with pytest.raises(ValueError, match="target 50 is outside the vocabulary"):
        linear_entropy_regularized_cross_entropy(torch.ones(1, D), weight, torch.tensor([V]), lam=1.0)
    assert weight.numel() == 0


def test_training_a_zero_3_head_is_refused(gathers):
    weight = partitioned(torch.ones(V, D)).requires_grad_()
    with pytest.raises(
        ValueError, match="is to be trained, which is not supported; freeze it, as under LoRA"
    ):
        linear_entropy_regularized_cross_entropy(torch.ones(1, D), weight, torch.tensor([0]), lam=1.0)
    assert gathers == []


def test_a_head_that_is_whole_is_left_as_it_is():
    head = (torch.ones(V, D), None, None)
    with gathered(*head, split=False) as whole:
        assert whole == head
