"""Hidden states and the head → losses and gradients, with the logits of one chunk of rows at a time.

Per chunk: one matmul to logits, one call of `row_passes.score_tile` that leaves their gradient in their
place, one matmul to d hidden and, if the head is trainable, one to d weight. `matmul` has the matmuls. Only
`Plan.of` decides on them, on the passes, on the chunks and on the path.

The gradient of a trainable head is a sum over all rows. A sum over chunks reads and writes float32 numbers of
the weight's size for every chunk. Where the rows' gradients in bfloat16 take no more memory than that sum
does, they are kept instead, and one product makes d weight, which is written once, in bfloat16.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss import bfloat16_on_cpu, gpu_self_check
from erce.loss.matmul import Factors, Matmuls, MixedPrecision
from erce.loss.request import ROW_RESULTS, Loss, Request, not_differentiable
from erce.loss.row_passes import make_row_terms, score_tile
from erce.loss.row_statistics import refuse_no_distribution
from erce.loss.scored_rows import ScoredRows, outputs_of, scored_rows, spread

CHUNK_BYTES = 256 * 2**20  # of logits, on an accelerator
SUMMED_SHARE = 7 / 8  # of d weight's bytes, if it is summed over chunks: as many logits at least make a chunk
ROWS_OF_A_MATMUL = 128  # what an accelerator's matmuls take at a time
CHUNK_LOGITS_ON_CPU = 40 * 2**20  # 160 MiB in float32: more rows at a time hardly speed its matmuls up


class Operands(NamedTuple):
    """logits = hidden @ weight.T + low @ up.T + bias, of n positions."""

    hidden: Tensor  # (n, d)
    weight: Tensor  # (v, d)
    bias: Tensor | None  # (v,)
    low: Tensor | None  # (n, r)
    up: Tensor | None  # (v, r)

    @classmethod
    def of(
        cls, hidden: Tensor, weight: Tensor, bias: Tensor | None, low: Tensor | None, up: Tensor | None
    ) -> "Operands":
        """Return the operands with their leading axes made one; InputError where shapes do not fit."""
        if weight.ndim != 2 or hidden.ndim < 1 or hidden.shape[-1] != weight.shape[1]:
            raise InputError(
                f"hidden {tuple(hidden.shape)} and weight {tuple(weight.shape)} do not fit; "
                f"they must be (..., d) and (v, d)"
            )
        if not len(weight):
            raise InputError("weight has no rows, so there are no tokens; give (v, d) with v > 0")
        if hidden.device != weight.device:
            raise InputError(f"hidden is on {hidden.device} and weight on {weight.device}; move one of them")
        if bias is not None and bias.shape != weight.shape[:1]:
            raise InputError(
                f"bias has shape {tuple(bias.shape)}, but weight has {len(weight)} rows; give (v,)"
            )
        n = hidden.shape[:-1].numel()  # reshape(-1, d) cannot tell n where d is 0
        if low is not None and up is not None:
            if low.shape[:-1] != hidden.shape[:-1] or up.shape != (len(weight), low.shape[-1]):
                raise InputError(
                    f"adapter {tuple(low.shape)} and {tuple(up.shape)} does not fit hidden "
                    f"{tuple(hidden.shape)} and weight {tuple(weight.shape)}; it must be (..., r) and (v, r)"
                )
            low = low.reshape(n, low.shape[-1])
        if hidden.ndim != 2:
            hidden = hidden.reshape(n, hidden.shape[-1])
        return cls(hidden, weight, bias, low, up)

    @property
    def factors(self) -> Factors:
        pairs = ((self.hidden, self.weight), (self.low, self.up))
        return [(x, w) for x, w in pairs if x is not None and w is not None]

    @property
    def exact(self) -> torch.dtype:
        """The dtype of logits and sums: float32, or float64 where an operand is float64."""
        is_double = any(x is not None and x.dtype == torch.float64 for x in self)
        return torch.float64 if is_double else torch.float32

    @property
    def dtypes(self) -> list[torch.dtype | None]:
        return [None if x is None else x.dtype for x in self]


class Gradients(NamedTuple):
    """The gradients of the objective, summed over the scored rows; None for operands that need none."""

    hidden: Tensor | None = None  # (m, d)
    weight: Tensor | None = None  # (v, d)
    bias: Tensor | None = None  # (v,)
    low: Tensor | None = None  # (m, r)
    up: Tensor | None = None  # (v, r)


class Plan(NamedTuple):
    """What one call decides, once: the rows to score, matmuls and passes, the chunks and the path."""

    rows: ScoredRows
    request: Request  # whose `impl` is "torch" or "triton"
    make_matmuls: Callable[[], Matmuls]  # for one pass over the chunks: they hold a chunk's logits
    chunks: list[slice]  # of the rows, in order
    path: type[torch.autograd.Function]  # whose forward or backward makes the gradient

    @classmethod
    def of(cls, operands: Operands, request: Request) -> "Plan":
        """Decide, in the order in which one decision needs the one before it."""
        # The matmuls say how many bytes a logit takes, so they come before the chunks. Whether the rows'
        # gradient is kept decides on the size of the chunks, and their number on the path.
        exact, weight, v = operands.exact, operands.weight, len(operands.weight)
        rows = scored_rows(request, v, exact)
        dtypes = {_rounded_dtype(x.dtype, request.autocast) for pair in operands.factors for x in pair}
        dtype = dtypes.pop() if len(dtypes) == 1 else exact
        request = request._replace(impl=gpu_self_check.chosen_impl(request, weight.device, dtype, v))
        make_matmuls = _chosen_matmuls(operands, dtype, request)
        head = (weight, operands.bias, operands.up)
        is_trainable = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in head)
        is_summed = is_trainable and not request.per_row and rows.m > 0
        keeps = is_summed and _keeps_gradient(operands, rows.m, request, make_matmuls().gradient_dtype)
        chunks = _chunks(operands, rows.m, request, make_matmuls().bytes_per_logit, keeps=keeps)
        path = _GradientInForward
        if is_trainable and request.per_row:
            path = _GradientInBackward
        elif is_summed and (keeps or len(chunks) == 1):
            path = _GradientKept
        return cls(rows, request, make_matmuls, chunks, path)


def _chosen_matmuls(operands: Operands, dtype: torch.dtype, request: Request) -> Callable[[], Matmuls]:
    """Return what makes the matmuls that suit operands of a dtype, as autocast has rounded them."""
    exact, device, v = operands.exact, operands.weight.device, len(operands.weight)
    if exact == torch.float32 and dtype != exact:
        if device.type == "cpu" and bfloat16_on_cpu.suits(dtype, v, request.order):
            return partial(bfloat16_on_cpu.BFloat16OnCPU, exact, centred=request.softcap is None)
        if gpu_self_check.multiplies_into_float32(device, dtype):
            return partial(MixedPrecision, exact, dtype)
    return partial(Matmuls, exact)


def loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    adapter: tuple[Tensor | None, Tensor | None],
    request: Request,
) -> Loss:
    """Return the loss of checked arguments, after a sharded head has been gathered."""
    low, up = adapter
    bias = None if bias is None else _full_tensor(bias)
    up = None if up is None else _full_tensor(up)
    operands = Operands.of(hidden, _full_tensor(weight), bias, low, up)
    plan = Plan.of(operands, request)
    outputs = plan.path.apply(*operands, plan, torch.is_grad_enabled())
    return request.reduced(outputs, plan.rows.m)


def _full_tensor(x: Tensor) -> Tensor:
    """Return the whole of x, for a backward too; an InputError for a parameter that ZeRO-3 has partitioned.

    The gradient of a DTensor, as FSDP leaves one, is averaged over the mesh, as FSDP's and DDP's are, and
    goes to its shards.
    """
    if hasattr(x, "ds_id"):
        raise InputError(
            "DeepSpeed's ZeRO-3 has partitioned the head, which is not supported; use DDP, FSDP 2 or ZeRO-2, "
            "or gather the head yourself"
        )
    if not hasattr(x, "full_tensor"):
        return x
    from torch.distributed.tensor import DTensor, Partial

    assert isinstance(x, DTensor)
    # Without these its gradient would pass for one that all processes share.
    whole = x.full_tensor(grad_placements=[Partial()] * x.device_mesh.ndim)
    if whole.requires_grad:  # divided here: before torch 2.9 gloo's reduce_scatter summed for Partial("avg")
        whole.register_hook(lambda gradient: gradient / x.device_mesh.size())
    return whole


class Head(NamedTuple):
    """The output head as all chunks of one call use it: weights, matmuls and the call's plan."""

    operands: Operands  # as autocast rounds them
    bias: Tensor | None  # (v,), centred
    matmuls: Matmuls
    plan: Plan

    @classmethod
    def of(cls, operands: Operands, plan: Plan) -> "Head":
        matmuls, request = plan.make_matmuls(), plan.request
        bias = None if operands.bias is None else operands.bias.to(matmuls.dtype)
        if bias is not None and request.softcap is None:
            bias = bias - bias.amax()  # so that a large entry that all logits share costs no digits
        return cls(_rounded(operands, request.autocast), bias, matmuls, plan)

    def factors(self, rows: ScoredRows) -> Factors:
        return [(rows.of(x), w) for x, w in self.operands.factors]

    def scored(
        self,
        use: Callable[[slice, Tensor, Factors], None],
        *,
        differentiate: bool,
        kept: Tensor | None = None,
    ) -> Loss:
        """Return the loss of each scored row, (m,) per field, after a look at the largest logits.

        Each chunk's gradient in the head's output, (rows, v), lies in `kept` (m, v), or else where the next
        chunk's logits will be written. `use` gets the chunk, this gradient and the chunk's factors.
        """
        rows, request, columns, results = self.plan.rows, self.plan.request, None, None
        if len(self.plan.chunks) != 1:
            columns = self.operands.hidden.new_empty(ROW_RESULTS, rows.m, dtype=self.matmuls.dtype)
            results = Loss(*columns[:-1]), columns[-1]
        for chunk in self.plan.chunks:
            part = rows.at(chunk)
            factors = self.factors(part)
            tile, out = self.matmuls.logits(factors)
            out = out if kept is None else kept[chunk]
            make_terms = (
                make_row_terms(self.bias, request)
                if self.matmuls.centre is None
                else bfloat16_on_cpu.make_exact_row_terms(
                    self.matmuls, factors, part.targets, self.bias, request
                )
            )
            into = None if columns is None else columns[:, chunk]
            of_chunk = score_tile(
                tile, part, request, self.bias, make_terms, out if differentiate else None, into
            )
            results = results or of_chunk
            use(chunk, out, factors)
        assert results is not None
        loss, top = results
        refuse_no_distribution(top, rows)
        return loss


def chunked_loss(operands: Operands, plan: Plan, wanted: Sequence[bool]) -> tuple[Loss, Gradients]:
    """Return the loss of each scored row, (m,) per field, and the wanted gradients, in the exact dtype."""
    # Per chunk the gradients follow the scores at once: the next chunk's logits are written over these.
    head = Head.of(operands, plan)
    gradients = _empty_gradients(operands, plan, wanted, head.matmuls.dtype)

    def add(chunk: slice, d_logits: Tensor, factors: Factors) -> None:
        _add_gradients(gradients, chunk, d_logits, factors, head.matmuls)

    return head.scored(add, differentiate=any(wanted)), gradients


def _rounded(operands: Operands, autocast: torch.dtype | None) -> Operands:
    """Round the operands as autocast does a linear layer's: float64 stays, and the bias as well."""
    hidden, weight, bias, *adapter = operands
    x, w = (x.to(_rounded_dtype(x.dtype, autocast)) for x in (hidden, weight))
    low, up = (x if x is None else x.to(_rounded_dtype(x.dtype, autocast)) for x in adapter)
    return Operands(x, w, bias, low, up)


def _rounded_dtype(dtype: torch.dtype, autocast: torch.dtype | None) -> torch.dtype:
    return dtype if autocast is None or dtype == torch.float64 else autocast


def _empty_gradients(operands: Operands, plan: Plan, wanted: Sequence[bool], dtype: torch.dtype) -> Gradients:
    """Return room for the gradients, which the chunks write; without a chunk those of the head are 0."""
    m = plan.rows.m

    def of(x: Tensor | None, rows: int | None, is_wanted: bool) -> Tensor | None:
        if x is None or not is_wanted:
            return None
        if rows is None:
            return x.new_empty(x.shape, dtype=dtype) if m else x.new_zeros(x.shape, dtype=dtype)
        return x.new_empty(rows, x.shape[1], dtype=dtype)

    return Gradients(*map(of, operands, (m, None, None, m, None), wanted))


def _keeps_gradient(operands: Operands, m: int, request: Request, dtype: torch.dtype) -> bool:
    """Return whether the gradient in the output of all m rows is kept in half precision, beside the chunks.

    It is if these rows and d weight in that dtype take no more bytes than d weight in float32 and its chunks.
    """
    if dtype == operands.exact or request.chunk_bytes is not None or not operands.weight.requires_grad:
        return False
    d = operands.weight.shape[1]
    return (m + d) * dtype.itemsize <= (1 + SUMMED_SHARE) * d * operands.exact.itemsize


def _chunks(
    operands: Operands, m: int, request: Request, bytes_per_logit: int, *, keeps: bool
) -> list[slice]:
    """Return even slices of the m scored rows, each with at most `chunk_bytes` of logits, or of one row."""
    weight, most = operands.weight, request.chunk_bytes
    on_cpu = weight.device.type == "cpu"
    if most is None:
        summed = weight.numel() * operands.exact.itemsize if weight.requires_grad and not keeps else 0
        most = CHUNK_LOGITS_ON_CPU * bytes_per_logit if on_cpu else max(CHUNK_BYTES, SUMMED_SHARE * summed)
    step = even_rows(
        m, int(min(m, most / (len(weight) * bytes_per_logit))), 1 if on_cpu else ROWS_OF_A_MATMUL
    )
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
    gradients: Gradients, chunk: slice, d_logits: Tensor, factors: Factors, matmuls: Matmuls
) -> None:
    beta = int(chunk.start > 0)  # the first chunk writes the head's gradients, the others add to them
    of_factors = ((gradients.hidden, gradients.weight), (gradients.low, gradients.up))
    for (d_x, d_w), (x, w) in zip(of_factors, factors, strict=False):
        if d_x is not None:
            matmuls.d_rows_into(d_x if d_x.shape[0] == x.shape[0] else d_x[chunk], d_logits, w)
        if d_w is not None:  # summed over chunks in the exact dtype: a bf16 sum drifts
            matmuls.add_d_weight(d_w, d_logits, x, beta=beta)
    if gradients.bias is not None:
        of_bias = d_logits.sum(0, dtype=gradients.bias.dtype)
        gradients.bias.add_(of_bias) if beta else gradients.bias.copy_(of_bias)


def _cast_and_scatter(
    gradients: Gradients, plan: Plan, dtypes: Sequence[torch.dtype | None]
) -> tuple[Tensor | None, ...]:
    """Return the gradients of all n positions in the operands' dtypes."""
    of_rows = (gradients.hidden, gradients.low)
    hidden, low = (None if x is None else spread(x, plan.rows, plan.request) for x in of_rows)
    of_positions = gradients._replace(hidden=hidden, low=low)
    return tuple(
        x if x is None or dtype is None else x.to(dtype)
        for x, dtype in zip(of_positions, dtypes, strict=True)
    )


def _scaled(x: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Return x · scale in a dtype, without another copy in x's own: of d weight that would be large."""
    return x * scale if x.dtype == dtype else torch.mul(x, scale, out=x.new_empty(x.shape, dtype=dtype))


class _GradientInForward(torch.autograd.Function):
    """Operands → objective, (n,) or its sum, and what is logged, (n,) each.

    The backward receives a weight for each row. It scales d hidden row by row, but d weight is a sum over
    rows by then, so a trainable head with reduction="none" takes another class. Where those of
    all rows are kept, `_GradientKept` makes its gradient.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, (plan, differentiate) = Operands(*args[:5]), args[5:]
        wanted = [differentiate and needed for needed in ctx.needs_input_grad[:5]]
        loss, gradients = chunked_loss(operands, plan, wanted)
        ctx.save_for_backward(*gradients)
        ctx.plan, ctx.dtypes = plan, operands.dtypes
        return outputs_of(ctx, loss, plan.rows, plan.request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        plan = ctx.plan
        by_row = plan.rows.of(upstream[0])[:, None] if plan.request.per_row else upstream[0]
        scales = (by_row, upstream[0], upstream[0], by_row, upstream[0])  # of `Gradients`
        parts = zip(ctx.saved_tensors, scales, ctx.dtypes, strict=True)
        scaled = Gradients(*(None if x is None else _scaled(x, s, dtype) for x, s, dtype in parts))
        return *_cast_and_scatter(scaled, plan, ctx.dtypes), None, None


class _GradientInBackward(torch.autograd.Function):
    """The loss where a head learns and rows are weighed after the call: the backward makes logits again."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, plan = Operands(*args[:5]), args[5]
        loss, _ = chunked_loss(operands, plan, [False] * len(operands))
        ctx.save_for_backward(*operands)
        ctx.plan = plan
        return outputs_of(ctx, loss, plan.rows, plan.request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        operands, plan = Operands(*ctx.saved_tensors), ctx.plan
        weighed = plan.rows.weighed(upstream[0], operands.exact)
        _, gradients = chunked_loss(operands, plan._replace(rows=weighed), ctx.needs_input_grad[:5])
        return *_cast_and_scatter(gradients, plan, operands.dtypes), None, None


class _GradientKept(torch.autograd.Function):
    """The loss of a trainable head, where the gradient in the head's output is kept for the backward.

    It is that of one chunk, or that of all chunks in half precision. So d weight is written once, in the
    weight's dtype, already scaled; `chunked_loss` would sum it in float32.
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> tuple[Tensor, ...]:
        operands, plan = Operands(*args[:5]), args[5]
        head, kept = Head.of(operands, plan), None
        if len(plan.chunks) > 1:
            shape = plan.rows.m, len(operands.weight)
            kept = operands.hidden.new_empty(shape, dtype=head.matmuls.gradient_dtype)
        of_chunks: list[Tensor] = []
        loss = head.scored(lambda _, out, __: of_chunks.append(out), differentiate=True, kept=kept)
        ctx.save_for_backward(of_chunks[0] if kept is None else kept, *operands)
        ctx.plan = plan
        return outputs_of(ctx, loss, plan.rows, plan.request)

    @staticmethod
    @not_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        d_logits, *saved = ctx.saved_tensors
        operands, scale, plan = Operands(*saved), upstream[0], ctx.plan
        head = Head.of(operands, plan)
        wanted = dict(zip(Gradients._fields, ctx.needs_input_grad[:5], strict=True))
        made: dict[str, Tensor] = {}
        pairs = (("hidden", "weight"), ("low", "up"))
        for (rows_name, weight_name), (x, w) in zip(pairs, head.factors(plan.rows), strict=False):
            if wanted[rows_name]:
                made[rows_name] = d_rows = x.new_empty(x.shape, dtype=operands.exact)
                head.matmuls.d_rows_into(d_rows, d_logits, w)
                d_rows.mul_(scale)
            if wanted[weight_name]:
                made[weight_name] = head.matmuls.d_weight(d_logits, x, scale)
        if wanted["bias"]:
            made["bias"] = d_logits.sum(0, dtype=operands.exact).mul_(scale)
        return *_cast_and_scatter(Gradients(**made), plan, operands.dtypes), None, None
