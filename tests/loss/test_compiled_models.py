"""torch.compile of what contains the loss: one graph, and the same numbers."""

import shutil

import pytest
import torch
from torch import Tensor, nn
from toys.losses import N, linear, operands

from erce.loss import (
    EAFT,
    Focal,
    LabelSmoothing,
    Renyi,
    SupportSize,
    compiled,
    linear_entropy_regularized_cross_entropy,
)

SETTINGS = {
    "Shannon": {"lam": 8.0},
    "size": {"lam": 0.1, "penalty": SupportSize(0.5)},
    "rows": {"lam": torch.linspace(-1, 4, N), "row_weights": torch.linspace(0, 2, N)},
    "a tensor": {"lam": torch.tensor(2.0)},
    "smoothed": {"lam": 1.0, "objective": LabelSmoothing(0.2)},
    "gated": {"lam": 1.0, "objective": EAFT(0.7)},
    "focal": {"lam": 1.0, "objective": Focal(0.5), "penalty": Renyi(2.0)},
    "diagnosed": {"lam": 1.0, "diagnose": True},
    "transformed": {"lam": 1.0, "logit_scale": 2.0, "softcap": 3.0, "temperature": 1.3},
    "chunked": {"lam": 1.0, "chunk_bytes": 1000},
}


SLOW = pytest.mark.slow
pytestmark = pytest.mark.skipif(compiled.OLD_COMPILER, reason="an older compiler does not take the loss")


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch._dynamo.reset()


def outcome(function, reduction: str, learns: tuple[str, ...]) -> list[Tensor]:
    """All that is returned, and the gradients of what learns."""
    x = {name: v.detach().requires_grad_(name in learns) for name, v in operands().items()}
    loss = function(x, reduction=reduction)
    upstream = torch.linspace(-1, 2, loss.objective.numel(), dtype=torch.float64)
    grads = torch.autograd.grad((loss.objective.reshape(-1) * upstream).sum(), [x[name] for name in learns])
    return [*(part.detach() for part in loss if part is not None), *grads]


@pytest.mark.parametrize("learns", [pytest.param(("hidden", "low"), marks=SLOW), tuple(operands())], ids=len)
@pytest.mark.parametrize("reduction", [pytest.param("mean", marks=SLOW), "none"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_it_is_one_graph_with_the_same_numbers(setting, reduction, learns):
    def run(x, reduction):
        return linear(x, reduction=reduction, **SETTINGS[setting])

    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    computed, truth = (outcome(function, reduction, learns) for function in (compiled, run))
    for a, b in zip(computed, truth, strict=True):
        torch.testing.assert_close(a, b)
        assert not a.requires_grad


def test_what_is_logged_has_no_gradient_there_either():
    x = operands()
    loss = torch.compile(lambda: linear(x, lam=1.0), fullgraph=True, backend="aot_eager")()
    assert [part.requires_grad for part in loss[:3]] == [True, *[False] * 2]


@pytest.mark.slow
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_under_autocast_it_rounds_its_operands_as_outside_of_the_compiler(reduction):
    def run(x, reduction):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return linear(x, lam=1.0, reduction=reduction)

    computed = []
    for function in (torch.compile(run, fullgraph=True, backend="aot_eager"), run):
        x = operands(torch.float32)
        loss = function(x, reduction)
        computed.append(
            [loss.objective.detach(), *torch.autograd.grad(loss.objective.sum(), list(x.values()))]
        )
    for a, b in zip(*computed, strict=True):
        assert torch.equal(a, b)


def test_without_gradients_there_is_none_to_make():
    compiled = torch.compile(lambda x: linear(x, lam=1.0), fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        assert torch.equal(compiled(operands()).objective, linear(operands(), lam=1.0).objective)


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


@pytest.mark.parametrize(
    "backend",
    [
        "eager",
        "aot_eager",
        pytest.param(
            "inductor",
            marks=[
                pytest.mark.slow,
                pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # inductor's own
                pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler"),
            ],
        ),
    ],
)
def test_a_compiled_model_with_a_tied_head_trains_as_it_does_uncompiled(backend):
    for a, b in zip(trained(backend), trained(None), strict=True):
        torch.testing.assert_close(a, b)
