"""A tile of the head's output into each row's scores and, in its place, the gradient of the rows' objectives.

Two passes over the tile (`passes`; on a CUDA device the Triton kernels of `kernels`) and, between them, a few
operations on one number a row (`settle`). Where the vocabulary is split over processes, they add up there.
"""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from erce.loss.criterion import Criterion
from erce.loss.passes import Sums, Terms, exponentials, gradient_into, sums_of
from erce.loss.rounded import ExactLogits, recompute_likely
from erce.loss.settle import Scores, Settled, settle

Combine = Callable[[Sums], Sums]  # one shard's sums → those of the whole vocabulary

TAIL = 100  # the paper's tail is what so many likeliest tokens leave (appendix on the Rényi order)
_BLOCK_BYTES = {"cpu": 3 * 2**20}  # a block and its few temporaries stay in a core's cache
_BLOCK_BYTES_ELSEWHERE = 64 * 2**20


class Scratch(NamedTuple):
    e: Tensor
    product: Tensor
    z: Tensor


class Job(NamedTuple):
    """What is to be done with a tile, besides the tile."""

    targets: Tensor  # (rows,)
    criterion: Criterion
    gradient: bool
    bias: Tensor | None = None  # (v,), added to the tile
    exact: ExactLogits | None = None  # given if the tile is bfloat16
    combine: Combine | None = None
    out: Tensor | None = None  # (rows, v), where the gradient goes instead

    def at(self, rows: slice) -> "Job":
        return self._replace(
            targets=self.targets[rows],
            criterion=self.criterion.at(rows),
            exact=None if self.exact is None else self.exact.at(rows),
            out=None if self.out is None else self.out[rows],
        )


def score(tile: Tensor, job: Job) -> Scores:
    """The scores of each row of `tile` (rows, v); it then holds the gradient, or scratch."""
    if tile.dtype == torch.float32 and job.criterion.order is not None and _kernels_run_on(tile):
        return _score_by_kernels(tile, job)
    if job.combine is not None:
        return _score_sharded(tile, job)
    dtype = torch.promote_types(tile.dtype, torch.float32)
    # Made first: results kept from block to block would split the memory that the blocks' temporaries reuse.
    scores = tile.new_empty(len(Scores._fields), len(tile), dtype=dtype)
    for rows, scratch in _blocks(tile, dtype):
        torch.stack(_score_block(tile[rows], job.at(rows), scratch), out=scores[:, rows])
    return Scores(*scores)


def _kernels_run_on(tile: Tensor) -> bool:
    """On a CUDA device, and in Triton's interpreter anywhere."""
    if not (tile.is_cuda or os.environ.get("TRITON_INTERPRET") == "1"):
        return False
    from erce.loss import kernels

    return kernels.AVAILABLE


def row_blocks(rows: int, row_bytes: int, device: torch.device) -> Iterator[slice]:
    """Slices that cover `rows` rows, in each as many as suit the passes; the first is a largest one."""
    step = max(1, _BLOCK_BYTES.get(device.type, _BLOCK_BYTES_ELSEWHERE) // row_bytes)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _blocks(tile: Tensor, dtype: torch.dtype) -> Iterator[tuple[slice, Scratch]]:
    """The same for a tile, with three tensors (rows, v) to work in."""
    scratch = ()
    for rows in row_blocks(len(tile), tile.shape[-1] * dtype.itemsize, tile.device):
        if not scratch:
            scratch = tuple(tile.new_empty(rows.stop, tile.shape[-1], dtype=dtype) for _ in range(3))
        yield rows, Scratch(*(x[: rows.stop - rows.start] for x in scratch))


def _score_block(block: Tensor, job: Job, scratch: Scratch) -> Scores:
    criterion = job.criterion
    z = block if block.dtype == scratch.z.dtype else scratch.z.copy_(block)
    if job.exact is not None:
        z.scatter_(-1, job.targets[:, None], job.exact.targets[:, None])
    z = _logits(z, job)
    shift = top = z.amax(-1)
    # Rounded logits are not worth exact exponentials; those that count are replaced.
    terms = exponentials(z, shift, scratch[:2], roughly=job.exact is not None)
    if job.exact is not None:
        how = {"exact": job.exact, "bias": job.bias, "criterion": criterion}
        top = shift + recompute_likely(terms, shift, job.targets, **how)
    sums = sums_of(terms, shift, job.targets, criterion)._replace(top=top)
    gate = criterion.objective.gate(terms.u) if criterion.objective.gated else None
    tail = _tail_share(terms.u, criterion)
    part = None
    if criterion.order is None:
        settled, part = _settle_by_value(sums, terms, job, gate)
    else:
        settled = settle(sums, criterion, gate=gate)
    if job.gradient:
        out = block if job.out is None else job.out
        gradient_into(out, terms, job.targets, settled.slopes, criterion, penalty_part=part)
    return settled.scores._replace(tail=tail)


def _logits(raw: Tensor, job: Job) -> Tensor:
    """In place."""
    return job.criterion.transform.apply_(raw if job.bias is None else raw.add_(job.bias))


def _tail_share(u: Tensor, criterion: Criterion) -> Tensor:
    """1 − the share of Σ p^order that the `TAIL` likeliest tokens have; at order inf there is no tail."""
    order = criterion.order or 1.0
    if not criterion.diagnose or u.shape[-1] <= TAIL or order == float("inf"):
        return u.new_zeros(len(u))
    powers = (order * u).exp_()
    top, kept = powers.topk(TAIL)
    return (rest := powers.scatter_(-1, kept, 0).sum(-1)) / (rest + top.sum(-1))


def _settle_by_value(
    sums: Sums, terms: Terms, job: Job, gate: Tensor | None
) -> tuple[Settled, Tensor | None]:
    """For a penalty of anybody's own: by its `value_and_logit_grad`, whose part of the gradient comes too."""
    first = settle(sums, job.criterion, gate=gate, penalty=torch.zeros_like(sums.shift))
    y, criterion = job.targets[:, None], job.criterion
    log_p = (terms.u - first.log_total[:, None]).clamp_(min=torch.finfo(terms.u.dtype).min)
    p = log_p.exp().scatter_(-1, y, (-first.scores.nll[:, None]).exp())
    if not job.gradient:
        return settle(sums, criterion, gate=gate, penalty=criterion.penalty.value(log_p, p)), None
    value, part = criterion.penalty.value_and_logit_grad(log_p, p)
    settled = settle(sums, criterion, gate=gate, penalty=value)
    factor = settled.strength * criterion.transform.slope
    part = part * (factor[:, None] if isinstance(factor, Tensor) else factor)
    own = part.gather(-1, y)[:, 0]
    if (cap := criterion.transform.cap) is not None:
        own = own * (1 - (sums.target / cap).square())
    own = settled.slopes.own + own
    pushed_down = (own > 0).to(own.dtype)
    scores = settled.scores._replace(pushed_down=pushed_down)
    return settled._replace(slopes=settled.slopes._replace(own=own), scores=scores), part


def _score_sharded(tile: Tensor, job: Job) -> Scores:
    """Sums of all rows first, those of the other shards added, then the gradient."""
    assert job.combine is not None
    dtype, parts = torch.promote_types(tile.dtype, torch.float32), []
    for rows, scratch in _blocks(tile, dtype):
        z = _logits(scratch.z.copy_(tile[rows]), job.at(rows))
        top = z.amax(-1)
        shift = top.masked_fill(top.isneginf(), 0)  # a shard may be masked as a whole
        sums = sums_of(exponentials(z, shift, scratch[:2]), shift, job.targets[rows], job.criterion.at(rows))
        parts.append(sums._replace(shift=top, top=top))
    sums = job.combine(Sums(*map(torch.cat, zip(*parts, strict=True))))
    settled = settle(sums, job.criterion, gate=None)
    if not job.gradient:
        return settled.scores
    for rows, scratch in _blocks(tile, dtype):
        part = job.at(rows)
        shift = sums.shift[rows]
        terms = exponentials(_logits(scratch.z.copy_(tile[rows]), part), shift, scratch[:2])
        sums_of(terms, shift, part.targets, part.criterion)  # fills in terms.product
        slopes = type(settled.slopes)(*(x[rows] for x in settled.slopes))
        gradient_into(tile[rows], terms, part.targets, slopes, part.criterion)
    return settled.scores


def _score_by_kernels(tile: Tensor, job: Job) -> Scores:
    from erce.loss import kernels

    criterion, transform = job.criterion, job.criterion.transform
    how = {
        "order": criterion.order,
        "scale": transform.logit_scale,
        "softcap": transform.softcap or 0.0,
        "inv_temperature": 1 / transform.temperature,
        "bias": job.bias,
        "smoothing": criterion.smooths,
    }
    gate, tail = _looks(tile, job)
    shift, *rest = kernels.measure(tile, job.targets, **how)
    sums = Sums(shift, shift, *rest)
    settled = settle(sums if job.combine is None else job.combine(sums), criterion, gate=gate)
    if job.gradient:
        kernels.write_gradient(tile, job.targets, settled.slopes, **how, out=job.out)
    return settled.scores._replace(tail=tail)


def _looks(tile: Tensor, job: Job) -> tuple[Tensor | None, Tensor]:
    """The objective's gate and the tail's share, where either is wanted; not a kernel's work."""
    gate, tail = tile.new_empty(len(tile)), tile.new_zeros(len(tile))
    objective = job.criterion.objective
    if objective.gated or job.criterion.diagnose:
        for rows, scratch in _blocks(tile, tile.dtype):
            z = _logits(scratch.z.copy_(tile[rows]), job.at(rows))
            z.sub_(z.amax(-1, keepdim=True))
            tail[rows] = _tail_share(z, job.criterion)
            if objective.gated:
                gate[rows] = objective.gate(z)
    return gate if objective.gated else None, tail
