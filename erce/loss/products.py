"""The matmuls between hidden states, head and logits, in the way that suits the operands and the device.

Logits are float32 whatever the operands are: half-precision ones would cost more accuracy than all the rest
together, and λ multiplies that. Where the hardware multiplies bfloat16 into bfloat16 only (a CPU), the logits
that carry probability are computed again (`rounded`).
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from erce.loss.rounded import ExactLogits

_WEIGHT_BLOCK_BYTES = 4 * 2**20  # of a weight in another dtype, what is converted at a time
_LEAST_ROUNDED_V = 2**14  # in a smaller vocabulary too large a part of the tokens can be likely
Factors = list[tuple[Tensor, Tensor]]  # (rows, d) and (v, d): logits are the sum of their products


class Products:
    """For operands of any dtypes on any device: everything in the exact dtype."""

    def __init__(self, exact: torch.dtype) -> None:
        self.dtype = exact
        self._buffers: dict[torch.dtype, Tensor] = {}

    @property
    def bytes_per_logit(self) -> int:
        return self.dtype.itemsize

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor | None]:
        """A tile (rows, v), and another for its gradient, unless that goes into the tile."""
        tile = self._tile(factors, self.dtype)
        for i, (x, weight) in enumerate(factors):
            exact = x.to(self.dtype)
            for columns, w in _in_blocks(weight, self.dtype):
                if i == 0:
                    torch.mm(exact, w.t(), out=tile[:, columns])
                else:
                    tile[:, columns].addmm_(exact, w.t())
        return tile, None

    def exact(self, factors: Factors, targets: Tensor) -> ExactLogits | None:
        """If the tile is rounded, what recomputes some of its logits."""
        return None

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        """tile @ weight."""
        d_rows.zero_()
        for columns, w in _in_blocks(weight, self.dtype):
            d_rows.addmm_(tile[:, columns], w)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor) -> None:
        """d_weight += tile.T @ rows."""
        rows = rows.to(d_weight.dtype)
        for columns, part in _in_blocks(tile.t(), d_weight.dtype):
            d_weight[columns].addmm_(part, rows)

    def _tile(self, factors: Factors, dtype: torch.dtype) -> Tensor:
        """One buffer serves all chunks; the first is the largest."""
        rows, v = len(factors[0][0]), len(factors[0][1])
        if dtype not in self._buffers:
            self._buffers[dtype] = factors[0][0].new_empty(rows, v, dtype=dtype)
        return self._buffers[dtype][:rows]


class RoundedLogits(Products):
    """bfloat16 operands on a CPU, which multiplies them into bfloat16 four times as fast as float32."""

    def __init__(self, exact: torch.dtype) -> None:
        super().__init__(exact)
        self._room: tuple[Tensor, Tensor] | None = None

    @property
    def bytes_per_logit(self) -> int:
        return torch.bfloat16.itemsize

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor | None]:
        tile = self._tile(factors, torch.bfloat16)
        for i, (x, weight) in enumerate(factors):
            if i == 0:
                torch.mm(x, weight.t(), out=tile)
            else:
                tile.addmm_(x, weight.t())
        return tile, None

    def exact(self, factors: Factors, targets: Tensor) -> ExactLogits:
        exact_rows = [x.to(self.dtype) for x, _ in factors]

        def dots(rows: Tensor, columns: Tensor) -> Tensor:
            """Row by row, as `rows` is sorted."""
            found = torch.zeros(len(rows), dtype=self.dtype)
            starts = 0
            for row, count in zip(
                *(x.tolist() for x in rows.unique_consecutive(return_counts=True)), strict=True
            ):
                few = slice(starts, starts := starts + count)
                for x, (_, weight) in zip(exact_rows, factors, strict=True):
                    found[few].addmv_(self._gathered(weight, columns[few]), x[row])
            return found

        pairs = zip(exact_rows, factors, strict=True)
        own = [torch.linalg.vecdot(x, weight[targets].to(self.dtype)) for x, (_, weight) in pairs]
        return ExactLogits(torch.stack(own).sum(0), dots)

    def _gathered(self, weight: Tensor, columns: Tensor) -> Tensor:
        """weight[columns] in the exact dtype, in room that is used again: fresh memory would cost more."""
        k, d = len(columns), weight.shape[1]
        if self._room is None or len(self._room[0]) < k * d:
            self._room = weight.new_empty(2 * k * d), weight.new_empty(2 * k * d, dtype=self.dtype)
        rounded, exact = (room[: k * d].view(k, d) for room in self._room)
        return exact.copy_(torch.index_select(weight, 0, columns, out=rounded))

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        d_rows.copy_(tile @ weight)


class MixedPrecision(Products):
    """Half-precision operands on a CUDA device, which multiplies them into float32."""

    def __init__(self, exact: torch.dtype, operands: torch.dtype) -> None:
        super().__init__(exact)
        # The gradient in float16 would want range; it stays float32 and d hidden is computed in that.
        self.gradient_dtype = operands if operands == torch.bfloat16 else exact

    @property
    def bytes_per_logit(self) -> int:
        rounded = self.gradient_dtype.itemsize if self.gradient_dtype != self.dtype else 0
        return self.dtype.itemsize + rounded

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor | None]:
        tile = self._tile(factors, self.dtype)
        for i, (x, weight) in enumerate(factors):
            if i == 0:
                torch.mm(x, weight.t(), out_dtype=self.dtype, out=tile)
            else:
                torch.addmm(tile, x, weight.t(), out_dtype=self.dtype, out=tile)
        return tile, None if self.gradient_dtype == self.dtype else self._tile(factors, self.gradient_dtype)

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


def choose(factors: Factors, exact: torch.dtype, *, may_round: bool) -> Products:
    """`may_round`: whether logits may be bfloat16 until those that matter are computed again."""
    dtypes, device = {x.dtype for pair in factors for x in pair}, factors[0][0].device.type
    if len(dtypes) == 1 and exact == torch.float32:
        (dtype,) = dtypes
        large = len(factors[0][1]) >= _LEAST_ROUNDED_V
        if device == "cpu" and dtype == torch.bfloat16 and may_round and large:
            return RoundedLogits(exact)
        if device == "cuda" and dtype != exact and "dtype_out" in torch.ops.aten.mm.overloads():
            return MixedPrecision(exact, dtype)
    return Products(exact)


def _in_blocks(weight: Tensor, dtype: torch.dtype) -> Iterator[tuple[slice, Tensor]]:
    """Slices of the vocabulary with their rows of `weight` in `dtype`: all at once if it has that already."""
    v, d = weight.shape
    step = v if weight.dtype == dtype else max(1, _WEIGHT_BLOCK_BYTES // (d * dtype.itemsize))
    for start in range(0, v, step):
        yield slice(start, start + step), weight[start : start + step].to(dtype)
