"""Hidden states and the head → losses and gradients, with the logits of one chunk of rows at a time.

Per chunk: one matmul to logits, one call of `row_passes.score_tile` that leaves their gradient in their
place, one matmul to d hidden and, if the head learns, one to d weight. `matmul` has the matmuls.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss import matmul
from erce.loss.kernel_check import mixed_matmuls_run_on
from erce.loss.request import Loss, Request
from erce.loss.row_passes import TermsOf, score_tile
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import Rows, spread

CHUNK_BYTES = 512 * 2**20  # of logits, on an accelerator; more if the gradient summed over chunks is larger
ROWS_OF_A_MATMUL = 128  # what an accelerator's matmuls take at a time
CHUNK_LOGITS_ON_CPU = 40 * 2**20  # 160 MiB in float32: more rows at a time hardly speed its matmuls up


class Operands(NamedTuple):
    """logits = hidden @ weight.T + low @ up.T + bias, of n positions."""

    hidden: Tensor  # (n, d)
    weight: Tensor  # (v, d)
    bias: Tensor | None  # (v,)
    low: Tensor | None  # (n, r)
    up: Tensor | None  # (v, r)

    @property
    def factors(self) -> matmul.Factors:
        pairs = ((self.hidden, self.weight), (self.low, self.up))
        return [(x, w) for x, w in pairs if x is not None and w is not None]

    @property
    def exact(self) -> torch.dtype:
        """The dtype of logits and sums: float32, or float64 where an operand is float64."""
        is_double = any(x is not None and x.dtype == torch.float64 for x in self)
        return torch.float64 if is_double else torch.float32


class Gradients(NamedTuple):
    """The gradients of the sum of the scored rows' objectives; None where none is wanted."""

    hidden: Tensor | None = None  # (m, d)
    weight: Tensor | None = None  # (v, d)
    bias: Tensor | None = None  # (v,)
    low: Tensor | None = None  # (m, r)
    up: Tensor | None = None  # (v, r)


NONE_WANTED = (False,) * len(Gradients._fields)


class Vocabulary:
    """The head's columns as a sweep sees them: here, the whole vocabulary."""

    has_whole_rows = True

    def size(self, weight: Tensor) -> int:
        """Return the number of tokens that a target may be."""
        return weight.shape[0]

    def width(self, weight: Tensor) -> int:
        """Return the number of columns that a chunk's size is reckoned with."""
        return weight.shape[0]

    def largest(self, bias: Tensor) -> Tensor:
        """Return the largest entry of the bias over the whole vocabulary."""
        return bias.amax()

    def score(
        self,
        tile: Tensor,
        rows: Rows,
        request: Request,
        bias: Tensor | None,
        terms_of: TermsOf,
        out: Tensor | None,
    ) -> tuple[Loss, Tensor]:
        """Do what `score_tile` says."""
        return score_tile(tile, rows, request, bias, terms_of, out)

    def complete_(self, gradient: Tensor) -> None:
        """Add up a gradient over the parts of the vocabulary, in place; here there is one part."""


class Head(NamedTuple):
    """The head of one call: its weights, the matmuls that suit them, and how logits are scored."""

    operands: Operands  # as autocast rounds them
    bias: Tensor | None  # (v,), centred
    matmuls: matmul.Matmuls
    request: Request
    vocabulary: Vocabulary

    @classmethod
    def of(cls, operands: Operands, request: Request, vocabulary: Vocabulary) -> "Head":
        matmuls = choose_matmuls(operands, request, vocabulary)
        bias = None if operands.bias is None else operands.bias.to(matmuls.dtype)
        return cls(
            _rounded(operands, request.autocast),
            None if bias is None else _centred(bias, request, vocabulary),
            matmuls,
            request,
            vocabulary,
        )

    def factors(self, rows: Rows) -> matmul.Factors:
        pairs = self.operands.factors
        return [(rows.of(x), w) for x, w in pairs]

    def score(
        self, factors: matmul.Factors, rows: Rows, *, differentiate: bool
    ) -> tuple[Loss, Tensor, Tensor]:
        """Return the losses, the largest logits (rows,) and the gradient (rows, v) in the head's output."""
        tile, out = self.matmuls.logits(factors)
        terms_of = self.matmuls.terms_of(factors, rows.targets, self.bias, self.request)
        loss, top = self.vocabulary.score(
            tile, rows, self.request, self.bias, terms_of, out if differentiate else None
        )
        return loss, top, out


def sweep(
    operands: Operands, rows: Rows, request: Request, wanted: Sequence[bool], vocabulary: Vocabulary
) -> tuple[Loss, Gradients]:
    """Return the loss of each scored row, (m,) a field, and the wanted gradients, all in the exact dtype."""
    head = Head.of(operands, request, vocabulary)
    exact = head.matmuls.dtype
    gradients = _empty_gradients(operands, rows.m, wanted, exact)
    parts: list[tuple[Loss, Tensor]] = []
    for chunk in chunks(operands, rows.m, request, vocabulary, head.matmuls):
        part = rows.at(chunk)
        factors = head.factors(part)
        loss, top, d_logits = head.score(factors, part, differentiate=any(wanted))
        parts.append((loss, top))
        _add_gradients(gradients, chunk, d_logits, factors, head.matmuls)
    loss, top = (
        parts[0] if len(parts) == 1 else _joined(parts, request, operands.hidden.new_empty(0, dtype=exact))
    )
    refuse_no_distribution(top, rows)
    for gradient in (gradients.hidden, gradients.low):
        if gradient is not None:
            vocabulary.complete_(gradient)
    return loss, gradients


def _joined(parts: list[tuple[Loss, Tensor]], request: Request, like: Tensor) -> tuple[Loss, Tensor]:
    """Return the losses and the largest logits of all chunks, which may be none."""
    columns = (
        zip(*([*loss.computed, top] for loss, top in parts), strict=True)
        if parts
        else ([like.new_empty(0)] for _ in (*request.fields, "top"))
    )
    *losses, top = map(torch.cat, columns)
    return request.loss_of(losses), top


def _rounded(operands: Operands, autocast: torch.dtype | None) -> Operands:
    """Round the operands as autocast does a linear layer's: float64 stays, and the bias as well."""
    if autocast is None:
        return operands

    def of(x: Tensor) -> Tensor:
        return x.to(_rounded_dtype(x.dtype, autocast))

    hidden, weight, bias, low, up = operands
    return Operands(
        of(hidden), of(weight), bias, None if low is None else of(low), None if up is None else of(up)
    )


def _rounded_dtype(dtype: torch.dtype, autocast: torch.dtype | None) -> torch.dtype:
    return dtype if autocast is None or dtype == torch.float64 else autocast


def _centred(bias: Tensor, request: Request, vocabulary: Vocabulary) -> Tensor:
    """Return the bias minus its largest entry, where that changes nothing: a large one costs no digits."""
    return bias - vocabulary.largest(bias) if request.shift_is_free else bias


def _empty_gradients(operands: Operands, m: int, wanted: Sequence[bool], dtype: torch.dtype) -> Gradients:
    """Return room for the rows' gradients, to be written, and zeros for the head's, to be added to."""

    def of(x: Tensor | None, rows: int | None, is_wanted: bool) -> Tensor | None:
        if x is None or not is_wanted:
            return None
        return (
            x.new_zeros(x.shape, dtype=dtype) if rows is None else x.new_empty(rows, x.shape[1], dtype=dtype)
        )

    return Gradients(*map(of, operands, (m, None, None, m, None), wanted))


def chunks(
    operands: Operands, m: int, request: Request, vocabulary: Vocabulary, matmuls: matmul.Matmuls
) -> list[slice]:
    """Return even slices of the m scored rows, each with at most `chunk_bytes` of logits, or of one row."""
    weight, bytes_per_logit = operands.weight, matmuls.bytes_per_logit
    on_cpu, width = weight.device.type == "cpu", vocabulary.width(weight)
    most = request.chunk_bytes
    if most is None:
        summed = width * weight.shape[1] * operands.exact.itemsize if weight.requires_grad else 0
        most = CHUNK_LOGITS_ON_CPU * bytes_per_logit if on_cpu else max(CHUNK_BYTES, summed)
    step = even_rows(m, int(min(m, most / (width * bytes_per_logit))), 1 if on_cpu else ROWS_OF_A_MATMUL)
    return [slice(start, min(start + step, m)) for start in range(0, m, step)]


def even_rows(m: int, most: int, multiple: int) -> int:
    """Return how many rows an even chunk has: at most `most`, a multiple of `multiple` if `most` reaches it.

    >>> even_rows(4096, 588, 128), even_rows(3000, 100, 128), even_rows(10, 4, 1), even_rows(300, 300, 128)
    (512, 100, 4, 300)
    """
    if m <= most:
        return max(1, m)
    multiple = multiple if most >= multiple else 1
    most = max(1, most // multiple * multiple)
    even = math.ceil(m / max(1, math.ceil(m / most)))
    return max(1, math.ceil(even / multiple) * multiple)


def _add_gradients(
    gradients: Gradients, chunk: slice, d_logits: Tensor, factors: matmul.Factors, matmuls: matmul.Matmuls
) -> None:
    of_factors = ((gradients.hidden, gradients.weight), (gradients.low, gradients.up))
    for (d_x, d_w), (x, w) in zip(of_factors, factors, strict=False):
        if d_x is not None:
            matmuls.d_rows_into(d_x if d_x.shape[0] == x.shape[0] else d_x[chunk], d_logits, w)
        if d_w is not None:  # summed over chunks in the exact dtype: a bf16 sum drifts
            matmuls.add_d_weight(d_w, d_logits, x)
    if gradients.bias is not None:
        gradients.bias.add_(d_logits.sum(0, dtype=gradients.bias.dtype))


def choose_matmuls(operands: Operands, request: Request, vocabulary: Vocabulary) -> matmul.Matmuls:
    """Return the matmuls that suit the operands once autocast has rounded them."""
    factors, exact = operands.factors, operands.exact
    dtypes = {_rounded_dtype(x.dtype, request.autocast) for pair in factors for x in pair}
    device = operands.hidden.device.type
    if len(dtypes) == 1 and exact == torch.float32:
        (dtype,) = dtypes
        if device == "cpu" and dtype == torch.bfloat16 and vocabulary.has_whole_rows:
            from erce.loss import bfloat16_on_cpu

            return bfloat16_on_cpu.choose(factors, request)
        if dtype != exact and mixed_matmuls_run_on(operands.hidden.device, dtype, request.impl):
            return matmul.MixedPrecision(exact, dtype)
    return matmul.Matmuls(exact)


def dtypes_of(operands: Operands) -> list[torch.dtype | None]:
    """Return the dtype of each operand."""
    return [None if x is None else x.dtype for x in operands]


def finished(
    gradients: Gradients, rows: Rows, request: Request, dtypes: list[torch.dtype | None]
) -> tuple[Tensor | None, ...]:
    """Return the gradients of all n positions in the operands' dtypes; None leaves a dtype as it is."""
    hidden, weight, bias, low, up = gradients
    whole = (
        None if hidden is None else spread(hidden, rows, request),
        weight,
        bias,
        None if low is None else spread(low, rows, request),
        up,
    )
    return tuple(
        x if x is None or dtype is None else x.to(dtype) for x, dtype in zip(whole, dtypes, strict=True)
    )
