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
from erce.loss.row_passes import Scratch, gradient_into, make_row_terms, sums_of
from erce.loss.row_statistics import Slopes, Sums

ORDERS = (0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, math.inf)
QUICK_ORDERS = others_slow(ORDERS, (0.5, 0.999, 1.0, 2.0, math.inf).__contains__)
FEW, FEW_OF_LARGE_LOGITS = 1e-6, 5e-6  # relative: some roundings in float32; of logits near 20 as well


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


def request(order: float, **settings) -> Request:
    settings = {"objective": LabelSmoothing(0.1), "diagnose": True} | settings
    return Request(torch.zeros(1), 1.0, Renyi(order), **settings)


def by_torch(
    tile: Tensor, y: Tensor, asked: Request, bias: Tensor | None, slopes: Slopes | None, dtype: torch.dtype
) -> tuple[Sums, Tensor]:
    """The sums and the gradient by PyTorch's passes, which other tests hold to their definitions."""
    scratch, z = Scratch(tile, dtype), tile.to(dtype, copy=True)
    scratch.rows, columns = len(z), y[:, None]
    terms = make_row_terms(None if bias is None else bias.to(dtype), asked)(z, slice(0), columns, scratch)
    sums, out = sums_of(terms, columns, asked), torch.empty_like(z)
    if slopes is not None:
        gradient_into(out, terms, columns, Slopes(*(x.to(dtype) for x in slopes)), asked)
    return sums, out


def slopes_for(shift: Tensor) -> Slopes:
    """Of about the sizes that λ = 8 gives."""
    generator = torch.Generator().manual_seed(0)
    plain, tilt, ratio, uniform, own = torch.rand(5, len(shift), generator=generator).to(shift.device)
    return Slopes(9 * plain, -8 * tilt, 4 * ratio, uniform / 50, -own, shift)


def assert_near(ours: Tensor, rival: Tensor, exact: Tensor, name: str, few: float) -> None:
    """Of each row: twice the rival's largest error and a few roundings of the largest number."""
    ours, rival, exact = (x.double().reshape(len(x), -1).nan_to_num(neginf=0) for x in (ours, rival, exact))
    allowed = 2 * (rival - exact).abs().amax(-1) + few * exact.abs().amax(-1) + 1e-42
    assert ((ours - exact).abs().amax(-1) <= allowed).all(), (name, ours, rival, exact)


def assert_both_passes(
    kernels, tile: Tensor, y: Tensor, asked: Request, bias: Tensor | None = None, few: float = FEW
) -> None:
    sums = kernels.measure(tile, y, asked, bias)
    slopes, ours = slopes_for(sums.shift), tile.clone()
    kernels.write_gradient(tile, y, slopes, asked, bias, ours)
    (near, near_gradient), (exact, gradient) = (
        by_torch(tile, y, asked, bias, slopes, dtype) for dtype in (torch.float32, torch.float64)
    )
    for name, x, z, true in zip(Sums._fields, sums, near, exact, strict=True):
        assert torch.equal(x.isneginf(), true.isneginf()), name
        assert_near(x, z, true, name, few)
    assert_near(ours, near_gradient, gradient, "gradient", few)


@pytest.fixture
def kernels(kernels, monkeypatch):
    """With an e^u that is rounded once; a card's, 2^(u log₂ e), is off by 6e-8 |u|."""

    def exact(x):
        return kernels.tl.exp(x)  # which the interpreter replaces while a kernel runs

    monkeypatch.setattr(kernels, "_exp", exact)
    return kernels


@pytest.mark.parametrize("v", [1, pytest.param(5, marks=pytest.mark.slow), 130])
@pytest.mark.parametrize("order", QUICK_ORDERS)
def test_both_passes_are_no_further_from_float64_than_pytorchs(kernels, order, v):
    assert_both_passes(kernels, *hard_rows(v), request(order))


TRANSFORMS = {
    "scale": ({"logit_scale": 0.0625, "temperature": 0.77}, None),
    "bias": ({"logit_scale": 1.5}, torch.linspace(-3, 3, 130).bfloat16()),
    "mask": ({}, torch.zeros(130).index_fill(0, torch.arange(40), -math.inf)),
    "cap": ({"softcap": 15.0, "logit_scale": 0.7, "temperature": 0.8}, None),
    "cap, bias": ({"softcap": 0.5}, torch.linspace(-1, 1, 130, dtype=torch.float64)),
}


def few_rows() -> tuple[Tensor, Tensor]:
    return hard_rows(130)[0][[1, 3, 6, 8]], torch.tensor([60, 65, 129, 7])


@pytest.mark.parametrize("order", others_slow([0.5, 1.0, 2.0], (0.5).__eq__))
@pytest.mark.parametrize(("settings", "bias"), TRANSFORMS.values(), ids=TRANSFORMS)
def test_bias_scale_and_cap_are_applied_in_passing(kernels, settings, bias, order):
    assert_both_passes(kernels, *few_rows(), request(order, **settings), bias, FEW_OF_LARGE_LOGITS)


@pytest.mark.parametrize("cap", [None, 20.0])
@pytest.mark.parametrize("column", [0, 70, 129])
def test_a_row_that_is_no_distribution_shows_in_its_top(kernels, column, cap):
    tile, y = torch.randn(6, 130), torch.tensor([5, 70, 5, 5, 5, 70])
    tile[0, column] = tile[1, column] = tile[4, column] = math.nan
    tile[2, column] = tile[4, 128] = tile[5, column] = math.inf
    top = kernels.measure(tile, y, request(1.0, softcap=cap), None).top
    assert top[[0, 1, 4]].isnan().all()
    assert (top[[2, 5]] == math.inf).all()
    assert top[3] == kernels.measure(tile[3:4], y[3:4], request(1.0, softcap=cap), None).top


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_gradient_is_rounded_once_and_written_nowhere_else(kernels, dtype):
    (tile, y), asked = few_rows(), request(0.5, objective=CrossEntropy())
    slopes, in_place, kept = slopes_for(tile.amax(-1)), tile.clone(), tile.clone()
    kernels.write_gradient(in_place, y, slopes, asked, None, in_place)
    wide = torch.full((4, 137), 99.0, dtype=dtype)
    kernels.write_gradient(tile, y, slopes, asked, None, wide[:, :130])
    if dtype is torch.bfloat16:  # cut off by the interpreter
        torch.testing.assert_close(wide[:, :130].float(), in_place, rtol=2**-7, atol=0)
    else:
        assert torch.equal(wide[:, :130], in_place.to(dtype))
    assert (wide[:, 130:] == 99).all()
    assert torch.equal(tile, kept)


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
    from erce.loss import triton_kernels

    rows, v = 256, 151_936
    tile = 3 * torch.randn(rows, v, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    y = torch.arange(rows, device="cuda") * 148
    tile[torch.arange(0, rows, 2), y[::2]] += 25
    tile[::3, 5000:9000] = -math.inf
    assert_both_passes(triton_kernels, tile, y, request(order))


@pytest.mark.gpu
def test_compiled_rows_may_lie_more_than_two_billion_elements_apart():
    from erce.loss import triton_kernels

    stride = 2**30 + 8
    tile = torch.empty(2 * stride + 1000, device="cuda").as_strided((3, 1000), (stride, 1))
    near = tile.copy_(torch.randn(3, 1000)).contiguous()
    y, asked = torch.tensor([1, 2, 3], device="cuda"), request(1.0)
    far_sums, near_sums = (torch.stack([*triton_kernels.measure(x, y, asked, None)]) for x in (tile, near))
    assert torch.equal(far_sums, near_sums)
    for x in (tile, near):
        triton_kernels.write_gradient(x, y, slopes_for(near_sums[0]), asked, None, x)
    assert torch.equal(tile, near)
