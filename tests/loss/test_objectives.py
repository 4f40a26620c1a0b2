"""Each objective is its paper's formula, by autograd in float64, alone and with a penalty, in every form."""

import math

import pytest
import torch
from torch import Tensor
from toys.losses import EACH, PAPERS, penalty_of, reference

from erce.loss import (
    DFT,
    EAFT,
    OBJECTIVES,
    CrossEntropy,
    Focal,
    LabelSmoothing,
    Objective,
    ProbabilityPower,
    Renyi,
    Threshold,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
    make_objective,
)
from erce.loss.named import objective_name

V, D = 60, 6


def operands(scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    hidden = scale * torch.randn(9, D, generator=generator, dtype=torch.float64)
    weight = torch.randn(V, D, generator=generator, dtype=torch.float64)
    return hidden, weight, torch.randint(0, V, (9,), generator=generator)


def expected(name: str, hidden: Tensor, weight: Tensor, targets: Tensor, lam: float, case) -> list[Tensor]:
    """The objectives (n,), and the gradients of their sum."""
    h, w = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
    logits = h @ w.t()
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(-1, targets[:, None])[:, 0]
    value = PAPERS[name](log_p, nll) + reference(logits, targets, lam, case) - nll
    value.sum().backward()
    return [value.detach(), h.grad, w.grad]


@pytest.mark.parametrize("scale", [1.0, 12.0])
@pytest.mark.parametrize(("lam", "case"), [(0.0, EACH[0]), (-0.1, EACH[0]), (3.0, ("support-size", 0.5))])
@pytest.mark.parametrize("name", PAPERS)
def test_value_and_gradients_are_those_of_its_paper(name, lam, case, scale):
    hidden, weight, targets = operands(scale)
    settings = {
        "lam": lam,
        "penalty": penalty_of(case),
        "objective": make_objective(name),
        "reduction": "none",
    }
    truth = expected(name, hidden, weight, targets, lam, case)
    for form in ("logits", "hidden"):
        h, w = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        if form == "logits":
            loss = entropy_regularized_cross_entropy(h @ w.t(), targets, **settings)
        else:
            loss = linear_entropy_regularized_cross_entropy(h, w, targets, **settings)
        loss.objective.sum().backward()
        for computed, true in zip((loss.objective.detach(), h.grad, w.grad), truth, strict=True):
            torch.testing.assert_close(computed, true, rtol=1e-9, atol=1e-11)


def test_the_weight_of_dft_is_on_the_demonstrated_token_and_not_on_the_penalty():
    z = torch.randn(5, V, generator=torch.Generator().manual_seed(2), dtype=torch.float64).requires_grad_()
    targets = torch.arange(5)
    entropy_regularized_cross_entropy(
        z, targets, lam=4.0, objective=DFT(), reduction="sum"
    ).objective.backward()
    log_p = z.detach().log_softmax(-1)
    p, shown = log_p.exp(), torch.eye(V, dtype=torch.float64)[targets]
    entropy = -(p * log_p).sum(-1, keepdim=True)
    weight = (p * shown).sum(-1, keepdim=True)
    torch.testing.assert_close(z.grad, weight * (p - shown) - 4.0 * p * (log_p + entropy))


@pytest.mark.parametrize("name", PAPERS)
def test_in_float32_it_is_no_further_from_float64_than_autograd(name):
    hidden, weight, targets = operands(4.0)
    truth = expected(name, hidden, weight, targets, 8.0, ("renyi", 2.0))
    budget = expected(name, hidden.float(), weight.float(), targets, 8.0, ("renyi", 2.0))
    h, w = hidden.float().requires_grad_(), weight.float().requires_grad_()
    loss = linear_entropy_regularized_cross_entropy(
        h, w, targets, lam=8.0, penalty=Renyi(2.0), objective=make_objective(name), reduction="none"
    )
    loss.objective.sum().backward()
    for computed, near, true in zip((loss.objective.detach(), h.grad, w.grad), budget, truth, strict=True):
        error = (computed - true).abs().max()
        assert error <= 2 * (near - true).abs().max() + 1e-6 * true.abs().max()


def test_every_objective_is_tested_here():
    assert {name.partition(":")[0] for name in PAPERS} == set(OBJECTIVES)


@pytest.mark.parametrize("name", [name for name in PAPERS if "smoothing" not in name])
def test_a_certain_token_costs_nothing(name):
    z = torch.zeros(1, 30)
    z[0, 3] = 200.0
    z.requires_grad_()
    loss = entropy_regularized_cross_entropy(z, torch.tensor([3]), lam=0.0, objective=make_objective(name))
    loss.objective.backward()
    assert loss.objective == 0
    assert not z.grad.any()


@pytest.mark.parametrize("name", PAPERS)
def test_an_impossible_token_has_a_finite_gradient(name):
    z = torch.zeros(1, 30)
    z[0, 4] = -math.inf
    z.requires_grad_()
    loss = entropy_regularized_cross_entropy(z, torch.tensor([4]), lam=1.0, objective=make_objective(name))
    loss.objective.backward()
    assert z.grad.isfinite().all()
    gives_up = name.partition(":")[0] in ("dft", "power", "threshold")  # on what has no probability
    assert gives_up or loss.objective == math.inf


def test_label_smoothing_leaves_masked_tokens_out_of_its_mean():
    z = torch.randn(3, 12, dtype=torch.float64)
    masked = torch.cat([z, torch.full((3, 5), -math.inf)], 1).requires_grad_()
    z.requires_grad_()
    losses = [
        entropy_regularized_cross_entropy(x, torch.tensor([0, 5, 11]), lam=1.0, objective=LabelSmoothing(0.2))
        for x in (z, masked)
    ]
    torch.testing.assert_close(losses[0].objective, losses[1].objective)
    for loss in losses:
        loss.objective.backward()
    torch.testing.assert_close(masked.grad[:, :12], z.grad)
    assert not masked.grad[:, 12:].any()


def test_so_does_the_form_from_hidden_states():
    hidden, weight, targets = operands()
    bias = torch.zeros(V, dtype=torch.float64).index_fill_(0, torch.arange(3, V, 7), -math.inf)
    targets = targets.where(~bias[targets].isneginf(), 0)
    there = ~bias.isneginf()
    settings = {"lam": 1.0, "objective": LabelSmoothing(0.2), "reduction": "none"}
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, targets, bias=bias, **settings)
    columns = there.cumsum(0) - 1
    fewer = entropy_regularized_cross_entropy(hidden @ weight[there].t(), columns[targets], **settings)
    torch.testing.assert_close(loss.objective, fewer.objective)


class Halved(Objective):
    """One of a user's own."""

    def value_and_slope(self, nll, gate):
        return nll / 2, 0.5


def test_an_objective_of_ones_own_needs_its_value_and_its_slope():
    hidden, weight, targets = operands()
    results = []
    for one, factor in ((Halved(), 1.0), (CrossEntropy(), 0.5)):
        h = hidden.clone().requires_grad_()
        loss = linear_entropy_regularized_cross_entropy(h, weight, targets, lam=0.0, objective=one)
        (factor * loss.objective).backward()
        results.append((factor * loss.objective.detach(), h.grad))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    "one",
    [
        *(CrossEntropy(), DFT(), EAFT(), EAFT(0.7), Focal(), Focal(1.5), LabelSmoothing(0.25)),
        *(ProbabilityPower(), ProbabilityPower(0.5), Threshold(), Threshold(0.25)),
    ],
)
def test_its_name_makes_it_again(one):
    assert make_objective(objective_name(one)) == one


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fokal", "no objective 'fokal'; did you mean 'focal'?"),
        ("x", "no objective 'x'; there are cross-entropy, .*, threshold \\(your own: package.module:NAME\\)"),
        ("dft:2", "objective 'dft:2': DFT has no number, got 2.0; leave it out"),
        ("cross-entropy:1", "objective 'cross-entropy:1': CrossEntropy has no number, got 1.0"),
        ("focal:x", "objective 'focal:x': could not convert string to float: 'x'"),
        ("focal:-1", "objective 'focal:-1': Focal needs a number that is 0 or above, got -1.0"),
        ("focal:inf", "objective 'focal:inf': Focal needs a number that is 0 or above, got inf"),
        ("eaft:-1", "objective 'eaft:-1': EAFT needs a number that is 0 or above, got -1"),
        ("power:0", "objective 'power:0': ProbabilityPower needs a number that is above 0, got 0"),
        ("threshold:1", "objective 'threshold:1': Threshold needs a number that is in \\[0, 1\\), got 1"),
        (
            "label-smoothing:1",
            "objective 'label-smoothing:1': LabelSmoothing needs .* in \\[0, 1\\), got 1.0",
        ),
        ("label-smoothing:nan", "objective 'label-smoothing:nan': LabelSmoothing needs .*, got nan"),
    ],
)
def test_a_name_that_makes_none_is_one_sentence(name, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        make_objective(name)
