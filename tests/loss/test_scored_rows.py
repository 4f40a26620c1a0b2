"""Which rows are scored, and what a GPU is waited for, on meta tensors, which have no values."""

import pytest
import torch
from torch import Tensor
from toys.cuda import no_waiting

from erce.errors import InputError
from erce.loss import (
    DFT,
    CrossEntropy,
    LabelSmoothing,
    Renyi,
    Shannon,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)
from erce.loss.request import Request
from erce.loss.scored_rows import scored_rows

N, V, D = 8, 50, 16
Y = torch.tensor([3, -100, 5, 7, -100, 0, 49, 2])


@pytest.fixture
def on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every tensor say that it is on a CUDA device."""
    monkeypatch.setattr(Tensor, "is_cuda", True)


def empty(*shape: int) -> Tensor:
    """A tensor without values, of which nothing can be read."""
    return torch.zeros(shape, device="meta")


@pytest.fixture
def operands(on_cuda, monkeypatch: pytest.MonkeyPatch) -> tuple[Tensor, Tensor, Tensor]:
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device: False)  # which knows no meta device
    return empty(N, D).requires_grad_(), empty(V, D), empty(N).long()


SETTINGS = {
    "a mean": {"num_items_in_batch": empty(1), "penalty": Renyi(0.5)},
    "rows": {"reduction": "none", "row_weights": empty(N)},
    "chunks": {"chunk_bytes": 600, "base_loss": DFT()},
    "smoothed": {"base_loss": LabelSmoothing(0.1), "softcap": 3.0},
}


@pytest.mark.parametrize("num_scored", [0, 6, N])
@pytest.mark.parametrize("head_learns", [False, True])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_nothing_waits_for_a_gpu_that_is_told_how_many_targets_are_scored(
    settings, head_learns, num_scored, operands
):
    hidden, weight, y = operands
    weight.requires_grad_(head_learns)
    settings = {"lam": 2.0, "num_scored": num_scored, **settings}
    linear_entropy_regularized_cross_entropy(hidden, weight, y, **settings).objective.sum().backward()
    assert hidden.grad.shape == (N, D)
    assert (weight.grad is not None) == head_learns
    settings.pop("chunk_bytes", None)
    z = empty(N, V).requires_grad_()
    entropy_regularized_cross_entropy(z, y, **{k: x for k, x in settings.items() if k != "softcap"})


def test_a_gpu_that_is_not_told_is_waited_for(operands):
    with pytest.raises(NotImplementedError, match="meta tensor"):  # torch's, where a value is read
        linear_entropy_regularized_cross_entropy(*operands, lam=1.0)


def request_for(y: Tensor, **settings) -> Request:
    return Request(y, 1.0, Shannon(), CrossEntropy(), **settings)


@pytest.mark.usefixtures("on_cuda")
def test_the_rows_of_a_given_number_are_the_rows_that_are_counted():
    told, counted = (scored_rows(request_for(Y, num_scored=number), V, torch.float32) for number in (6, None))
    assert told.positions.tolist() == counted.positions.tolist() == [0, 2, 3, 5, 6, 7]
    assert told.targets.tolist() == counted.targets.tolist() == [3, 5, 7, 0, 49, 2]


WRONG = {
    "the number": {"num_scored": 5},
    "a target": {"num_scored": 6, "v": 49},
    "a weight": {"num_scored": 6, "row_weights": torch.tensor([1.0] * 7 + [float("nan")])},
    "the divisor": {"num_scored": 6, "num_items_in_batch": torch.tensor(0)},
}


@pytest.mark.usefixtures("on_cuda")
@pytest.mark.parametrize("settings", WRONG.values(), ids=WRONG)
def test_what_is_wrong_ends_in_an_assertion_of_the_device_and_in_anomaly_mode_in_a_sentence(
    settings, monkeypatch
):
    v = settings.get("v", V)
    request = request_for(Y, **{name: x for name, x in settings.items() if name != "v"})
    with pytest.raises(RuntimeError, match="erce: bad targets") as caught:
        scored_rows(request, v, torch.float32)
    assert not isinstance(caught.value, InputError)
    monkeypatch.setattr(torch, "is_anomaly_enabled", lambda: True)
    with pytest.raises(InputError):
        scored_rows(request, v, torch.float32)


@pytest.mark.parametrize("y", [Y, Y.clamp(min=0)], ids=["some are ignored", "none is"])
@pytest.mark.parametrize("number", [5, 7])
def test_on_a_cpu_a_wrong_number_is_told_at_once(y, number):
    z = torch.randn(N, V)
    with pytest.raises(InputError, match=f"^num_scored is {number}, but [68] targets are not -100"):
        entropy_regularized_cross_entropy(z, y, lam=1.0, num_scored=number)


@pytest.mark.gpu
def test_a_training_step_does_not_wait_for_the_gpu():
    hidden = torch.randn(N, D, device="cuda", requires_grad=True)
    weight, y = torch.randn(V, D, device="cuda"), Y.cuda()

    def step() -> None:
        loss = linear_entropy_regularized_cross_entropy(hidden, weight, y, lam=4.0, num_scored=6)
        loss.objective.backward()

    step()  # which checks the kernels
    with no_waiting():
        step()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()
