"""Logits that a matmul has rounded to bfloat16, exact again where that counts: the targets and likely tokens.

A rounding error reaches the gradient times the token's probability. The errors of the many unlikely tokens
are independent of each other and cancel out; the few likely ones are worth a dot product each.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.criterion import Criterion
from erce.loss.passes import Terms

LIKELY = 2.0**-10  # of Σ p, or of Σ p^order below order 1, the share of a token that counts
_GROUP = 64  # columns that are searched for one at once


class ExactLogits(NamedTuple):
    """The head's output in float32, before bias and transform."""

    targets: Tensor  # (rows,), at the rows' targets
    dots: Callable[[Tensor, Tensor], Tensor]  # at rows, sorted and counted from `start`, and columns
    start: int = 0

    def at(self, rows: slice) -> "ExactLogits":
        return ExactLogits(self.targets[rows], self.dots, self.start + rows.start)

    def __call__(self, rows: Tensor, columns: Tensor) -> Tensor:
        return self.dots(rows + self.start, columns)


def recompute_likely(
    terms: Terms,
    shift: Tensor,
    targets: Tensor,
    *,
    exact: ExactLogits,
    bias: Tensor | None,
    criterion: Criterion,
) -> Tensor:
    """Corrects the likely tokens' terms, those of the targets being exact; the largest u of each row then."""
    u, e, _ = terms
    y = targets[:, None]
    e_y = e.gather(-1, y)
    e.scatter_(-1, y, 0)  # a share of the others: a confident row is about these
    rows, columns = _likely(e, _least(u, e, criterion.order))
    e.scatter_(-1, y, e_y)
    z = exact(rows, columns)
    z = criterion.transform.apply_(z if bias is None else z + bias[columns])
    corrected = z - shift[rows]
    u[rows, columns] = corrected
    e[rows, columns] = corrected.exp()
    top = torch.zeros_like(shift).index_fill_(0, rows, -math.inf)
    return torch.maximum(top.scatter_reduce_(0, rows, corrected, "amax"), u.gather(-1, y)[:, 0])


def _least(u: Tensor, e: Tensor, order: float | None) -> Tensor:
    """The e^u of a token (rows,) whose share is `LIKELY`."""
    least = LIKELY * e.sum(-1)
    if order is None or order >= 1:
        return least
    return torch.minimum(least, (LIKELY * (order * u).exp_().sum(-1)) ** (1 / order))


def _likely(e: Tensor, least: Tensor) -> tuple[Tensor, Tensor]:
    """The rows and columns where e is larger than that, by row."""
    if not (least < 1).any():  # no e is
        none = torch.zeros(0, dtype=torch.long, device=e.device)
        return none, none
    whole = e.shape[-1] - e.shape[-1] % _GROUP
    grouped = e[:, :whole].unflatten(1, (-1, _GROUP))
    rows, groups = (grouped.amax(-1) > least[:, None]).nonzero(as_tuple=True)
    hits, offsets = (grouped[rows, groups] > least[rows, None]).nonzero(as_tuple=True)
    last_rows, last = (e[:, whole:] > least[:, None]).nonzero(as_tuple=True)
    rows, order = torch.cat([rows[hits], last_rows]).sort(stable=True)
    return rows, torch.cat([groups[hits] * _GROUP + offsets, last + whole])[order]
