"""Batches of any shape → batches of two shapes with static caches, whose decoding step torch compiles.

Torch compiles a step anew for another shape, and a CUDA graph is captured anew for other addresses. So rows
of padding fill a batch up, each row has room for the longest prompt and completion, and all batches of one
shape take turns in one cache. The caches of a later call need a new capture, but no compilation.
"""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._triton import has_triton
from transformers import (
    AttentionInterface,
    AttentionMaskInterface,
    CompileConfig,
    DynamicCache,
    GenerationConfig,
    StaticCache,
)
from transformers.cache_utils import StaticLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from erce.errors import InputError

LENGTH_STEP = 128  # tokens; lengths are multiples, so that problem sets with other longest prompts share one
GROUPED, MATMULS = "erce_grouped_sdpa", "erce_matmuls"  # transformers' names for the functions below


class StaticCaches:
    """The static caches of a call of `generate`, one for each of its two sizes of batch."""

    def __init__(self, model: Any, *, tokens: int, small: int, full: int) -> None:
        """Take the most `tokens` that a row can have, and the rows of a small and of a full batch."""
        self.config = _base(model).config
        self.length = -(-tokens // LENGTH_STEP) * LENGTH_STEP
        self.small, self.full = small, full
        self._caches: dict[int, StaticCache] = {}

    def filled(self, read: DynamicCache, rows: Tensor) -> StaticCache:
        """Return the cache of `len(rows)` rows, where row i holds what row `rows[i]` of `read` holds."""
        cache = self._caches.get(len(rows))
        if cache is None:
            cache = self._caches[len(rows)] = StaticCache(config=self.config, max_cache_len=self.length)
        cache.reset()
        layers: list[Any] = list(read.layers)
        for at, layer in enumerate(layers):
            cache.update(layer.keys[rows], layer.values[rows], at)
        return cache


def compiles(model: Any, wanted: bool | None) -> bool:
    """Return whether the decoding step is compiled: as `wanted`, or on a GPU where that is None.

    A model that lacks a static cache in a layer or cannot be compiled is an InputError if `wanted`; for None
    a warning says why.
    """
    base = _base(model)
    if wanted is False or (wanted is None and next(base.parameters()).device.type != "cuda"):
        return False
    if obstacle := _obstacle(base):
        if wanted:
            raise InputError(f"compile = true: {obstacle}; leave compile out, or sample from a vLLM server")
        warnings.warn(
            f"the decoding step is not compiled, and generation takes several times as long: {obstacle}; "
            "sample from a vLLM server, or set [decoding] compile = false",
            stacklevel=2,
        )
    return obstacle is None


def ask_to_compile(settings: GenerationConfig, device: torch.device) -> None:
    """Let transformers compile the decoding step; on a CUDA device the step becomes a CUDA graph."""
    compilation: Any = CompileConfig(mode="reduce-overhead" if device.type == "cuda" else "default")
    compilation._compile_all_devices = True  # otherwise a CPU is left out
    settings.disable_compile, settings.compile_config = False, compilation


@contextmanager
def decoding_attention(model: Any, *, compiled: bool) -> Iterator[None]:
    """Run the block with the attention that suits single queries, and leave nothing of it behind.

    That is `grouped_attention` in a compiled step, `matmul_attention` on a CPU in half precision where the
    model's masks allow a cache with room, and else the model's own.
    """
    base = _base(model)
    attention, weight = base.config._attn_implementation, next(base.parameters())
    is_half_on_cpu = weight.device.type == "cpu" and weight.dtype.itemsize == 2
    if not compiled and not (is_half_on_cpu and _obstacle(base) is None):
        yield
        return
    name, function = (GROUPED, grouped_attention) if compiled else (MATMULS, matmul_attention)
    AttentionInterface.register(name, function)
    AttentionMaskInterface.register(name, sdpa_mask)
    # Transformers keeps the compiled step in an attribute that a copy of the model shares, and the copy would
    # then sample from the original's weights. Torch keeps what it compiled, for any model of the same shape.
    vars(base).pop("_compiled_call", None)
    base.set_attn_implementation(name)
    try:
        yield
    finally:
        base.set_attn_implementation(attention)
        vars(base).pop("_compiled_call", None)


def reads_whole_room(model: Any) -> bool:
    """Return whether attention masks what a cache has room for and does not hold yet."""
    return _base(model).config._attn_implementation == MATMULS


def matmul_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **settings: Any
) -> tuple[Tensor, None]:
    """Return each query's attention, (rows, queries, heads, d); of one query per row by two matmuls.

    On a CPU these take half the time of torch's kernel, if keys and values are contiguous. Scores are rounded
    to the dtype before the softmax, as in transformers' own "eager".
    """
    rows, heads, queries, width = query.shape
    if queries > 1 or any(settings.get(name) is not None for name in ("position_bias", "softcap")):
        return sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    groups = key.shape[1]
    scale = settings.get("scaling") or width**-0.5
    packed, keys = query.reshape(rows * groups, heads // groups, width), key.flatten(0, 1).transpose(1, 2)
    scores = torch.baddbmm(packed.new_empty(1), packed, keys, beta=0, alpha=scale)
    scores = scores.view(rows, groups, heads // groups, -1)
    if attention_mask is not None:  # bool, (rows, 1, 1, positions)
        scores.masked_fill_(~attention_mask, -torch.inf)
    weights = scores.softmax(-1, dtype=torch.float32).to(query.dtype).flatten(0, 1)
    return torch.bmm(weights, value.flatten(0, 1)).view(rows, 1, heads, value.shape[-1]), None


def grouped_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **settings: Any
) -> tuple[Tensor, None]:
    """Return each query's attention, (rows, queries, heads, d), without a copy of the keys for each head.

    Heads that share keys are passed as queries of one head. Transformers 5.23 does the same, but not in a
    compiled step, which writes the whole cache out for every head: seven times its size for Qwen2.5-7B.
    """
    rows, heads, queries, width = query.shape
    if queries > 1 or any(settings.get(name) is not None for name in ("position_bias", "softcap")):
        return sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    packed = query.reshape(rows, key.shape[1], heads // key.shape[1], width)
    seen = scaled_dot_product_attention(
        packed, key, value, attn_mask=attention_mask, scale=settings.get("scaling")
    )
    return seen.reshape(rows, 1, heads, value.shape[-1]), None


def _obstacle(model: Any) -> str | None:
    """Return why a model's decoding step cannot be compiled; None if it can."""
    name, attention = type(model).__name__, model.config._attn_implementation
    if not getattr(model, "_can_compile_fullgraph", False):
        return f"transformers cannot compile a {name}"
    if attention != "sdpa":
        return f"attention {attention!r} is not compiled here, only 'sdpa' is"
    layers = StaticCache(config=model.config, max_cache_len=1).layers
    if other := sorted({type(layer).__name__ for layer in layers if type(layer) is not StaticLayer}):
        return f"{name} has layers with a {other[0]}, and only full attention is compiled here"
    quantizer = getattr(model, "hf_quantizer", None)
    if quantizer is not None and not quantizer.is_compileable:
        return f"transformers cannot compile a {name} with this quantization"
    return _obstacle_on({weight.device.type for weight in model.parameters()})


def _obstacle_on(devices: set[str]) -> str | None:
    """Return why nothing can be compiled for these devices."""
    if len(devices) > 1 or not devices <= {"cuda", "cpu"}:
        return (
            f"the model is on {' and '.join(sorted(devices))}, and only a CPU's or CUDA's steps are compiled"
        )
    has_compiler = os.environ.get("CC") or any(map(shutil.which, ("gcc", "clang", "cc")))
    if "cuda" in devices and not (has_triton() and has_compiler):
        return "on a GPU torch compiles with Triton and a C compiler, and one of them is not installed"
    return None


def _base(model: Any) -> Any:
    """Return the model that `generate` runs in: a PEFT model's base, with the adapters in it."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model
