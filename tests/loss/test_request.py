"""The settings of the linear form: each equals the same thing written out, in whatever combination."""

import math

import pytest
import torch
from torch import Tensor
from toys.losses import EACH, D, Matmuls, N, R, V, linear, operands, penalty_of, reference, targets

from erce.errors import DivergedError
from erce.loss import (
    Penalty,
    Renyi,
    Shannon,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)

PART = 3 * V * 8  # bytes: three rows at a time
CASES = [EACH[0], ("renyi", 0.5), ("support-size", 2.0), ("renyi", math.inf)]


def logits(x: dict[str, Tensor]) -> Tensor:
    return x["hidden"] @ x["weight"].t() + x["bias"] + x["low"] @ x["up"].t()


def with_gradients(value: Tensor, x: dict[str, Tensor]) -> list[Tensor]:
    return [value.detach(), *torch.autograd.grad(value, list(x.values()))]


def assert_equal(computed: list[Tensor], truth: list[Tensor]) -> None:
    for a, b in zip(computed, truth, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    ("scale", "cap", "temperature"),
    [(1.0, None, 1.0), (0.25, None, 1.0), (1.0, None, 0.7), (1.5, 4.0, 1.0), (2.0, 3.0, 1.3)],
)
@pytest.mark.parametrize("how", [{}, {"chunk_bytes": PART}], ids=str)
def test_bias_adapter_scale_cap_and_temperature_make_the_logits(case, scale, cap, temperature, how):
    x, y = operands(), targets()
    z = scale * logits(x)
    z = (z if cap is None else cap * torch.tanh(z / cap)) / temperature
    truth = reference(z[y >= 0], y[y >= 0], 1.7, case).mean()
    penalty = penalty_of(case)
    loss = linear(x, lam=1.7, penalty=penalty, logit_scale=scale, softcap=cap, temperature=temperature, **how)
    assert_equal(with_gradients(loss.objective, x), with_gradients(truth, x))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("how", [{}, {"chunk_bytes": PART}], ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_every_row_may_have_its_own_strength_and_weight(case, how, reduction):
    x, y = operands(), targets()
    kept, lam, weights = y >= 0, torch.linspace(-1, 8, N), torch.linspace(0, 3, N)
    each = weights[kept] * reference(logits(x)[kept], y[kept], lam[kept], case)
    settings = {"lam": lam, "row_weights": weights, "penalty": penalty_of(case), "reduction": reduction}
    loss = linear(x, diagnose=True, **settings, **how)
    upstream = torch.linspace(-1, 2, N, dtype=torch.float64)
    if reduction == "none":
        computed, truth = (loss.objective * upstream).sum(), (each * upstream[kept]).sum()
    else:
        computed, truth = loss.objective, each.mean() if reduction == "mean" else each.sum()
    assert_equal(with_gradients(computed, x), with_gradients(truth, x))
    plain = linear(x, diagnose=True, **{**settings, "row_weights": None, "lam": 0.0})
    for name in ("nll", "entropy", "top1", "log_sum_p2"):
        torch.testing.assert_close(getattr(loss, name), getattr(plain, name))


def test_the_dense_form_has_strengths_and_weights_too():
    x, y, lam, weights = operands(), targets(), torch.linspace(-1, 8, N), torch.linspace(0, 3, N)
    how = {"lam": lam, "row_weights": weights, "num_items_in_batch": 5}
    dense = entropy_regularized_cross_entropy(logits(x), y, **how)
    assert_equal(with_gradients(dense.objective, x), with_gradients(linear(x, **how).objective, x))


@pytest.mark.parametrize("items", [20, 2.5, torch.tensor(20)])
def test_num_items_in_batch_is_what_the_sum_is_divided_by(items):
    x = operands()
    mean = linear(x, lam=1.0, num_items_in_batch=items)
    total = linear(x, lam=1.0, reduction="sum")
    assert_equal(with_gradients(mean.objective, x), with_gradients(total.objective / items, x))
    torch.testing.assert_close(mean.nll, total.nll)


def test_strengths_and_weights_in_float64_leave_the_dtype_of_the_loss_as_it_is():
    x, y = operands(torch.float32), targets()
    rows = torch.ones(N, dtype=torch.float64)
    how = {"lam": rows, "row_weights": rows}
    for reduction in ("mean", "none"):
        assert linear(x, reduction=reduction, **how).objective.dtype == torch.float32
        dense = entropy_regularized_cross_entropy(logits(x), y, reduction=reduction, **how)
        assert dense.objective.dtype == torch.float32


def test_a_strength_may_be_a_tensor_without_axes():
    x = operands()
    assert_equal(
        with_gradients(linear(x, lam=torch.tensor(2.0)).objective, x),
        with_gradients(linear(x, lam=2.0).objective, x),
    )


@pytest.mark.parametrize("how", [{}, {"chunk_bytes": PART}], ids=str)
def test_what_is_logged_is_what_it_says(how):
    x, y = operands(), targets()
    kept, lam = y >= 0, 30.0
    first, second = logits(x).topk(2).indices.t()  # the second is what a strong penalty pushes down
    y[kept] = torch.where(torch.arange(N) % 2 == 0, first, second)[kept]
    z = logits(x).detach().requires_grad_()
    log_p = z.log_softmax(-1)
    nll = -log_p[kept].gather(-1, y[kept][:, None])[:, 0]
    entropy = -(log_p.exp() * log_p).sum(-1)[kept]
    (grad,) = torch.autograd.grad((nll + lam * entropy).sum(), z)
    loss = linear_entropy_regularized_cross_entropy(
        x["hidden"],
        x["weight"],
        y,
        lam=lam,
        bias=x["bias"],
        adapter=(x["low"], x["up"]),
        reduction="none",
        diagnose=True,
        **how,
    )
    assert torch.equal(loss.top1[kept], (z.argmax(-1)[kept] == y[kept]).double())
    assert 0 < loss.top1.sum() < kept.sum()
    assert torch.equal(loss.pushed_down[kept], (grad[kept].gather(-1, y[kept][:, None])[:, 0] > 0).double())
    assert 0 < loss.pushed_down.sum() < kept.sum()
    torch.testing.assert_close(loss.nll[kept], nll)
    torch.testing.assert_close(loss.entropy[kept], entropy)
    torch.testing.assert_close(loss.log_sum_p2[kept], (2 * log_p).logsumexp(-1)[kept])
    assert not loss.tail_share.any()  # of 40 tokens
    for part in loss.computed[1:]:
        assert not part[~kept].any()
        assert not part.requires_grad


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_what_nobody_asked_for_is_not_there(reduction):
    x, y = operands(), targets()
    for loss in (
        linear(x, lam=1.0, reduction=reduction),
        entropy_regularized_cross_entropy(logits(x), y, lam=1.0, reduction=reduction),
    ):
        assert loss[4:] == (None,) * 5


@pytest.mark.parametrize("order", [0.1, 1.0, 2.0])
def test_the_tails_share_is_of_what_the_100_likeliest_tokens_leave(order):
    torch.manual_seed(0)
    hidden, weight = torch.randn(4, 6, dtype=torch.float64), torch.randn(300, 6, dtype=torch.float64)
    powers = (hidden @ weight.t()).softmax(-1) ** order
    share = 1 - powers.topk(100).values.sum(-1) / powers.sum(-1)
    how = {"lam": 1.0, "penalty": Renyi(order), "diagnose": True}
    y = torch.tensor([1, 2, -100, 3])
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, y, reduction="none", **how)
    torch.testing.assert_close(loss.tail_share, share * (y >= 0))
    mean = linear_entropy_regularized_cross_entropy(hidden, weight, y, **how)
    torch.testing.assert_close(mean.tail_share, share[y >= 0].mean())


@pytest.mark.parametrize("lam", [0.0, 1.0, 3.5911])
def test_up_to_the_critical_strength_no_demonstrated_token_is_pushed_down(lam):
    """λ = 1/W(1/e) = 3.5911…: with one other token, the worst case, the token's own slope is
    −(1 − p)(1 + λ p log(p / (1 − p))), and p log(p / (1 − p)) is never below −W(1/e)."""
    p = torch.linspace(1e-4, 1 - 1e-4, 4001, dtype=torch.float64)
    y = torch.zeros(len(p), dtype=torch.long)
    for others in (1000, 2, 1):
        z = torch.cat([p.log()[:, None], ((1 - p) / others).log()[:, None].expand(-1, others)], 1)
        assert entropy_regularized_cross_entropy(z, y, lam=lam, diagnose=True).pushed_down == 0
    assert entropy_regularized_cross_entropy(z, y, lam=3.5912, diagnose=True).pushed_down > 0


class Gini(Penalty):
    """1 − Σ p²: somebody's own."""

    def value(self, log_p, p):
        return 1 - (p * p).sum(-1)

    def value_and_logit_grad(self, log_p, p):
        squares = (p * p).sum(-1, keepdim=True)
        return 1 - squares[..., 0], -2 * p * (p - squares)

    @classmethod
    def of_order(cls, order):
        return cls()


@pytest.mark.parametrize("cap", [None, 5.0])
@pytest.mark.parametrize("how", [{}, {"chunk_bytes": PART}], ids=str)
def test_a_penalty_of_ones_own_goes_with_every_setting(how, cap):
    x, y, lam, weights = operands(), targets(), torch.linspace(-1, 8, N), torch.linspace(0, 3, N)
    kept = y >= 0
    z = 1.5 * logits(x)
    z = z[kept] if cap is None else cap * torch.tanh(z[kept] / cap)
    log_p = z.log_softmax(-1)
    each = -log_p.gather(-1, y[kept][:, None])[:, 0] + lam[kept] * (1 - (2 * log_p).exp().sum(-1))
    truth = (weights[kept] * each).sum()
    settings = {"lam": lam, "row_weights": weights, "penalty": Gini(), "logit_scale": 1.5, "softcap": cap}
    loss = linear(x, reduction="sum", **settings, **how)
    assert_equal(with_gradients(loss.objective, x), with_gradients(truth, x))


@pytest.mark.parametrize(("lam", "penalty"), [(0.0, Shannon()), (8.0, Shannon()), (8.0, Renyi(0.5))])
def test_a_large_constant_in_the_bias_costs_no_digits(lam, penalty):
    x = operands(torch.float32)
    y = targets()
    errors = []
    for constant in (0.0, 1e4):
        bias = (x["bias"] + constant).detach()
        exact = x["hidden"].double() @ x["weight"].double().t() + bias.double()
        truth = entropy_regularized_cross_entropy(exact, y, lam=lam, penalty=penalty).objective
        loss = linear_entropy_regularized_cross_entropy(
            x["hidden"], x["weight"], y, lam=lam, penalty=penalty, bias=bias
        ).objective
        true, computed = (torch.autograd.grad(value, x["hidden"])[0] for value in (truth, loss))
        errors.append((computed - true).norm() / true.norm())
    assert errors[1] < 2 * errors[0] + 1e-6


@pytest.mark.parametrize("trainable", [("hidden",), tuple(operands())], ids=len)
def test_weights_that_are_known_before_cost_no_matmul(trainable):
    """A trainable head takes three with `row_weights`, four if the rows are weighed afterwards."""
    x = {name: v.detach().requires_grad_(name in trainable) for name, v in operands().items()}
    del x["bias"], x["low"], x["up"]
    with Matmuls() as seen:
        linear_entropy_regularized_cross_entropy(
            x["hidden"], x["weight"], targets(), lam=1.0, row_weights=torch.rand(N), num_items_in_batch=3
        ).objective.backward()
    assert seen.products == (2 if len(trainable) == 1 else 3) * int((targets() >= 0).sum()) * V * D


GRAD = torch.ones(N, requires_grad=True)
BAD = [
    ("lam", math.nan, "a finite number, got nan; 0 is plain cross-entropy"),
    ("lam", torch.ones(3), r"shape \(3,\), but the targets have shape \(11,\); give one"),
    ("lam", torch.full((N,), math.inf), "must be finite numbers, got inf"),
    ("lam", GRAD, r"has no gradient; give lam.detach\(\)"),
    ("row_weights", torch.ones(2), r"shape \(2,\), but the targets have shape \(11,\); give one"),
    ("row_weights", torch.full((N,), math.nan), "must be finite numbers, got nan"),
    ("row_weights", 1.0, "must be a tensor of real numbers, one per target, got 1.0"),
    ("num_items_in_batch", 0, "one number above 0, got 0;"),
    ("num_items_in_batch", torch.tensor(0), "one number above 0, got 0;"),
    ("num_items_in_batch", torch.tensor(-3), "one number above 0, got -3;"),
    ("num_items_in_batch", torch.tensor(math.nan), "one number above 0, got nan;"),
    ("num_items_in_batch", torch.tensor([1, 2]), r"one number above 0, got tensor\(\[1, 2\]\);"),
    ("ignore_index", None, "must be a whole number, got None; -100 is usual"),
    ("bias", 1.0, "must be a tensor, got 1.0; torch.as_tensor makes one"),
    ("bias", torch.ones(V, dtype=torch.int64), "is torch.int64, but must be float16, bfloat16, float32 or"),
    ("temperature", 0.0, "a number above 0, got 0.0; 1 changes nothing"),
    ("temperature", math.nan, "a number above 0, got nan; 1 changes nothing"),
    ("logit_scale", -1.0, "a number above 0, got -1.0; 1 changes nothing"),
    ("softcap", 0, "a number above 0, got 0; None is no cap"),
    ("objective", "dft", r"one such as CrossEntropy\(\) or Focal\(2.0\), got 'dft'"),
    ("chunk_bytes", -5, "above 0, got -5; None is the default"),
    ("chunk_bytes", "1", "above 0, got '1'; None is the default"),
    ("reduction", "avg", "'avg'; there are 'mean', 'sum', 'none'"),
    (
        "adapter",
        (torch.ones(N, R), torch.ones(V, R + 1)),
        r"\(11, 2\) and \(40, 3\) does not fit .*; it must be",
    ),
]


@pytest.mark.parametrize(("name", "value", "says"), BAD)
def test_a_wrong_setting_is_one_sentence_with_its_value_and_the_way_out(name, value, says):
    x = operands()
    with pytest.raises(ValueError, match=rf"^(no )?{name}.*{says}"):
        linear_entropy_regularized_cross_entropy(
            x["hidden"], x["weight"], targets(), **{"lam": 1.0, name: value}
        )


def test_a_normaliser_goes_with_a_mean_only():
    with pytest.raises(
        ValueError, match=r"^num_items_in_batch divides only a mean; leave it out with reduction='sum'"
    ):
        linear(operands(), lam=1.0, reduction="sum", num_items_in_batch=3)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn], ids=str)
def test_a_quantised_head_is_refused(dtype):
    with pytest.raises(
        ValueError, match=rf"^weight is {dtype}, but .*; a quantised head must be dequantised"
    ):
        linear_entropy_regularized_cross_entropy(
            torch.ones(2, 3), torch.ones(4, 3).to(dtype), torch.tensor([1, 2]), lam=1.0
        )


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad])
def test_transforms_of_functions_are_refused(transform):
    def objective(hidden):
        return linear_entropy_regularized_cross_entropy(
            hidden, torch.ones(4, 3), torch.tensor([1, 2]), lam=1.0
        ).objective

    with pytest.raises(ValueError, match=r"^the loss does not run under torch\.func"):
        transform(objective)(torch.ones(2, 2, 3) if transform is torch.func.vmap else torch.ones(2, 3))


def test_all_bytes_are_one_chunk():
    x = operands()
    assert torch.equal(
        linear(x, lam=1.0, chunk_bytes=math.inf).objective, linear(x, lam=1.0, chunk_bytes=2**40).objective
    )


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("rank", [0, 2])
def test_no_width_is_logits_of_nothing(width, rank):
    hidden, weight, low, up = (torch.ones(shape) for shape in ((2, width), (4, width), (2, rank), (4, rank)))
    loss = linear_entropy_regularized_cross_entropy(
        hidden.requires_grad_(), weight, torch.tensor([1, 2]), lam=0.0, adapter=(low, up)
    )
    loss.objective.backward()
    assert float(loss.nll) == pytest.approx(math.log(4))
    assert hidden.grad.shape == (2, width)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("where", ["hidden", "weight", "logits"])
def test_logits_without_a_softmax_are_refused_with_their_position(value, where):
    x = {name: v.detach() for name, v in operands(torch.float32).items()}
    y = torch.arange(N)
    y[0] = -100
    sentence = (
        r"^the logits of position \d+ \(its index when flattened\) have no softmax: the largest is (nan|inf)"
    )
    if where == "logits":
        z = torch.randn(1, N, V)
        z[0, 6, 2] = value
        with pytest.raises(DivergedError, match=sentence.replace(r"\d+", "6")):
            entropy_regularized_cross_entropy(z, y[None], lam=1.0)
        return
    x[where][6, 1] = value
    row = "6" if where == "hidden" else "1"
    with pytest.raises(DivergedError, match=sentence.replace(r"\d+", row)):
        linear_entropy_regularized_cross_entropy(x["hidden"], x["weight"], y, lam=1.0)


def test_a_position_without_a_target_may_be_anything():
    x = operands()
    x["hidden"].data[0] = math.nan
    loss = linear_entropy_regularized_cross_entropy(x["hidden"], x["weight"], targets(), lam=1.0)
    loss.objective.backward()
    assert loss.objective.isfinite()
    assert x["hidden"].grad.isfinite().all()
