"""A vocabulary that is split over the processes of a group: each has some rows of the head (tensor parallel).

Per chunk two collectives of a few numbers per row find the largest logits, and add up the sums of each
process's columns relative to them; d hidden, a sum over the vocabulary, is added up once at the end.
"""

import math

import torch
import torch.distributed as dist
from torch import Tensor

from erce.errors import InputError
from erce.loss.gathered import is_dtensor
from erce.loss.request import Loss, Request
from erce.loss.row_passes import RowTermsFn, Vocabulary, blocks, gradient_into, logits_, sums_of, terms_at
from erce.loss.row_statistics import Slopes, Sums, loss_and_grad_coefficients
from erce.loss.scored_rows import Rows


def check(request: Request, *head: Tensor | None) -> None:
    """Raise an InputError for what reads all of a row's logits, for Triton, and for a head to be gathered."""
    if request.objective.gated or request.order is None:
        raise InputError(
            "a vocabulary split over a group takes no gated objective and no user-defined penalty, got "
            f"{request.objective!r} and {request.penalty!r}; leave out group, or take built-in ones"
        )
    if request.impl == "triton":
        raise InputError("a vocabulary split over a group has no Triton kernels; leave out impl='triton'")
    if any(map(is_dtensor, head)):
        raise InputError(
            "the head is a DTensor, which is gathered, but with a group each process gives its part of the "
            "vocabulary; give weight.to_local(), or leave out group"
        )


class SplitVocabulary(Vocabulary):
    """The vocabulary of a group of processes: each has some of the tokens, in the order of the ranks."""

    is_split = True

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
        return self._largest(bias.amax())[0]

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
        z, y = logits_(tile, bias, request), (rows.targets - self.first)[:, None]
        here = (y >= 0) & (y < z.shape[-1])
        y = y.clamp(0, z.shape[-1] - 1)
        at_target, top = z.gather(-1, y)[:, 0], z.amax(-1)
        top = top.masked_fill(top.isnan(), math.inf)  # which is refused like NaN, and no maximum loses it
        top, target = self._largest(top, at_target.where(here[:, 0], -math.inf))
        shift = top.clamp(min=torch.finfo(top.dtype).min)  # all may be masked, and −inf − −inf is NaN

        parts = []
        for part, scratch in blocks(z, z.dtype):
            terms = terms_at(scratch[2].copy_(z[part]), shift[part], y[part], scratch, request)
            parts.append(sums_of(terms, y[part], request)[3:])
        others, *more = map(torch.cat, zip(*parts, strict=True))
        columns = torch.stack([others.where(here[:, 0], others + (at_target - shift).exp()), *more])
        dist.all_reduce(columns, group=self.group)
        loss, slopes = loss_and_grad_coefficients(Sums(shift, top, target, *columns), rows, request, None)

        for part, scratch in blocks(z, z.dtype):
            if out is None:
                break
            terms = terms_at(scratch[2].copy_(z[part]), shift[part], y[part], scratch, request)
            if request.order == 1:
                torch.mul(terms.e, terms.u, out=terms.product).nan_to_num_(nan=0.0)  # 0 · −inf
            few = Slopes(*(x[part] for x in slopes))
            gradient_into(out[part], terms, y[part], few, request, here=here[part])
        if request.diagnose:
            loss = loss._replace(tail_share=torch.full_like(loss.nll, math.nan))
        return loss, top

    def _largest(self, *numbers: Tensor) -> Tensor:
        """Return the largest numbers of all processes, row by row."""
        largest = torch.stack(numbers)
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=self.group)
        return largest
