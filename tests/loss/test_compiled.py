"""The loss inside what torch.compile compiles: the same numbers and errors, between two graphs."""

import math
import shutil

import pytest
import torch
from torch import Tensor, nn
from toys.losses import ALL, V, arguments, assert_same, dense, linear, operands, operands_of, results, targets
from toys.selection import others_slow

from erce.loss import linear_entropy_regularized_cross_entropy

INDUCTOR = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("g++"), reason="inductor compiles C++, here is no g++"),
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
]
pytestmark = pytest.mark.filterwarnings(  # at any graph break
    "ignore:The .grad attribute of a Tensor that is not a leaf"
)


@pytest.fixture(autouse=True)
def forgetful():
    """A limit on how often a function is compiled would be reached by the tests together."""
    torch._dynamo.reset()


@pytest.mark.parametrize("form", [linear, dense])
@pytest.mark.parametrize("setting", others_slow(["rows", "capped, size", "one's own"], "rows".__eq__))
def test_inside_a_compiled_model_it_has_the_same_numbers_and_gradients(setting, form):
    settings = arguments(setting)

    def model(x: dict[str, Tensor], y: Tensor):
        loss = form(x | {"hidden": x["hidden"].tanh()}, y, **settings)
        return loss._replace(objective=loss.objective * 2)

    x = operands_of(setting, learns=ALL)
    loss = torch.compile(model, backend="aot_eager")(x, targets())
    assert_same(results(loss, x), results(model(x, targets()), x))


@pytest.mark.parametrize("form", [linear, dense])
def test_it_says_that_it_is_in_no_graph(form):
    whole = torch.compile(form, backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="leave out fullgraph=True"):
        whole(operands(), lam=1.0)


def test_bad_input_is_the_same_sentence():
    y = targets()
    y[1] = V
    for form in (linear, dense):
        with pytest.raises(ValueError, match=f"target {V} is outside the vocabulary of {V} tokens"):
            torch.compile(form, backend="eager")(operands(), y, lam=2.0)
        with pytest.raises(ValueError, match="lam must be a finite Python number, got nan"):
            torch.compile(form, backend="eager")(operands(), targets(), lam=math.nan)


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
    step = model if backend is None else torch.compile(model, backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        step(torch.arange(24).reshape(3, 8), torch.tensor(21)).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [x.detach() for x in model.parameters()]


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=INDUCTOR)])
def test_a_compiled_model_with_a_tied_head_trains_as_it_does_uncompiled(backend):
    for a, b in zip(trained(backend), trained(None), strict=True):
        torch.testing.assert_close(a, b)
