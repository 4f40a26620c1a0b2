"""The whole loss on the Triton kernels, interpreted: the same as on PyTorch, whatever is asked for."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from toys.losses import (
    SETTINGS,
    Counted,
    D,
    OnCuda,
    V,
    arguments,
    assert_same,
    dense,
    linear,
    operands,
    operands_of,
    results,
)

from erce.errors import DivergedError
from erce.loss import (
    chunked,
    entropy_regularized_cross_entropy,
    gpu_self_check,
    linear_entropy_regularized_cross_entropy,
    matmul,
)
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import ScoredRows

# A user's own penalty needs whole rows, and a very strong one has more rounding than there is to compare.
MADE = [name for name in SETTINGS if "own" not in name and name != "strong"]
QUICK = ("rows", "below one", "inf", "smoothed", "gated", "smoothed, capped")  # every variant of a kernel
FORMS = [
    *(pytest.param(linear, setting, marks=[] if setting in QUICK else pytest.mark.slow) for setting in MADE),
    (dense, "above one"),
    (partial(linear, chunk_bytes=2 * V * 4), "Shannon"),
]


@pytest.mark.parametrize(
    "dtype", [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize(("form", "setting"), FORMS, ids=[*MADE, "from logits", "in chunks"])
def test_every_setting_is_the_same(form, setting, dtype, on_kernels, monkeypatch):
    launches, score = [], on_kernels.score
    monkeypatch.setattr(on_kernels, "score", lambda *args: launches.append(1) or score(*args))
    x = operands_of(setting, dtype)
    settings = {"reduction": "none", **arguments(setting)}
    interpreted = results(form(x, **settings), x)
    assert launches
    monkeypatch.delenv("TRITON_INTERPRET")
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 2e-2, "atol": 2e-3}
    assert_same(interpreted, results(form(x, **settings), x), **tolerance)


class CudaTensor(Tensor):
    is_cuda = True


def test_on_cuda_no_check_waits_for_the_rows_save_in_anomaly_mode(monkeypatch):
    top, rows = (
        torch.full((1,), math.nan).as_subclass(CudaTensor),
        ScoredRows(slice(0, 1), torch.zeros(1)),
    )
    refuse_no_distribution(top, rows)
    monkeypatch.setattr(torch, "is_anomaly_enabled", lambda: True)
    with pytest.raises(DivergedError, match=r"^the logits of position 0 "):
        refuse_no_distribution(top, rows)


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, pytest.param(torch.float16, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("setting", MADE)
def test_the_matmuls_of_a_cuda_device_change_nothing(setting, dtype, monkeypatch):
    x, settings = operands_of(setting, dtype), {"reduction": "none", **arguments(setting)}
    plain = results(linear(x, **settings), x)
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(gpu_self_check, "multiplies_into_float32", lambda *args: True)
    for name, values in results(linear(x, **settings), x).items():
        assert (values - plain[name]).norm() <= 1e-2 * plain[name].norm(), name


CHUNKS = {  # bytes, and the logits of a CPU's chunk without that: the rest is a card's path
    "one chunk": ({}, 40 * 2**20, chunked._GradientKept),
    "kept": ({}, 3 * V, chunked._GradientKept),
    "summed": ({"chunk_bytes": 3 * V * 4}, 3 * V, chunked._GradientInForward),
}


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize(("settings", "logits", "path"), CHUNKS.values(), ids=CHUNKS)
def test_a_trainable_head_of_bfloat16_gets_its_gradient_from_one_product_or_a_sum(
    settings, logits, path, kernel, monkeypatch, request
):
    if kernel:
        request.getfixturevalue("on_kernels")
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(gpu_self_check, "multiplies_into_float32", lambda *args: True)
    monkeypatch.setattr(chunked, "CHUNK_LOGITS_ON_CPU", logits)
    monkeypatch.setattr(matmul, "_PRODUCT_BYTES", 64 * D * 4)  # of 64 tokens at a time
    plans, of = [], chunked.Plan.of
    monkeypatch.setattr(chunked.Plan, "of", lambda *args: plans.append(of(*args)) or plans[-1])
    x, exact = (operands_of("masked", dtype) for dtype in (torch.bfloat16, torch.float64))
    exact = {name: values.detach().double().requires_grad_() for name, values in x.items()}
    ours = results(linear(x, **arguments("masked"), **settings), x)
    assert plans[0].path is path
    assert (len(plans[0].chunks) > 1) == (logits == 3 * V)
    for name, values in results(linear(exact, **arguments("masked")), exact).items():
        assert (ours[name].double() - values).norm() <= 1e-2 * values.norm(), name


def test_a_batch_without_a_scored_token_gives_a_trainable_head_of_bfloat16_0(monkeypatch):
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(gpu_self_check, "multiplies_into_float32", lambda *args: True)
    x = operands_of("masked", torch.bfloat16)
    y = torch.full((len(x["hidden"]),), -100)
    loss = linear_entropy_regularized_cross_entropy(x["hidden"], x["weight"], y, lam=1.0)
    loss.objective.backward()
    assert loss.objective == x["weight"].grad.abs().sum() == x["hidden"].grad.abs().sum() == 0


class Skipped(OnCuda):
    """torch, whose matmuls are counted and left out."""

    def __init__(self) -> None:
        self.calls = 0

    def mm(self, *args, out, **kw):
        self.calls += 1
        return out

    addmm = mm


@pytest.mark.parametrize(("learns", "matmuls"), [(("hidden",), 2), (("hidden", "weight"), 3)], ids=str)
def test_a_chunk_takes_its_matmuls_and_one_kernel(learns, matmuls, on_kernels, monkeypatch):
    """So says the difference between eight chunks and four."""
    launches, skipped = [], Skipped()
    monkeypatch.setattr(matmul, "torch", skipped)
    monkeypatch.setattr(gpu_self_check, "multiplies_into_float32", lambda *args: True)
    monkeypatch.setattr(on_kernels, "score", lambda *args: launches.append(1))
    monkeypatch.setattr(chunked, "refuse_no_distribution", lambda *args: None)

    def counts(chunks: int) -> Tensor:
        launches.clear()
        skipped.calls = 0
        x = operands(torch.bfloat16, n=24, learns=learns)
        with Counted(lambda func, args, out: isinstance(out, Tensor) and not func.is_view) as counted:
            loss = linear_entropy_regularized_cross_entropy(
                x["hidden"], x["weight"], torch.arange(24), lam=1.0, chunk_bytes=24 * V * 4 / chunks
            )
            loss.objective.backward()
        return torch.tensor([skipped.calls, len(launches), counted.count])

    assert (counts(8) - counts(4)).tolist() == [4 * matmuls, 4, 0]


def test_a_position_without_a_softmax_is_refused_there_too(on_kernels):
    z = torch.randn(6, V)
    z[4, 90] = math.nan
    with pytest.raises(DivergedError, match=r"^the logits of position 4 .* largest is nan"):
        entropy_regularized_cross_entropy(z, torch.arange(6), lam=1.0)
