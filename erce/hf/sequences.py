"""A batch → how many targets are scored, where its sequences begin, and whether a model keeps them apart."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from erce.errors import InputError
from erce.hf.head import IGNORED, equal, evaluating

MARKS = ("position_ids", "seq_idx", "cu_seq_lens_q")  # what tells sequences in one row apart
WITH_THEM = ("attention_mask", "cu_seq_lens_k", "max_length_q", "max_length_k")


def sequence_breaks(inputs: Mapping[str, Any], labels: Tensor) -> Tensor | None:
    """Return which tokens but a row's first begin another sequence, (rows, length - 1); None without marks.

    `position_ids` that do not go on by 1, a `seq_idx` that changes, and `cu_seq_lens_q` each say so. Position
    ids with more axes than (rows, length), of images, say nothing.
    """
    breaks, (rows, length) = None, labels.shape
    positions, index, ends = (inputs.get(name) for name in MARKS)
    if positions is not None and positions.dim() == 2:
        breaks = (positions.diff(dim=1) != 1).expand(rows, -1)
    if index is not None:
        changes = (index.diff(dim=1) != 0).expand(rows, -1)
        breaks = changes if breaks is None else breaks | changes
    if ends is not None:
        starts = torch.zeros(rows * length + 1, dtype=torch.bool, device=labels.device)
        starts[ends.long()] = True
        starts = starts[:-1].view(rows, length)[:, 1:]
        breaks = starts if breaks is None else breaks | starts
    return breaks


def shifted_targets(inputs: Mapping[str, Any], labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return what each token but a row's last predicts, and the number of the sequence that it is in.

    Both are (rows, length - 1). Nothing predicts the first token of a sequence, so its target is ignored.
    Numbers are below labels.numel(), and no two sequences share one.
    """
    targets = labels[:, 1:]
    first = torch.arange(len(labels), device=labels.device)[:, None] * labels.shape[1]
    breaks = sequence_breaks(inputs, labels)
    if breaks is None:
        return targets, first.expand_as(targets)
    return targets.masked_fill(breaks, IGNORED), first + breaks.cumsum(1)


def has_several(inputs: Mapping[str, Any], labels: Tensor) -> bool:
    """Return whether a scored token follows the end of another sequence in its row; it waits for a GPU."""
    breaks = sequence_breaks(inputs, labels)
    if breaks is None:
        return False
    mask = inputs.get("attention_mask")
    if mask is not None and mask.dim() == 2:
        breaks = breaks & (mask[:, :-1] != 0)  # a first token after padding begins the only sequence
    return bool(((breaks.cumsum(1) > 0) & (labels[:, 1:] != IGNORED)).any())


@torch.no_grad()
def keeps_apart(model: nn.Module, tokens: Tensor, inputs: Mapping[str, Any]) -> bool:
    """Return whether the model's logits of a sequence stay the same behind another one in its row.

    The model is tried with two sequences of two of the `tokens` (1, 4), marked as those of `inputs` are.
    """
    device, pair = tokens.device, torch.arange(2, device=tokens.device)
    ends = torch.tensor([0, 2, 4], dtype=torch.int32, device=device)
    values = {
        "position_ids": pair.repeat(2)[None],
        "seq_idx": pair.repeat_interleave(2)[None].int(),
        "cu_seq_lens_q": ends,
        "cu_seq_lens_k": ends,
        "max_length_q": 2,
        "max_length_k": 2,
        "attention_mask": torch.ones_like(tokens),
    }
    marks = {name: values[name] for name in (*MARKS, *WITH_THEM) if inputs.get(name) is not None}
    with evaluating(model), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PEFT says that it drops position_ids, which shows below
        try:
            together = model(input_ids=tokens, use_cache=False, **marks).logits
        except TypeError:  # a model that knows no such keyword
            return False
        alone = model(input_ids=tokens[:, 2:], use_cache=False).logits
    return equal(together[:, -2:], alone)


def refuse_other_lengths(labels: Tensor, inputs: Mapping[str, Any]) -> None:
    """Refuse labels that are not one per token."""
    tokens = inputs.get("inputs_embeds") if inputs.get("input_ids") is None else inputs["input_ids"]
    if tokens is not None and labels.shape != tokens.shape[:2]:
        raise InputError(
            f"labels have the shape {tuple(labels.shape)} and the tokens {tuple(tokens.shape[:2])}; give one "
            f"label per token, {IGNORED} where it is not trained on"
        )


def begin_count(targets: Tensor, ignore_index: int) -> Callable[[], int | None]:
    """Begin to count the scored targets; return what waits for their number, or gives None.

    The loss must know the number before it can be launched. The count is queued before the model, so that the
    host does not wait for the model. Off a GPU, and under a compiler, the loss counts for itself: None.
    """
    if torch.compiler.is_compiling() or not targets.is_cuda:
        return lambda: None
    count = (targets != ignore_index).sum()
    with torch.cuda.device_of(targets):
        pinned = torch.empty_like(count, device="cpu", pin_memory=True)
        pinned.copy_(count, non_blocking=True)
        copied = torch.cuda.current_stream().record_event()

    def arrived() -> int:
        copied.synchronize()
        return int(pinned)

    return arrived
