"""Penalties and objectives of one's own, by "package.module:NAME": what is taken, what is refused and how."""

import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from toys.losses import EACH, PAPERS, penalty_of

from erce.loss import Objective, Penalty, Renyi, Shannon, check_names, make_objective, make_penalty
from erce.loss.named import try_objective, try_penalty

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


class Hinge(Penalty):
    """max(0, H − 1): it has a kink, and rows on both sides of it."""

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return (Shannon().value(log_p, p) - 1).clamp(min=0)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        h, gradient = Shannon().value_and_logit_grad(log_p, p)
        return (h - 1).clamp(min=0), gradient * (h > 1)[..., None]


class Steep(Tsallis):
    """A million times over, which is no reason to refuse it."""

    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return 1e6 * super().value(log_p, p)

    def value_and_logit_grad(self, log_p: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = Tsallis(self.order).value_and_logit_grad(log_p, p)
        return 1e6 * value, 1e6 * gradient


class Nameless(Penalty):
    def value(self, log_p: Tensor, p: Tensor) -> Tensor:
        return p.amax(-1)


class Mapped(Tsallis):
    def value(self, log_p, p):
        return p.square()


class Flat(Tsallis):
    def value_and_logit_grad(self, log_p, p):
        return self.value(log_p, p), p.sum(-1)


class Alone(Tsallis):
    def value_and_logit_grad(self, log_p, p):
        return self.value(log_p, p)


class Halved(Tsallis):
    def value_and_logit_grad(self, log_p, p):
        value, gradient = super().value_and_logit_grad(log_p, p)
        return value, gradient / 2


class InP(Tsallis):
    """d value / d p in place of d value / d logits."""

    def value_and_logit_grad(self, log_p, p):
        return self.value(log_p, p), -2 * p


class Other(Tsallis):
    def value_and_logit_grad(self, log_p, p):
        value, gradient = super().value_and_logit_grad(log_p, p)
        return value + 1, gradient


class Rounded(Tsallis):
    def value(self, log_p, p):
        return super().value(log_p, p).float()


class Writing(Tsallis):
    def value(self, log_p, p):
        return 1 - p.square_().sum(-1)


class Centred(Tsallis):
    """Less the mean of the rows, so that a chunk's size would change it."""

    def value(self, log_p, p):
        value = super().value(log_p, p)
        return value - value.mean()

    def value_and_logit_grad(self, log_p, p):
        return self.value(log_p, p), super().value_and_logit_grad(log_p, p)[1]


class Squared(Tsallis):
    """Σ p log² p, which is 0 · inf where p is 0."""

    def value(self, log_p, p):
        return (p * log_p.square()).sum(-1)

    def value_and_logit_grad(self, log_p, p):
        inner = log_p.square() + 2 * log_p
        return self.value(log_p, p), p * (inner - (p * inner).sum(-1, keepdim=True))


class Infinite(Tsallis):
    def value(self, log_p, p):
        return super().value(log_p, p) / 0


class Lost(Tsallis):
    @classmethod
    def of_order(cls, order):
        return None


def refused_with(make, name, says, *order):
    """Assert that a name is refused in one line, which has the name and what it says."""
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        make(name, *order)
    assert f"'{name}'" in str(refused.value)
    assert says in str(refused.value)


def no_penalty(log_p: Tensor) -> Tensor:
    return log_p


@pytest.mark.parametrize(
    ("name", "order", "wanted"),
    [("Tsallis", 3.0, CUBIC), ("CUBIC", 1.0, CUBIC), ("Steep", 2.0, Steep(2.0)), ("Renyi", 0.5, Renyi(0.5))],
)
def test_a_penalty_of_ones_own_is_made_by_its_class_and_order_or_taken_as_it_is(name, order, wanted):
    assert make_penalty(f"{HERE}:{name}", order) == wanted


def test_a_penalty_with_a_kink_is_taken():
    assert isinstance(make_penalty(f"{HERE}:Hinge"), Hinge)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Mapped", "value gives a float64 tensor of shape (4, 7), for 4 rows; it must be a float64"),
        ("Rounded", "value gives a float32 tensor of shape (4,), for 4 rows; it must be a float64"),
        ("Flat", "as gradient a float64 tensor of shape (4,), for 4 rows; it must be"),
        ("Alone", "a float64 tensor of shape (4,); it must give a tuple of two"),
        ("Halved", "a gradient that is not the value's: "),
        ("InP", "a gradient that is not the value's: "),
        ("Other", "another value than value does: "),
        ("Writing", "it writes into log p or p, which others read; let it write to a copy"),
        ("Centred", "a row's value depends on the other rows: "),
        ("Squared", "not finite where a p is 0; log p is the lowest number there"),
        ("Infinite", "value gives inf; it must be finite"),
        ("Lost", "of_order gives None; it must give an erce.loss.Penalty"),
        ("Nameless", "has no value_and_logit_grad, which every erce.loss.Penalty needs; write it"),
        ("no_penalty", f"is not a penalty: {HERE} has no subclass or instance of erce.loss.Penalty"),
        ("GINI", f"is not a penalty: {HERE} has no subclass or instance of erce.loss.Penalty"),
        ("CUBIC", "order = 2.0 has no effect on"),
    ],
)
def test_a_penalty_that_would_train_on_something_else_is_one_sentence(name, says):
    refused_with(make_penalty, f"{HERE}:{name}", says, 2.0)


def test_what_of_order_refuses_it_says_itself():
    with pytest.raises(ValueError, match=r"^Tsallis has its limit at order 1; name 'shannon'$"):
        make_penalty(f"{HERE}:Tsallis", 1.0)
    with pytest.raises(ValueError, match=r"^Hinge takes no order, got 2.0; leave it out$"):
        make_penalty(f"{HERE}:Hinge", 2.0)


@pytest.mark.parametrize(
    ("make", "kind"), [(make_penalty, "penalty"), (make_objective, "objective")], ids=["penalty", "objective"]
)
def test_a_module_that_is_not_there_is_one_sentence_and_its_own_error_passes(
    make, kind, tmp_path, monkeypatch
):
    with pytest.raises(
        ValueError, match=rf"^no module 'nowhere' for the {kind} 'nowhere.at_all:NAME'; is it on"
    ):
        make("nowhere.at_all:NAME")
    (tmp_path / f"missing_from_{kind}.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        make(f"missing_from_{kind}:NAME")


@dataclass(frozen=True)
class Tempered(Objective):
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


class Confident(Objective):
    """−log p(y), weighed by max p, without a gradient."""

    gated = True

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        assert gate is not None
        return gate * nll, gate

    def gate(self, logits: Tensor) -> Tensor:
        return logits.softmax(-1).amax(-1)


CUBED = Tempered(3.0)


class Ungated(Objective):
    gated = True

    def value_and_slope(self, nll, gate):
        return nll, 1.0


class Wide(Confident):
    def gate(self, logits):
        return logits


class Single(Objective):
    def value_and_slope(self, nll, gate):
        return nll


class Mean(Objective):
    def value_and_slope(self, nll, gate):
        return nll.mean(), 1.0


class Cliff(Objective):
    def value_and_slope(self, nll, gate):
        return nll, 1 / nll


class Shifting(Objective):
    def value_and_slope(self, nll, gate):
        return nll.add_(1), 1.0


class Smooth(Single):
    smoothing = 1.5


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Tempered", Tempered()),
        ("Tempered:3", CUBED),
        ("CUBED", CUBED),
        ("Focal:3", make_objective("focal:3")),
    ],
)
def test_an_objective_of_ones_own_is_made_by_its_class_and_number_or_taken_as_it_is(name, wanted):
    home = "erce.loss" if name.startswith("Focal") else HERE
    assert make_objective(f"{home}:{name}") == wanted


def test_a_gated_objective_is_taken():
    assert isinstance(make_objective(f"{HERE}:Confident"), Confident)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Wide", "gate gives a float64 tensor of shape (6, 7), for 6 rows; it must be a float64"),
        ("Single", "value_and_slope gives a float64 tensor of shape (6,); it must give a tuple"),
        ("Mean", "as value a float64 tensor of shape (), for 6 rows; it must be"),
        ("Cliff", "as slope inf; it must be finite"),
        ("Shifting", "it writes into nll, which others read; let it write to a copy"),
        ("Smooth", "smoothing = 1.5 must be in [0, 1)"),
        ("CUBIC", f"is not an objective: {HERE} has no subclass or instance of erce.loss.Objective"),
        ("Tempered:0.5", "Tempered needs a power of 1 or above, got 0.5"),
        ("Tempered:two", "could not convert string to float: 'two'"),
        ("Confident:2", "Confident has no number, got 2.0; leave it out"),
        ("CUBED:2", "is an instance, which takes no number; name its class"),
    ],
)
def test_an_objective_that_would_train_on_something_else_is_one_sentence(name, says):
    refused_with(make_objective, f"{HERE}:{name}", says)


def test_an_objective_that_promises_a_gate_and_has_none_says_so_itself():
    with pytest.raises(TypeError, match="Ungated has no gate; give it one, or leave gated False"):
        make_objective(f"{HERE}:Ungated")


@pytest.mark.parametrize("case", EACH, ids=str)
def test_every_penalty_of_erce_passes_what_ones_own_must_pass(case):
    try_penalty(penalty_of(case), case[0])


@pytest.mark.parametrize("order", [1e-3, 0.01, 0.999999, 20.0, 1e3])
def test_an_extreme_order_is_no_reason_to_refuse_a_penalty(order):
    for family in ("renyi", "support-size"):
        try_penalty(penalty_of((family, order)), family)


@pytest.mark.parametrize("name", PAPERS)
def test_every_objective_of_erce_passes_what_ones_own_must_pass(name):
    try_objective(make_objective(name), name)


def test_trying_one_leaves_no_trace():
    torch.manual_seed(3)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    check_names(f"{HERE}:Tsallis", 2.0, [f"{HERE}:Tempered:3", "dft"])
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, True)


@pytest.mark.parametrize(("penalty", "objectives"), [(f"{HERE}:Halved", ()), ("renyi", (f"{HERE}:Mean",))])
def test_every_name_of_a_study_is_tried(penalty, objectives):
    with pytest.raises(ValueError, match=f"'{HERE}:(Halved|Mean)'"):
        check_names(penalty, 2.0, ["dft", *objectives])


def test_one_of_erces_is_made_and_not_tried(monkeypatch):
    """A study of erce's own makes them in every process; the rows would be tried each time."""
    from erce.loss import named

    for name in ("try_penalty", "try_objective"):
        monkeypatch.setattr(named, name, lambda *_: pytest.fail("it was tried"))
    assert make_penalty("renyi", math.inf) == Renyi(math.inf)
    assert make_objective("dft") == make_objective("dft")
