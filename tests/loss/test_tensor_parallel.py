"""A vocabulary that is split over processes: the loss and gradients of one process that has it whole."""

import math

import pytest
import torch
from toys.losses import FAMILY, penalty_of
from toys.selection import others_slow
from toys.shared_heads import (
    HEAD,
    D,
    N,
    V,
    complaint,
    differences,
    exchanged,
    numbers,
    tail_shares,
)

from erce.loss import (
    DFT,
    EAFT,
    Focal,
    LabelSmoothing,
    Renyi,
    Shannon,
    SupportSize,
)

FROZEN, TRAINED = ("hidden", "low"), ("hidden", "low", *HEAD)


QUICK_PENALTIES = [("shannon", 1.0), ("renyi", math.inf), ("support-size", 2.0)]


@pytest.mark.parametrize(
    "case", others_slow([case for case in FAMILY if case[1] != 0.1], QUICK_PENALTIES.__contains__), ids=str
)
def test_every_penalty_is_that_of_one_process(case, processes):
    settings = {"learns": TRAINED, "uses": ("bias",), "penalty": penalty_of(case), "dtype": torch.float64}
    cases = [{**settings, "lam": lam} for lam in (0.0, 8.0, -0.1)]
    cases += [{**settings, "lam": 8.0, "dtype": torch.float32, "logit_scale": scale} for scale in (1.0, 30.0)]
    cases += [{**settings, "lam": 8.0, "uses": ()}, {**settings, "lam": 8.0, "dtype": torch.bfloat16}]
    for split in ((7, 30, 13), (49, 1), (50,)):
        assert processes.run(differences, split, cases, size=len(split)) == [[]] * len(split)


SETTINGS = {
    "label smoothing": {"objective": LabelSmoothing(0.2), "uses": ()},
    "DFT": {"objective": DFT(), "uses": ()},
    "focal": {"objective": Focal(2.0), "uses": ()},
    "soft cap": {"softcap": 3.0, "logit_scale": 1.7, "temperature": 0.6, "uses": ("bias",)},
    "scale": {"logit_scale": 0.3, "temperature": 0.6, "uses": ("bias",)},
    "a large bias": {"shift": 1e4, "uses": ("bias",)},
    "an adapter": {"uses": ("low", "up")},
    "z-loss": {"z_loss": 0.1, "return_lse": True, "uses": ("bias",)},
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
    {"reduction": "mean", "learns": TRAINED, "dtype": torch.float64, "chunk_bytes": 2**20},
    {"reduction": "sum", "learns": FROZEN, "dtype": torch.float32},
    {"reduction": "none", "learns": FROZEN, "dtype": torch.float64},
    {"reduction": "none", "learns": TRAINED, "dtype": torch.float32},
]


QUICK_SETTINGS = {"focal", "z-loss", "a masked, smoothed shard", "all at once"}  # all paths


@pytest.mark.parametrize("setting", others_slow(SETTINGS, QUICK_SETTINGS.__contains__))
def test_every_setting_is_that_of_one_process(setting, processes):
    cases = [
        {"lam": 8.0, "penalty": penalty, **SETTINGS[setting], **reduction}
        for penalty in (Shannon(), Renyi(0.5), SupportSize(2.0))
        for reduction in REDUCTIONS
    ]
    assert processes.run(differences, (7, 30, 13), cases) == [[]] * 3


NO_SOFTMAX = "the logits of position 1 (its index when flattened) have no softmax"
REFUSED = [
    ("target", {}, f"target {V} is outside the vocabulary of {V} tokens"),
    ("shard", {}, "process 1 of the group has no rows of the vocabulary, all have [20, 0, 10]; leave it out"),
    ("layout", {}, "the head is a DTensor, which is gathered, but with a group each process gives its part"),
    ("nan", {}, NO_SOFTMAX),
    ("inf", {}, NO_SOFTMAX),
    ("nan", {"penalty": Renyi(math.inf)}, NO_SOFTMAX),
    ("", {"objective": EAFT()}, "no user-defined penalty, got EAFT(alpha=1.0) and Shannon()"),
    ("", {"impl": "triton"}, "has no Triton kernels; leave out impl='triton'"),
]


@pytest.mark.parametrize(("spoil", "settings", "sentence"), REFUSED, ids=str)
def test_all_processes_hear_the_same_complaint(spoil, settings, sentence, processes):
    first, *others = processes.run(complaint, spoil, settings)
    assert sentence in first
    assert others == [first, first]


@pytest.mark.parametrize("learns", [(), ("hidden",), ("hidden", "weight")], ids=str)
def test_processes_exchange_a_few_numbers_a_row_and_d_hidden_once(learns, processes):
    chunk = [("allreduce_", 2 * 10), ("allreduce_", 6 * 10)]
    d_hidden = [("allreduce_", 20 * D)] if learns else []
    assert processes.run(exchanged, learns) == [[[("allgather_", 1), *chunk, *chunk, *d_hidden], []]] * 3


def test_the_tails_share_is_unknown_where_rows_are_never_whole(processes):
    assert all(math.isnan(share) for shares in processes.run(tail_shares) for share in shares)


def test_all_processes_have_the_same_numbers_to_the_bit(processes):
    first, *others = processes.run(numbers, torch.arange(N))
    assert any(first)
    assert others == [first, first]


def test_nothing_to_score_is_zero_in_every_process(processes):
    assert processes.run(numbers, torch.full((N,), -100)) == [[0.0] * (3 + N * D)] * 3
