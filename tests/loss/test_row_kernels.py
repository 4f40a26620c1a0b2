"""The Triton kernels, interpreted on the CPU: no further from float64 than PyTorch in float32 is."""

import math
import os
import re
import sys

import pytest
import torch
from torch import Tensor
from toys.selection import others_slow

from erce.loss import CrossEntropy, LabelSmoothing, Renyi
from erce.loss.request import Request
from erce.loss.row_statistics import Slopes

ORDERS = (0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, math.inf)
QUICK_ORDERS = others_slow(ORDERS, (0.5, 0.999, 1.0, 2.0, math.inf).__contains__)
SUMS = ("top", "target", "others", "box_cox", "powers", "squares", "total", "finite")
AS_IS = {"scale": 1.0, "softcap": 0.0, "inv_temperature": 1.0, "bias": None, "smoothing": True}
FEW = 2e-7  # relative: a few roundings in float32


def hard_rows(v: int) -> tuple[Tensor, Tensor]:
    """A tile (rows, v) whose rows are not adjacent, and its targets."""
    x = 3 * torch.randn(9, v + 3, generator=torch.Generator().manual_seed(v))
    normal, peaked, one_hot, ties, equal, high, masked, climbing, _ = x[:, :v]
    y = torch.tensor([v // 3, v // 4, v - 1, v // 2, 0, v // 5, v - 1, 0, v // 6])
    normal[v // 2] = -3e38  # what some models have for −inf
    peaked[y[1]] += 25
    one_hot[y[2]] = 90
    ties[[0, v // 2, v - 1]] = 9.5
    equal[:] = 2.5
    high += 1e4
    masked[: min(64, v // 2)] = -math.inf  # at v = 130 the whole first block
    masked[1:-1:3] = -math.inf
    climbing[:] = torch.linspace(-40, 40, v)
    return x[:, :v], y


def logits_of(tile: Tensor, settings: dict, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """And the slope of the soft cap."""
    x = tile.to(dtype) if settings["bias"] is None else tile.to(dtype) + settings["bias"].to(dtype)
    if cap := settings["softcap"]:
        x = settings["scale"] / cap * x
        return x.tanh() * (cap * settings["inv_temperature"]), x.cosh().square().reciprocal()
    return settings["scale"] * settings["inv_temperature"] * x, torch.ones_like(x)


def curve(u: Tensor, order: float) -> Tensor:
    k = abs(order - 1)
    return u if k == 0 else torch.expm1(k * u) / k


def defined_sums(z: Tensor, y: Tensor, order: float) -> dict[str, Tensor]:
    shift, live = z.amax(-1), z > -math.inf
    u = (z - shift[:, None]).masked_fill(~live, -1e30)
    others = u.exp().scatter(-1, y[:, None], 0).sum(-1)
    if order == math.inf:
        box_cox = (u == 0).sum(-1).to(z.dtype)
    else:
        box_cox = ((u if order >= 1 else order * u).exp() * curve(u, order)).sum(-1)
    return {
        "top": shift,
        "target": z.gather(-1, y[:, None])[:, 0],
        "others": others,
        "box_cox": box_cox,
        "powers": (order * u).exp().sum(-1) if 1 < order < math.inf else torch.zeros_like(shift),
        "squares": (2 * u).exp().sum(-1),
        "total": u.where(live, 0).sum(-1),
        "finite": live.sum(-1).to(z.dtype),
    }


def defined_gradient(
    z: Tensor, cap_slope: Tensor, y: Tensor, slopes: Slopes, order: float
) -> tuple[Tensor, Tensor]:
    """And the sizes of its terms, added up: what its error may be in proportion to."""
    plain, box_cox, ratio, uniform, own, shift = (x.to(z.dtype)[:, None] for x in slopes)
    live = z > -math.inf
    u = (z - shift).masked_fill(~live, -1e30)
    if order == math.inf:
        w, bend = (u == 0).to(z.dtype), torch.ones_like(u)
    else:
        w = (u if order >= 1 else order * u).exp()
        bend = u if order == 1 else torch.expm1(abs(order - 1) * (u + ratio))
    g = (u.exp() * plain + w * box_cox * bend - uniform) * cap_slope
    size = (u.exp() * plain.abs() + w * box_cox.abs() * bend.abs() + uniform.abs()) * cap_slope
    mine = torch.arange(z.shape[-1], device=z.device) == y[:, None]
    return g.masked_fill(~live, 0).where(~mine, own), size.masked_fill(~live, 0).where(~mine, 0)


def check(ours: Tensor, rival: Tensor, exact: Tensor, size: Tensor, few: Tensor) -> None:
    """Of each row: twice the rival's largest error and a few roundings, relative to `size`; and underflow."""
    theirs = ((rival.double() - exact).abs() / size.clamp(min=1e-300)).nan_to_num(0)
    budget = 2 * theirs.reshape(len(size), -1).amax(-1) + few
    excess = (ours.double() - exact).abs() - budget.reshape(-1, *[1] * (size.ndim - 1)) * size
    assert excess.max() <= 1e-42, (ours, rival, exact)


def few_roundings(z: Tensor, settings: dict) -> Tensor:
    """Relative to a sum of e^z, to which an error in z adds in full."""
    rounded = (
        1 if settings.items() >= AS_IS.items() else z.abs().masked_fill(z.isinf(), 0).amax(-1).clamp(min=1)
    )
    return FEW * rounded * torch.ones_like(z[:, 0])


def request(settings: dict) -> Request:
    return Request(
        torch.zeros(1),
        1.0,
        Renyi(settings["order"]),
        LabelSmoothing(0.1) if settings["smoothing"] else CrossEntropy(),
        logit_scale=settings["scale"],
        softcap=settings["softcap"] or None,
        temperature=1 / settings["inv_temperature"],
        diagnose=True,
    )


def measured(kernels, tile: Tensor, y: Tensor, settings: dict) -> tuple[Tensor, ...]:
    """In the order of `SUMS`."""
    return kernels.measure(tile, y, request(settings), settings["bias"])[1:]


def write(
    kernels, tile: Tensor, y: Tensor, slopes: Slopes, settings: dict, out: Tensor | None = None
) -> None:
    kernels.write_gradient(tile, y, slopes, request(settings), settings["bias"], tile if out is None else out)


def check_sums(sums: tuple[Tensor, ...], tile: Tensor, y: Tensor, settings: dict, more: float = 0) -> None:
    z, rounded = (logits_of(tile, settings, dtype)[0] for dtype in (torch.float64, torch.float32))
    exact, rival = (defined_sums(x, y, settings["order"]) for x in (z, rounded))
    for name, ours in zip(SUMS, sums, strict=True):
        assert torch.equal(ours.isneginf(), exact[name].isneginf()), name
        numbers = [x.nan_to_num(neginf=0) for x in (ours, rival[name], exact[name])]
        check(*numbers, numbers[2].abs(), few_roundings(z, settings) + more)


def check_gradient(
    ours: Tensor, tile: Tensor, y: Tensor, slopes: Slopes, settings: dict, more: float = 0
) -> None:
    z, cap_slope = logits_of(tile, settings, torch.float64)
    exact, size = defined_gradient(z, cap_slope, y, slopes, settings["order"])
    rival, _ = defined_gradient(*logits_of(tile, settings, torch.float32), y, slopes, settings["order"])
    check(ours, rival, exact, size, few_roundings(z, settings) + more)


def slopes_for(z: Tensor) -> Slopes:
    """Of about the sizes that λ = 8 gives."""
    plain, box_cox, ratio, uniform, own = torch.rand(5, len(z), generator=torch.Generator().manual_seed(0))
    shift = z.amax(-1).float()
    return Slopes(
        plain=9 * plain, box_cox=-8 * box_cox, ratio=4 * ratio, uniform=uniform / 50, own=-own, shift=shift
    )


@pytest.fixture
def kernels(kernels, monkeypatch):
    """With an e^u that is rounded once; a card's, 2^(u log₂ e), is off by 6e-8 |u|."""

    def exact(x):
        return kernels.tl.exp(x)  # which the interpreter replaces while a kernel runs

    monkeypatch.setattr(kernels, "_exp", exact)
    return kernels


@pytest.mark.parametrize("v", [1, pytest.param(5, marks=pytest.mark.slow), 130])
@pytest.mark.parametrize("order", QUICK_ORDERS)
def test_the_sums_are_no_further_from_float64_than_pytorchs(kernels, order, v):
    (tile, y), settings = hard_rows(v), {**AS_IS, "order": order}
    check_sums(measured(kernels, tile, y, settings), tile, y, settings)


@pytest.mark.parametrize("v", [1, pytest.param(5, marks=pytest.mark.slow), 130])
@pytest.mark.parametrize("order", QUICK_ORDERS)
def test_the_gradient_is_no_further_from_float64_than_pytorchs(kernels, order, v):
    (tile, y), settings = hard_rows(v), {**AS_IS, "order": order}
    slopes, ours = slopes_for(tile), tile.clone()
    write(kernels, ours, y, slopes, settings)
    check_gradient(ours, tile, y, slopes, settings)


TRANSFORMS = {
    "scale": {**AS_IS, "scale": 0.0625, "inv_temperature": 1.3},
    "bias": {**AS_IS, "bias": torch.linspace(-3, 3, 130).bfloat16(), "scale": 1.5},
    "mask": {**AS_IS, "bias": torch.zeros(130).index_fill(0, torch.arange(40), -math.inf)},
    "cap": {**AS_IS, "softcap": 15.0, "scale": 0.7, "inv_temperature": 1.25},
    "cap, bias": {**AS_IS, "softcap": 0.5, "bias": torch.linspace(-1, 1, 130, dtype=torch.float64)},
}


def few_rows() -> tuple[Tensor, Tensor]:
    return hard_rows(130)[0][[1, 3, 6, 8]], torch.tensor([60, 65, 129, 7])


@pytest.mark.parametrize("order", others_slow([0.5, 1.0, 2.0], (0.5).__eq__))
@pytest.mark.parametrize("settings", TRANSFORMS.values(), ids=TRANSFORMS)
def test_bias_scale_and_cap_are_applied_in_passing(kernels, settings, order):
    (tile, y), settings = few_rows(), {**settings, "order": order}
    check_sums(measured(kernels, tile, y, settings), tile, y, settings)
    slopes, ours = slopes_for(logits_of(tile, settings, torch.float32)[0]), tile.clone()
    write(kernels, ours, y, slopes, settings)
    check_gradient(ours, tile, y, slopes, settings)


@pytest.mark.parametrize("cap", [0.0, 20.0])
@pytest.mark.parametrize("column", [0, 70, 129])
def test_a_row_that_is_no_distribution_shows_in_its_shift(kernels, column, cap):
    tile, y = torch.randn(6, 130), torch.tensor([5, 70, 5, 5, 5, 70])
    tile[0, column] = tile[1, column] = tile[4, column] = math.nan
    tile[2, column] = tile[4, 128] = tile[5, column] = math.inf
    settings = {**AS_IS, "softcap": cap, "order": 1.0}
    shift = measured(kernels, tile, y, settings)[0]
    assert shift[[0, 1, 4]].isnan().all()
    assert (shift[[2, 5]] == math.inf).all()
    assert shift[3] == measured(kernels, tile[3:4], y[3:4], settings)[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_gradient_is_rounded_once_and_written_nowhere_else(kernels, dtype):
    tile, y = few_rows()
    slopes, settings = slopes_for(tile), {**AS_IS, "order": 0.5, "smoothing": False}
    in_place, kept = tile.clone(), tile.clone()
    write(kernels, in_place, y, slopes, settings)
    wide = torch.full((4, 137), 99.0, dtype=dtype)
    write(kernels, tile, y, slopes, settings, out=wide[:, :130])
    if dtype is torch.bfloat16:  # cut off by the interpreter
        torch.testing.assert_close(wide[:, :130].float(), in_place, rtol=2**-7, atol=0)
    else:
        assert torch.equal(wide[:, :130], in_place.to(dtype))
    assert (wide[:, 130:] == 99).all()
    assert torch.equal(tile, kept)
    without = slopes._replace(uniform=slopes.uniform * math.nan)
    write(kernels, tile, y, without, settings)
    assert torch.equal(tile, in_place)


def test_without_triton_the_module_is_there_and_says_so(load_again, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    assert load_again("erce.loss.triton_kernels").AVAILABLE is False


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="everything is interpreted")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["_measure", "_write"])
def test_the_kernels_compile_for_a_card_that_is_not_there(name, tmp_path, monkeypatch):
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from erce.loss import triton_kernels

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    fn = getattr(triton_kernels, name)
    types = {
        **dict.fromkeys(("sums", "tile", *Slopes._fields, "top"), "*fp32"),
        **dict.fromkeys(("out", "bias"), "*bf16"),
        **dict.fromkeys(("order", "k", "inner", "outer"), "fp64"),  # what torch.compile makes of floats
        "targets": "*i64",
    }
    constants = {**dict.fromkeys(("capped", "smoothing", "diagnose"), True), "block": 2048}
    constants = {arg: value for arg, value in constants.items() if arg in fn.arg_names}
    signature = {
        arg: "constexpr" if arg in {"form", *constants} else types.get(arg, "i32") for arg in fn.arg_names
    }
    for form in range(4):
        source = ASTSource(fn, signature, constexprs={"form": form, **constants})
        ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        assert not re.search(r"(add|mul|fma|div|ex2)\S*\.f64", ptx)
        assert {"_measure": "max.NaN.f32", "_write": "cvt.rn.bf16"}[name] in ptx  # not the interpreter's


@pytest.mark.gpu
@pytest.mark.parametrize("order", ORDERS)
def test_compiled_at_full_size_they_are_no_further_from_float64_than_pytorchs(order):
    from erce.loss import triton_kernels as kernels

    rows, v, more = 1024, 151_936, 3e-6  # a card's own e^u is off by some 6e-8 |u|
    tile = 3 * torch.randn(rows, v, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    y = torch.arange(rows, device="cuda") * 148
    tile[torch.arange(0, rows, 2), y[::2]] += 25
    tile[::3, 5000:9000] = -math.inf
    slopes, settings = Slopes(*(x.cuda() for x in slopes_for(tile.cpu()))), {**AS_IS, "order": order}
    sums = measured(kernels, tile, y, settings)
    rounded, ours = torch.empty_like(tile, dtype=torch.bfloat16), tile.clone()
    write(kernels, tile, y, slopes, settings, out=rounded)
    write(kernels, ours, y, slopes, settings)
    assert torch.equal(rounded, ours.bfloat16())
    for part in (slice(start, start + 64) for start in range(0, rows, 64)):
        check_sums(tuple(x[part] for x in sums), tile[part], y[part], settings, more)
        check_gradient(ours[part], tile[part], y[part], Slopes(*(x[part] for x in slopes)), settings, more)


@pytest.mark.gpu
def test_compiled_rows_may_lie_more_than_two_billion_elements_apart():
    from erce.loss import triton_kernels as kernels

    stride = 2**30 + 8
    tile = torch.empty(2 * stride + 1000, device="cuda").as_strided((3, 1000), (stride, 1))
    near = tile.copy_(torch.randn(3, 1000)).contiguous()
    y, settings = torch.tensor([1, 2, 3], device="cuda"), {**AS_IS, "order": 1.0}
    slopes = Slopes(*(x.cuda() for x in slopes_for(near.cpu())))
    far_sums, near_sums = (torch.stack(measured(kernels, x, y, settings)) for x in (tile, near))
    assert torch.equal(far_sums, near_sums)
    for x in (tile, near):
        write(kernels, x, y, slopes, settings)
    assert torch.equal(tile, near)
