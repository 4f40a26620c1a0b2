"""A GPU's fast paths are checked on a small case, once; broken on purpose they are left with a warning."""

import math

import pytest
import torch
from toys.losses import Gini

from erce.errors import InputError
from erce.loss import (
    CrossEntropy,
    LabelSmoothing,
    Renyi,
    SupportSize,
    entropy_regularized_cross_entropy,
    gpu_self_check,
    linear_entropy_regularized_cross_entropy,
)
from erce.loss.request import Request

CPU = torch.device("cpu")


@pytest.fixture
def checked(on_kernels, monkeypatch):
    """Has the kernels taken, interpreted, if the check finds them right; nothing is known yet."""
    monkeypatch.delenv("ERCE_KERNELS")
    monkeypatch.setattr(gpu_self_check, "_FINDINGS", {})
    return on_kernels


def loss(v=70, **settings):
    z, y = torch.linspace(-2, 3, 5 * v).reshape(5, v), torch.arange(5)
    return linear_entropy_regularized_cross_entropy(z, torch.eye(v), y, lam=2.0, **settings).objective


def counted(module, name, monkeypatch) -> list:
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(1) or function(*args))
    return calls


def test_each_variant_is_taken_after_one_check_that_draws_no_random_number(checked, monkeypatch):
    state, measured = torch.get_rng_state(), counted(checked, "measure", monkeypatch)
    checks = []
    for settings in (
        *({}, {}, {"penalty": Renyi(0.5)}, {"penalty": SupportSize(0.4)}, {"softcap": 30.0}),
        *({"diagnose": True}, {"v": 75}, {"penalty": Gini()}),
    ):
        measured.clear()
        loss(**settings)
        checks.append(len(measured))
    assert checks == [2, 1, 2, 1, 2, 2, 2, 0]
    assert torch.equal(torch.get_rng_state(), state)


def test_the_form_from_logits_is_checked_too(checked, monkeypatch):
    measured = counted(checked, "measure", monkeypatch)
    for _ in range(2):
        entropy_regularized_cross_entropy(torch.randn(3, 40), torch.arange(3), lam=1.0)
    assert len(measured) == 3


def not_compiled(*args):
    raise RuntimeError("no such instruction\nand more")


def slightly_off(write):
    def wrong(tile, targets, slopes, request, bias, out):
        write(tile, targets, slopes, request, bias, out)
        out[0, 7] += 1e-2

    return wrong


def masked_is_nan(write):
    def wrong(tile, targets, slopes, request, bias, out):
        write(tile, targets, slopes, request, bias, out)
        out[:, 2] = torch.nan

    return wrong


BROKEN = {
    "raises": ("measure", lambda measure: not_compiled, "fail with RuntimeError: no such instruction and m"),
    "one value": ("write_gradient", slightly_off, r"differ from plain PyTorch by \d.*, and by \d"),
    "NaN": ("write_gradient", masked_is_nan, "differ from plain PyTorch by .*, and by nan"),
}


@pytest.mark.parametrize(("name", "broken", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_kernels_are_left_with_one_warning(name, broken, reason, checked, monkeypatch):
    monkeypatch.setattr(checked, name, broken(getattr(checked, name)))
    with pytest.warns(UserWarning, match=rf"^the fast paths for Shannon\(\) and float32 on cpu {reason}"):
        first = loss()
    measured = counted(checked, "measure", monkeypatch)
    assert loss() == first  # a second warning would be an error
    assert not measured


def test_by_hand_nothing_is_checked(checked, monkeypatch):
    monkeypatch.setattr(gpu_self_check, "check", not_compiled)
    measured = counted(checked, "measure", monkeypatch)
    loss(impl="torch")
    monkeypatch.setenv("ERCE_KERNELS", "torch")
    loss()
    assert not measured
    loss(impl="triton")
    monkeypatch.setenv("ERCE_KERNELS", "triton")
    loss()
    assert len(measured) == 2


def test_on_a_cpu_nothing_is_checked_and_kernels_are_refused(monkeypatch):
    monkeypatch.setattr(gpu_self_check, "check", not_compiled)
    with pytest.raises(InputError, match=r"^impl='triton' needs a CUDA device and Triton; impl="):
        loss(impl="triton")
    monkeypatch.setenv("ERCE_KERNELS", "triton")  # for the calls on a GPU
    loss()


def test_a_wrong_choice_is_a_sentence(monkeypatch):
    with pytest.raises(InputError, match=r"^no impl 'cuda'; there are 'auto', 'torch', 'triton'$"):
        loss(impl="cuda")
    monkeypatch.setenv("ERCE_KERNELS", "on")
    with pytest.raises(InputError, match=r"^ERCE_KERNELS must be 'torch' or 'triton', got 'on'; unset, a"):
        loss()


def test_the_doctor_says_what_was_found(checked, monkeypatch):
    assert gpu_self_check.doctor_lines(None) == ["no CUDA device: the loss runs in plain PyTorch"]
    monkeypatch.setenv("ERCE_KERNELS", "torch")
    by_hand, *lines = gpu_self_check.doctor_lines(CPU)
    assert by_hand == "ERCE_KERNELS=torch chooses by hand"
    assert ["differ from plain PyTorch by" in line for line in lines] == [True] * 3


VARIANTS = [
    {"penalty": Renyi(order), **settings}
    for order in (1.0, 0.5, 2.0, math.inf)
    for settings in ({}, {"diagnose": True}, {"softcap": 30.0}, {"objective": LabelSmoothing(0.1)})
]


def finding(device, dtype, settings):
    request = Request(torch.zeros(1), 1.0, **{"objective": CrossEntropy(), **settings})
    return gpu_self_check.check(device, dtype, 4133, request)


@pytest.mark.slow
@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_every_variant_is_right_in_the_interpreter(settings, checked):
    found = finding(CPU, torch.float32, settings)
    assert found.is_right, found.text


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_on_a_card_every_fast_path_is_right(dtype):
    for settings in VARIANTS:
        assert finding(torch.device("cuda", 0), dtype, settings).is_right


def test_without_triton_the_matmuls_of_a_card_are_tried_alone(checked, monkeypatch):
    monkeypatch.setattr(checked, "AVAILABLE", False)
    measured = counted(checked, "measure", monkeypatch)
    assert finding(CPU, torch.float32, VARIANTS[0]).is_right
    assert not measured
    with pytest.raises(InputError, match="needs a CUDA device and Triton"):
        loss(impl="triton")
