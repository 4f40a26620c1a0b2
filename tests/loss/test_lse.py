"""Each row's log-sum-exp, as a result and squared as a term of the objective: PaLM's z-loss."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from toys.losses import V, linear, operands, targets

from erce.errors import InputError
from erce.loss import (
    EAFT,
    CrossEntropy,
    LabelSmoothing,
    Loss,
    Penalty,
    Renyi,
    Shannon,
    SupportSize,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)
from erce.loss.from_logits import reference_from_logits

Z, LAM = 0.03, 0.7
KEPT = targets() >= 0
WEIGHTS = torch.linspace(0.1, 3, len(KEPT), dtype=torch.float64)
UPSTREAM = torch.linspace(-1, 2, len(KEPT), dtype=torch.float64)


@dataclass(frozen=True)  # for a repr without an address: xdist compares the tests' names
class Own(Penalty):
    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return (p * p).sum(-1)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        value = self.value(log_p, p)
        return value, 2 * p * (p - value[..., None])


def logits(x: dict[str, Tensor], softcap: float | None = None) -> Tensor:
    z = x["hidden"] @ x["weight"].t() + x["bias"] + x["low"] @ x["up"].t()
    return z if softcap is None else softcap * torch.tanh(z / softcap)


def sums_of_exp(z: Tensor) -> Tensor:
    return z.exp().sum(-1).log()


def gradients(value: Tensor, x: dict[str, Tensor], learns: list[str]) -> list[Tensor]:
    return list(torch.autograd.grad(value, [x[name] for name in learns]))


def assert_same(computed: list[Tensor], wanted: list[Tensor], tolerance: float = 1e-9) -> None:
    for a, b in zip(computed, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("penalty", "more"),
    [
        (Shannon(), {}),
        (Renyi(0.5), {"chunk_bytes": 3 * V * 8}),
        (SupportSize(2.0), {"softcap": 3.0}),
        (Own(), {}),
        (Shannon(), {"objective": LabelSmoothing(0.2)}),
        (Shannon(), {"objective": EAFT(0.5)}),
    ],
    ids=str,
)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("learns", [["hidden"], ["hidden", "weight", "bias", "low", "up"]], ids=str)
def test_the_z_loss_adds_what_its_formula_says_to_any_objective(learns, reduction, penalty, more):
    x = {name: leaf.detach().requires_grad_(name in learns) for name, leaf in operands().items()}
    settings = {"lam": LAM, "penalty": penalty, "reduction": reduction, "row_weights": WEIGHTS, **more}
    without, loss = linear(x, **settings), linear(x, z_loss=Z, **settings)
    term = torch.where(KEPT, WEIGHTS * Z * sums_of_exp(logits(x, more.get("softcap"))) ** 2, 0)
    if reduction != "none":
        term = term.sum() / (KEPT.sum() if reduction == "mean" else 1)
    upstream = UPSTREAM if reduction == "none" else torch.tensor(1.3)
    both = [(value * upstream).sum() for value in (loss.objective, without.objective + term)]
    assert_same(*([value, *gradients(value, x, learns)] for value in both))
    assert without.z_loss is None
    assert loss.z_loss is not None
    by_row = torch.where(KEPT, Z * sums_of_exp(logits(x, more.get("softcap"))) ** 2, 0)
    torch.testing.assert_close(loss.z_loss, by_row if reduction == "none" else by_row.sum() / KEPT.sum())


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "linear"])
@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("learns", [["hidden"], ["hidden", "weight", "bias", "low", "up"]], ids=str)
def test_lse_is_that_of_each_position_and_differentiable(learns, reduction, dense):
    x = {name: leaf.detach().requires_grad_(name in learns) for name, leaf in operands().items()}
    settings = {"lam": LAM, "reduction": reduction, "z_loss": Z, "row_weights": WEIGHTS, "diagnose": True}

    def run() -> Loss:
        if dense:
            return entropy_regularized_cross_entropy(logits(x), targets(), **settings)
        return linear(x, **settings)

    settings["return_lse"] = False
    plain = run()
    wanted = torch.where(KEPT, sums_of_exp(logits(x)), 0)
    assert plain.lse is None
    settings["return_lse"] = True
    loss = run()
    assert loss.lse is not None
    assert_same([loss.lse, *loss[1:8]], [wanted, *plain[1:8]])
    both = [(value.objective * UPSTREAM).sum() for value in (loss, plain)]
    extra = [(lse.sin() * UPSTREAM).sum() for lse in (loss.lse, wanted)]
    together = [a + b for a, b in zip(both, extra, strict=True)]
    assert_same(*([value, *gradients(value, x, learns)] for value in together))


def test_the_reference_has_the_term_too():
    x = operands()
    loss = linear(x, lam=LAM, z_loss=Z)
    rows = reference_from_logits(logits(x)[KEPT], targets()[KEPT], LAM, z_loss=Z)
    assert_same(gradients(loss.objective, x, list(x)), gradients(rows.mean(), x, list(x)))


@pytest.mark.parametrize("shift", [1000.0, -1000.0])
def test_lse_has_the_offset_of_a_bias(shift):
    x = {name: leaf.detach().float() for name, leaf in operands().items()}
    near = linear(x, lam=LAM, return_lse=True, reduction="none")
    far = linear(x | {"bias": x["bias"] + shift}, lam=LAM, return_lse=True, reduction="none")
    assert near.lse is not None
    torch.testing.assert_close(far.lse, near.lse + shift * KEPT, rtol=0, atol=2e-4)
    one = linear(x | {"bias": x["bias"] + shift}, lam=LAM, z_loss=Z)
    torch.testing.assert_close(one.z_loss, (Z * (near.lse + shift)[KEPT] ** 2).mean())


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_bfloat16_logits_on_a_cpu_have_the_lse_of_exact_ones(offset):
    generator = torch.Generator().manual_seed(0)
    hidden, weight = (torch.randn(n, 64, generator=generator).bfloat16() for n in (12, 4133))
    hidden[:, 0], weight[:, 0] = 1, offset
    y = torch.randint(0, 4133, (12,), generator=generator)
    grads, lses = [], []
    for h in (hidden.requires_grad_(), hidden.detach().double().requires_grad_()):
        loss = linear_entropy_regularized_cross_entropy(
            h, weight.to(h.dtype), y, lam=0.0, z_loss=1.0, return_lse=True
        )
        grads.append(torch.autograd.grad(loss.objective + loss.lse.sum(), h)[0].double())
        lses.append(loss.lse.double())
    torch.testing.assert_close(*lses, rtol=1e-5, atol=2e-3)
    assert (grads[0] - grads[1]).norm() < 3e-3 * grads[1].norm()


@pytest.mark.parametrize("z_loss", [-1e-4, float("nan"), float("inf"), "1e-4"], ids=str)
def test_a_z_loss_that_is_no_strength_is_refused(z_loss):
    with pytest.raises(InputError, match="z_loss must be a number from 0 up"):
        linear(operands(), lam=LAM, z_loss=z_loss)


def test_a_row_with_a_masked_vocabulary_has_the_lse_of_what_is_left():
    z = torch.randn(3, 8, dtype=torch.float64)
    z[:, 5:] = -torch.inf
    z[1] = -torch.inf  # an ignored row may be no distribution
    z.requires_grad_()
    y = torch.tensor([1, -100, 6])
    loss = entropy_regularized_cross_entropy(
        z, y, lam=0.0, objective=CrossEntropy(), z_loss=Z, return_lse=True, reduction="none"
    )
    assert loss.lse is not None
    torch.testing.assert_close(loss.lse, z.logsumexp(-1).where(y >= 0, 0))
    (gradient,) = torch.autograd.grad(loss.lse.sum(), z)
    torch.testing.assert_close(gradient, z.detach().softmax(-1).where(y[:, None] >= 0, 0))
