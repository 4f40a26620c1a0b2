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
GROUPED = "erce_grouped_sdpa"  # transformers' name for the function below


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
    """Run the block with `grouped_attention` if the step is compiled, and leave nothing of it behind."""
    if not compiled:
        yield
        return
    base = _base(model)
    attention = base.config._attn_implementation
    AttentionInterface.register(GROUPED, grouped_attention)
    AttentionMaskInterface.register(GROUPED, sdpa_mask)
    # Transformers keeps the compiled step in an attribute that a copy of the model shares, and the copy would
    # then sample from the original's weights. Torch keeps what it compiled, for any model of the same shape.
    vars(base).pop("_compiled_call", None)
    base.set_attn_implementation(GROUPED)
    try:
        yield
    finally:
        base.set_attn_implementation(attention)
        vars(base).pop("_compiled_call", None)


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
