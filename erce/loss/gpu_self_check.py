"""A CUDA device → whether its fast paths, a Triton kernel and matmuls into float32, are right, checked once.

Before its first use in a process each computes a small case that plain PyTorch computes as well: the kernel
once per variant that Triton compiles, the matmuls once per dtype. If it fails or differs too much, plain
PyTorch takes its place for the process, with one warning.
"""

import math
import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss.base_losses import CROSS_ENTROPY
from erce.loss.matmul import Matmuls, MixedPrecision, second_half
from erce.loss.penalties import Renyi
from erce.loss.request import IMPLS, Request
from erce.loss.row_passes import make_row_terms, score_tile
from erce.loss.scored_rows import ScoredRows

VARIABLE = "ERCE_KERNELS"
# Of a row's largest value: float32 sums leave 1e-6; a gradient rounded to half precision 4e-3.
LOSS_BUDGET, HALF_GRADIENT_BUDGET = 1e-4, 2e-2
ROWS, WIDTH = 8, 16


class Finding(NamedTuple):
    """Whether a device is right, and the sentence that says why."""

    is_right: bool
    text: str


_FINDINGS: dict[tuple, Finding] = {}  # by device and what is compiled there


def chosen_impl(request: Request, device: torch.device, dtype: torch.dtype, v: int) -> str:
    """Return whose passes score a call's logits, "triton" or "torch", after a check if it is the first.

    `dtype` is the operands'; Triton's interpreter, which the tests use, counts as a device.
    """
    chosen = _by_hand(request.impl)
    if chosen == "torch":
        return chosen
    from erce.loss.triton_kernels import AVAILABLE

    runs_here = AVAILABLE and (device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")
    if not runs_here and request.impl == "triton":
        raise InputError("impl='triton' needs a CUDA device and Triton; impl='torch' runs everywhere")
    if not runs_here or request.order is None or dtype == torch.float64:
        return "torch"
    return "triton" if chosen == "triton" or check(device, dtype, v, request).is_right else "torch"


def check(device: torch.device, dtype: torch.dtype, v: int, request: Request) -> Finding:
    """Check the kernel for operands of a dtype, v tokens and a request's settings; once per process."""
    from erce.loss.triton_kernels import flags

    key = (device, dtype, v, type(request.base_loss), *flags(request).values())
    if key not in _FINDINGS:
        kernel, differences = f"the Triton kernel for {request.penalty!r}", partial(_of_kernel, v, request)
        _FINDINGS[key] = _checked(kernel, device, dtype, differences)
    return _FINDINGS[key]


def multiplies_into_float32(device: torch.device, dtype: torch.dtype) -> bool:
    """Return whether a device multiplies half-precision operands into float32, and right."""
    if device.type != "cuda" or "dtype_out" not in torch.ops.aten.mm.overloads():
        return False
    return check_matmuls(device, dtype).is_right


def check_matmuls(device: torch.device, dtype: torch.dtype) -> Finding:
    """Check the matmuls of a half-precision dtype into float32; once per process."""
    if (device, dtype) not in _FINDINGS:
        _FINDINGS[device, dtype] = _checked("the matmuls into float32", device, dtype, _of_matmuls)
    return _FINDINGS[device, dtype]


def doctor_lines(device: torch.device | None) -> list[str]:
    """Return what the checks say of a CUDA device, or of a machine that has none."""
    by_hand = os.environ.get(VARIABLE)
    lines = [f"{VARIABLE}={_by_hand('auto')} chooses by hand"] if by_hand else []
    if device is None:
        return [*lines, "no CUDA device: the loss runs in plain PyTorch"]
    from erce.loss.triton_kernels import AVAILABLE, BLOCK

    if not AVAILABLE:
        lines.append("triton is not installed")
    v, nothing = 2 * BLOCK + 48, torch.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the lines say the same
        for order, dtype in ((1.0, torch.bfloat16), (0.5, torch.float16), (2.0, torch.float32)):
            if AVAILABLE:
                lines.append(check(device, dtype, v, Request(nothing, 0.0, Renyi(order), CROSS_ENTROPY)).text)
            if dtype != torch.float32:
                lines.append(check_matmuls(device, dtype).text)
    return lines


def _by_hand(impl: str) -> str:
    """Return `impl`; for "auto" the variable ERCE_KERNELS instead, if it is set."""
    chosen = (os.environ.get(VARIABLE) or "auto") if impl == "auto" else impl
    if chosen not in IMPLS:
        raise InputError(f"{VARIABLE} must be 'torch' or 'triton', got {chosen!r}; unset, a check decides")
    return chosen


def _checked(
    what: str,
    device: torch.device,
    dtype: torch.dtype,
    differences: Callable[[torch.device, torch.dtype], tuple[float, float]],
) -> Finding:
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    text = f"{what} and {str(dtype).removeprefix('torch.')} on {card}"
    try:
        with torch.autocast(device.type, enabled=False):
            of_loss, of_gradient = differences(device, dtype)
        gradient_budget = LOSS_BUDGET if dtype == torch.float32 else HALF_GRADIENT_BUDGET
        is_right = of_loss <= LOSS_BUDGET and of_gradient <= gradient_budget  # NaN is not
        text += f" differs from plain PyTorch by {of_loss:.1e}, and by {of_gradient:.1e} in the gradient"
    except Exception as error:  # whatever keeps a kernel from compiling or running on this card
        is_right = False
        text += f" fails with {type(error).__name__}: {' '.join(str(error).split()):.200}"
    if not is_right:
        text += f"; plain PyTorch takes its place in this process ({VARIABLE} chooses without this check)"
        warnings.warn(text, stacklevel=2)
    return Finding(is_right, text)


def _of_kernel(v: int, request: Request, device: torch.device, dtype: torch.dtype) -> tuple[float, float]:
    """Return by how much the kernel differs from PyTorch, in the losses of a small case and in the gradients.

    An extreme order or scale would amplify rounding, so the case has moderate ones.
    """
    order, penalty = request.order, request.penalty
    if order is not None and order not in {1, math.inf}:
        penalty = type(penalty).of_order(min(max(order, 0.5), 2.0))
    logits = 4 * _numbers((ROWS, v), device)
    logits[1] *= 8  # confident
    bias = torch.zeros(v, device=device)
    bias[2::3] = -math.inf
    rows = ScoredRows(
        slice(0, ROWS), torch.arange(ROWS, device=device) * (v // ROWS)
    )  # among them masked ones
    softcap = None if request.softcap is None else 30.0
    case = request._replace(lam=2.0, penalty=penalty, softcap=softcap, logit_scale=1.0, temperature=1.0)
    losses, gradients = [], []
    for impl in ("triton", "torch"):
        tile = logits.clone()
        out = second_half(tile, torch.bfloat16) if dtype == torch.bfloat16 else tile
        loss, _ = score_tile(tile, rows, case._replace(impl=impl), bias, make_row_terms(bias, case), out)
        losses.append(torch.stack(loss))
        gradients.append(out.float())
    return _difference(*losses), _difference(*gradients)


def _of_matmuls(device: torch.device, dtype: torch.dtype) -> tuple[float, float]:
    """Return by how much the matmuls into float32 differ from float32 ones: in logits, and in gradients."""
    hidden, weight = (_numbers((n, WIDTH), device).to(dtype) for n in (ROWS, 3 * ROWS))
    results = []
    for matmuls in (MixedPrecision(torch.float32, dtype), Matmuls(torch.float32)):
        logits, _ = matmuls.logits([(hidden, weight), (hidden, weight)])
        tile = logits.to(matmuls.gradient_dtype) if not results else logits.to(dtype).float()
        d_rows, d_weight = (torch.empty(x.shape, device=device) for x in (hidden, weight))
        matmuls.d_rows_into(d_rows, tile, weight)
        for beta in (0, 1):
            matmuls.add_d_weight(d_weight, tile, hidden, beta=beta)
        own = matmuls.d_weight(tile, hidden, torch.full((), 0.7, device=device)).float()
        results.append((logits, torch.cat([x.flatten() for x in (d_rows, d_weight, own)])))
    (logits, gradients), (plain_logits, plain_gradients) = results
    return _difference(logits, plain_logits), _difference(gradients, plain_gradients)


def _numbers(shape: tuple[int, int], device: torch.device) -> Tensor:
    """Return irregular numbers in [−1, 1]: the same on every call, and no random generator is used."""
    counts = torch.arange(math.prod(shape), dtype=torch.float32, device=device)
    return counts.square().mul(0.37).sin().reshape(shape)


def _difference(fast: Tensor, plain: Tensor) -> float:
    """Return the largest difference relative to the largest value; NaN if one alone is not finite."""
    off = (fast - plain).abs().masked_fill(fast == plain, 0)
    return float((off / plain[plain.isfinite()].abs().amax().clamp(min=1e-6)).max())
