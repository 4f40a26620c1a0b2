"""An architecture and the counts of a recipe → bytes on a device, operations, and hours of a device.

These are formulas, not measurements. The allocator's own share, CUDA's context and what the libraries hold
(1 to 2 GiB) come on top of the bytes.
"""

from dataclasses import dataclass
from typing import NamedTuple

from erce.recipe import Recipe
from erce.study.plan.architecture import Architecture
from erce.study.plan.counts import DrawingWork, TrainingWork

# Assumed shares of the peak, not measured. Prompts are read as in training. A step of generation reads all
# weights for one token a row and launches its kernels from Python, so it is far from the peak; a server that
# batches is several times faster.
TRAINING_UTILISATION = 0.35
DRAWING_UTILISATION = 0.02

WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes a weight
OPTIMIZER_BYTES = 16  # of an adapter's weight: itself, its gradient and AdamW's two moments, in float32
HEAD_BYTES = 512 * 2**20  # of logits that the loss holds at a time (erce.loss.chunked)
# Bytes that autograd keeps of a token in a layer, in bfloat16 with LoRA's dropout, for each unit of: the
# hidden state, the feed-forward, the keys, LoRA's rank; and the rest. (tests/study/plan measures them)
KEPT_HIDDEN, KEPT_INTERMEDIATE, KEPT_KEYS, KEPT_RANK, KEPT_REST = 48, 12, 4, 14, 24
STEP_BYTES = 40  # a token of the vocabulary in a step of sampling: float32 and float64 at once


class Device(NamedTuple):
    """A device as its maker describes it."""

    flops: float  # dense bfloat16 operations a second
    memory: float  # bytes


DEVICES = {
    "a100": Device(312e12, 80e9),
    "a100-40": Device(312e12, 40e9),
    "h100": Device(989e12, 80e9),
    "h200": Device(989e12, 141e9),
    "l40s": Device(362e12, 48e9),
    "l4": Device(121e12, 24e9),
    "rtx4090": Device(165e12, 24e9),
}


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The parts in bytes; they are in use at the same time."""

    weights: int
    adapter: int
    activations: int = 0
    head: int = 0
    cache: int = 0
    step: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.adapter + self.activations + self.head + self.cache + self.step


@dataclass(frozen=True)
class Speed:
    """The work that a device does in a second: tokens if measured, operations if assumed."""

    training: float
    drawing: float


@dataclass(frozen=True)
class Hours:
    """The hours of one device for a whole study."""

    training: float
    drawing: float
    drawing_most: float  # if every completion is cut off at its limit


def training_memory(
    architecture: Architecture, recipe: Recipe, *, longest: int, width: int, sequences: int
) -> Memory:
    """Return the memory of a forward pass of `sequences` of `longest` tokens each; `width` is bytes a weight.

    weights      weights · width; frozen, so without gradients
    adapter      16 bytes a LoRA weight: float32 value, gradient and two moments
    activations  tokens · layers · the bytes that autograd keeps of a token in a layer; with gradient
                 checkpointing each layer's input, and all of one layer; in float32 twice that, too much.
                 On a CPU two thirds of that are kept (`lean_lora`), and the allocator holds the rest
    head         the logits of one chunk: rows · vocabulary · 4, at most 512 MiB, whatever the batch
    """
    tokens = sequences * longest
    layer = layer_bytes(architecture, recipe.training.rank) * width / 2
    kept = architecture.layers * layer
    if recipe.training.gradient_checkpointing:
        kept = architecture.layers * architecture.hidden * width + layer
    return Memory(
        weights=architecture.weights * width,
        adapter=OPTIMIZER_BYTES * architecture.adapter(recipe.training.rank),
        activations=round(tokens * kept),
        head=min(HEAD_BYTES, tokens * architecture.vocabulary * 4),
    )


def drawing_memory(
    architecture: Architecture, recipe: Recipe, *, longest: int, rows: int, width: int
) -> Memory:
    """Return the memory at the last token of a batch of `rows`, all as long as the `longest` text.

    cache  rows · tokens · 2 · layers · key heads · head width · width: keys and values
    step   rows · vocabulary · 40: logits, log p and the distribution drawn from, partly in float64
    """
    token = 2 * architecture.layers * architecture.kv_heads * architecture.head_width * width
    return Memory(
        weights=architecture.weights * width,
        adapter=4 * architecture.adapter(recipe.training.rank),
        cache=rows * longest * token,
        step=rows * architecture.vocabulary * STEP_BYTES,
    )


def dtype_on(recipe: Recipe, device: str) -> str:
    """Return the dtype of the base model's weights; "auto" is what it is on this machine for "cpu"."""
    if recipe.dtype != "auto":
        return recipe.dtype
    if device != "cpu":
        return "bfloat16"
    from erce.hf.models import dtype_here

    return dtype_here("auto", recipe.model)


def bytes_a_weight(recipe: Recipe, device: str) -> int:
    """Return the width of the base model's weights."""
    return WIDTHS[dtype_on(recipe, device)]


def layer_bytes(architecture: Architecture, rank: int) -> int:
    """Return the bytes that autograd keeps of one token in one layer, at bfloat16."""
    keys = architecture.kv_heads * architecture.head_width
    widths = (
        KEPT_HIDDEN * architecture.hidden + KEPT_INTERMEDIATE * architecture.intermediate + KEPT_KEYS * keys
    )
    return widths + KEPT_RANK * rank + KEPT_REST


def assumed_speed(device: str) -> Speed:
    """Return the operations a second of a device in `DEVICES`, at the assumed shares of its peak."""
    peak = DEVICES[device].flops
    return Speed(peak * TRAINING_UTILISATION, peak * DRAWING_UTILISATION)


def hours_at(speed: Speed, *, trained: float, read: float, expected: float, most: float) -> Hours:
    """Return the hours for these counts: trained on, read as prompts, drawn, and drawn at most."""
    reading = read / speed.training
    drawing, longest = (reading + drawn / speed.drawing for drawn in (expected, most))
    return Hours(trained / speed.training / 3600, drawing / 3600, longest / 3600)


def training_flops(architecture: Architecture, recipe: Recipe, work: TrainingWork) -> float:
    """Return the operations of one fine-tuning.

    projections  2 a weight and token forward, 2 backward (frozen, so no gradient of weights), 2 more where
                 gradient checkpointing computes them again
    adapter      6 a weight and token (8 with checkpointing)
    attention    2 · width · length² a sequence and layer forward, causal, and 2.5 times that backward
    head         4 a weight and scored token: the logits, and the gradient of the hidden states
    """
    again = 1 if recipe.training.gradient_checkpointing else 0
    projections = (4 + 2 * again) * architecture.body * work.read
    adapter = (6 + 2 * again) * architecture.adapter(recipe.training.rank) * work.read
    attention = (
        (3.5 + again) * 2 * architecture.heads * architecture.head_width * architecture.layers * work.squares
    )
    return projections + adapter + attention + 4 * architecture.head * work.scored


def reading_flops(architecture: Architecture, recipe: Recipe, work: DrawingWork) -> float:
    """Return the operations for one cell's prompts: 2 a weight and token, attention as training's forward."""
    attention = 2 * architecture.heads * architecture.head_width * architecture.layers * work.prompt
    return (2 * (architecture.body + architecture.adapter(recipe.training.rank)) + attention) * work.read


def drawing_flops(architecture: Architecture, recipe: Recipe, work: DrawingWork, *, tokens: int) -> float:
    """Return the operations for the `tokens` of all of one cell's completions: 2 a weight and token.

    Attention adds 4 · width · context a token and layer; a context is the mean prompt and half a completion.
    """
    weights = architecture.body + architecture.adapter(recipe.training.rank) + architecture.head
    context = work.prompt + tokens / work.completions / 2
    return (
        2 * weights + 4 * architecture.heads * architecture.head_width * architecture.layers * context
    ) * tokens
