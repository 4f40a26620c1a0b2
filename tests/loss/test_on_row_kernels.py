"""The whole loss on the Triton kernels, interpreted: the same as on PyTorch, whatever is asked for."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from toys.losses import OnCuda
from toys.selection import others_slow

from erce.errors import DivergedError
from erce.loss import (
    EAFT,
    Focal,
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

N, V, D, R = 6, 150, 4, 2


def operands(dtype: torch.dtype) -> tuple[dict[str, Tensor], Tensor]:
    generator = torch.Generator().manual_seed(2)
    shapes = {"hidden": (N, D), "weight": (V, D), "bias": (V,), "low": (N, R), "up": (V, R)}
    x = {name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()}
    x["bias"][3::9] = -math.inf
    return x, torch.tensor([0, 7, -100, 149, 64, 2])


def linear(dtype: torch.dtype, **settings) -> list[Tensor]:
    """All that is returned, and all gradients."""
    x, y = operands(dtype)
    if "softcap" in settings:
        x["bias"] = x["bias"].nan_to_num(neginf=-1.0)
    leaves = {name: v.requires_grad_() for name, v in x.items()}
    loss = linear_entropy_regularized_cross_entropy(
        x["hidden"], x["weight"], y, bias=x["bias"], adapter=(x["low"], x["up"]),
        **{"reduction": "none"} | settings,
    )  # fmt: skip
    upstream = torch.linspace(-1, 2, N)
    total = (loss.objective * upstream).sum() + (0 if loss.lse is None else loss.lse @ upstream)
    grads = torch.autograd.grad(total, list(leaves.values()))
    return [*(part.detach() for part in loss if part is not None), *grads]


SETTINGS = {
    "a mean": {"lam": 1.0, "reduction": "mean"},
    "plain": {"lam": 0.0},
    "Shannon": {"lam": 8.0, "penalty": Shannon()},
    "below one": {"lam": 2.0, "penalty": Renyi(0.5)},
    "above one": {"lam": 2.0, "penalty": Renyi(3.0)},
    "inf": {"lam": 2.0, "penalty": Renyi(math.inf)},
    "size": {"lam": 0.1, "penalty": SupportSize(0.5)},
    "rows": {"lam": torch.linspace(-1, 4, N), "row_weights": torch.linspace(0, 2, N)},
    "smoothed": {"lam": 1.0, "objective": LabelSmoothing(0.2)},
    "gated": {"lam": 1.0, "objective": EAFT(0.5)},
    "focal": {"lam": 1.0, "objective": Focal()},
    "diagnosed": {"lam": 1.0, "penalty": Renyi(0.5), "diagnose": True},
    "scaled": {"lam": 1.0, "logit_scale": 0.5, "temperature": 0.7},
    "capped": {"lam": 1.0, "logit_scale": 2.0, "softcap": 3.0, "temperature": 1.3},
    "z-loss": {"lam": 1.0, "z_loss": 0.1, "return_lse": True, "diagnose": True},
    "z-loss, capped": {"lam": 1.0, "z_loss": 0.1, "softcap": 3.0, "row_weights": torch.linspace(0, 2, N)},
    "chunked": {"lam": 8.0, "chunk_bytes": 2 * V * 4},
}


@pytest.mark.parametrize(
    "dtype", [torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_linear_form_is_the_same(settings, dtype, on_kernels, monkeypatch):
    launches = []
    measure = on_kernels.measure
    monkeypatch.setattr(on_kernels, "measure", lambda *args, **kw: launches.append(1) or measure(*args, **kw))
    interpreted_results = linear(dtype, **settings)
    assert launches
    monkeypatch.delenv("TRITON_INTERPRET")
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 2e-2, "atol": 2e-3}
    for a, b in zip(interpreted_results, linear(dtype, **settings), strict=True):
        torch.testing.assert_close(a, b, **tolerance)


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
    tile, y = 3 * torch.randn(N, V, generator=torch.Generator().manual_seed(1)), torch.arange(N) * 20
    tile[1, 20] += 18  # 1 − p_y near 1e-6
    tile[2, 3:] = tile[3] = 2.5
    tile[4, 5:] = -math.inf
    lam, weights = (torch.linspace(*ends, N) if per_row else None for ends in ((-1, 8), (0, 3)))
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
    for rows in (N, 2):  # one chunk, and three
        with Launches() as launches:
            for name, kernel in kernels.items():
                monkeypatch.setattr(on_kernels, name, launches.counting(kernel))
            hidden, weight = torch.randn(N, D, requires_grad=True), torch.randn(V, D)
            linear_entropy_regularized_cross_entropy(
                hidden, weight, torch.arange(N), lam=1.0, chunk_bytes=rows * V * 4
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
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("interpreted", [pytest.param(True, marks=pytest.mark.slow), False])
def test_the_matmuls_of_a_cuda_device_change_nothing(settings, dtype, interpreted, on_kernels, monkeypatch):
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(
        matmul, "choose", lambda *args, **kw: partial(matmul.MixedPrecision, torch.float32, dtype)
    )
    if not interpreted:
        monkeypatch.delenv("TRITON_INTERPRET")
    interpreted_results = linear(dtype, **settings)
    monkeypatch.undo()
    for a, b in zip(interpreted_results, linear(dtype, **settings), strict=True):
        assert (a - b).norm() <= 1e-2 * b.norm()  # the interpreter cuts bfloat16 off instead of rounding it


def test_the_dense_form_is_the_same(on_kernels, monkeypatch):
    z, y = torch.randn(N, V, requires_grad=True), torch.tensor([0, 7, -100, 149, 64, 2])
    interpreted_results = []
    for _ in range(2):
        loss = entropy_regularized_cross_entropy(z, y, lam=8.0, penalty=Renyi(2.0))
        interpreted_results.append([*loss[:3], *torch.autograd.grad(loss.objective, z)])
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    for a, b in zip(*interpreted_results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_a_position_without_a_softmax_is_refused_there_too(on_kernels):
    z = torch.randn(N, V)
    z[4, 90] = math.nan
    with pytest.raises(DivergedError, match=r"^the logits of position 4 .* largest is nan"):
        entropy_regularized_cross_entropy(z, torch.arange(N), lam=1.0)


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
