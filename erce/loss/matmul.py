"""The matmuls between hidden states, head and logits, in the way that suits the operands and the device.

Logits are float32 whatever the operands are: half-precision ones would cost more accuracy than all the rest
together, and λ multiplies that.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from erce.loss.request import Request
from erce.loss.row_passes import RowTermsFn, make_row_terms

_STRIDE = 16  # elements that a tile's rows are padded to, so that a GPU moves several at once
_WEIGHT_BLOCK_BYTES = 4 * 2**20  # of a weight in another dtype, what is converted at a time
Factors = list[tuple[Tensor, Tensor]]  # (rows, d) and (v, d): logits are the sum of their products


class Matmuls:
    """The matmuls of operands of any dtypes on any device, all in the exact dtype."""

    def __init__(self, exact: torch.dtype) -> None:
        self.dtype = exact
        self._buffers: dict[torch.dtype, Tensor] = {}

    @property
    def bytes_per_logit(self) -> int:
        return self.dtype.itemsize

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor]:
        """Return a tile (rows, v), and where its gradient goes: another tile, or the same one."""
        tile = self._tile(factors, self.dtype)
        for i, (x, weight) in enumerate(factors):
            exact = x.to(self.dtype)
            for part, w in _in_blocks(tile, weight, self.dtype):
                if i == 0:
                    torch.mm(exact, w.t(), out=part)
                else:
                    part.addmm_(exact, w.t())
        return tile, tile

    def row_terms_fn(
        self, factors: Factors, targets: Tensor, bias: Tensor | None, request: Request
    ) -> RowTermsFn:
        """Return what makes the terms of the tile's blocks."""
        return make_row_terms(bias, request)

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        """Write tile @ weight to `d_rows`."""
        for i, (part, w) in enumerate(_in_blocks(tile, weight, self.dtype)):
            if i == 0:
                torch.mm(part, w, out=d_rows)
            else:
                d_rows.addmm_(part, w)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor) -> None:
        """Add tile.T @ rows to `d_weight`."""
        rows = rows.to(d_weight.dtype)
        for part, columns in _in_blocks(d_weight.t(), tile.t(), d_weight.dtype):
            part.t().addmm_(columns, rows)

    def d_weight(self, tile: Tensor, rows: Tensor, scale: Tensor) -> Tensor:
        """Return tile.T @ rows times a number."""
        return tile.t() @ rows.to(self.dtype).mul(scale)

    def _tile(self, factors: Factors, dtype: torch.dtype) -> Tensor:
        """Return room for a chunk: one buffer serves all chunks, as the first is the largest."""
        rows, v = factors[0][0].shape[0], factors[0][1].shape[0]
        if dtype not in self._buffers:
            stride = math.ceil(v / _STRIDE) * _STRIDE
            self._buffers[dtype] = factors[0][0].new_empty(rows, stride, dtype=dtype)
        buffer = self._buffers[dtype]
        return buffer if buffer.shape == (rows, v) else buffer[:rows, :v]


class MixedPrecision(Matmuls):
    """The matmuls of half-precision operands on a CUDA device, which multiplies them into float32."""

    def __init__(self, exact: torch.dtype, operands: torch.dtype) -> None:
        super().__init__(exact)
        # The gradient in float16 would want range; it stays float32 and d hidden is computed in that.
        self.gradient_dtype = operands if operands == torch.bfloat16 else exact

    @property
    def bytes_per_logit(self) -> int:
        rounded = self.gradient_dtype.itemsize if self.gradient_dtype != self.dtype else 0
        return self.dtype.itemsize + rounded

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor]:
        tile = self._tile(factors, self.dtype)
        for i, (x, weight) in enumerate(factors):
            if i == 0:
                torch.mm(x, weight.t(), out_dtype=self.dtype, out=tile)
            else:
                torch.addmm(tile, x, weight.t(), out_dtype=self.dtype, out=tile)
        return tile, self._tile(factors, self.gradient_dtype)

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        if tile.dtype == weight.dtype:
            torch.mm(tile, weight, out_dtype=self.dtype, out=d_rows)
        else:
            super().d_rows_into(d_rows, tile, weight)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor) -> None:
        if tile.dtype == rows.dtype:
            torch.addmm(d_weight, tile.t(), rows, out_dtype=self.dtype, out=d_weight)
        else:
            super().add_d_weight(d_weight, tile, rows)

    def d_weight(self, tile: Tensor, rows: Tensor, scale: Tensor) -> Tensor:
        if tile.dtype == rows.dtype:
            return torch.mm(tile.t(), rows, out_dtype=self.dtype).mul_(scale)
        return super().d_weight(tile, rows, scale)


def choose(
    device: torch.device, v: int, dtype: torch.dtype, exact: torch.dtype, request: Request
) -> Callable[[], Matmuls]:
    """Return what makes the matmuls that suit operands of a dtype, as autocast has rounded them."""
    if exact == torch.float32 and dtype != exact:
        if device.type == "cpu" and dtype == torch.bfloat16:
            from erce.loss.bfloat16_on_cpu import LEAST_V, BFloat16OnCPU

            if v >= LEAST_V and request.order != math.inf:
                return partial(BFloat16OnCPU, exact, centred=request.softcap is None)
        if (
            device.type == "cuda"
            and request.impl == "triton"
            and "dtype_out" in torch.ops.aten.mm.overloads()
        ):
            return partial(MixedPrecision, exact, dtype)
    return partial(Matmuls, exact)


def _in_blocks(tile: Tensor, weight: Tensor, dtype: torch.dtype) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield columns of the tile with their rows of `weight` in `dtype`: all at once if it has that."""
    if weight.dtype == dtype:
        yield tile, weight
        return
    for columns in blocks_of(weight, dtype):
        yield tile[:, columns], weight[columns].to(dtype)


def blocks_of(weight: Tensor, dtype: torch.dtype) -> Iterator[slice]:
    """Yield slices of the vocabulary whose rows of `weight` are a few MiB in `dtype`."""
    v, d = weight.shape
    step = max(1, _WEIGHT_BLOCK_BYTES // max(1, d * dtype.itemsize))
    for start in range(0, v, step):
        yield slice(start, start + step)
