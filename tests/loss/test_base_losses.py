"""Each base loss is its paper's formula, by autograd in float64, alone and with a penalty, in every form."""

import math

import pytest
import torch
from torch import Tensor
from toys.losses import (
    EACH,
    PAPERS,
    assert_same,
    dense,
    linear,
    operands,
    penalty_of,
    results,
    written_out,
)

from erce.loss import BASE_LOSSES, entropy_regularized_cross_entropy, make_base_loss


def scaled(scale: float, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    x = operands(dtype, likely=-1.0)  # at a certain token the papers' formulas lose their digits
    x["hidden"].data *= scale
    return x


def both(
    form, x: dict[str, Tensor], name: str, lam: float, case
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Results of a form of the loss, and those that the paper's formula has."""
    settings = {"lam": lam, "reduction": "none"}
    loss = results(form(x, penalty=penalty_of(case), base_loss=make_base_loss(name), **settings), x)
    truth = results(written_out(x, penalty=case, base_loss=name, **settings), x)
    return loss, {field: truth[field] for field in loss}


@pytest.mark.parametrize("scale", [1.0, 12.0])
@pytest.mark.parametrize(("lam", "case"), [(0.0, EACH[0]), (-0.1, EACH[0]), (3.0, ("support-size", 0.5))])
@pytest.mark.parametrize("name", PAPERS)
def test_value_and_gradients_are_those_of_its_paper(name, lam, case, scale):
    for form in (dense, linear):
        assert_same(*both(form, scaled(scale), name, lam, case), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", PAPERS)
def test_in_float32_it_is_no_further_from_float64_than_autograd(name):
    x = scaled(4.0, torch.float32)
    computed, near = both(linear, x, name, 8.0, ("renyi", 2.0))
    exact = {operand: values.detach().double().requires_grad_() for operand, values in x.items()}
    _, truth = both(linear, exact, name, 8.0, ("renyi", 2.0))
    for field, true in truth.items():
        error = (computed[field] - true).abs().max()
        assert error <= 2 * (near[field] - true).abs().max() + 1e-6 * true.abs().max(), field


def test_every_base_loss_is_tested_here():
    assert {name.partition(":")[0] for name in PAPERS} == set(BASE_LOSSES)


@pytest.mark.parametrize("name", [name for name in PAPERS if "smoothing" not in name])
def test_a_certain_token_costs_nothing(name):
    z = torch.zeros(1, 30)
    z[0, 3] = 200.0
    z.requires_grad_()
    loss = entropy_regularized_cross_entropy(z, torch.tensor([3]), lam=0.0, base_loss=make_base_loss(name))
    loss.objective.backward()
    assert loss.objective == 0
    assert not z.grad.any()


@pytest.mark.parametrize("name", PAPERS)
def test_an_impossible_token_has_a_finite_gradient(name):
    z = torch.zeros(1, 30)
    z[0, 4] = -math.inf
    z.requires_grad_()
    loss = entropy_regularized_cross_entropy(z, torch.tensor([4]), lam=1.0, base_loss=make_base_loss(name))
    loss.objective.backward()
    assert z.grad.isfinite().all()
    gives_up = name.partition(":")[0] in ("dft", "power", "threshold")  # on what has no probability
    assert gives_up or loss.objective == math.inf


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fokal", "did you mean 'focal'?"),
        ("x", "threshold (your own: package.module:NAME)"),
        ("dft:2", "DFT has no number, got 2.0; leave it out"),
        ("cross-entropy:1", "CrossEntropy has no number, got 1.0"),
        ("focal:x", "'x'"),
        ("focal:-1", "0 or above, got -1.0"),
        ("focal:inf", "0 or above, got inf"),
        ("eaft:-1", "0 or above, got -1"),
        ("power:0", "above 0, got 0"),
        ("threshold:1", "in [0, 1), got 1"),
        ("label-smoothing:1", "in [0, 1), got 1.0"),
        ("label-smoothing:nan", "got nan"),
    ],
)
def test_a_name_that_makes_none_is_refused_with_the_way_out(name, says):
    with pytest.raises(ValueError, match=f"base loss '{name}'") as refused:
        make_base_loss(name)
    assert says in str(refused.value)
