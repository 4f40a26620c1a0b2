"""What a call of the loss fixes, checked, and the `Loss` that it returns."""

import math
import sys
from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, NamedTuple

import torch
from torch import Tensor

from erce.errors import InputError
from erce.loss.base_losses import BaseLoss
from erce.loss.penalties import Penalty, order_of

REDUCTIONS = ("mean", "sum", "none")
IMPLS = ("auto", "torch", "triton")


class Loss(NamedTuple):
    """The loss of one call: the differentiable `objective`, and detached values for the log.

    For "mean" and "sum", `objective` is the mean or sum over the scored positions; for "none" it has the
    shape of the targets and is 0 where they are ignored. All other fields are detached and ignore
    `row_weights`: for "mean" and "sum" they are means over the scored positions, for "none" they have the
    shape of the targets. If no position is scored, every field is 0.
    """

    objective: Tensor
    nll: Tensor  # −log p(target), nats
    entropy: Tensor  # the penalty's value
    top1: Tensor  # 1 where no token is likelier than the target, else 0


ROW_RESULTS = len(Loss._fields) + 1  # numbers of a row: the fields of `Loss`, then its largest logit


class Request(NamedTuple):
    """All arguments of a call, except its logits or its hidden states and head.

    The logits that are scored are softcap · tanh(logit_scale · x / softcap) / temperature, without a cap
    logit_scale · x / temperature, where x is the head's output.
    """

    targets: Tensor  # (...), token ids
    lam: float
    penalty: Penalty
    base_loss: BaseLoss
    row_weights: Tensor | None = None  # (...)
    num_items_in_batch: float | Tensor | None = None
    num_scored: int | None = None  # how many targets are not ignored, if the caller knows
    ignore_index: int = -100
    reduction: str = "mean"
    logit_scale: float = 1.0
    softcap: float | None = None
    temperature: float = 1.0
    chunk_bytes: float | None = None
    autocast: torch.dtype | None = None  # what a head's operands are rounded to first
    impl: str = "auto"  # of `IMPLS`

    @property
    def per_row(self) -> bool:
        return self.reduction == "none"

    @property
    def order(self) -> float | None:
        """The order of a built-in penalty; None for a user-defined one."""
        return order_of(self.penalty)

    @property
    def has_label_smoothing(self) -> bool:
        return self.base_loss.smoothing > 0

    @property
    def cap(self) -> float | None:
        """The bound of the logits that are scored."""
        return None if self.softcap is None else self.softcap / self.temperature

    @property
    def slope(self) -> float:
        """d logit / d x; where there is a cap, at x = 0."""
        return self.logit_scale / self.temperature

    def to_logits_(self, x: Tensor) -> Tensor:
        """Turn the head's output into the logits that are scored, in place."""
        if self.softcap is not None:
            return x.mul_(self.logit_scale / self.softcap).tanh_().mul_(self.softcap / self.temperature)
        return x if self.slope == 1 else x.mul_(self.slope)

    def check(self, leading: tuple[int, ...]) -> None:
        """Raise an InputError for what makes no sense; `leading` is the shape that the targets must have."""
        # Types before shapes, and shapes before numbers: each check reads what those before it have assured.
        if not isinstance(self.penalty, Penalty):
            raise InputError(f"penalty must be one such as Shannon() or Renyi(0.5), got {self.penalty!r}")
        if not isinstance(self.base_loss, BaseLoss):
            raise InputError(
                f"base_loss must be one such as CrossEntropy() or Focal(2.0), got {self.base_loss!r}"
            )
        for name, choices in (("reduction", REDUCTIONS), ("impl", IMPLS)):
            if getattr(self, name) not in choices:
                raise InputError(
                    f"no {name} {getattr(self, name)!r}; there are {', '.join(map(repr, choices))}"
                )
        if not isinstance(self.lam, Real) or not -math.inf < self.lam < math.inf:
            raise InputError(
                f"lam must be a finite Python number, got {self.lam!r:.60}; 0 is plain cross-entropy"
            )
        _check_targets(self.targets, leading, self.ignore_index)
        if self.row_weights is not None:
            _check_row_weights(self.row_weights, tuple(self.targets.shape))
        _check_num_items_in_batch(self.num_items_in_batch, self.reduction)
        n, told = self.targets.numel(), self.num_scored
        if told is not None and (type(told) is not int or not 0 <= told <= n):
            raise InputError(
                f"num_scored must be a whole number from 0 to {n}, got {told!r}; None has it counted"
            )
        _check_range("logit_scale", self.logit_scale, "1 changes nothing")
        _check_range("temperature", self.temperature, "1 changes nothing")
        if self.softcap is not None:
            _check_range("softcap", self.softcap, "None is no cap")
        if self.chunk_bytes not in (None, math.inf):
            _check_range("chunk_bytes", self.chunk_bytes, "None is the default")

    def reduced(self, outputs: tuple[Tensor, ...], num_scored: int) -> Loss:
        """Return `outputs`, of so many scored positions, as the caller asked for them."""
        if self.per_row:
            return Loss(*(values.reshape(self.targets.shape) for values in outputs))
        objective, *logged = outputs
        num_scored = max(num_scored, 1)  # where no position is scored, every sum is 0
        if self.reduction == "mean":
            items = self.num_items_in_batch
            if isinstance(items, Tensor):  # whose shape and dtype would become the objective's
                items = items.reshape(()).to(objective.dtype)
            objective = objective / (num_scored if items is None else items)
        means = torch.stack(logged).sum(1).div_(num_scored)
        return Loss(objective, *means.unbind())


def check_tensors(operands: dict[str, Tensor | None]) -> None:
    """Raise an InputError for what is not a tensor of floating-point numbers of 16 bits or more."""
    for name, x in operands.items():
        if x is None:
            continue
        if not isinstance(x, Tensor):
            raise InputError(f"{name} must be a tensor, got {x!r:.60}; torch.as_tensor makes one")
        if not x.is_floating_point() or x.dtype.itemsize < 2:
            raise InputError(
                f"{name} is {x.dtype}, but must be float16, bfloat16, float32 or float64; a quantised head "
                "must be dequantised first"
            )
    if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        raise InputError(
            "the loss does not run under torch.func (vmap, grad, jvp); leading axes are its batch, and "
            "torch.autograd.grad its gradient"
        )


def _check_targets(targets: Tensor, leading: tuple[int, ...], ignore_index: int) -> None:
    if not isinstance(targets, Tensor):
        raise InputError(f"targets must be a tensor, got {targets!r:.60}; torch.as_tensor makes one")
    if not isinstance(ignore_index, int):
        raise InputError(f"ignore_index must be a whole number, got {ignore_index!r}; -100 is usual")
    if targets.shape != leading:
        raise InputError(
            f"targets have shape {tuple(targets.shape)}, but their rows have shape {tuple(leading)}; give "
            f"one target per row, {ignore_index} where there is none"
        )
    if targets.is_floating_point() or targets.is_complex() or targets.dtype == torch.bool:
        raise InputError(f"targets are token ids, got {targets.dtype}; convert them with .long()")


def _check_row_weights(weights: Tensor, shape: tuple[int, ...]) -> None:
    if not isinstance(weights, Tensor) or weights.is_complex():
        raise InputError(
            f"row_weights must be a tensor of real numbers, got {weights!r:.60}; give one per target"
        )
    if weights.shape != shape:
        raise InputError(
            f"row_weights has shape {tuple(weights.shape)}, but the targets have shape {tuple(shape)}; give "
            "one number per target"
        )
    if weights.requires_grad:
        raise InputError("row_weights is a constant here and has no gradient; give row_weights.detach()")


def _check_num_items_in_batch(given: float | Tensor | None, reduction: str) -> None:
    if given is None:
        return
    if reduction != "mean":
        raise InputError(f"num_items_in_batch divides only a mean; leave it out with reduction={reduction!r}")
    if isinstance(given, Tensor):
        fits = given.numel() == 1 and not given.is_complex()  # its value is checked with those of the rows
    else:
        fits = isinstance(given, Real) and 0 < given < math.inf
    if not fits:
        raise num_items_in_batch_error(given)


def num_items_in_batch_error(given: Any) -> InputError:
    return InputError(
        f"num_items_in_batch must be one number above 0, got {given!r}; the sum of the objectives is divided "
        "by it"
    )


def _check_range(name: str, value: Any, way_out: str) -> None:
    if not isinstance(value, Real) or not sys.float_info.min <= float(value) < math.inf:
        raise InputError(f"{name} must be a number above 0, got {value!r}; {way_out}")


def not_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a backward so that it refuses create_graph, which torch's `once_differentiable` lets pass."""

    @wraps(backward)
    def refusing(*args: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "the gradient of this loss was made in the forward and cannot be differentiated again; "
                "leave out create_graph=True"
            )
        ctx, *upstream = args
        if all(x is None for x in upstream):  # the caller's gradient is undefined, which counts as 0
            return (None,) * len(ctx.needs_input_grad)
        return backward(*args)

    return refusing
