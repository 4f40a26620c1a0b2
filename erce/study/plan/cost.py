"""Tokens and an architecture → floating-point operations, and the hours that a device takes for them."""

from dataclasses import dataclass
from typing import NamedTuple

from erce.recipe import Recipe
from erce.study.plan.architecture import Architecture
from erce.study.plan.work import DrawingWork, TrainingWork

# Assumed shares of the peak, not measured. Prompts are read as in training. A step of generation reads all
# weights for one token a row and launches its kernels from Python, so it is far from the peak; a server that
# batches is several times faster.
TRAINING_UTILISATION = 0.35
DRAWING_UTILISATION = 0.02


class Device(NamedTuple):
    """A device as its maker describes it: dense bfloat16 operations a second, and bytes of memory."""

    flops: float
    memory: float


DEVICES = {
    "a100": Device(312e12, 80e9),
    "a100-40": Device(312e12, 40e9),
    "h100": Device(989e12, 80e9),
    "h200": Device(989e12, 141e9),
    "l40s": Device(362e12, 48e9),
    "l4": Device(121e12, 24e9),
    "rtx4090": Device(165e12, 24e9),
}


@dataclass(frozen=True)
class Speed:
    """Of whatever is counted, a second: tokens read in training and tokens drawn, or operations."""

    training: float
    drawing: float


@dataclass(frozen=True)
class Hours:
    """Of one device, for a whole study."""

    training: float
    drawing: float
    drawing_most: float  # if every completion is cut off at its limit


def assumed_speed(device: str) -> Speed:
    """Operations a second of a device in `DEVICES`, at the assumed shares of its peak."""
    peak = DEVICES[device].flops
    return Speed(peak * TRAINING_UTILISATION, peak * DRAWING_UTILISATION)


def hours_at(speed: Speed, *, trained: float, read: float, expected: float, most: float) -> Hours:
    """Of what is counted, all of it: trained on, read as prompts, drawn, and drawn at most."""
    reading = read / speed.training
    drawing, longest = (reading + drawn / speed.drawing for drawn in (expected, most))
    return Hours(trained / speed.training / 3600, drawing / 3600, longest / 3600)


def training_flops(of: Architecture, recipe: Recipe, work: TrainingWork) -> float:
    """Of one fine-tuning.

    projections  2 a weight and token forward, 2 backward (frozen, so no gradient of weights), 2 more where
                 gradient checkpointing computes them again
    adapter      6 a weight and token (8 with checkpointing)
    attention    2 · width · length² a sequence and layer forward, causal, and 2.5 times that backward
    head         4 a weight and scored token: the logits, and the gradient of the hidden states
    """
    again = 1 if recipe.training.gradient_checkpointing else 0
    projections = (4 + 2 * again) * of.body * work.read
    adapter = (6 + 2 * again) * of.adapter(recipe.training.rank) * work.read
    attention = (3.5 + again) * 2 * of.heads * of.head_width * of.layers * work.squares
    return projections + adapter + attention + 4 * of.head * work.scored


def reading_flops(of: Architecture, recipe: Recipe, work: DrawingWork) -> float:
    """Of one cell's prompts: 2 a weight and token, and attention as in training's forward."""
    attention = 2 * of.heads * of.head_width * of.layers * work.prompt
    return (2 * (of.body + of.adapter(recipe.training.rank)) + attention) * work.read


def drawing_flops(of: Architecture, recipe: Recipe, work: DrawingWork, *, tokens: int) -> float:
    """Of so many `tokens` that one cell's completions have in all: 2 a weight and token.

    Attention adds 4 · width · context a token and layer; a context is the mean prompt and half a completion.
    """
    weights = of.body + of.adapter(recipe.training.rank) + of.head
    context = work.prompt + tokens / work.completions / 2
    return (2 * weights + 4 * of.heads * of.head_width * of.layers * context) * tokens
