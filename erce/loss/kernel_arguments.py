"""A tile and a request → what the Triton kernels of `row_kernels` are launched with."""

import math
from typing import Any

import torch
from torch import Tensor

from erce.loss.request import Request


def shape(tile: Tensor) -> tuple[int, int]:
    """Return rows and v of a tile whose rows the kernels can read."""
    rows, v = tile.shape
    assert tile.dtype == torch.float32
    assert v == 1 or tile.stride(1) == 1
    return rows, v


def end_of(tile: Tensor) -> int:
    """Return how many columns a kernel may access: v rounded up to 16, for vector loads, if rows have room.

    What lies between v and the end must be nobody else's.
    """
    rows, v = tile.shape
    room = tile.stride(0) - tile.storage_offset() % tile.stride(0) if rows > 1 else v
    return int(min(room, math.ceil(v / 16) * 16))


def whole(bias: Tensor | None) -> Tensor | None:
    """Return the bias in one unbroken piece of memory, as a kernel reads it; None where there is none."""
    return None if bias is None else bias.contiguous()


def flags(request: Request) -> dict[str, Any]:
    """Return what a kernel is compiled for; forms of the order as in `row_kernels`, 3 is inf."""
    order = request.order
    assert order is not None
    form = 0 if order == 1 else 3 if math.isinf(order) else 1 if order > 1 else 2
    return {"form": form, "capped": request.cap is not None, "smoothing": request.smooths}


def numbers(request: Request) -> tuple[float, float, float, float]:
    """Return order and |order − 1|, 1 and 0 at order inf; then inner and outer, as a logit is outer · x, or
    outer · tanh(inner · x) with a cap."""
    order = request.order
    assert order is not None
    order = 1.0 if math.isinf(order) else order
    if request.cap is None:
        return order, abs(order - 1), 1.0, request.slope
    return order, abs(order - 1), request.slope / request.cap, request.cap
