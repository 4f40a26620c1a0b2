"""A CUDA device → which fast paths the loss takes there: those that a small case has shown to be right.

Before its first use in a process, each variant of the Triton kernels, and each half-precision dtype of the
matmuls into float32, computes a small case that plain PyTorch computes as well. Where the fast path fails or
differs too much, plain PyTorch takes its place for the process, with one warning. Every process decides for
itself, as all paths compute the same.
"""

import functools
import math
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError

if TYPE_CHECKING:
    from erce.loss.request import Request

IMPLS = ("auto", "torch", "triton")
VARIABLE = "ERCE_KERNELS"
# Of a row's largest value, and of a norm. Float32 sums leave 1e-6; a gradient rounded to bfloat16 2e-3.
KERNEL_BUDGET, MATMUL_BUDGET = 1e-4, 1e-2
DRIVER = Path("/proc/driver/nvidia/version")


class Finding(NamedTuple):
    """Whether a fast path is taken on a device, and the sentence that says why."""

    is_right: bool
    text: str


class Variant(NamedTuple):
    """A variant of the kernels, as Triton compiles it; one variant serves all orders on one side of 1."""

    order: float = 1.0  # 1; 2 for all above; 0.5 for all below; inf
    exponential: bool = False
    capped: bool = False
    smoothing: bool = False
    diagnose: bool = False
    split: bool = False  # whether several programs share a row


def kernels_run_on(tile: Tensor, request: "Request") -> bool:
    """Return whether the Triton kernels take the tile: on a CUDA device, in Triton's interpreter anywhere."""
    chosen = _chosen(request.impl)
    if chosen == "torch":
        return False
    runs_here = tile.is_cuda or os.environ.get("TRITON_INTERPRET") == "1"
    if runs_here:
        from erce.loss import triton_kernels

        runs_here = triton_kernels.AVAILABLE
        if runs_here and chosen == "auto":
            split = triton_kernels.layout(tile)[2] > 1
            return examine_kernels(tile.device, _variant(request, split=split)).is_right
    if not runs_here and chosen == "triton" and (tile.is_cuda or request.impl == "triton"):
        raise InputError("impl='triton' needs a CUDA device and Triton; impl='torch' runs everywhere")
    return runs_here and chosen == "triton"


def _variant(request: "Request", *, split: bool) -> Variant:
    """Return the variant that computes a request, with the order that stands for its own in a check."""
    order = request.order
    assert order is not None
    if order != 1 and not math.isinf(order):
        order = 2.0 if order > 1 else 0.5
    capped = request.cap is not None
    return Variant(order, request.exponential, capped, request.has_label_smoothing, request.diagnose, split)


def mixed_matmuls_run_on(device: torch.device, dtype: torch.dtype, impl: str) -> bool:
    """Return whether a device multiplies operands of this half-precision dtype into float32."""
    chosen = _chosen(impl)
    if device.type != "cuda" or "dtype_out" not in torch.ops.aten.mm.overloads() or chosen == "torch":
        return False
    return chosen == "triton" or examine_matmuls(device, dtype).is_right


def _chosen(impl: str) -> str:
    """Return `impl`, or for "auto" what the environment says, where it says something."""
    chosen = (os.environ.get(VARIABLE) or "auto") if impl == "auto" else impl
    if chosen not in IMPLS:
        raise InputError(f"{VARIABLE} must be 'torch' or 'triton', got {chosen!r}; unset, a check decides")
    return chosen


@functools.cache
def examine_kernels(device: torch.device, variant: Variant) -> Finding:
    """Try a variant of the Triton kernels; once per process, device and variant."""
    flags = [name for name, value in variant._asdict().items() if value is True]
    name = f"the Triton kernels for {', '.join([f'order {variant.order:g}', *flags])}"
    return _examined(name, device, KERNEL_BUDGET, lambda: _kernels_difference(device, variant))


@functools.cache
def examine_matmuls(device: torch.device, dtype: torch.dtype) -> Finding:
    """Try the matmuls of a half-precision dtype into float32; once per process, device and dtype."""
    name = f"the matmuls of {str(dtype).removeprefix('torch.')} into float32"
    return _examined(name, device, MATMUL_BUDGET, lambda: _matmuls_difference(device, dtype))


def doctor_lines(device: torch.device | None) -> list[str]:
    """Return what the checks say of a CUDA device, or of a machine that has none."""
    by_hand = os.environ.get(VARIABLE)
    lines = [f"{VARIABLE}={_chosen('auto')} chooses by hand"] if by_hand else []
    if device is None:
        return [*lines, "no CUDA device: the loss runs in plain PyTorch"]
    from erce.loss import triton_kernels

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the lines say the same
        found = [examine_matmuls(device, dtype).text for dtype in (torch.bfloat16, torch.float16)]
        if not triton_kernels.AVAILABLE:
            return [*lines, "triton is not installed", *found]
        variants = [*map(Variant, (1.0, 0.5, 2.0, math.inf)), Variant(split=True)]
        kernels = [examine_kernels(device, variant).text for variant in variants]
    return [*lines, *kernels, *found]


def _examined(name: str, device: torch.device, budget: float, difference: Callable[[], float]) -> Finding:
    on_card, is_right = device.type == "cuda", False
    mode = torch.cuda.get_sync_debug_mode() if on_card else 0
    try:
        if on_card:
            torch.cuda.set_sync_debug_mode("default")  # the check may wait
        with torch.autocast(device.type, enabled=False):
            off = difference()
        is_right = off <= budget  # NaN is not
        text = f"differ from plain PyTorch by {off:.1e}, where {budget:g} is allowed"
    except torch.OutOfMemoryError:
        raise  # which says nothing about the path; the next call tries again
    except Exception as error:  # whatever keeps a kernel from compiling or running on this card
        text = f"fail with {type(error).__name__}: {' '.join(str(error).split()):.200}"
    finally:
        if on_card:
            torch.cuda.set_sync_debug_mode(mode)
    text = f"{name} on {_where(device)} {text}"
    if not is_right:
        text += f"; plain PyTorch takes their place in this process ({VARIABLE} chooses without this check)"
        warnings.warn(text, stacklevel=2)
    return Finding(is_right, text)


def _where(device: torch.device) -> str:
    """Return the card's name and the versions that a kernel depends on."""
    from erce.loss.triton_kernels import AVAILABLE, triton

    card = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    driver = re.search(r"\d+\.[\d.]+", DRIVER.read_text()) if DRIVER.exists() else None
    versions = torch.__version__, triton.__version__ if AVAILABLE else "absent", driver[0] if driver else "?"
    return "{} (torch {}, triton {}, driver {})".format(card, *versions)


def _kernels_difference(device: torch.device, variant: Variant) -> float:
    """Return the largest difference of losses and gradients, relative to each row's largest."""
    from erce.loss.objectives import CROSS_ENTROPY, LabelSmoothing
    from erce.loss.penalties import Renyi, Shannon, SupportSize
    from erce.loss.request import Request
    from erce.loss.row_passes import make_row_terms, score_tile
    from erce.loss.scored_rows import Rows
    from erce.loss.triton_kernels import LEAST_BLOCKS, MEASURE_BLOCK

    renyi = Shannon() if variant.order == 1 else Renyi(variant.order)
    penalty = SupportSize(variant.order) if variant.exponential else renyi
    objective = LabelSmoothing(0.1) if variant.smoothing else CROSS_ENTROPY
    # Some blocks and 37 columns that fill none; enough to split each row over programs, or not.
    v = 2 * (LEAST_BLOCKS - (not variant.split)) * MEASURE_BLOCK + 37
    both = []
    for impl in ("triton", "torch"):
        tile, targets = _hard_rows(v, device)
        softcap = 30.0 if variant.capped else None
        request = Request(
            targets, 2.0, penalty, objective, diagnose=variant.diagnose, softcap=softcap, impl=impl
        )
        rows = Rows(slice(0, len(tile)), targets, 2.0, None)
        loss, top = score_tile(tile, rows, request, None, make_row_terms(None, request), tile)
        both.append([*loss.computed, top, tile])
    differences = []
    for fast, plain in zip(*both, strict=True):
        size = plain.abs().reshape(len(plain), -1).amax(-1, keepdim=True).clamp(min=1e-6)
        off = (fast - plain).abs().masked_fill(fast == plain, 0).reshape(len(plain), -1)
        differences.append((off / size).max())
    return float(torch.stack(differences).max())


def _hard_rows(v: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return a tile (8, v) of logits, with NaN beside it in memory, and its targets; no random numbers."""
    tile = torch.full((8, math.ceil(v / 16) * 16), math.nan, dtype=torch.float32, device=device)[:, :v]
    tile.copy_(_numbers((8, v), device) * 4)
    step = v // 8
    tile[1, step] += 25
    tile[2, 1::3] = -math.inf
    tile[3] = 2.5
    tile[4] += 1e4
    tile[5, 5 * step] = -math.inf  # a target's
    return tile, torch.arange(8, device=device) * step


def _numbers(shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Return numbers in [−1, 1] without a pattern."""
    counts = torch.arange(math.prod(shape), dtype=torch.float32, device=device)
    return counts.square().mul(0.37).sin().reshape(shape)


def _matmuls_difference(device: torch.device, dtype: torch.dtype) -> float:
    """Return the largest difference of a product, relative to its norm."""
    from erce.loss.matmul import Matmuls, MixedPrecision

    shapes = [((40, 72), (203, 72)), ((40, 8), (203, 8))]
    factors = [(_numbers(x, device).to(dtype), _numbers(w, device).to(dtype)) for x, w in shapes]
    both = []
    for matmuls in (MixedPrecision(torch.float32, dtype), Matmuls(torch.float32)):
        logits, gradient = matmuls.logits(factors)
        gradient.copy_(logits)
        x, weight = factors[0]
        d_rows, summed = (torch.ones(y.shape, dtype=torch.float32, device=device) for y in (x, weight))
        matmuls.d_rows_into(d_rows, gradient, weight)
        matmuls.add_d_weight(summed, gradient, x)
        scaled = matmuls.d_weight(gradient, x, torch.full((), 0.5, device=device))
        both.append([logits, d_rows, summed, scaled])
    differences = [(fast - plain).norm() / plain.norm() for fast, plain in zip(*both, strict=True)]
    return float(torch.stack(differences).max())
