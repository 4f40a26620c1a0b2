"""A CUDA device → whether its fast paths, Triton kernels and matmuls into float32, are right, checked once.

Before their first use in a process they compute a small case that plain PyTorch computes as well: once per
dtype and per variant that Triton compiles. If they fail or differ too much, plain PyTorch takes their place
for the process, with one warning.
"""

import math
import os
import warnings
from typing import NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss.objectives import CROSS_ENTROPY
from erce.loss.penalties import Renyi
from erce.loss.request import IMPLS, Request

VARIABLE = "ERCE_KERNELS"
# Of a row's largest value: float32 sums leave 1e-6; a gradient rounded to half precision 4e-3.
LOSS_BUDGET, HALF_GRADIENT_BUDGET = 1e-4, 2e-2
ROWS, WIDTH = 8, 16
TRIED = "tried"  # the impl of a check's own case: without Triton it has the matmuls alone


class Finding(NamedTuple):
    """Whether a device is right, and the sentence that says why."""

    is_right: bool
    text: str


_FINDINGS: dict[tuple, Finding] = {}  # by device and what is compiled there


def chosen_impl(request: Request, device: torch.device, dtype: torch.dtype, v: int) -> str:
    """Return "triton" or "torch" for a call whose operands have this dtype, after a check if it is the first.

    "triton" means the matmuls as well; Triton's interpreter, which the tests use, counts as a device.
    """
    if request.impl == TRIED:
        return "triton"
    chosen = _by_hand(request.impl)
    if chosen == "torch":
        return chosen
    runs_here = device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
    if not runs_here and request.impl != "triton":
        return "torch"
    if chosen == "auto":
        return "triton" if dtype != torch.float64 and check(device, dtype, v, request).is_right else "torch"
    from erce.loss.triton_kernels import AVAILABLE

    if not (runs_here and AVAILABLE):
        raise InputError("impl='triton' needs a CUDA device and Triton; impl='torch' runs everywhere")
    return chosen


def check(device: torch.device, dtype: torch.dtype, v: int, request: Request) -> Finding:
    """Check the fast paths for operands of a dtype, v tokens and a request's settings; once per process."""
    from erce.loss.triton_kernels import flags

    kernels = None if request.order is None else tuple(flags(request).values())
    compiled_for = (device, dtype, v, kernels, request.diagnose)
    if compiled_for not in _FINDINGS:
        _FINDINGS[compiled_for] = _checked(device, dtype, v, request)
    return _FINDINGS[compiled_for]


def doctor_lines(device: torch.device | None) -> list[str]:
    """Return what the checks say of a CUDA device, or of a machine that has none."""
    by_hand = os.environ.get(VARIABLE)
    lines = [f"{VARIABLE}={_by_hand('auto')} chooses by hand"] if by_hand else []
    if device is None:
        return [*lines, "no CUDA device: the loss runs in plain PyTorch"]
    from erce.loss.triton_kernels import AVAILABLE, MEASURE_BLOCK

    if not AVAILABLE:
        lines.append("triton is not installed")
    v, nothing = 2 * MEASURE_BLOCK + 48, torch.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the lines say the same
        for order, dtype in ((1.0, torch.bfloat16), (0.5, torch.float16), (2.0, torch.float32)):
            lines.append(check(device, dtype, v, Request(nothing, 0.0, Renyi(order), CROSS_ENTROPY)).text)
    return lines


def _by_hand(impl: str) -> str:
    """Return `impl`; for "auto" the variable ERCE_KERNELS instead, if it is set."""
    chosen = (os.environ.get(VARIABLE) or "auto") if impl == "auto" else impl
    if chosen not in IMPLS:
        raise InputError(f"{VARIABLE} must be 'torch' or 'triton', got {chosen!r}; unset, a check decides")
    return chosen


def _checked(device: torch.device, dtype: torch.dtype, v: int, request: Request) -> Finding:
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    text = f"the fast paths for {request.penalty!r} and {str(dtype).removeprefix('torch.')} on {card}"
    try:
        with torch.autocast(device.type, enabled=False):
            of_loss, of_gradient = _differences(device, dtype, v, request)
        gradient_budget = LOSS_BUDGET if dtype == torch.float32 else HALF_GRADIENT_BUDGET
        is_right = of_loss <= LOSS_BUDGET and of_gradient <= gradient_budget  # NaN is not
        text += f" differ from plain PyTorch by {of_loss:.1e}, and by {of_gradient:.1e} in the gradient"
    except Exception as error:  # whatever keeps a kernel from compiling or running on this card
        is_right = False
        text += f" fail with {type(error).__name__}: {' '.join(str(error).split()):.200}"
    if not is_right:
        text += f"; plain PyTorch takes their place in this process ({VARIABLE} chooses without this check)"
        warnings.warn(text, stacklevel=2)
    return Finding(is_right, text)


def _differences(device: torch.device, dtype: torch.dtype, v: int, request: Request) -> tuple[float, float]:
    """Return by how much the kernels differ from PyTorch, in the losses of a small case and in the gradients.

    An extreme order or scale would amplify rounding, so the case has moderate ones.
    """
    from erce.loss.chunked import Operands, Plan, chunked_loss

    order, penalty = request.order, request.penalty
    if order is not None:
        penalty = Renyi(order if math.isinf(order) else min(max(order, 0.5), 2.0))
    hidden, weight = (_numbers((n, WIDTH), device).to(dtype) for n in (ROWS, v))
    hidden[1] *= 8  # confident
    bias = torch.zeros(v, device=device)
    bias[2::3] = -math.inf
    targets = torch.arange(ROWS, device=device) * (v // ROWS)  # among them masked ones
    case = Request(
        targets,
        2.0,
        penalty,
        request.objective,
        diagnose=request.diagnose,
        softcap=None if request.softcap is None else 30.0,
        reduction="none",
    )
    operands, results = Operands(hidden, weight, bias, None, None), []
    for impl in (TRIED, "torch"):
        plan = Plan.of(operands, case._replace(impl=impl))
        loss, gradients = chunked_loss(operands, plan, (True, True, True, False, False))
        results.append((loss.computed, [x for x in gradients if x is not None]))
    of_loss, of_gradient = (
        max(_difference(x, y) for x, y in zip(fast, plain, strict=True))
        for fast, plain in zip(*results, strict=True)
    )
    return of_loss, of_gradient


def _numbers(shape: tuple[int, int], device: torch.device) -> Tensor:
    """Return irregular numbers in [−1, 1]: the same on every call, and no random generator is used."""
    counts = torch.arange(math.prod(shape), dtype=torch.float32, device=device)
    return counts.square().mul(0.37).sin().reshape(shape)


def _difference(fast: Tensor, plain: Tensor) -> float:
    """Return the largest difference relative to the largest value; NaN if one alone is not finite."""
    off = (fast - plain).abs().masked_fill(fast == plain, 0)
    return float((off / plain[plain.isfinite()].abs().amax().clamp(min=1e-6)).max())
