"""The count that the host reads while a model computes, and those who hand it to the loss."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from toys import training as toy
from toys.cuda import no_waiting

import erce
from erce.errors import InputError
from erce.hf import attach
from erce.hf.sequences import begin_count
from erce.train import scores

Y = torch.tensor([[3, -100, 5], [-100, -100, 0]])


def test_on_a_cpu_the_loss_counts():
    assert begin_count(Y, -100)() is None


@pytest.mark.gpu
def test_it_is_read_without_waiting_for_what_is_queued_later():
    targets = Y.cuda()
    with no_waiting():
        count = begin_count(targets, -100)
        torch.cuda._sleep(10**9)
        assert count() == 3
        assert not torch.cuda.current_stream().query()


def attached() -> Any:
    return erce.attach(toy.family("qwen2"), 3.0).train()


def scored() -> Any:
    model = toy.family("qwen2")
    objective = {"penalty": erce.Shannon(), "base_loss": erce.loss.CrossEntropy()}
    readout = attach.readout_of(model)
    scores.add_scores(model)
    scorer = scores.Scorer(readout=readout, lam=1.0, **objective, by_sequence=False)
    return functools.partial(model.train(), scores=scorer)


@pytest.mark.parametrize(
    ("made", "module"),
    [(attached, attach), (scored, scores)],
    ids=["attach", "trainer"],
)
def test_it_is_begun_before_the_model_and_told_to_the_loss(made, module, monkeypatch):
    model, events = made(), []

    def wrong_by_one(targets: Tensor, ignore_index: int) -> Callable[[], int]:
        events.append("count")
        return lambda: int((targets != ignore_index).sum()) - 1

    monkeypatch.setattr(module, "begin_count", wrong_by_one)
    getattr(model, "func", model).base_model.register_forward_pre_hook(lambda *_: events.append("model"))
    with pytest.raises(InputError, match=r"^num_scored is "):
        model(**toy.batch(toy.UNEQUAL[:4]))
    assert events == ["count", "model"]
