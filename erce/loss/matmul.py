"""The matmuls between hidden states, head and logits, in the way that suits the operands and the device.

Logits are float32 whatever the operands are: half-precision ones would cost more accuracy than all the rest
together, and λ multiplies that.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

_STRIDE = 16  # elements that a tile's rows are padded to, so that a GPU moves several at once
_WEIGHT_BLOCK_BYTES = 4 * 2**20  # of a weight in another dtype, what is converted at a time
_PRODUCT_BYTES = 32 * 2**20  # of a product in float32 that is rounded next: it stays in a card's cache
Factors = list[tuple[Tensor, Tensor]]  # (rows, d) and (v, d): logits are the sum of their products


class Matmuls:
    """The matmuls of operands of any dtypes on any device, all in the exact dtype."""

    # (rows, 1), what each row's logits are relative to, where they are rounded to half precision
    centre: Tensor | None = None

    def __init__(self, exact: torch.dtype) -> None:
        self.dtype = self.gradient_dtype = exact
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

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        """Write tile @ weight to `d_rows`."""
        for i, (part, w) in enumerate(_in_blocks(tile, weight, self.dtype)):
            if i == 0:
                torch.mm(part, w, out=d_rows)
            else:
                d_rows.addmm_(part, w)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor, *, beta: int) -> None:
        """Make `d_weight` beta times itself plus tile.T @ rows; with beta 0 whatever it held is lost."""
        rows = rows.to(d_weight.dtype)
        for part, columns in _in_blocks(d_weight.t(), tile.t(), d_weight.dtype):
            part.t().addmm_(columns, rows, beta=beta)

    def d_weight(self, tile: Tensor, rows: Tensor, scale: Tensor) -> Tensor:
        """Return tile.T @ rows times a number, in the exact dtype or the rows'."""
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

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor]:
        tile = self._tile(factors, self.dtype)
        for i, (x, weight) in enumerate(factors):
            if i == 0:
                torch.mm(x, weight.t(), out_dtype=self.dtype, out=tile)
            else:
                torch.addmm(tile, x, weight.t(), out_dtype=self.dtype, out=tile)
        return tile, second_half(tile, self.gradient_dtype)

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        if tile.dtype == weight.dtype:
            torch.mm(tile, weight, out_dtype=self.dtype, out=d_rows)
        else:
            super().d_rows_into(d_rows, tile, weight)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor, *, beta: int) -> None:
        if tile.dtype != rows.dtype:
            super().add_d_weight(d_weight, tile, rows, beta=beta)
        elif beta:
            torch.addmm(d_weight, tile.t(), rows, out_dtype=self.dtype, out=d_weight)
        else:
            torch.mm(tile.t(), rows, out_dtype=self.dtype, out=d_weight)

    def d_weight(self, tile: Tensor, rows: Tensor, scale: Tensor) -> Tensor:
        if tile.dtype != rows.dtype:
            return super().d_weight(tile, rows, scale)
        # In float32 all of it would be twice as large as the result.
        d_weight, product = rows.new_empty(tile.shape[1], rows.shape[1]), None
        for part in blocks_of(d_weight, self.dtype, _PRODUCT_BYTES):
            into = None if product is None else product[: len(d_weight[part])]
            product = torch.mm(tile[:, part].t(), rows, out_dtype=self.dtype, out=into)
            torch.mul(product, scale, out=d_weight[part])
        return d_weight


def second_half(tile: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the last bytes of a tile's rows, as rows of as many numbers in `dtype`, or the tile itself."""
    if dtype == tile.dtype:
        return tile
    (rows, v), stride = tile.shape, tile.stride(0)
    numbers = tile.dtype.itemsize // dtype.itemsize * stride  # in the bytes of a row
    memory = tile.as_strided((rows, stride), (stride, 1)).view(dtype)
    return memory[:, numbers - stride :][:, :v]


def _in_blocks(tile: Tensor, weight: Tensor, dtype: torch.dtype) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield columns of the tile with their rows of `weight` in `dtype`: all at once if it has that."""
    if weight.dtype == dtype:
        yield tile, weight
        return
    for columns in blocks_of(weight, dtype):
        yield tile[:, columns], weight[columns].to(dtype)


def blocks_of(weight: Tensor, dtype: torch.dtype, most: int = _WEIGHT_BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices of the vocabulary whose rows of `weight` have at most so many bytes in `dtype`."""
    v, d = weight.shape
    step = max(1, most // max(1, d * dtype.itemsize))
    for start in range(0, v, step):
        yield slice(start, start + step)
