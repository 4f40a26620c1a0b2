"""The Triton kernel, interpreted on the CPU: no further from float64 than PyTorch in float32 is."""

import math
import os
import re
import sys
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from toys.selection import others_slow

from erce.loss import (
    DFT,
    CrossEntropy,
    LabelSmoothing,
    Penalty,
    Renyi,
    SupportSize,
)
from erce.loss.matmul import second_half
from erce.loss.request import Loss, Request
from erce.loss.row_passes import make_row_terms, score_tile
from erce.loss.scored_rows import ScoredRows

ORDERS = (0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 5.0, math.inf)
PENALTIES = [*map(Renyi, ORDERS), SupportSize(0.5)]
QUICK = others_slow(PENALTIES, [Renyi(order) for order in (0.5, 0.999, 1.0, 2.0, math.inf)].__contains__)
FEW, FEW_OF_LARGE_LOGITS = 1e-6, 5e-6  # relative: some roundings in float32; of logits near 20 as well
FIELDS = (*Loss._fields, "top")


class Results(NamedTuple):
    columns: dict[str, Tensor]  # (rows,) each
    gradient: Tensor  # (rows, v)


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


def rows_of(y: Tensor) -> ScoredRows:
    return ScoredRows(slice(0, len(y)), y, torch.linspace(0.3, 2, len(y), device=y.device))


def request(penalty: Penalty, **settings) -> Request:
    settings = {"base_loss": LabelSmoothing(0.1)} | settings
    return Request(torch.zeros(1), 8.0, penalty, **settings)


def by_torch(
    tile: Tensor, y: Tensor, asked: Request, bias: Tensor | None = None, dtype: torch.dtype = torch.float32
) -> Results:
    """By PyTorch's passes, which other tests hold to their definitions."""
    z, rows = tile.to(dtype, copy=True), rows_of(y)
    rows, bias = rows._replace(weights=rows.weights.to(dtype)), None if bias is None else bias.to(dtype)
    loss, top = score_tile(z, rows, asked._replace(impl="torch"), bias, make_row_terms(bias, asked), z)
    return Results({**loss._asdict(), "top": top}, z)


def by_kernel(
    kernels, tile: Tensor, y: Tensor, asked: Request, bias: Tensor | None = None, out: Tensor | None = None
) -> Results:
    columns = tile.new_full((len(FIELDS), len(tile)), 99.0)
    out = torch.empty_like(tile) if out is None else out
    kernels.score(tile, rows_of(y), asked, bias, out, columns)
    return Results({**Loss(*columns[:-1])._asdict(), "top": columns[-1]}, out)


def assert_near(ours: Tensor, rival: Tensor, exact: Tensor, name: str, few: float) -> None:
    """Of each row: twice the rival's largest error and a few roundings of the largest number."""
    ours, rival, exact = (x.double().reshape(len(x), -1) for x in (ours, rival, exact))
    assert torch.equal(ours.isfinite(), exact.isfinite()), (name, ours, exact)
    ours, rival, exact = (x.nan_to_num(0, 0, 0) for x in (ours, rival, exact))
    allowed = 2 * (rival - exact).abs().amax(-1) + few * exact.abs().amax(-1) + 1e-42
    assert ((ours - exact).abs().amax(-1) <= allowed).all(), (name, ours, rival, exact)


def assert_right(
    kernels, tile: Tensor, y: Tensor, asked: Request, bias: Tensor | None = None, few: float = FEW
) -> None:
    ours = by_kernel(kernels, tile, y, asked, bias)
    near, exact = (by_torch(tile, y, asked, bias, dtype) for dtype in (torch.float32, torch.float64))
    for name in FIELDS:
        assert_near(ours.columns[name], near.columns[name], exact.columns[name], name, few)
    assert_near(ours.gradient, near.gradient, exact.gradient, "gradient", few)


@pytest.fixture
def kernels(kernels, monkeypatch):
    """With an e^u that is rounded once; a card's, 2^(u log₂ e), is off by 6e-8 |u|."""

    def exact(x):
        return kernels.tl.exp(x)  # which the interpreter replaces while a kernel runs

    monkeypatch.setattr(kernels, "_exp", exact)
    return kernels


@pytest.mark.parametrize("v", [1, pytest.param(5, marks=pytest.mark.slow), 130])
@pytest.mark.parametrize("penalty", QUICK, ids=str)
def test_losses_and_gradient_are_no_further_from_float64_than_pytorchs(kernels, penalty, v):
    assert_right(kernels, *hard_rows(v), request(penalty))


TRANSFORMS = {
    "scale": ({"logit_scale": 0.0625, "temperature": 0.77}, None),
    "bias": ({"logit_scale": 1.5}, torch.linspace(-3, 3, 130).bfloat16()),
    "mask": ({}, torch.zeros(130).index_fill(0, torch.arange(40), -math.inf)),
    "cap": ({"softcap": 15.0, "logit_scale": 0.7, "temperature": 0.8}, None),
    "cap, bias": ({"softcap": 0.5}, torch.linspace(-1, 1, 130, dtype=torch.float64)),
}


def few_rows(v: int = 130) -> tuple[Tensor, Tensor]:
    return hard_rows(v)[0][[1, 3, 6, 8]], torch.tensor([60, 65, v - 1, 7]).clamp(max=v - 1)


@pytest.mark.parametrize("order", others_slow([0.5, 1.0, 2.0], (0.5).__eq__))
@pytest.mark.parametrize(("settings", "bias"), TRANSFORMS.values(), ids=TRANSFORMS)
def test_bias_scale_and_cap_are_applied_in_passing(kernels, settings, bias, order):
    assert_right(kernels, *few_rows(), request(Renyi(order), **settings), bias, FEW_OF_LARGE_LOGITS)


def test_without_smoothing_the_objective_is_the_cross_entropy(kernels):
    assert_right(kernels, *hard_rows(70), request(Renyi(1.0), base_loss=CrossEntropy()))


@pytest.mark.parametrize("cap", [None, 20.0])
@pytest.mark.parametrize("column", [0, 70, 129])
def test_a_row_that_is_no_distribution_shows_in_its_top_and_its_losses(kernels, column, cap):
    tile, y = torch.randn(6, 130), torch.tensor([5, 70, 5, 5, 5, 70])
    tile[0, column] = tile[1, column] = tile[4, column] = math.nan
    tile[2, column] = tile[4, 128] = tile[5, column] = math.inf
    asked = request(Renyi(1.0), softcap=cap, base_loss=CrossEntropy())
    columns, gradient = by_kernel(kernels, tile, y, asked)
    assert columns["top"][[0, 1, 4]].isnan().all()
    assert (columns["top"][[2, 5]] == math.inf).all()
    for name in ("objective", "nll", "entropy"):
        assert columns[name][[0, 1, 2, 4, 5]].isnan().all(), name
    assert gradient[[0, 1, 2, 4, 5]].isnan().any(-1).all()
    alone = by_kernel(kernels, tile[3:4], y[3:4], asked).columns
    assert columns["nll"][3] == alone["nll"]
    assert columns["top"][3] == alone["top"]


@pytest.mark.parametrize("v", [1, 63, 64, 65, 128, 130, 257])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_gradient_may_lie_in_the_memory_of_its_row(kernels, dtype, v):
    """Of which no byte is written before it was read, and no byte of another row."""
    (tile, y), asked = few_rows(v), request(Renyi(0.5), base_loss=CrossEntropy())
    kept = tile.clone()
    apart = by_kernel(kernels, tile, y, asked, out=torch.empty(4, v, dtype=dtype))
    assert torch.equal(tile, kept)
    memory = torch.full((6, 272), 99.0)
    room = memory[1:5, :v].copy_(tile)
    within = by_kernel(kernels, room, y, asked, out=second_half(room, dtype))
    assert torch.equal(within.gradient, apart.gradient)
    for name in ("objective", "top"):
        assert torch.equal(within.columns[name], apart.columns[name])
    if dtype == torch.bfloat16:  # cut off by the interpreter
        near = by_torch(kept, y, asked).gradient
        torch.testing.assert_close(within.gradient.float(), near, rtol=2**-7, atol=1e-6)
    assert (memory[[0, 5]] == 99).all()
    if dtype == torch.float32:
        assert (memory[:, v:] == 99).all()


def test_without_a_gradient_the_tile_is_kept(kernels):
    (tile, y), asked = few_rows(), request(Renyi(2.0))
    columns, kept = tile.new_empty(len(FIELDS), 4), tile.clone()
    kernels.score(tile, rows_of(y), asked, None, None, columns)
    assert torch.equal(tile, kept)
    wanted = by_kernel(kernels, tile, y, asked).columns
    for name, values in zip(FIELDS[:-1], columns, strict=False):
        assert torch.equal(values, wanted[name])


def test_a_given_base_loss_takes_the_place_of_its_own(kernels):
    (tile, y), asked = few_rows(), request(Renyi(1.0), base_loss=DFT())
    near, given = by_torch(tile, y, asked), torch.empty(2, 4)
    columns, out = tile.new_empty(5, 4), torch.empty_like(tile)
    given[0], given[1] = DFT().value_and_slope(near.columns["nll"], None)
    kernels.score(tile, rows_of(y), asked, None, out, columns, given)
    torch.testing.assert_close(columns[0], near.columns["objective"])
    torch.testing.assert_close(out, near.gradient)


def test_without_triton_the_module_is_there_and_says_so(load_again, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    assert load_again("erce.loss.triton_kernels").AVAILABLE is False


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="everything is interpreted")
@pytest.mark.slow
def test_the_kernel_compiles_for_a_card_that_is_not_there(tmp_path, monkeypatch):
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from erce.loss import triton_kernels

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    fn = triton_kernels._score
    types = {
        **dict.fromkeys(("columns", "tile", "weights", "given"), "*fp32"),
        **dict.fromkeys(("out", "bias"), "*bf16"),
        # What torch.compile makes of floats.
        **dict.fromkeys(("lam", "order", "k", "epsilon", "slope", "inner", "outer"), "fp64"),
        "targets": "*i64",
    }
    for form in range(4):
        constants = {
            **dict.fromkeys(("capped", "smoothing", "gradient", "exponential"), True),
            **{"form": form, "block": triton_kernels.BLOCK},
        }
        signature = {arg: "constexpr" if arg in constants else types.get(arg, "i32") for arg in fn.arg_names}
        source = ASTSource(fn, signature, constexprs=constants)
        options = {"num_warps": triton_kernels.WARPS}
        ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]
        assert not re.search(r"(add|mul|fma|div|ex2)\S*\.f64", ptx)
        for instruction in ("max.NaN.f32", "cvt.rn.bf16"):  # not the interpreter's
            assert instruction in ptx
        *_, before_store = ptx[: ptx.rindex("st.global")].split("ld.global")
        assert "bar.sync" in before_store  # between the last loads of logits and the store of their gradient


@pytest.mark.gpu
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_compiled_at_full_size_it_is_no_further_from_float64_than_pytorchs(penalty):
    from erce.loss import triton_kernels

    rows, v = 256, 151_936
    tile = 3 * torch.randn(rows, v, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    y = torch.arange(rows, device="cuda") * 148
    tile[torch.arange(0, rows, 2), y[::2]] += 25
    tile[::3, 5000:9000] = -math.inf
    assert_right(triton_kernels, tile, y, request(penalty))


@pytest.mark.gpu
@pytest.mark.parametrize("v", [5, 2048, 50_257, 151_936])
def test_compiled_the_gradient_may_lie_in_the_memory_of_its_row(v):
    """By many warps at a time, again and again: a store that does not wait for a load would show."""
    from erce.loss import triton_kernels

    stride = -(-v // 16) * 16
    memory = 3 * torch.randn(1024, stride, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    tile, y, asked = memory[:, :v], torch.arange(1024, device="cuda") % v, request(Renyi(1.0))
    apart = torch.empty(1024, v, dtype=torch.bfloat16, device="cuda")
    by_kernel(triton_kernels, tile, y, asked, out=apart)
    for _ in range(20):
        room = memory.clone()[:, :v]
        within = by_kernel(triton_kernels, room, y, asked, out=second_half(room, torch.bfloat16))
        assert torch.equal(within.gradient, apart)


@pytest.mark.gpu
def test_compiled_rows_may_lie_more_than_two_billion_elements_apart():
    from erce.loss import triton_kernels

    stride = 2**30 + 8
    tile = torch.empty(2 * stride + 1000, device="cuda").as_strided((3, 1000), (stride, 1))
    near = tile.copy_(torch.randn(3, 1000)).contiguous()
    y, asked = torch.tensor([1, 2, 3], device="cuda"), request(Renyi(1.0))
    far_results, near_results = (by_kernel(triton_kernels, x, y, asked, out=x) for x in (tile, near))
    assert torch.equal(tile, near)
    assert torch.equal(far_results.columns["objective"], near_results.columns["objective"])
