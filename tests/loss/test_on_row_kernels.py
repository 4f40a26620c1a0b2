"""The whole loss on the Triton kernels, interpreted: the same as on PyTorch, whatever is asked for."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from toys.losses import SETTINGS, OnCuda, V, arguments, assert_same, dense, linear, operands_of, results

from erce.errors import DivergedError
from erce.loss import (
    entropy_regularized_cross_entropy,
    matmul,
)
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import Rows

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
    launches = []
    measure = on_kernels.measure
    monkeypatch.setattr(on_kernels, "measure", lambda *args, **kw: launches.append(1) or measure(*args, **kw))
    x = operands_of(setting, dtype)
    settings = {"reduction": "none", "diagnose": True, **arguments(setting)}
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
        Rows(slice(0, 1), torch.zeros(1)),
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
    monkeypatch.setattr(
        matmul, "choose", lambda *args, **kw: partial(matmul.MixedPrecision, torch.float32, dtype)
    )
    for name, values in results(linear(x, **settings), x).items():
        assert (values - plain[name]).norm() <= 1e-2 * plain[name].norm(), name


def test_a_position_without_a_softmax_is_refused_there_too(on_kernels):
    z = torch.randn(6, V)
    z[4, 90] = math.nan
    with pytest.raises(DivergedError, match=r"^the logits of position 4 .* largest is nan"):
        entropy_regularized_cross_entropy(z, torch.arange(6), lam=1.0)
