"""An architecture and a recipe → the bytes that one process needs on its device to train and to draw.

These are formulas, not measurements; the allocator's own share, CUDA's context and what the libraries hold
(1 to 2 GiB) come on top.
"""

from dataclasses import dataclass

from erce.recipe import Recipe
from erce.study.plan.architecture import Architecture

WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}
OPTIMIZER_BYTES = 16  # of an adapter's weight: itself, its gradient and AdamW's two moments, in float32
HEAD_BYTES = 512 * 2**20  # of logits that the loss has at a time (erce.loss.sweep)
# Bytes that autograd keeps of a token in a layer, in bfloat16 with LoRA's dropout, a unit of width: of the
# hidden state, the feed-forward, the keys, LoRA's rank, and besides. (tests/study/plan measures them)
KEPT_HIDDEN, KEPT_INTERMEDIATE, KEPT_KEYS, KEPT_RANK, KEPT_REST = 48, 12, 4, 14, 24
STEP_BYTES = 40  # of a token of the vocabulary in a step of sampling: float32 and float64 at once


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Parts in bytes; they are in use at the same time."""

    weights: int
    adapter: int
    activations: int = 0
    head: int = 0
    cache: int = 0
    step: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.adapter + self.activations + self.head + self.cache + self.step


def training_memory(of: Architecture, recipe: Recipe, *, longest: int, width: int) -> Memory:
    """At the micro-batch whose sequences are all as long as the `longest`; `width` is bytes a weight.

    weights      weights · width; frozen, so without gradients
    adapter      16 bytes a LoRA weight: float32 value, gradient and two moments
    activations  tokens · layers · what autograd keeps of one; with gradient checkpointing each layer's
                 input, and everything of one layer; in float32 twice that, which is rather too much
    head         the logits of one chunk: rows · vocabulary · 4, at most 512 MiB, whatever the batch
    """
    tokens = recipe.training.micro_batch_size * longest
    layer = layer_bytes(of, recipe.training.rank) * width / 2
    kept = of.layers * layer
    if recipe.training.gradient_checkpointing:
        kept = of.layers * of.hidden * width + layer
    return Memory(
        weights=of.weights * width,
        adapter=OPTIMIZER_BYTES * of.adapter(recipe.training.rank),
        activations=round(tokens * kept),
        head=min(HEAD_BYTES, tokens * of.vocabulary * 4),
    )


def drawing_memory(of: Architecture, recipe: Recipe, *, longest: int, rows: int, width: int) -> Memory:
    """At the last token of a batch of `rows`, all as long as the `longest` prompt and completion.

    cache  rows · tokens · 2 · layers · key heads · head width · width: keys and values
    step   rows · vocabulary · 40: logits, log p and what is drawn from, some of it in float64
    """
    token = 2 * of.layers * of.kv_heads * of.head_width * width
    return Memory(
        weights=of.weights * width,
        adapter=4 * of.adapter(recipe.training.rank),
        cache=rows * longest * token,
        step=rows * of.vocabulary * STEP_BYTES,
    )


def bytes_a_weight(recipe: Recipe, device: str) -> int:
    """Of the base model: the recipe's `dtype`, which "auto" makes float32 on a CPU and bfloat16 elsewhere."""
    dtype = recipe.dtype
    if dtype == "auto":
        dtype = "float32" if device == "cpu" else "bfloat16"
    return WIDTHS[dtype]


def layer_bytes(of: Architecture, rank: int) -> int:
    """What autograd keeps of one token in one layer, in bytes at bfloat16."""
    keys = of.kv_heads * of.head_width
    widths = KEPT_HIDDEN * of.hidden + KEPT_INTERMEDIATE * of.intermediate + KEPT_KEYS * keys
    return widths + KEPT_RANK * rank + KEPT_REST
