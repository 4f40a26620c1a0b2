"""A GPU's fast paths are checked on a small case, once; broken on purpose each is left with a warning."""

import math

import pytest
import torch
from toys.losses import Gini, OnCuda

from erce.errors import InputError
from erce.loss import (
    DFT,
    EAFT,
    CrossEntropy,
    Focal,
    LabelSmoothing,
    ProbabilityPower,
    Renyi,
    Shannon,
    SupportSize,
    entropy_regularized_cross_entropy,
    gpu_self_check,
    linear_entropy_regularized_cross_entropy,
    matmul,
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
    state, scored = torch.get_rng_state(), counted(checked, "score", monkeypatch)
    checks = []
    for settings in (
        *({}, {}, {"penalty": Renyi(0.5)}, {"penalty": Renyi(0.4)}, {"penalty": SupportSize(0.4)}),
        *({"softcap": 30.0}, {"base_loss": DFT()}, {"v": 75}, {"penalty": Gini()}),
    ):
        scored.clear()
        loss(**settings)
        checks.append(len(scored))
    assert checks == [2, 1, 2, 1, 2, 2, 4, 2, 0]
    assert torch.equal(torch.get_rng_state(), state)


def test_the_form_from_logits_is_checked_too(checked, monkeypatch):
    scored = counted(checked, "score", monkeypatch)
    for _ in range(2):
        entropy_regularized_cross_entropy(torch.randn(3, 40), torch.arange(3), lam=1.0)
    assert len(scored) == 3


def not_compiled(*args):
    raise RuntimeError("no such instruction\nand more")


def slightly_off(score):
    def wrong(tile, rows, request, bias, out, *rest):
        score(tile, rows, request, bias, out, *rest)
        out[0, 7] += 1e-2

    return wrong


def masked_is_nan(score):
    def wrong(tile, rows, request, bias, out, *rest):
        score(tile, rows, request, bias, out, *rest)
        out[:, 2] = torch.nan

    return wrong


def one_loss_off(score):
    def wrong(tile, rows, request, bias, out, columns, *rest):
        score(tile, rows, request, bias, out, columns, *rest)
        columns[1, 3] += 1e-2

    return wrong


BROKEN = {
    "raises": (lambda score: not_compiled, "fails with RuntimeError: no such instruction and m"),
    "one slope": (slightly_off, r"differs from plain PyTorch by \d.*, and by \d"),
    "one loss": (one_loss_off, r"differs from plain PyTorch by \d.*, and by \d"),
    "NaN": (masked_is_nan, "differs from plain PyTorch by .*, and by nan"),
}


@pytest.mark.parametrize(("broken", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_kernel_is_left_with_one_warning(broken, reason, checked, monkeypatch):
    monkeypatch.setattr(checked, "score", broken(checked.score))
    with pytest.warns(UserWarning, match=rf"^the Triton kernel for Shannon\(\) and float32 on cpu {reason}"):
        first = loss()
    scored = counted(checked, "score", monkeypatch)
    assert loss() == first  # a second warning would be an error
    assert not scored


def test_by_hand_nothing_is_checked(checked, monkeypatch):
    monkeypatch.setattr(gpu_self_check, "check", not_compiled)
    scored = counted(checked, "score", monkeypatch)
    loss(impl="torch")
    monkeypatch.setenv("ERCE_KERNELS", "torch")
    loss()
    assert not scored
    loss(impl="triton")
    monkeypatch.setenv("ERCE_KERNELS", "triton")
    loss()
    assert len(scored) == 2


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
    assert ["the Triton kernel for" in line for line in lines] == [True, False, True, False, True]
    assert ["differs from plain PyTorch by" in line for line in lines] == [True, False, True, False, True]


VARIANTS = [
    {"penalty": penalty, **settings}
    for penalty in (Shannon(), Renyi(0.5), Renyi(2.0), Renyi(math.inf), SupportSize(0.5))
    for settings in ({}, {"softcap": 30.0}, {"base_loss": LabelSmoothing(0.1)})
]
BASE_LOSSES = [{"penalty": Shannon(), "base_loss": x} for x in (DFT(), EAFT(), Focal(), ProbabilityPower())]


def finding(device, dtype, settings, v=4133):
    request = Request(torch.zeros(1), 1.0, **{"base_loss": CrossEntropy(), **settings})
    return gpu_self_check.check(device, dtype, v, request)


@pytest.mark.slow
@pytest.mark.parametrize("settings", VARIANTS + BASE_LOSSES, ids=str)
def test_every_variant_is_right_in_the_interpreter(settings, checked):
    found = finding(CPU, torch.float32, settings, v=1029)
    assert found.is_right, found.text


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_matmuls_into_float32_are_checked_on_their_own(dtype, checked, monkeypatch):
    monkeypatch.setattr(matmul, "torch", OnCuda())
    found = gpu_self_check.check_matmuls(CPU, dtype)
    assert found.is_right, found.text
    assert found.text.startswith("the matmuls into float32 and ")
    monkeypatch.setattr(gpu_self_check, "_FINDINGS", {})
    monkeypatch.setattr(OnCuda, "addmm", staticmethod(lambda c, a, b, *, out, out_dtype: out.zero_()))
    with pytest.warns(UserWarning, match="^the matmuls into float32 and .*; plain PyTorch takes its place"):
        assert not gpu_self_check.check_matmuls(CPU, dtype).is_right


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_on_a_card_every_fast_path_is_right(dtype):
    device = torch.device("cuda", 0)
    for settings in VARIANTS + BASE_LOSSES:
        assert finding(device, dtype, settings).is_right
    assert dtype == torch.float32 or gpu_self_check.check_matmuls(device, dtype).is_right


def test_without_triton_pytorch_scores_alone(checked, monkeypatch):
    monkeypatch.setattr(checked, "AVAILABLE", False)
    scored = counted(checked, "score", monkeypatch)
    loss()
    assert not scored
    with pytest.raises(InputError, match="needs a CUDA device and Triton"):
        loss(impl="triton")
