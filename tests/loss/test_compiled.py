"""What torch.compile makes of the linear form: one graph, the same numbers, and the same errors."""

import math
import shutil

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounterWithBackend
from toys.losses import (
    ALL,
    EACH,
    SETTINGS,
    N,
    V,
    arguments,
    assert_same,
    dense,
    linear,
    operands,
    operands_of,
    penalty_of,
    results,
    targets,
)
from toys.selection import others_slow

from erce.errors import DivergedError
from erce.loss import (
    OBJECTIVES,
    CrossEntropy,
    LabelSmoothing,
    Shannon,
    chunked,
    compiled,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
    make_objective,
)
from erce.loss.request import Request

HIDDEN, HEAD = ("hidden",), ("weight",)
INDUCTOR = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("g++"), reason="inductor compiles C++, here is no g++"),
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
]
SLOW = pytest.mark.slow
TO_THE_BIT = {"rtol": 0, "atol": 0}

pytestmark = pytest.mark.skipif(compiled.OLD_COMPILER, reason="an older compiler does not take the loss")


@pytest.fixture(autouse=True)
def forgetful():
    """A limit on how often a function is compiled would be reached by the tests together."""
    torch._dynamo.reset()


def whole(backend="aot_eager", function=linear):
    """Compile a function of the loss as one graph."""
    return torch.compile(function, backend=backend, fullgraph=True)


def assert_compiles(
    compiled_form,
    x: dict[str, Tensor],
    y: Tensor | None = None,
    *,
    form=linear,
    tolerance=TO_THE_BIT,
    **settings,
) -> None:
    """Assert that a compiled form and the form itself give the same loss and gradients."""
    y = targets() if y is None else y
    loss = compiled_form(x, y, **settings)
    learns = any(values.requires_grad for values in x.values())
    assert [values.requires_grad for values in loss[:3]] == [learns, False, False]
    assert_same(results(loss, x), results(form(x, y, **settings), x), **tolerance)


@pytest.mark.parametrize("case", EACH, ids=str)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_request_is_read_back_from_its_line(name, case):
    y, lam = targets(), torch.tensor(0.1)
    written = Request(
        y,
        lam,
        penalty_of(case),
        make_objective(name),
        ignore_index=7,
        reduction="none",
        diagnose=True,
        z_loss=1e-4,
        logit_scale=1 / 3,
        softcap=30.0,
        temperature=0.7,
        chunk_bytes=1e5,
        autocast=torch.bfloat16,
    )
    assert compiled.from_text(compiled.to_text(written), y, lam, None) == written


def test_every_field_of_a_request_travels():
    beside = {"targets", "lam", "row_weights", "penalty", "objective", "num_items_in_batch", "return_lse"}
    beside.add("num_scored")  # which would compile the loss again for each number; the operator counts
    assert beside | set(compiled.AS_TEXT) == set(Request._fields)


TAKEN = [
    name for name in SETTINGS if not {"return_lse", "masked"} & SETTINGS[name].keys() and "own" not in name
]
QUICK = ("rows", "above one", "smoothed", "gated", "capped", "z-loss, capped")


@pytest.mark.parametrize(
    ("reduction", "learns"),
    [
        ("none", ALL),
        *(pytest.param(*case, marks=SLOW) for case in [("mean", ALL), ("none", ("hidden", "low"))]),
    ],
    ids=str,
)
@pytest.mark.parametrize("setting", others_slow(TAKEN, QUICK.__contains__))
def test_a_setting_is_taken_whole_with_the_same_numbers(setting, reduction, learns):
    x = operands_of(setting, learns=learns)
    settings = {**arguments(setting), "reduction": reduction, "diagnose": True}
    assert_compiles(whole(), x, tolerance={}, **settings)


REDUCED = [
    *(("sum", learns, "aot_eager") for learns in (HIDDEN, ALL)),
    *(pytest.param("sum", learns, "aot_eager", marks=pytest.mark.slow) for learns in ((), HEAD)),
    *(
        pytest.param(reduction, learns, "inductor", marks=INDUCTOR)
        for reduction in ("mean", "sum", "none")
        for learns in ((), HIDDEN, HEAD, ALL)
    ),
]


@pytest.mark.parametrize(("reduction", "learns", "backend"), REDUCED, ids=str)
def test_every_reduction_is_taken_whole_whatever_learns(reduction, learns, backend):
    tolerance = {} if backend == "inductor" else TO_THE_BIT
    x = operands(torch.float32, learns=learns)
    assert_compiles(whole(backend), x, lam=2.0, reduction=reduction, tolerance=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reduction", "dtype"),
    [("mean", torch.bfloat16), ("mean", torch.float16), ("none", torch.float64)],
    ids=str,
)
def test_gradients_are_rounded_once(reduction, dtype):
    x = operands(dtype)
    x["hidden"].data[1] *= 40  # confident: in float16 its gradient is 0 until it is scaled
    settings = {"lam": 2.0, "reduction": reduction, "row_weights": torch.full((N,), 1e-6)}

    def scaled(x, y, **settings):
        loss = linear(x, y, **settings)
        return loss._replace(objective=loss.objective * 2.0**16)

    assert_compiles(whole(function=scaled), x, form=scaled, **settings)


def test_batches_of_any_size_share_a_graph():
    counter = CompileCounterWithBackend("aot_eager")
    compiled_form = whole(counter)
    for n in (12, 17, 40):
        x, y = operands(torch.float32, n=n, learns=HIDDEN), targets(n)
        for values in (x["hidden"], x["low"], y):
            torch._dynamo.mark_dynamic(values, 0)
        assert_compiles(compiled_form, x, y, lam=2.0, reduction="sum")
    assert counter.frame_count == 1


@pytest.mark.slow
def test_a_schedule_of_lam_compiles_twice_at_most():
    counter = CompileCounterWithBackend("aot_eager")
    compiled_form, x = whole(counter), operands(torch.float32, learns=HIDDEN)
    for step in range(10):
        assert_compiles(compiled_form, x, lam=0.8 * step)
    assert counter.frame_count <= 2


@pytest.mark.parametrize(
    ("learns", "reduction", "passes"),
    [
        ((), "mean", [False]),
        (HIDDEN, "none", [True]),
        (ALL, "mean", [True]),
        (ALL, "none", [False, True]),
    ],
    ids=str,
)
def test_the_logits_are_made_as_often_as_outside(learns, reduction, passes, monkeypatch):
    seen, chunked_loss = [], compiled.chunked_loss

    def counting(operands, plan, wanted):
        seen.append(any(wanted))
        assert plan.request.chunk_bytes == 1000
        return chunked_loss(operands, plan, wanted)

    for module in (compiled, chunked):
        monkeypatch.setattr(module, "chunked_loss", counting)
    x = operands(learns=learns)
    for function in (linear, whole()):
        seen.clear()
        results(function(x, targets(), lam=2.0, reduction=reduction, chunk_bytes=1000), x)
        assert seen == passes


class Mine(Shannon):
    """A penalty of one's own, which has no name."""


class Twice(CrossEntropy):
    """An objective of one's own."""

    def value_and_slope(self, nll, gate):
        return 2 * nll, 2.0


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at any graph break
@pytest.mark.parametrize("own", [{"penalty": Mine()}, {"objective": Twice()}, {"return_lse": True}], ids=str)
def test_what_the_operator_does_not_take_runs_outside_of_the_compiler_with_one_break(own):
    counter = CompileCounterWithBackend("aot_eager")

    def model(x, y, **settings):
        loss = linear_entropy_regularized_cross_entropy(x["hidden"].tanh(), x["weight"], y, **settings)
        return loss._replace(objective=loss.objective * 2)

    x = {name: operands(torch.float32, learns=HIDDEN)[name] for name in ("hidden", "weight")}
    assert_compiles(torch.compile(model, backend=counter), x, form=model, tolerance={}, lam=2.0, **own)
    assert (counter.frame_count, counter.op_count) == (2, 2)  # before and after: nothing of ours


def test_the_form_from_logits_says_that_it_does_not_compile():
    z, y = torch.randn(2, 5), torch.tensor([1, 2])
    whole = torch.compile(entropy_regularized_cross_entropy, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="only the loss from hidden states"):
        whole(z, y, lam=1.0)
    torch._dynamo.reset()
    loss = torch.compile(entropy_regularized_cross_entropy, backend="eager")(z, y, lam=1.0)
    assert torch.equal(loss.objective, entropy_regularized_cross_entropy(z, y, lam=1.0).objective)


@pytest.mark.slow
def test_bad_input_is_the_same_sentence():
    compiled_form, x, y = whole(), operands(), targets()
    y[1] = V
    with pytest.raises(ValueError, match=f"target {V} is outside the vocabulary of {V} tokens"):
        compiled_form(x, y, lam=2.0)
    x["hidden"].data[2, 1] = math.nan
    with pytest.raises(DivergedError, match=r"the logits of position 2 .* have no softmax"):
        compiled_form(x, targets(), lam=2.0)
    with pytest.raises(ValueError, match="row_weights must be finite numbers, got inf"):
        compiled_form(x, targets(), lam=2.0, row_weights=torch.full((N,), math.inf))


def test_it_is_not_differentiable_twice():
    x = operands()
    loss = whole("eager")(x, targets(), lam=2.0)
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        torch.autograd.grad(loss.objective, x["hidden"], create_graph=True)


def transposed(x: Tensor) -> Tensor:
    """The same numbers in the other order of memory."""
    return x.detach().t().contiguous().t().requires_grad_(x.requires_grad)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=INDUCTOR)])
def test_operands_may_lie_in_memory_in_any_order(backend):
    x = operands(torch.float32)
    x |= {name: transposed(x[name]) for name in ("hidden", "weight", "low", "up")}
    tolerance = {} if backend == "inductor" else TO_THE_BIT
    for reduction in ("mean", "none"):
        settings = {"lam": 2.0, "reduction": reduction, "chunk_bytes": 500}  # one chunk is multiplied later
        assert_compiles(whole(backend), x, tolerance=tolerance, **settings)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # opcheck's in torch 2.15
@pytest.mark.parametrize(("learns", "reduction"), [(HIDDEN, "none"), (ALL, "sum"), (ALL, "none")], ids=str)
def test_the_operators_are_what_they_claim_to_be(learns, reduction):
    x = operands(torch.bfloat16, learns=learns)
    y = targets().clamp(min=0)  # so that what is logged is not copied to its positions
    x["weight"] = transposed(x["weight"])
    request = Request(y, 2.0, Shannon(), LabelSmoothing(0.1), reduction=reduction)
    wanted = [name in learns for name in x]
    args = (*x.values(), y, torch.tensor(2.0), None)
    text = compiled.to_text(request)
    torch.library.opcheck(compiled._forward, (*args, text, wanted))
    if reduction == "none":
        constant = (values.detach() if isinstance(values, Tensor) else values for values in args)
        torch.library.opcheck(compiled._gradients, (*constant, torch.ones(N), text, wanted))


class Model(nn.Module):
    """A language model that returns its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.body = nn.Embedding(30, 8), nn.Linear(8, 8)

    def forward(self, tokens: Tensor, items: Tensor) -> Tensor:
        states = torch.tanh(self.body(self.embedding(tokens)))
        return linear_entropy_regularized_cross_entropy(
            states[:, :-1], self.embedding.weight, tokens[:, 1:], lam=2.0, num_items_in_batch=items
        ).objective


def trained(backend: str | None) -> list[Tensor]:
    torch.manual_seed(0)
    model = Model()
    step = model if backend is None else torch.compile(model, fullgraph=True, backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        step(torch.arange(24).reshape(3, 8), torch.tensor(21)).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [x.detach() for x in model.parameters()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=INDUCTOR)])
def test_a_compiled_model_with_a_tied_head_trains_as_it_does_uncompiled(backend):
    for a, b in zip(trained(backend), trained(None), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at any graph break
def test_a_compiler_too_old_for_the_loss_leaves_the_numbers_as_they_are(monkeypatch):
    def both(x, y):
        loss = linear(x, y, lam=2.0, chunk_bytes=100)
        return loss._replace(objective=2 * loss.objective + dense(x, lam=2.0).objective)

    monkeypatch.setattr(compiled, "OLD_COMPILER", True)
    assert_compiles(torch.compile(both, backend="eager"), operands(), form=both)
    torch._dynamo.reset()
    with pytest.raises(Exception, match=r"compiles with fullgraph=True, from torch 2\.12 on"):
        whole("eager", both)(operands(), targets())
