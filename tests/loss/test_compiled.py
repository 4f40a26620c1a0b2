"""What torch.compile makes of the linear form: rounding, recompilation, memory order and bad input."""

import math
import shutil

import pytest
import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend
from toys.losses import EACH, penalty_of

from erce.errors import DivergedError
from erce.loss import (
    OBJECTIVES,
    CrossEntropy,
    LabelSmoothing,
    Loss,
    Shannon,
    chunked,
    compiled,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
    make_objective,
)
from erce.loss.request import Request

N, V, D, R = 12, 30, 4, 2
HIDDEN, HEAD, ALL = ("hidden",), ("weight",), ("hidden", "weight", "bias", "low", "up")
INDUCTOR = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("g++"), reason="inductor compiles C++, here is no g++"),
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
]

pytestmark = pytest.mark.skipif(compiled.OLD_COMPILER, reason="an older compiler does not take the loss")


@pytest.fixture(autouse=True)
def forgetful():
    """A limit on how often a function is compiled would be reached by the tests together."""
    torch._dynamo.reset()


def operands(dtype: torch.dtype = torch.float32, n: int = N) -> tuple[dict[str, Tensor], Tensor]:
    """And targets of which every fourth is ignored."""
    generator = torch.Generator().manual_seed(n)
    shapes = {"hidden": (n, D), "weight": (V, D), "bias": (V,), "low": (n, R), "up": (V, R)}
    tensors = {name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()}
    targets = torch.randint(0, V, (n,), generator=generator)
    targets[::4] = -100
    return tensors, targets


def outcome(form, tensors: dict[str, Tensor], targets: Tensor, learns=HIDDEN, **settings) -> list[Tensor]:
    """All of `Loss`, and the gradients of whatever learns."""
    # As they lie in memory: a clone of a transposed tensor is transposed.
    tensors = {name: x.clone().requires_grad_(name in learns) for name, x in tensors.items()}
    adapter = (tensors["low"], tensors["up"]) if "low" in tensors else None
    targets = targets.where(targets >= 0, settings.get("ignore_index", -100))
    loss = form(
        tensors["hidden"], tensors["weight"], targets, bias=tensors.get("bias"), adapter=adapter, **settings
    )
    assert [x.requires_grad for x in loss[:3]] == [bool(learns), *[False] * 2]
    if learns:
        weights = torch.linspace(-1, 2, loss.objective.numel()).reshape(loss.objective.shape)
        (loss.objective * weights).sum().backward()
    gradients = [x.grad for x in tensors.values() if x.requires_grad]
    return [*(x.detach() for x in loss if x is not None), *gradients]


def form(*args, **settings) -> Loss:
    return linear_entropy_regularized_cross_entropy(*args, **settings)


def assert_same(computed: list[Tensor], wanted: list[Tensor], *, to_the_bit: bool = True) -> None:
    for a, b in zip(computed, wanted, strict=True):
        torch.testing.assert_close(a, b, **({"rtol": 0, "atol": 0} if to_the_bit else {}))


@pytest.mark.parametrize("case", EACH, ids=str)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_request_is_read_back_from_its_line(name, case):
    _, targets = operands()
    lam = torch.tensor(0.1)
    written = Request(
        targets,
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
    assert compiled.from_text(compiled.to_text(written), targets, lam, None) == written


def test_every_field_of_a_request_travels():
    beside = {"targets", "lam", "row_weights", "penalty", "objective", "num_items_in_batch", "return_lse"}
    beside.add("num_scored")  # which would compile the loss again for each number; the operator counts
    assert beside | set(compiled.AS_TEXT) == set(Request._fields)


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
    tensors, targets = operands()
    compiled_form = torch.compile(form, backend=backend, fullgraph=True)
    wanted = outcome(form, tensors, targets, learns, lam=2.0, reduction=reduction)
    computed = outcome(compiled_form, tensors, targets, learns, lam=2.0, reduction=reduction)
    assert_same(computed, wanted, to_the_bit=backend != "inductor")


def test_another_number_of_items_is_no_other_graph():
    tensors, targets = operands()
    counter = CompileCounterWithBackend("eager")
    compiled_form = torch.compile(form, backend=counter, fullgraph=True)
    for kind in (int, float, torch.tensor):
        for items in range(3, 9):
            settings = {"lam": 2.0, "num_items_in_batch": kind(items)}
            assert_same(
                outcome(compiled_form, tensors, targets, **settings),
                outcome(form, tensors, targets, **settings),
            )
    assert counter.frame_count <= 2 * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reduction", "dtype"),
    [("mean", torch.bfloat16), ("mean", torch.float16), ("none", torch.float64)],
    ids=str,
)
def test_gradients_are_rounded_once(reduction, dtype):
    tensors, targets = operands(dtype)
    tensors["hidden"][1] *= 40  # confident: in float16 its gradient is 0 until it is scaled
    settings = {"lam": 2.0, "reduction": reduction, "row_weights": torch.full((N,), 1e-6)}

    def scaled(*args, **settings):
        loss = form(*args, **settings)
        return loss._replace(objective=loss.objective * 2.0**16)

    compiled_form = torch.compile(scaled, backend="aot_eager", fullgraph=True)
    wanted = outcome(scaled, tensors, targets, ALL, **settings)
    assert_same(outcome(compiled_form, tensors, targets, ALL, **settings), wanted)


def test_batches_of_any_size_share_a_graph():
    counter = CompileCounterWithBackend("aot_eager")
    compiled_form = torch.compile(form, backend=counter, fullgraph=True)
    for n in (12, 17, 40):
        tensors, targets = operands(n=n)
        wanted = outcome(form, tensors, targets, lam=2.0, reduction="sum")
        tensors["hidden"].requires_grad_()
        for x in (tensors["hidden"], tensors["low"], targets):
            torch._dynamo.mark_dynamic(x, 0)
        hidden, weight, bias, *adapter = tensors.values()
        loss = compiled_form(hidden, weight, targets, bias=bias, adapter=adapter, lam=2.0, reduction="sum")
        loss.objective.neg().backward()  # as `outcome` weighs a sum
        assert_same([*(x.detach() for x in loss[:4]), hidden.grad], wanted)
    assert counter.frame_count == 1


@pytest.mark.slow
def test_a_schedule_of_lam_compiles_twice_at_most():
    counter = CompileCounterWithBackend("aot_eager")
    compiled_form = torch.compile(form, backend=counter, fullgraph=True)
    tensors, targets = operands()
    for step in range(10):
        settings = {"lam": 0.8 * step}
        assert_same(
            outcome(compiled_form, tensors, targets, **settings), outcome(form, tensors, targets, **settings)
        )
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
    tensors, targets = operands()
    for function in (form, torch.compile(form, backend="aot_eager", fullgraph=True)):
        seen.clear()
        outcome(function, tensors, targets, learns, lam=2.0, reduction=reduction, chunk_bytes=1000)
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
    tensors, targets = operands()
    counter = CompileCounterWithBackend("aot_eager")

    def model(hidden, weight, targets, **settings):
        loss = form(hidden.tanh(), weight, targets, **settings)
        return loss._replace(objective=loss.objective * 2)

    computed = outcome(torch.compile(model, backend=counter), tensors, targets, lam=2.0, **own)
    torch.testing.assert_close(computed, outcome(model, tensors, targets, lam=2.0, **own))
    assert (counter.frame_count, counter.op_count) == (2, 2)  # before and after: nothing of ours


@pytest.mark.parametrize("diagnose", [False, True])
def test_the_z_loss_is_taken_whole(diagnose):
    tensors, targets = operands()
    settings = {"lam": 2.0, "z_loss": 0.1, "diagnose": diagnose}
    compiled_form = torch.compile(form, backend="aot_eager", fullgraph=True)
    wanted = outcome(form, tensors, targets, **settings)
    assert_same(outcome(compiled_form, tensors, targets, **settings), wanted)


def test_the_form_from_logits_says_that_it_does_not_compile():
    z, y = torch.randn(2, 5), torch.tensor([1, 2])
    whole = torch.compile(entropy_regularized_cross_entropy, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="only the loss from hidden states"):
        whole(z, y, lam=1.0)
    torch._dynamo.reset()
    loss = torch.compile(entropy_regularized_cross_entropy, backend="eager")(z, y, lam=1.0)
    assert torch.equal(loss.objective, entropy_regularized_cross_entropy(z, y, lam=1.0).objective)


@pytest.mark.slow
def test_nothing_to_score_is_zero():
    tensors, targets = operands()
    compiled_form = torch.compile(form, backend="aot_eager", fullgraph=True)
    for zero in outcome(compiled_form, tensors, torch.full_like(targets, -100), ALL, lam=2.0):
        assert not zero.any()


@pytest.mark.slow
def test_bad_input_is_the_same_sentence():
    tensors, targets = operands()
    compiled_form = torch.compile(form, backend="aot_eager", fullgraph=True)
    targets[1] = V
    with pytest.raises(ValueError, match="target 30 is outside the vocabulary of 30 tokens"):
        outcome(compiled_form, tensors, targets, lam=2.0)
    tensors["hidden"][2, 1] = math.nan
    targets[1] = 0
    with pytest.raises(DivergedError, match=r"the logits of position 2 .* have no softmax"):
        outcome(compiled_form, tensors, targets, lam=2.0)
    rows = torch.full((N,), math.inf)
    with pytest.raises(ValueError, match="row_weights must be finite numbers, got inf"):
        outcome(compiled_form, tensors, targets, lam=2.0, row_weights=rows)


def test_it_is_not_differentiable_twice():
    tensors, targets = operands()
    hidden = tensors["hidden"].requires_grad_()
    loss = torch.compile(form, backend="eager", fullgraph=True)(hidden, tensors["weight"], targets, lam=2.0)
    with pytest.raises(RuntimeError, match="cannot be differentiated again"):
        torch.autograd.grad(loss.objective, hidden, create_graph=True)


def transposed(x: Tensor) -> Tensor:
    """The same numbers in the other order of memory."""
    return x.t().contiguous().t()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=INDUCTOR)])
def test_operands_may_lie_in_memory_in_any_order(backend):
    tensors, targets = operands()
    tensors |= {name: transposed(tensors[name]) for name in ("hidden", "weight", "low", "up")}
    compiled_form = torch.compile(form, backend=backend, fullgraph=True)
    for reduction in ("mean", "none"):
        settings = {"lam": 2.0, "reduction": reduction, "chunk_bytes": 500}  # one chunk is multiplied later
        wanted = outcome(form, tensors, targets, ALL, **settings)
        computed = outcome(compiled_form, tensors, targets, ALL, **settings)
        assert_same(computed, wanted, to_the_bit=backend != "inductor")


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # opcheck's in torch 2.15
@pytest.mark.parametrize(("learns", "reduction"), [(HIDDEN, "none"), (ALL, "sum"), (ALL, "none")], ids=str)
def test_the_operators_are_what_they_claim_to_be(learns, reduction):
    tensors, targets = operands(torch.bfloat16)
    targets = targets.clamp(min=0)  # so that what is logged is not copied to its positions
    tensors["weight"] = transposed(tensors["weight"])
    request = Request(targets, 2.0, Shannon(), LabelSmoothing(0.1), reduction=reduction)
    for name, x in tensors.items():
        x.requires_grad_(name in learns)
    wanted = [name in learns for name in tensors]
    args = (*tensors.values(), targets, torch.tensor(2.0), None)
    text = compiled.to_text(request)
    torch.library.opcheck(compiled._forward, (*args, text, wanted))
    if reduction == "none":
        constant = (x.detach() if isinstance(x, Tensor) else x for x in args)
        torch.library.opcheck(compiled._gradients, (*constant, torch.ones(N), text, wanted))


OLD_SETTINGS = {"lam": 2.0, "chunk_bytes": 100}


def step(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    linear = linear_entropy_regularized_cross_entropy(hidden.tanh(), weight, targets, **OLD_SETTINGS)
    from_logits = entropy_regularized_cross_entropy(hidden @ weight.T, targets, lam=2.0)
    return linear.objective * 2 + linear.entropy + from_logits.objective


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at any graph break
def test_a_compiler_too_old_for_the_loss_leaves_the_numbers_as_they_are(monkeypatch):
    monkeypatch.setattr(compiled, "OLD_COMPILER", True)
    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(0)
    operands = [torch.randn(shape, generator=generator).requires_grad_() for shape in ((6, 4), (5, 4))]
    targets = torch.tensor([0, 1, 2, 3, 4, -100])
    results = []
    for function in (step, torch.compile(step, backend="eager")):
        objective = function(*operands, targets)
        results.append([objective.detach(), *torch.autograd.grad(objective, operands)])
    for plain, broken in zip(*results, strict=True):
        assert torch.equal(plain, broken)
    torch._dynamo.reset()
    with pytest.raises(Exception, match=r"compiles with fullgraph=True, from torch 2\.12 on"):
        torch.compile(step, backend="eager", fullgraph=True)(*operands, targets)
