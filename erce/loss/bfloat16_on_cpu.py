"""bfloat16 operands on a CPU → logits that are exact where it counts, by matmuls into bfloat16.

A CPU made for it multiplies bfloat16 into bfloat16 up to four times as fast as float32. A rounding
error of a logit reaches the gradient times the token's probability. The errors of the many unlikely tokens
are independent of each other and cancel out; the few likely ones are worth a dot product each. A large offset
that a row's logits share would make their rounding errors alike, so that they add up: the row's `_centre` is
subtracted first. In a small vocabulary many tokens can be likely, and at order inf rounding may make another
token the largest: both are multiplied in float32, and so is everything on a CPU that is not made for it.
"""

import math
import platform
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from erce.loss.matmul import Factors, Matmuls, blocks_of
from erce.loss.request import Request
from erce.loss.row_passes import RowTerms, RowTermsFn, Scratch, logits_, terms_at

LIKELY = 2.0**-8  # of Σ p, or of Σ p^order below order 1: from this share on, a logit is computed again
LEAST_V = 2**12  # in a smaller vocabulary too large a part of the tokens can be likely
SAMPLED = 128  # columns, at the least, that a row's centre is reckoned from
_PIECE = 2**17  # products of a dot's that are in a core's cache at once
_LOG2_E = 1 / math.log(2)
_GROUP = 64  # columns that are searched for a likely one at once


def suits(dtype: torch.dtype, v: int, order: float | None) -> bool:
    """Return whether a CPU's logits of operands in `dtype` are multiplied into bfloat16."""
    return dtype == torch.bfloat16 and v >= LEAST_V and order != math.inf and bfloat16_is_fast()


@cache
def bfloat16_is_fast() -> bool:
    """Return whether this CPU multiplies bfloat16 faster than float32.

    Taken as fast are Arm's and AMD's with instructions for it (measured on an EPYC), and Intel's with AMX.
    On an Intel with AVX-512 BF16 alone bare matmuls took twice float32's time (benchmarks/loss_head.py).
    """
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return False
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return True
    has_amx, has_avx512 = torch.cpu._is_amx_tile_supported(), torch.cpu._is_avx512_bf16_supported()
    return has_avx512 and (has_amx or not _is_intel())


def _is_intel() -> bool:
    """Return whether the processor says that it is Intel's; False where it does not say (not Linux)."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


class BFloat16OnCPU(Matmuls):
    """Matmuls into bfloat16, but for the likely logits, which are float32 dot products.

    The gradient in the logits is rounded to bfloat16 as well. `centred` is whether a number that all logits
    of a row share changes nothing.
    """

    def __init__(self, exact: torch.dtype, *, centred: bool) -> None:
        super().__init__(exact)
        self._centred = centred

    @property
    def bytes_per_logit(self) -> int:
        return torch.bfloat16.itemsize

    def logits(self, factors: Factors) -> tuple[Tensor, Tensor]:
        tile = self._tile(factors, torch.bfloat16)
        self.centre = centre = _centre(factors)
        for i, (x, weight) in enumerate(factors):
            if i == 0:
                torch.addmm(centre.expand_as(tile), x, weight.t(), beta=-1, out=tile)
            else:
                tile.addmm_(x, weight.t())
        return tile, tile

    def d_rows_into(self, d_rows: Tensor, tile: Tensor, weight: Tensor) -> None:
        d_rows.copy_(tile @ weight)
        if self._centred:
            # Exactly, Σ g_j = 0, since a constant on all logits changes nothing. Rounded it is not, so with m
            # the mean of (some of) the weight's rows Σ g_j w_j has the error (Σ g_j) m, which is subtracted.
            excess = tile.sum(-1, keepdim=True).to(d_rows.dtype)
            d_rows.addcmul_(excess, _some_of(weight).mean(0, keepdim=True), value=-1)

    def add_d_weight(self, d_weight: Tensor, tile: Tensor, rows: Tensor, *, beta: int) -> None:
        for columns in blocks_of(d_weight, self.dtype):
            part, product = d_weight[columns], tile[:, columns].t() @ rows
            part.add_(product) if beta else part.copy_(product)

    def d_weight(self, tile: Tensor, rows: Tensor, scale: Tensor) -> Tensor:
        return torch.addmm(rows.new_empty(()), tile.t(), rows, beta=0, alpha=float(scale))


def make_exact_row_terms(
    matmuls: Matmuls, factors: Factors, targets: Tensor, bias: Tensor | None, request: Request
) -> RowTermsFn:
    """Return what makes the terms of the rounded logits' blocks, the likely logits exact."""
    assert matmuls.centre is not None
    # The target's exact logit comes before the shift, which it may decide; the likely logits come last,
    # as the rounded e^u tell which those are.
    exact_rows = [x.to(matmuls.dtype) for x, _ in factors]
    pairs = zip(exact_rows, factors, strict=True)
    own = [torch.linalg.vecdot(x, weight[targets].to(matmuls.dtype)) for x, (_, weight) in pairs]
    at_targets, centre = sum(own[1:], own[0])[:, None], matmuls.centre.to(matmuls.dtype)

    def logits_at(rows: Tensor, columns: Tensor) -> Tensor:
        dots = _dots(exact_rows, factors, rows, columns)
        return request.to_logits_(dots if bias is None else dots + bias[columns])

    def make_terms(block: Tensor, part: slice, y: Tensor, scratch: Scratch) -> RowTerms:
        z, off, own = scratch[2].copy_(block), centre[part], at_targets[part]
        if request.softcap is not None:  # without a cap the centre moves a row's logits alike, and u not
            z, off = z.add_(off), torch.zeros_like(off)
        z = logits_(z.scatter_(-1, y, own - off), bias, request)
        largest = _largest_by_group(z)
        top = largest.amax(-1)
        terms = terms_at(z, top, y, scratch, request, exp=_exp)
        terms.e.scatter_(-1, y, 0)  # a confident row is about what the target leaves
        others = terms.e.sum(-1)
        _exp(largest.sub_(top[:, None]), out=largest)
        rows, columns = _larger(terms.e, largest, _least(terms.u, others, request.order))
        lift = request.slope * off[:, 0]
        terms = terms._replace(shift=top + lift, target=terms.target + lift, others=others)
        return _corrected(terms, rows, columns, logits_at(rows + part.start, columns), y)

    return make_terms


def _centre(factors: Factors) -> Tensor:
    """Return each row's mean output under its softmax, (rows, 1), reckoned from some of its columns."""
    z = torch.stack([x.float() @ _some_of(weight).t() for x, weight in factors]).sum(0)
    centre = (z.softmax(-1) * z).sum(-1, keepdim=True)
    return centre.nan_to_num_(0, 0, 0).bfloat16()  # NaN is to show in the logits themselves


def _exp(u: Tensor, *, out: Tensor) -> Tensor:
    """Return e^u in half of torch.exp's time; its relative error is |u| / 2 roundings."""
    return torch.mul(u, _LOG2_E, out=out).exp2_()


def _dots(exact_rows: list[Tensor], factors: Factors, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the head's output for each pair of a row and a column, (pairs,)."""
    dots = torch.zeros(len(rows), dtype=exact_rows[0].dtype)
    for x, (_, weight) in zip(exact_rows, factors, strict=True):
        step = max(1, _PIECE // max(1, x.shape[1]))
        for out, r, c in zip(dots.split(step), rows.split(step), columns.split(step), strict=True):
            out.add_(x.index_select(0, r).mul_(weight.index_select(0, c)).sum(-1))
    return dots


def _some_of(weight: Tensor) -> Tensor:
    odd_step = (len(weight) // SAMPLED) | 1  # tokens often alternate in kind
    return weight[::odd_step].float()


def _corrected(terms: RowTerms, rows: Tensor, columns: Tensor, z: Tensor, y: Tensor) -> RowTerms:
    """Put exact logits in the place of rounded ones, and the target's e^u in the place of 0."""
    u, e, _, shift, _, target, others = terms
    assert others is not None
    corrected = z - shift[rows]
    exact = corrected.exp()
    others = others.index_add(0, rows, exact - e[rows, columns])
    u[rows, columns], e[rows, columns] = corrected, exact
    e.scatter_(-1, y, (target - shift).exp_()[:, None])
    largest = torch.zeros_like(shift).index_fill_(0, rows, -math.inf)
    largest = largest.scatter_reduce_(0, rows, corrected, "amax")
    return terms._replace(top=torch.maximum(shift + largest, target), others=others)


def _least(u: Tensor, others: Tensor, order: float | None) -> Tensor:
    """Return the e^u (rows,) of a token whose share is `LIKELY`."""
    least = LIKELY * others
    if order is None or order >= 1:
        return least
    return torch.minimum(least, (LIKELY * (order * u).exp_().sum(-1)) ** (1 / order))


def _largest_by_group(z: Tensor) -> Tensor:
    """Return the largest of each row's columns j, j + groups, j + 2 groups …, (rows, groups)."""
    groups = z.shape[-1] // _GROUP
    largest = z[:, : groups * _GROUP].unflatten(1, (_GROUP, groups)).amax(1)
    rest = z[:, groups * _GROUP :]
    if rest.shape[1]:
        few = largest[:, : rest.shape[1]]
        torch.maximum(few, rest, out=few)
    return largest


def _larger(e: Tensor, largest: Tensor, least: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows and columns where e is larger than `least`, by row; `largest` are its groups' largest.

    Every e is at most 1, and `largest` may count columns that are 0 in e.
    """
    if not (least < 1).any():
        none = torch.zeros(0, dtype=torch.long, device=e.device)
        return none, none
    groups = largest.shape[1]
    whole = groups * _GROUP
    rows, group = (largest > least[:, None]).nonzero(as_tuple=True)
    grouped = e[:, :whole].unflatten(1, (_GROUP, groups))
    hits, place = (grouped[rows, :, group] > least[rows, None]).nonzero(as_tuple=True)
    last_rows, last = (e[:, whole:] > least[:, None]).nonzero(as_tuple=True)
    rows, order = torch.cat([rows[hits], last_rows]).sort(stable=True)
    return rows, torch.cat([place * groups + group[hits], last + whole])[order]
