"""The count that the host reads while a model computes, and those who hand it to the loss."""

from typing import Any

import pytest
import torch
from torch import Tensor
from toys import training as toy
from toys.cuda import no_waiting

import erce
from erce.errors import InputError
from erce.hf import attach
from erce.hf.sequences import ScoredCount
from erce.train import scores

Y = torch.tensor([[3, -100, 5], [-100, -100, 0]])


def test_on_a_cpu_the_loss_counts():
    assert ScoredCount(Y, -100).read() is None


@pytest.mark.gpu
def test_it_is_read_without_waiting_for_what_is_queued_later():
    targets = Y.cuda()
    with no_waiting():
        count = ScoredCount(targets, -100)
        torch.cuda._sleep(10**9)
        assert count.read() == 3
        assert not torch.cuda.current_stream().query()


class Toy:
    """A count that is wrong by one, made when `events` says."""

    events: list[str]

    def __init__(self, targets: Tensor, ignore_index: int) -> None:
        self.events.append("count")
        self.wrong = int((targets != ignore_index).sum()) - 1

    def read(self) -> int:
        return self.wrong


def attached() -> Any:
    return erce.attach(toy.family("qwen2"), 3.0).train()


def scored() -> Any:
    model = toy.family("qwen2")
    objective = {"penalty": erce.Shannon(), "objective": erce.loss.CrossEntropy()}
    readout = attach.readout_of(model)
    scores.add_scores(
        model, scores.Scorer(readout=readout, lam=1.0, **objective, by_sequence=False, diagnose=False)
    )
    return model.train()


@pytest.mark.parametrize(
    ("made", "module", "settings"),
    [(attached, attach, {}), (scored, scores, {"scores": True})],
    ids=["attach", "trainer"],
)
def test_it_is_begun_before_the_model_and_told_to_the_loss(made, module, settings, monkeypatch):
    model, events = made(), []
    monkeypatch.setattr(module, "ScoredCount", type("Watched", (Toy,), {"events": events}))
    model.base_model.register_forward_pre_hook(lambda *_: events.append("model"))
    with pytest.raises(InputError, match=r"^num_scored is "):
        model(**toy.batch(toy.UNEQUAL[:4]), **settings)
    assert events == ["count", "model"]
