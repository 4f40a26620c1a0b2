"""Fast paths prove themselves on a small case, once; broken on purpose they are left, with one warning."""

import math
import warnings
from types import SimpleNamespace

import pytest
import torch
from toys.losses import OnCuda

from erce.errors import InputError
from erce.loss import (
    LabelSmoothing,
    Renyi,
    SupportSize,
    entropy_regularized_cross_entropy,
    kernel_check,
    linear_entropy_regularized_cross_entropy,
    matmul,
)

CPU = torch.device("cpu")


@pytest.fixture
def checked(on_kernels, monkeypatch):
    """Has the kernels taken, interpreted, if the check finds them right; nothing is known yet."""
    monkeypatch.delenv("ERCE_KERNELS")
    monkeypatch.setattr(on_kernels, "LEAST_BLOCKS", 1)  # few blocks: the interpreter is slow
    kernel_check.examine_kernels.cache_clear()
    yield on_kernels
    kernel_check.examine_kernels.cache_clear()


def loss(**settings):
    z, y = torch.linspace(-2, 3, 5 * 70).reshape(5, 70), torch.arange(5)
    if "softcap" in settings:
        return linear_entropy_regularized_cross_entropy(z, torch.eye(70), y, lam=2.0, **settings).objective
    return entropy_regularized_cross_entropy(z, y, lam=2.0, **settings).objective


def counted(module, name, monkeypatch) -> list:
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(1) or function(*args))
    return calls


def test_each_variant_is_taken_after_one_check_that_draws_no_random_number(checked, monkeypatch):
    state, measured = torch.get_rng_state(), counted(checked, "measure", monkeypatch)
    checks = []
    for settings in (
        {},
        {},
        {"penalty": Renyi(0.5)},
        {"penalty": Renyi(0.4)},
        {"penalty": SupportSize(0.5)},
        {"penalty": Renyi(3.0)},
        {"penalty": Renyi(math.inf)},
        {"softcap": 30.0},
        {"objective": LabelSmoothing(0.2)},
        {"diagnose": True},
    ):
        measured.clear()
        loss(**settings)
        checks.append(len(measured) - 1)
    assert checks == [1, 0, 1, 0, 1, 1, 1, 1, 1, 1]
    assert torch.equal(torch.get_rng_state(), state)


def test_a_tile_with_few_rows_asks_for_the_kernels_that_split_them(checked, monkeypatch):
    names = []
    right = kernel_check.Finding(True, "")
    monkeypatch.setattr(kernel_check, "_examined", lambda name, *args: names.append(name) or right)
    for programs in (1, 2):
        monkeypatch.setattr(checked, "programs_of_a_row", lambda rows, blocks, device, of=programs: of)
        loss()
    assert names == ["the Triton kernels for order 1", "the Triton kernels for order 1, split"]


@pytest.mark.parametrize("split", [False, True])
def test_the_finding_names_the_variant(split, checked, monkeypatch):
    monkeypatch.setattr(checked, "programs_of_a_row", lambda rows, blocks, device: 1 + split)
    variant = kernel_check.Variant(2.0, capped=True, split=split)
    found = kernel_check.examine_kernels(CPU, variant)
    assert found.is_right
    splitting = ", split" * split
    assert found.text.startswith(f"the Triton kernels for order 2, capped{splitting} on cpu (torch ")
    assert "differ from plain PyTorch by" in found.text


def not_compiled(*args):
    raise RuntimeError("no such instruction\nand more")


def slightly_off(write):
    def wrong(tile, targets, slopes, request, bias, out):
        write(tile, targets, slopes, request, bias, out)
        out[0, 7] += 1e-3

    return wrong


def masked_is_nan(write):
    def wrong(tile, targets, slopes, request, bias, out):
        masked = tile.isneginf().scatter_(1, targets[:, None], False)
        write(tile, targets, slopes, request, bias, out)
        out[masked] = torch.nan

    return wrong


BROKEN = {
    "raises": (
        "measure",
        lambda measure: not_compiled,
        "fail with RuntimeError: no such instruction and more;",
    ),
    "one value": ("write_gradient", slightly_off, r"differ from plain PyTorch by \d.*, where 0.0001 is "),
    "NaN": ("write_gradient", masked_is_nan, "differ from plain PyTorch by nan"),
}


@pytest.mark.parametrize(("name", "broken", "reason"), BROKEN.values(), ids=BROKEN)
def test_broken_kernels_are_left_with_one_warning(name, broken, reason, checked, monkeypatch):
    monkeypatch.setattr(checked, name, broken(getattr(checked, name)))
    with pytest.warns(
        UserWarning, match=rf"^the Triton kernels for order 1 on cpu \(torch .*, triton .*, driver .*{reason}"
    ):
        first = loss()
    measured = counted(checked, "measure", monkeypatch)
    assert loss() == first  # a second warning would be an error
    assert not measured
    with pytest.raises(RuntimeError) if name == "measure" else warnings.catch_warnings():
        loss(impl="triton")
    assert measured


def test_out_of_memory_is_no_finding(checked, monkeypatch):
    def out_of_memory(*args):
        raise torch.OutOfMemoryError

    with monkeypatch.context() as patch:
        patch.setattr(checked, "measure", out_of_memory)
        with pytest.raises(torch.OutOfMemoryError):
            loss()
    loss()
    assert kernel_check.examine_kernels(CPU, kernel_check.Variant()).is_right


def test_by_hand_nothing_is_checked(checked, monkeypatch):
    monkeypatch.setattr(kernel_check, "_examined", not_compiled)
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
    monkeypatch.setattr(kernel_check, "_examined", not_compiled)
    with pytest.raises(InputError, match=r"^impl='triton' needs a CUDA device and Triton; impl="):
        loss(impl="triton")
    monkeypatch.setenv("ERCE_KERNELS", "triton")  # for the calls on a GPU
    loss()
    linear_entropy_regularized_cross_entropy(
        torch.ones(3, 4).bfloat16(), torch.ones(5, 4).bfloat16(), torch.arange(3), lam=1.0
    )


def test_a_wrong_choice_is_a_sentence(monkeypatch):
    with pytest.raises(InputError, match=r"^no impl 'cuda'; there are 'auto', 'torch', 'triton'$"):
        loss(impl="cuda")
    monkeypatch.setenv("ERCE_KERNELS", "on")
    with pytest.raises(InputError, match=r"^ERCE_KERNELS must be 'torch' or 'triton', got 'on'; unset, a"):
        loss()


@pytest.fixture
def card(monkeypatch):
    """A CUDA device whose matmuls are a CPU's."""
    monkeypatch.setattr(matmul, "torch", OnCuda())
    monkeypatch.setattr(kernel_check, "DRIVER", SimpleNamespace(exists=lambda: True, read_text=lambda: NVRM))
    kernel_check.examine_matmuls.cache_clear()
    yield monkeypatch
    kernel_check.examine_matmuls.cache_clear()


NVRM = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Release Build"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_matmuls_into_float32_are_tried_as_well(dtype, card):
    found = kernel_check.examine_matmuls(CPU, dtype)
    assert found.is_right
    assert "driver 570.86.15) differ from plain PyTorch by" in found.text


@pytest.mark.parametrize("name", ["mm", "addmm"])
def test_matmuls_that_round_their_sums_too_much_are_left(name, card):
    product = getattr(OnCuda, name)

    def off(*operands, **settings):
        return product(*operands, **settings).mul_(1.02)

    card.setattr(OnCuda, name, staticmethod(off))
    with pytest.warns(
        UserWarning, match=r"^the matmuls of bfloat16 into float32 on cpu .* where 0.01 is allowed;"
    ):
        assert not kernel_check.examine_matmuls(CPU, torch.bfloat16).is_right


def test_on_cuda_the_check_decides_the_matmuls_and_each_choice_is_kept(card):
    cuda, examined = torch.device("cuda"), []
    for is_right in (True, False):
        finding = kernel_check.Finding(is_right, "")
        card.setattr(kernel_check, "_examined", lambda *args, finding=finding: examined.append(1) or finding)
        kernel_check.examine_matmuls.cache_clear()
        for _ in range(2):
            chosen = [
                kernel_check.mixed_matmuls_run_on(cuda, torch.bfloat16, impl) for impl in kernel_check.IMPLS
            ]
            assert chosen == [is_right, False, True]
    assert len(examined) == 2


def test_the_doctor_says_what_was_found(checked, card):
    assert kernel_check.doctor_lines(None) == ["no CUDA device: the loss runs in plain PyTorch"]
    card.setenv("ERCE_KERNELS", "torch")
    by_hand, *lines = kernel_check.doctor_lines(CPU)
    assert by_hand == "ERCE_KERNELS=torch chooses by hand"
    kernels = [line.partition(" for ")[2].partition(" on cpu")[0] for line in lines[:5]]
    assert kernels == ["order 1", "order 0.5", "order 2", "order inf", "order 1, split"]
    assert [line.split()[3] for line in lines[5:]] == ["bfloat16", "float16"]


VARIANTS = [
    kernel_check.Variant(order, **dict.fromkeys(flags, True))
    for order in (1.0, 0.5, 2.0, math.inf)
    for flags in ((), ("split",), ("exponential", "diagnose"), ("capped",), ("smoothing",))
]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_is_right_in_the_interpreter(variant, checked, monkeypatch):
    monkeypatch.setattr(checked, "programs_of_a_row", lambda rows, blocks, device: 1 + variant.split)
    found = kernel_check.examine_kernels(CPU, variant)
    assert found.is_right, found.text


@pytest.mark.gpu
def test_on_a_card_every_fast_path_is_right_and_one_call_alone_waits():
    device = torch.device("cuda", 0)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for variant in VARIANTS:
            assert kernel_check.examine_kernels(device, variant).is_right
        for dtype in (torch.bfloat16, torch.float16):
            assert kernel_check.examine_matmuls(device, dtype).is_right
        assert torch.cuda.get_sync_debug_mode() == 2
    finally:
        torch.cuda.set_sync_debug_mode("default")
