"""The whole loss on the Triton kernels, interpreted: the same as on PyTorch, whatever is asked for."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from toys.losses import SETTINGS, D, OnCuda, V, arguments, assert_same, dense, linear, operands_of, results
from toys.selection import others_slow

from erce.errors import DivergedError
from erce.loss import (
    LabelSmoothing,
    Renyi,
    Shannon,
    SupportSize,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
    matmul,
)
from erce.loss.request import Request
from erce.loss.row_statistics import Sums, loss_and_grad_coefficients, refuse_no_distribution
from erce.loss.scored_rows import Rows
from erce.loss.triton_kernels import end_of

# A user's own penalty needs whole rows, and a very strong one has more rounding than there is to compare.
MADE = [name for name in SETTINGS if "own" not in name and name != "strong"]
FORMS = [
    *((linear, setting) for setting in MADE),
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("penalty", "per_row", "more"),
    [(Renyi, False, {}), (Renyi, True, {"softcap": 20.0, "temperature": 0.8}), (SupportSize, True, {})],
)
@pytest.mark.parametrize(
    "order", others_slow([0.5, 0.999, 1.0, 1 + 1e-6, 2.0, math.inf], (0.999, 1.0, math.inf).__contains__)
)
def test_a_row_is_settled_as_precisely_as_in_float64(order, penalty, per_row, more, kernels):
    """From the same sums: to a few roundings of a number, or of the two terms of the target's slope."""
    tile, y = 3 * torch.randn(6, V, generator=torch.Generator().manual_seed(1)), torch.arange(6) * 20
    tile[1, 20] += 18  # 1 − p_y near 1e-6
    tile[2, 3:] = tile[3] = 2.5
    tile[4, 5:] = -math.inf
    lam, weights = (torch.linspace(*ends, 6) if per_row else None for ends in ((-1, 8), (0, 3)))
    request = Request(y, 2.0, penalty(order), LabelSmoothing(0.1), diagnose=True, **more)
    rows = Rows(y, y, 2.0 if lam is None else lam, weights)
    sums = kernels.measure(tile, y, request, None)
    loss, slopes = kernels.loss_and_grad_coefficients(sums, rows, request, None)
    exact = rows if lam is None else rows._replace(lam=lam.double(), weights=weights.double())
    true, true_slopes = loss_and_grad_coefficients(Sums(*(x.double() for x in sums)), exact, request, None)
    terms = (true_slopes.plain * (sums.target - sums.shift).exp()).abs()
    for ours, wanted in zip((*loss.computed, *slopes), (*true.computed, *true_slopes), strict=True):
        close = (ours.double() - wanted).abs() <= 5e-7 * (wanted.abs() + terms)
        assert (close | (ours == wanted) | (ours.isnan() & wanted.isnan())).all(), (ours, wanted)


class Launches(TorchDispatchMode):
    """Counts the operators that a device would be launched for, and the kernels in place of what they run."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        returns = func._schema.returns
        is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in returns)
        self.count += not is_view and "empty" not in func._schema.name
        return func(*args, **(kwargs or {}))

    def counting(self, kernel):
        def launch(grid, *args, **kwargs):
            self.count += 1
            with _disable_current_modes():
                kernel[grid](*args, **kwargs)

        return Grid(launch)


class Grid:
    def __init__(self, launch):
        self.launch = launch

    def __getitem__(self, grid):
        return partial(self.launch, grid)


def test_a_chunk_takes_at_most_eight_launches(on_kernels, monkeypatch):
    counts = []
    kernels = {
        name: getattr(on_kernels, name) for name in ("_measure", "_loss_and_grad_coefficients", "_write")
    }
    for rows in (6, 2):  # one chunk, and three
        with Launches() as launches:
            for name, kernel in kernels.items():
                monkeypatch.setattr(on_kernels, name, launches.counting(kernel))
            hidden, weight = torch.randn(6, D, requires_grad=True), torch.randn(V, D)
            linear_entropy_regularized_cross_entropy(
                hidden, weight, torch.arange(6), lam=1.0, chunk_bytes=rows * V * 4
            ).objective.backward()
        counts.append(launches.count)
    assert 3 < (counts[1] - counts[0]) / 2 <= 8


class CudaTensor(Tensor):
    is_cuda = True


def test_on_cuda_no_check_waits_for_the_rows_save_in_anomaly_mode(monkeypatch):
    top, rows = (
        torch.full((1,), math.nan).as_subclass(CudaTensor),
        Rows(slice(0, 1), torch.zeros(1), 0.0, None),
    )
    refuse_no_distribution(top, rows)
    monkeypatch.setattr(torch, "is_anomaly_enabled", lambda: True)
    with pytest.raises(DivergedError, match=r"^the logits of position 0 "):
        refuse_no_distribution(top, rows)


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, pytest.param(torch.float16, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("setting", MADE)
@pytest.mark.parametrize("interpreted", [pytest.param(True, marks=pytest.mark.slow), False])
def test_the_matmuls_of_a_cuda_device_change_nothing(setting, dtype, interpreted, on_kernels, monkeypatch):
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(
        matmul, "choose", lambda *args, **kw: partial(matmul.MixedPrecision, torch.float32, dtype)
    )
    if not interpreted:
        monkeypatch.delenv("TRITON_INTERPRET")
    x, settings = operands_of(setting, dtype), {"reduction": "none", **arguments(setting)}
    mixed = results(linear(x, **settings), x)
    monkeypatch.undo()
    plain = results(linear(x, **settings), x)
    for name, values in mixed.items():  # the interpreter cuts bfloat16 off instead of rounding it
        assert (values - plain[name]).norm() <= 1e-2 * plain[name].norm(), name


def test_a_position_without_a_softmax_is_refused_there_too(on_kernels):
    z = torch.randn(6, V)
    z[4, 90] = math.nan
    with pytest.raises(DivergedError, match=r"^the logits of position 4 .* largest is nan"):
        entropy_regularized_cross_entropy(z, torch.arange(6), lam=1.0)


def test_what_lies_past_the_columns_of_a_padded_tile_counts_for_nothing(kernels):
    padded = torch.full((3, 160), math.nan)
    tile = padded[:, :V].copy_(torch.randn(3, V))
    y, request = torch.tensor([0, 149, 7]), Request(torch.zeros(1), 1.0, Shannon(), LabelSmoothing(0.1))
    results = []
    for x in (tile.clone(), tile):
        sums = kernels.measure(x, y, request, None)
        _, slopes = loss_and_grad_coefficients(sums, Rows(y, y, 1.0, None), request, None)
        kernels.write_gradient(x, y, slopes, request, None, x)
        results.append([*sums, x])
    for plain, aligned in zip(*results, strict=True):
        assert torch.equal(plain, aligned)


def test_rows_are_read_to_a_multiple_of_16_where_their_memory_reaches_that_far():
    wide = torch.zeros(3, 160)
    assert [end_of(x) for x in (wide[:, :150], wide[:, 20:160], wide[:, :144], torch.zeros(3, 150))] == [
        160,
        140,
        144,
        150,
    ]
