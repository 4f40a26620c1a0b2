"""User-defined penalties and base losses, by "package.module:NAME": what is taken and what is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from toys.losses import EACH, PAPERS, penalty_of

from erce.loss import BaseLoss, Penalty, Renyi, check_names, make_base_loss, make_penalty
from erce.loss.named import try_base_loss, try_penalty

HERE = __name__


@dataclass(frozen=True)
class Tsallis(Penalty):
    """(1 − Σ p^order) / (order − 1)."""

    order: float = 2.0

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return (1 - p.pow(self.order).sum(-1)) / (self.order - 1)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        powers = p.pow(self.order)
        mean = powers.sum(-1, keepdim=True)
        return self.value(log_p, p), (mean * p - powers) * self.order / (self.order - 1)

    @classmethod
    def of_order(cls, order: float) -> "Tsallis":
        if order == 1:
            raise ValueError("Tsallis has its limit at order 1; name 'shannon'")
        return cls(order)


CUBIC = Tsallis(3.0)


def own(value: Callable | None = None, gradient: Callable | None = None, **attributes: Any) -> type:
    """Return a subclass of Tsallis with another value, another gradient, or both."""
    if value is not None:
        attributes["value"] = lambda self, log_p, p: value(log_p, p)
    if gradient is not None:
        attributes["value_and_logit_grad"] = lambda self, log_p, p: (self.value(log_p, p), gradient(log_p, p))
    return type("Own", (Tsallis,), attributes)


def curvature(log_p: Tensor, p: Tensor) -> Tensor:
    return Tsallis().value_and_logit_grad(log_p, p)[1]


def plain(log_p: Tensor, p: Tensor) -> Tensor:
    return Tsallis().value(log_p, p)


def of_squares(log_p: Tensor, p: Tensor) -> Tensor:
    inner = log_p.square() + 2 * log_p
    return p * (inner - (p * inner).sum(-1, keepdim=True))


# A million times over, which is no reason to refuse it.
Steep = own(lambda log_p, p: 1e6 * plain(log_p, p), lambda log_p, p: 1e6 * curvature(log_p, p))
Mapped = own(lambda log_p, p: p.square())
Alone = own(value_and_logit_grad=lambda self, log_p, p: self.value(log_p, p))
Halved = own(gradient=lambda log_p, p: curvature(log_p, p) / 2)
Other = own(value_and_logit_grad=lambda _, log_p, p: (plain(log_p, p) + 1, curvature(log_p, p)))
Writing = own(lambda log_p, p: 1 - p.square_().sum(-1))
# Less the mean of the rows, so that a chunk's size would change it.
Centred = own(lambda log_p, p: plain(log_p, p) - plain(log_p, p).mean(), curvature)
Squared = own(lambda log_p, p: (p * log_p.square()).sum(-1), of_squares)  # 0 · inf where p is 0


def refused_with(make, name, says, *order):
    """Assert that a name is refused in one line, which has the name and what it says."""
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        make(name, *order)
    assert f"'{name}'" in str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("name", "order", "wanted"),
    [("Tsallis", 3.0, CUBIC), ("CUBIC", 1.0, CUBIC), ("Steep", 2.0, Steep(2.0)), ("Renyi", 0.5, Renyi(0.5))],
)
def test_a_penalty_of_ones_own_is_made_by_its_class_and_order_or_taken_as_it_is(name, order, wanted):
    assert make_penalty(f"{HERE}:{name}", order) == wanted


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Mapped", "value gives a float64 tensor of shape (4, 7), for 4 rows"),
        ("Alone", "a tuple of two"),
        ("Halved", "a gradient that is not the value's"),
        ("Other", "another value than value does"),
        ("Writing", "writes into log p or p"),
        ("Centred", "depends on the other rows"),
        ("Squared", "where a p is 0 and its log the lowest number, gives nan"),
        ("GINI", "is not a penalty"),
        ("CUBIC", "order = 2.0 has no effect on"),
    ],
)
def test_a_penalty_that_would_train_on_something_else_is_one_sentence(name, says):
    refused_with(make_penalty, f"{HERE}:{name}", says, 2.0)


@pytest.mark.parametrize(
    ("make", "kind"), [(make_penalty, "penalty"), (make_base_loss, "base loss")], ids=["penalty", "base loss"]
)
def test_a_module_that_is_not_there_or_lacks_another_is_one_sentence(make, kind, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"no module 'nowhere' for the {kind} 'nowhere.at_all:NAME'"):
        make("nowhere.at_all:NAME")
    (tmp_path / "missing_a_package.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="No module named 'nowhere_to_be_found'; install it"):
        make("missing_a_package:NAME")


@dataclass(frozen=True)
class Tempered(BaseLoss):
    """nll^power / power."""

    power: float = 2.0

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        return nll.pow(self.power) / self.power, nll.pow(self.power - 1)

    @classmethod
    def of(cls, parameter: float | None) -> "Tempered":
        if parameter is None:
            return cls()
        if not parameter >= 1:
            raise ValueError(f"Tempered needs a power of 1 or above, got {parameter}")
        return cls(parameter)


class Confident(BaseLoss):
    """−log p(y), weighed by max p, without a gradient."""

    gated = True

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        assert gate is not None
        return gate * nll, gate

    def gate(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1).amax(-1)


CUBED = Tempered(3.0)


def base_loss(value_and_slope: Callable[[Tensor], Any], **attributes: Any) -> type:
    attributes["value_and_slope"] = lambda self, nll, gate: value_and_slope(nll)
    return type("Own", (BaseLoss,), attributes)


Ungated = base_loss(lambda nll: (nll, 1.0), gated=True)
Wide = type("Wide", (Confident,), {"gate": lambda self, logits: logits})
Single = base_loss(lambda nll: nll)
Mean = base_loss(lambda nll: (nll.mean(), 1.0))
Cliff = base_loss(lambda nll: (nll, 1 / nll))
Shifting = base_loss(lambda nll: (nll.add_(1), 1.0))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Tempered", Tempered()),
        ("Tempered:3", CUBED),
        ("CUBED", CUBED),
        ("Focal:3", make_base_loss("focal:3")),
    ],
)
def test_a_base_loss_of_ones_own_is_made_by_its_class_and_number_or_taken_as_it_is(name, wanted):
    home = "erce.loss" if name.startswith("Focal") else HERE
    assert make_base_loss(f"{home}:{name}") == wanted


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Wide", "gate gives a float64 tensor of shape (6, 7)"),
        ("Single", "it must give a tuple"),
        ("Mean", "as value a float64 tensor of shape ()"),
        ("Cliff", "as slope inf"),
        ("Shifting", "writes into nll"),
        ("CUBIC", "is not a base loss"),
        ("Tempered:0.5", "Tempered needs a power of 1 or above, got 0.5"),
        ("Confident:2", "Confident has no number, got 2.0; leave it out"),
        ("CUBED:2", ", an instance, takes no number; name its class"),
    ],
)
def test_a_base_loss_that_would_train_on_something_else_is_one_sentence(name, says):
    refused_with(make_base_loss, f"{HERE}:{name}", says)


def test_a_base_loss_that_promises_a_gate_and_has_none_says_so_itself():
    with pytest.raises(TypeError, match="has no gate; give it one"):
        make_base_loss(f"{HERE}:Ungated")


EXTREME = [(family, order) for family in ("renyi", "support-size") for order in (1e-3, 0.999999, 1e3)]


@pytest.mark.parametrize("case", [*EACH, *EXTREME], ids=str)
def test_every_penalty_of_erce_passes_what_ones_own_must_pass(case):
    try_penalty(penalty_of(case), case[0])


@pytest.mark.parametrize("name", PAPERS)
def test_every_base_loss_of_erce_passes_what_ones_own_must_pass(name):
    try_base_loss(make_base_loss(name), name)


def test_trying_one_leaves_no_trace():
    torch.manual_seed(3)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    check_names(f"{HERE}:Tsallis", 2.0, [f"{HERE}:Tempered:3", "dft"])
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, True)


@pytest.mark.parametrize(("penalty", "base_losses"), [(f"{HERE}:Halved", ()), ("renyi", (f"{HERE}:Mean",))])
def test_every_name_of_a_study_is_tried(penalty, base_losses):
    with pytest.raises(ValueError, match=f"'{HERE}:(Halved|Mean)'"):
        check_names(penalty, 2.0, ["dft", *base_losses])
