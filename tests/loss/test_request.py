"""The settings of the loss: in each form they are what their formulas say, in whatever combination."""

import math
from itertools import combinations
from typing import Any

import pytest
import torch
from toys.losses import (
    ALL,
    SETTINGS,
    D,
    N,
    R,
    V,
    arguments,
    assert_same,
    dense,
    linear,
    logits,
    operands,
    operands_of,
    reference,
    results,
    targets,
    written_out,
)

from erce.errors import DivergedError
from erce.loss import (
    Renyi,
    Shannon,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)

PART = 3 * V * 8  # bytes: three rows at a time
FORMS = {"from logits": dense, "from hidden states": linear, "in chunks": linear}
EXACT = {"rtol": 1e-8, "atol": 1e-10}


@pytest.mark.parametrize(
    ("reduction", "learns"),
    [("mean", ("hidden",)), ("sum", ALL), ("none", ("hidden",)), ("none", ALL)],
    ids=lambda x: x if isinstance(x, str) else len(x),
)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_form_is_what_its_formula_says(setting, form, reduction, learns):
    """All that is returned, and all gradients."""
    x = operands_of(setting, learns=learns)
    how = {"reduction": reduction, **({"chunk_bytes": PART} if form == "in chunks" else {})}
    loss = FORMS[form](x, **arguments(setting), **how)
    assert [name for name, values in loss._asdict().items() if values.requires_grad] == ["objective"]
    truth = written_out(x, reduction=reduction, **SETTINGS[setting])
    assert_same(results(loss, x), results(truth, x), **EXACT)


def test_some_targets_are_the_likeliest_and_others_not():
    """So that the test above could fail."""
    top1 = written_out(operands(), reduction="none", **SETTINGS["strong"]).top1[targets() >= 0]
    assert 0 < top1.mean() < 1


@pytest.mark.parametrize("how", [{}, {"chunk_bytes": PART}], ids=str)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_a_gradient_is_the_same_whatever_else_learns(reduction, how):
    x = operands()
    wanted = results(linear(x, lam=3.0, reduction=reduction, **how), x)
    for count in range(1, len(ALL)):
        for learns in combinations(ALL, count):
            fewer = operands(learns=learns)
            computed = results(linear(fewer, lam=3.0, reduction=reduction, **how), fewer)
            assert_same(computed, {name: wanted[name] for name in computed}, **EXACT)


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_nothing_to_score_is_a_differentiable_zero(n, form, reduction, dtype):
    x, y = operands(dtype, n=n), torch.full((n,), -100)
    loss = FORMS[form](x, y, lam=1.0, reduction=reduction)
    for zero in (*loss[:3], *torch.autograd.grad(loss.objective.sum(), list(x.values()))):
        assert not zero.any()
        assert not zero.isnan().any()


@pytest.mark.parametrize("learns", [("hidden",), ALL], ids=len)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_backward_may_run_again_but_not_be_differentiated(form, reduction, learns):
    x = operands(learns=learns)
    total = FORMS[form](x, lam=1.0, reduction=reduction).objective.sum()
    (first,) = torch.autograd.grad(total, x["hidden"], retain_graph=True)
    (second,) = torch.autograd.grad(2 * total, x["hidden"], retain_graph=True)
    torch.testing.assert_close(second, 2 * first)
    with pytest.raises(RuntimeError, match="cannot be differentiated again; leave out create_graph=True"):
        torch.autograd.grad(total, x["hidden"], create_graph=True)


def test_the_references_are_what_the_formula_says_too():
    x = operands()
    kept = targets() >= 0
    for penalty in (("shannon", 1.0), ("support-size", 2.0)):
        rows = reference(logits(x)[kept], targets()[kept], 0.7, penalty)
        torch.testing.assert_close(rows.mean(), written_out(x, lam=0.7, penalty=penalty).objective)


@pytest.mark.parametrize("items", [20, 2.5, torch.tensor(20)])
@pytest.mark.parametrize("form", [dense, linear])
def test_num_items_in_batch_is_what_the_sum_is_divided_by(form, items):
    x = operands()
    mean = form(x, num_items_in_batch=items, **SETTINGS["rows"])
    total = form(x, reduction="sum", **SETTINGS["rows"])
    assert_same(results(mean, x), results(total._replace(objective=total.objective / items), x), **EXACT)


def test_weights_and_items_in_float64_leave_the_dtype_of_the_loss_as_it_is():
    x, y = operands(torch.float32), targets()
    how: dict[str, Any] = {"lam": 1.0, "row_weights": torch.ones(N, dtype=torch.float64)}
    items = torch.tensor([20.0], dtype=torch.float64)
    mean = linear(x, num_items_in_batch=items, **how).objective
    assert (mean.dtype, mean.shape) == (torch.float32, ())
    for reduction in ("mean", "none"):
        assert linear(x, reduction=reduction, **how).objective.dtype == torch.float32
        dense = entropy_regularized_cross_entropy(logits(x), y, reduction=reduction, **how)
        assert dense.objective.dtype == torch.float32


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


GRAD = torch.ones(N, requires_grad=True)
NO_NUMBER = [math.nan, math.inf, "1"]
REFUSED = [  # of both forms: an argument, its value, and what the sentence says
    *(("lam", value, repr(value), "0 is plain cross-entropy") for value in NO_NUMBER),
    ("lam", torch.ones(N), "tensor", "finite Python number"),
    ("lam", torch.tensor(4.0), "tensor(4.)", "finite Python number"),
    ("row_weights", torch.ones(2), "(2,)", "(11,)", "one number per target"),
    ("row_weights", torch.full((N,), math.nan), "finite", "nan"),
    ("row_weights", GRAD, "row_weights.detach()"),
    ("row_weights", 1.0, "1.0", "tensor"),
    *(("num_items_in_batch", value, repr(value), "above 0") for value in (0, torch.tensor([1, 2]))),
    *(("num_items_in_batch", torch.tensor(value), f"got {value}", "above 0") for value in (0, -3, math.nan)),
    *(("num_scored", value, repr(value), "from 0 to 11", "None") for value in (-1, N + 1, 2.0, True)),
    ("ignore_index", None, "None", "-100"),
    ("penalty", "shannon", "'shannon'", "Shannon()"),
    ("base_loss", "dft", "'dft'", "CrossEntropy()"),
    ("reduction", "avg", "'avg'", "'mean', 'sum', 'none'"),
    ("target", torch.arange(N) + V - 1, f"{V + N - 2}", f"{V} tokens", "ignore_index, here -100"),
    ("target", torch.arange(N) - 1, "-1", "ignore_index, here -100"),
    ("targets", torch.ones(N), "torch.float32", ".long()"),
    ("targets", torch.ones(1, N).long(), "(1, 11)", "(11,)", "one target per row"),
    ("targets", [1, 2], "[1, 2]", "torch.as_tensor"),
]
HEADS = [  # of the form from hidden states
    ("hidden", torch.zeros(N, 4), "(11, 4)", "(150, 5)"),
    ("hidden", [[1.0]], "[[1.0]]", "torch.as_tensor"),
    ("weight", torch.zeros(0, D), "no rows"),
    ("weight", torch.zeros(V), "(11, 5)", "(150,)"),
    *(("weight", torch.ones(V, D).to(t), str(t), "dequantised") for t in (torch.int8, torch.float8_e4m3fn)),
    ("bias", torch.zeros(3), "(3,)", "150 rows", "(v,)"),
    ("bias", 1.0, "1.0", "torch.as_tensor"),
    ("bias", torch.ones(V, dtype=torch.int64), "torch.int64", "float32"),
    ("adapter", (torch.ones(N, R), torch.ones(V, R + 1)), "(11, 2)", "(150, 3)"),
    *(("temperature", value, repr(value), "1 changes nothing") for value in (0.0, math.nan)),
    ("logit_scale", -1.0, "-1.0", "1 changes nothing"),
    ("softcap", 0, "0", "None is no cap"),
    *(("chunk_bytes", value, repr(value), "None is the default") for value in (0, -5, "1")),
]


@pytest.mark.parametrize(
    ("form", "name", "value", "says"),
    [
        *(("linear", name, value, says) for name, value, *says in REFUSED + HEADS),
        *(("dense", name, value, says) for name, value, *says in REFUSED),
        ("dense", "logits", torch.zeros(N, 0), ["(11, 0)", "(..., v)"]),
        ("dense", "logits", torch.zeros(N, V, dtype=torch.int64), ["torch.int64", "float16"]),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_the_way_out(form, name, value, says):
    settings = {"targets": targets(), "lam": 1.0, "targets" if name == "target" else name: value}
    if form == "dense":
        function, operands = entropy_regularized_cross_entropy, {"logits": torch.zeros(N, V)}
    else:
        function = linear_entropy_regularized_cross_entropy
        operands = {"hidden": torch.zeros(N, D), "weight": torch.zeros(V, D)}
    with pytest.raises(ValueError, match=name) as refused:
        function(**operands | settings)
    assert [fragment for fragment in says if fragment not in str(refused.value)] == []


def test_a_normaliser_goes_with_a_mean_only():
    with pytest.raises(ValueError, match=r"num_items_in_batch .*; leave it out with reduction='sum'"):
        linear(operands(), lam=1.0, reduction="sum", num_items_in_batch=3)


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
