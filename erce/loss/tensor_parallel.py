"""A vocabulary that is split over the processes of a group: each has some rows of the head (tensor parallel).

Per chunk the sums of each process's columns are added up over the group, in two collectives of a few
numbers per row; d hidden, a sum over the vocabulary, is added up once at the end.
"""

import math

import torch
import torch.distributed as dist
from torch import Tensor

from erce.errors import InputError
from erce.loss import row_passes
from erce.loss.gathered import is_dtensor
from erce.loss.request import Loss, Request
from erce.loss.row_passes import RowTermsFn, Vocabulary
from erce.loss.row_statistics import Slopes, Sums, loss_and_grad_coefficients
from erce.loss.scored_rows import Rows


def check(request: Request, *head: Tensor | None) -> None:
    """Raise an InputError for what needs whole rows of the vocabulary, and for a head to be gathered."""
    if request.objective.gated or request.order is None:
        raise InputError(
            "a vocabulary split over a group takes no gated objective and no penalty of your own, got "
            f"{request.objective!r} and {request.penalty!r}; leave out group, or take built-in ones"
        )
    if any(map(is_dtensor, head)):
        raise InputError(
            "the head is a DTensor, which is gathered, but with a group each process gives its part of the "
            "vocabulary; give weight.to_local(), or leave out group"
        )


class SplitVocabulary(Vocabulary):
    """The vocabulary of a group of processes: each has some of the tokens, in the order of the ranks."""

    has_whole_rows = False

    def __init__(self, weight: Tensor, group: dist.ProcessGroup) -> None:
        self.group = group
        mine = torch.tensor([len(weight)], device=weight.device)
        gathered = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
        dist.all_gather(gathered, mine, group=group)
        self.sizes: list[int] = torch.cat(gathered).tolist()
        if 0 in self.sizes:
            raise InputError(
                f"process {self.sizes.index(0)} of the group has no rows of the vocabulary, all have "
                f"{self.sizes}; leave it out of the group"
            )
        self.first = sum(self.sizes[: dist.get_rank(group)])  # token of this process

    def size(self, weight: Tensor) -> int:
        return sum(self.sizes)

    def width(self, weight: Tensor) -> int:
        return max(self.sizes)  # all make the same chunks, or their collectives would not meet

    def largest(self, bias: Tensor) -> Tensor:
        largest = bias.amax()
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=self.group)
        return largest

    def all_reduce_(self, gradient: Tensor) -> None:
        dist.all_reduce(gradient, group=self.group)

    def score(
        self,
        tile: Tensor,
        rows: Rows,
        request: Request,
        bias: Tensor | None,
        make_terms: RowTermsFn,
        out: Tensor | None,
    ) -> tuple[Loss, Tensor]:
        """Do what `score_tile` says: the sums of all rows, added up over the group, then the gradient."""
        rows = rows._replace(targets=rows.targets - self.first)  # outside of the columns if another has it
        passes = _measure, loss_and_grad_coefficients, _write_gradient
        if tile.dtype == torch.float32 and row_passes.kernels_run_on(tile, request):
            from erce.loss import triton_kernels as kernels

            passes = kernels.measure, kernels.loss_and_grad_coefficients, kernels.write_gradient
        measure, coefficients, write_gradient = passes
        sums = self._added_up(measure(tile, rows.targets, request, bias), request)
        loss, slopes = coefficients(sums, rows, request, gate=None)
        if out is not None:
            write_gradient(tile, rows.targets, slopes, request, bias, out)
        if request.diagnose:
            loss = loss._replace(tail_share=torch.full_like(loss.nll, math.nan))
        return loss, sums.top

    def _added_up(self, sums: Sums, request: Request) -> Sums:
        # A maximum may lose a NaN; infinity stays, and is refused like one.
        largest = torch.stack([sums.top.masked_fill(sums.top.isnan(), math.inf), sums.target])
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=self.group)
        top, target = largest
        assert request.order is not None
        moved = _moved(sums, top, request.order)
        columns = torch.stack(moved[3:])
        dist.all_reduce(columns, group=self.group)
        return Sums(top, top, target, *columns)


def _moved(sums: Sums, shift: Tensor, order: float) -> Sums:
    """Return the same sums relative to another, larger shift.

    With d = (old shift) − (new shift) and r = e^d, every u becomes u + d. With s = Σ e^u, a the order, and B
    the sum `box_cox`:

        Σ e^u → r s,      Σ e^2u → r² Σ e^2u,      Σ u → Σ u + d · (number of columns)
        order 1:   Σ e^(u+d) (u + d) = r (B + d s)
        else:      b(u + d) = e^(kd) b(u) + b(d),      where b(u) = (e^(ku) − 1) / k
        above 1:   Σ e^(u+d) b(u + d) = r (e^(kd) B + b(d) s),      Σ e^(a(u+d)) = e^(ad) powers
        below 1:   Σ e^(a(u+d)) b(u + d) = r B + e^(ad) b(d) Σ e^(au), as a + k = 1; and by the
                   definition of B, Σ e^(au) = s + (a − 1) B
        order inf: the maxima stay maxima where d = 0, else there are none
    """
    empty = sums.top.isneginf()  # every column here is masked: its sums are 0
    d = (sums.shift - shift).masked_fill(empty, 0)
    r, s = d.exp(), sums.others + (sums.target - sums.shift).masked_fill(empty, -math.inf).exp()
    box_cox, powers = sums.box_cox, sums.powers
    if order == 1:
        box_cox = r * (box_cox + d * s)
    elif math.isinf(order):
        box_cox = box_cox.masked_fill(d < 0, 0)
    else:
        k = abs(order - 1)
        box_cox_of_d = torch.expm1(k * d) / k
        if order > 1:
            box_cox, powers = r * ((k * d).exp() * box_cox + box_cox_of_d * s), (order * d).exp() * powers
        else:
            box_cox = r * box_cox + (order * d).exp() * box_cox_of_d * (s + (order - 1) * box_cox)
    return sums._replace(
        shift=shift,
        others=sums.others * r,
        box_cox=box_cox,
        powers=powers,
        squares=sums.squares * r * r,
        total=sums.total + d * sums.finite,
    )


def _measure(tile: Tensor, targets: Tensor, request: Request, bias: Tensor | None) -> Sums:
    """Return the sums of each row of the tile, which is kept."""
    here, y = _columns(targets, tile.shape[-1])
    parts = []
    for part, scratch in row_passes.blocks(tile, tile.dtype):
        z = row_passes.logits_(scratch[2].copy_(tile[part]), bias, request)
        top = z.amax(-1)
        shift = top.clamp(
            min=torch.finfo(top.dtype).min
        )  # all columns here may be masked, and −inf − −inf NaN
        terms = row_passes.terms_at(z, shift, y[part], scratch, request)
        parts.append(row_passes.sums_of(terms._replace(top=top), y[part], request))
    sums = Sums(*map(torch.cat, zip(*parts, strict=True)))
    e_y = (sums.target - sums.shift).exp()  # which is one of the others, where the target is not here
    here = here[:, 0]
    return sums._replace(
        target=sums.target.where(here, -math.inf), others=sums.others.where(here, sums.others + e_y)
    )


def _columns(targets: Tensor, v: int) -> tuple[Tensor, Tensor]:
    """Return which targets are in [0, v), and all of them as columns, (rows, 1) each."""
    y = targets[:, None]
    return (y >= 0) & (y < v), y.clamp(0, v - 1)


def _write_gradient(
    tile: Tensor, targets: Tensor, slopes: Slopes, request: Request, bias: Tensor | None, out: Tensor
) -> None:
    """Write the gradient of each row of the tile to `out`."""
    here, y = _columns(targets, tile.shape[-1])
    for part, scratch in row_passes.blocks(tile, tile.dtype):
        z = row_passes.logits_(scratch[2].copy_(tile[part]), bias, request)
        terms = row_passes.terms_at(z, slopes.shift[part], y[part], scratch, request)
        if request.order == 1:
            torch.mul(terms.e, terms.u, out=terms.product).nan_to_num_(nan=0.0)  # 0 · −inf
        few = Slopes(*(x[part] for x in slopes))
        row_passes.gradient_into(out[part], terms, y[part], few, request, here=here[part])
