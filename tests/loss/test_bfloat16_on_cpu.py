"""bfloat16 operands on a CPU: matmuls into bfloat16, and yet a gradient as good as float32 ones make it."""

import math
import os
import platform
import subprocess
import sys

import pytest
import torch
from torch import Tensor

from erce.loss import (
    Renyi,
    Shannon,
    SupportSize,
    bfloat16_on_cpu,
    linear_entropy_regularized_cross_entropy,
)
from erce.loss.row_passes import make_row_terms

ASK = bfloat16_on_cpu.bfloat16_is_fast  # the fixture below replaces it
SIMULATED = platform.machine().lower() in {"x86_64", "amd64"}
V, D, N = 4_133, 64, 12  # just over the size from which logits are rounded; no multiple of anything


@pytest.fixture(autouse=True)
def with_instructions(monkeypatch):
    """So that the tests hold on every CPU; without them only a product takes longer."""
    monkeypatch.setattr(bfloat16_on_cpu, "bfloat16_is_fast", lambda: True)


def operands(spread: float, *, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Logits with that standard deviation; half of the targets are the likeliest tokens."""
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(N, D, generator=generator) * spread / D**0.5
    weight = torch.randn(V, D, generator=generator).bfloat16()
    hidden = hidden.bfloat16()
    y = torch.randint(0, V, (N,), generator=generator)
    y[::2] = (hidden.double() @ weight.double().t()).argmax(-1)[::2]
    return hidden, weight, y


def gradient(hidden: Tensor, weight: Tensor, y: Tensor, **settings) -> tuple[Tensor, Tensor]:
    h = hidden.clone().requires_grad_()
    loss = linear_entropy_regularized_cross_entropy(h, weight, y, reduction="none", **settings)
    loss.objective.sum().backward()
    return loss.objective.detach().double(), h.grad.double()


def error(computed: Tensor, true: Tensor) -> float:
    return float((computed - true).norm() / true.norm())


@pytest.mark.parametrize("spread", [1.0, 2.0, 4.0, 6.0, 9.0])
@pytest.mark.parametrize(
    ("lam", "penalty"),
    [
        (0.0, Shannon()),
        (8.0, Shannon()),
        (8.0, Renyi(2.0)),
        (8.0, Renyi(0.5)),
        (1.0, SupportSize(0.5)),
        (8.0, Renyi(math.inf)),
    ],
    ids=str,
)
def test_the_gradient_is_nearly_that_of_float32_logits(lam, penalty, spread, monkeypatch):
    hidden, weight, y = operands(spread)
    settings = {"lam": lam, "penalty": penalty}
    values, true = gradient(hidden.double(), weight.double(), y, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(bfloat16_on_cpu, "LEAST_V", V + 1)  # float32
        budget = error(gradient(hidden, weight, y, **settings)[1], true)
    computed, grad = gradient(hidden, weight, y, **settings)
    assert error(grad, true) < 2 * budget
    if type(penalty) is Shannon:
        assert error(grad, true) < 3e-3
    assert error(computed, values) < 3e-4


OFFSETS = {
    "all tokens": (slice(None), 1000.0, {}),
    "every second token": (slice(1, None, 2), 300.0, {}),
    "below a cap": (slice(None), 16.0, {"softcap": 30.0}),
}


@pytest.mark.parametrize(("tokens", "offset", "settings"), OFFSETS.values(), ids=OFFSETS)
@pytest.mark.parametrize("spread", [0.05, 1.0])
def test_an_offset_that_logits_share_costs_no_digits(tokens, offset, settings, spread):
    hidden, weight, y = operands(spread)
    hidden[:, 0], weight[:, 0] = 1.0, 0.0
    weight[tokens, 0] = offset
    settings = {"lam": 8.0, **settings}
    values, true = gradient(hidden.double(), weight.double(), y, **settings)
    computed, grad = gradient(hidden, weight, y, **settings)
    assert error(grad, true) < 4e-3
    assert error(computed, values) < 1.5e-5  # 1.4e-5 at the worst; with more tokens more errors cancel out


def test_rounded_logits_alone_would_be_ten_times_worse(monkeypatch):
    """So that the other tests could fail."""
    hidden, weight, y = operands(9.0)
    true = gradient(hidden.double(), weight.double(), y, lam=8.0)[1]

    def without_correction(matmuls, factors, targets, bias, request):
        make_terms = make_row_terms(bias, request)
        return lambda block, part, y, scratch: make_terms(scratch[2].copy_(block), part, y, scratch)

    monkeypatch.setattr(bfloat16_on_cpu, "make_exact_row_terms", without_correction)
    monkeypatch.setattr(bfloat16_on_cpu, "_centre", lambda factors: torch.zeros(N, 1).bfloat16())
    assert error(gradient(hidden, weight, y, lam=8.0)[1], true) > 2.5e-2  # with 16,000 tokens 5e-2


@pytest.mark.parametrize("gap", [1.0, 5.0, 11.0, 16.0])
@pytest.mark.parametrize("lam", [0.0, 8.0])
def test_a_confident_position_keeps_its_relative_precision(lam, gap):
    """1 − p_y from 0.3 down to 1e-7."""
    hidden, weight, y = operands(1.0)
    weight[y] += (hidden / hidden.float().norm(dim=-1, keepdim=True).square() * (gap + 6)).bfloat16()
    true = gradient(hidden.double(), weight.double(), y, lam=lam)[1]
    grad = gradient(hidden, weight, y, lam=lam)[1]
    each = (grad - true).norm(dim=-1) / true.norm(dim=-1)
    assert each.max() < 1e-2


def test_what_a_confident_position_leaves_may_be_one_token_whose_logit_counts():
    """p of the target 1 − 1e-7, and nearly all of the rest one other token's, with a logit near 20."""
    hidden, weight, _ = operands(1.0)
    hidden[:, 0], weight[:, 0], y = 16.0, 0.0, torch.zeros(N, dtype=torch.long)
    hidden[:, 1] = torch.linspace(0.2, 0.9, N)
    weight[:2] = 0
    weight[0, 0] = 2.25
    weight[1, :2] = torch.tensor([1.2421875, 0.3125])
    true = gradient(hidden.double(), weight.double(), y, lam=0.0)[1]
    grad = gradient(hidden, weight, y, lam=0.0)[1]
    assert ((grad - true).norm(dim=-1) / true.norm(dim=-1)).max() < 1e-2


def test_the_targets_own_logit_is_exact():
    hidden, weight, _ = operands(1.0)  # flat: no token is likely
    y = torch.arange(N) * 300
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, y, lam=0.0, reduction="none")
    z = hidden.double() @ weight.double().t()
    true = z.logsumexp(-1) - z[torch.arange(N), y]
    assert (loss.nll - true).abs().max() < 2e-4


@pytest.mark.parametrize(
    "settings", [{}, {"softcap": 8.0}, {"temperature": 0.5}, {"logit_scale": 0.25}], ids=str
)
def test_what_is_recomputed_goes_through_bias_adapter_and_transform(settings):
    hidden, weight, y = operands(4.0)
    generator = torch.Generator().manual_seed(5)
    bias = 3 * torch.randn(V, generator=generator)
    bias[7::11] = -math.inf
    y = torch.where(bias[y].isneginf(), 0, y)
    low = torch.randn(N, 3, generator=generator).bfloat16()
    up = torch.randn(V, 3, generator=generator).bfloat16()
    if "softcap" in settings:
        bias = bias.nan_to_num(neginf=0.0)

    def run(double: bool) -> tuple[Tensor, Tensor]:
        h, w, a, b = (x.double() if double else x for x in (hidden, weight, low, up))
        return gradient(h, w, y, lam=8.0, bias=bias, adapter=(a, b), **settings)

    (values, true), (computed, grad) = run(True), run(False)
    assert error(grad, true) < 5e-3
    assert error(computed, values) < 1e-4


def test_top1_compares_exact_logits():
    """Two tokens whose logits bfloat16 cannot tell apart."""
    hidden = torch.zeros(2, D).bfloat16()
    hidden[:, 0], hidden[:, 1] = 16.0, 0.03125
    weight = torch.zeros(V, D).bfloat16()
    weight[3, 0] = weight[4000, 0] = 1.0
    weight[4000, 1] = 1.0
    loss = linear_entropy_regularized_cross_entropy(
        hidden, weight, torch.tensor([3, 4000]), lam=0.0, reduction="none"
    )
    assert loss.top1.tolist() == [0, 1]
    hidden[:, 1] = 0.0703125
    weight[3, 1] = 1.375  # 16.0967 beside 16.0703, which is rounded up to 16.125
    loss = linear_entropy_regularized_cross_entropy(hidden, weight, torch.tensor([3, 3]), lam=0.0)
    assert loss.top1 == 1


@pytest.mark.parametrize("rows", [1, N])
def test_a_trainable_head_gets_its_gradient_in_float32_sums(rows):
    hidden, weight, y = operands(4.0)
    grads = []
    for h, w in ((hidden.double(), weight.double()), (hidden, weight)):
        w.requires_grad_()
        chunk_bytes = rows * V * w.dtype.itemsize
        loss = linear_entropy_regularized_cross_entropy(h, w, y, lam=1.0, chunk_bytes=chunk_bytes)
        (3.3 * loss.objective).backward()
        grads.append(w.grad.double())
    assert error(grads[1], grads[0]) < 4e-3


def test_without_instructions_for_bfloat16_the_weight_is_multiplied_in_float32(monkeypatch):
    hidden, weight, y = operands(4.0)
    monkeypatch.setattr(bfloat16_on_cpu, "bfloat16_is_fast", lambda: False)
    rounded = gradient(hidden, weight, y, lam=8.0)
    exact = gradient(hidden.float(), weight.float(), y, lam=8.0)
    assert torch.equal(rounded[0], exact[0])
    assert error(rounded[1], exact[1]) < 2**-8  # d hidden's own rounding


@pytest.mark.skipif(not SIMULATED, reason="about x86's instructions")
@pytest.mark.parametrize(
    ("avx512_bf16", "amx", "intel", "fast"),
    [
        (False, False, False, False),
        (True, False, False, True),  # AMD's
        (True, False, True, False),  # twice float32's time
        (True, True, True, True),
    ],
)
def test_bfloat16_is_fast_on_amds_processors_that_have_it_and_on_intels_with_amx(
    avx512_bf16, amx, intel, fast, monkeypatch
):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(bfloat16_on_cpu, "_is_intel", lambda: intel)
    assert ASK.__wrapped__() is fast


SUPPORT = """
from erce.loss.bfloat16_on_cpu import bfloat16_is_fast
print(bfloat16_is_fast())
"""


@pytest.mark.slow
@pytest.mark.skipif(not SIMULATED, reason="oneDNN's limit is one of x86's")
def test_a_cpu_that_has_avx2_alone_has_no_such_instructions():
    env = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    run = subprocess.run([sys.executable, "-c", SUPPORT], env=env, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
