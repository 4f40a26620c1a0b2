"""A data set's rows → batches in which no row is scored twice and no two sequences are taken for one.

Over several processes accelerate fills up the last batch with rows of the epoch's beginning. Here the rows
are filled up before it divides them, with marked rows, and the collator leaves those out of the labels.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import BatchSampler, Dataset, IterableDataset, Sampler

from erce.errors import InputError
from erce.hf.head import IGNORED
from erce.hf.sequences import MARKS, sequence_breaks
from erce.train.scores import COLUMNS


class _Filler(NamedTuple):
    """A row that only fills up a batch."""

    row: Any


class _Filled:
    """Rows or indices, then fillers up to a multiple of `step`."""

    filler: Callable[[Any], Any]

    def __init__(self, rows: Any, step: int) -> None:
        self.rows, self.step = rows, step

    def __iter__(self) -> Iterator[Any]:
        count, row = 0, 0
        for count, row in enumerate(self.rows, 1):  # noqa: B007 - both are used below
            yield row
        yield from itertools.repeat(self.filler(row), -count % self.step)

    def set_epoch(self, epoch: int) -> None:
        if hasattr(self.rows, "set_epoch"):
            self.rows.set_epoch(epoch)


class FilledStream(_Filled, IterableDataset):
    """An iterable of rows, which accelerate cannot divide by its files: every process reads all of them.

    With files of their own the processes would run out of rows at different steps.
    """

    filler = _Filler


class _FilledSampler(_Filled, Sampler):
    """The indices of a sampler, then ~i for fillers."""

    filler = staticmethod(operator.inv)

    def __len__(self) -> int:
        return len(self.rows) + -len(self.rows) % self.step


class _Rows(Dataset):
    """A data set whose row ~i is a filler."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        actual = [~i if i < 0 else i for i in indices]
        fetch = getattr(self.rows, "__getitems__", None)
        rows = fetch(actual) if fetch else [self.rows[i] for i in actual]
        return [_Filler(row) if i < 0 else row for i, row in zip(indices, rows, strict=True)]


class Collator:
    """A collator that also takes fillers, and refuses a batch whose sequences nothing tells apart.

    With `sources`, name → number, the batch also holds the columns `weight` and `source` of TRL's rows, one
    number per token.
    """

    def __init__(self, collate: Callable[[list[Any]], Any], sources: Mapping[str, int] | None = None) -> None:
        self.collate, self.sources = collate, sources

    def __call__(self, features: list[Any]) -> Any:
        real = [row for row in features if not isinstance(row, _Filler)]
        rows = [row.row if isinstance(row, _Filler) else row for row in features]
        batch = self.collate(rows)
        labels = batch.get("labels") if isinstance(batch, Mapping) else None
        if not isinstance(labels, torch.Tensor) or labels.dim() != 2:
            return batch
        if len(real) < len(rows) and len(labels) == len(rows):
            for i, row in enumerate(features):
                if isinstance(row, _Filler):
                    labels[i] = IGNORED
        elif len(real) < len(rows):  # flattened
            batch = self.collate(real or rows[:1])
            labels = batch["labels"]
            if not real:
                labels.fill_(IGNORED)
        _refuse_lost_sequences(real or rows[:1], batch, labels)
        if self.sources is not None:
            self._add_columns(batch, labels, rows if len(labels) == len(rows) else (real or rows[:1]))
        return batch

    def _add_columns(self, batch: Any, labels: torch.Tensor, rows: list[Any]) -> None:
        for name, values_of in zip(COLUMNS, (_weights, self._source), strict=True):
            if any(name in row for row in rows) and (name != "source" or self.sources):
                batch[name] = _placed([values_of(row) for row in rows], labels)

    def _source(self, row: Mapping[str, Any]) -> torch.Tensor:
        number = (self.sources or {}).get(str(row["source"]), -1)
        return torch.full((len(row["input_ids"]),), number)


def fill_up(loader: Any, sources: Mapping[str, int] | None = None) -> None:
    """Make the data loader that accelerate prepared end with fillers, where it would repeat rows.

    `sources` are the `Collator`'s.
    """
    loader.base_dataloader.collate_fn = Collator(loader.base_dataloader.collate_fn, sources)
    shard = loader.batch_sampler
    if isinstance(loader.dataset, IterableDataset):
        return
    batches = getattr(shard, "batch_sampler", shard)
    if getattr(batches, "has_tail", False) and batches.remainder < batches.dp_size * batches.grad_accum:
        raise InputError(
            "train_sampling_strategy='batch_rebalance' repeats rows to fill up an epoch's last step; set "
            "dataloader_drop_last=True, or another strategy"
        )
    if batches is shard or type(batches) is not BatchSampler or batches.drop_last:
        return
    batches.sampler = _FilledSampler(batches.sampler, rows_of_a_step(shard, batches.batch_size))
    # PyTorch fixes a loader's data set, but reads it only where an epoch begins.
    object.__setattr__(loader.base_dataloader, "dataset", _Rows(loader.base_dataloader.dataset))


def rows_of_a_step(settings: Any, batch_size: int) -> int:
    """Return how many rows all processes together take at a time; `settings` has accelerate's own."""
    return batch_size * (1 if settings.split_batches else settings.num_processes)


def _weights(row: Mapping[str, Any]) -> torch.Tensor:
    """Return a row's weight for each of its tokens; InputError for anything but numbers of 0 or more."""
    weight, length = row.get("weight"), len(row["input_ids"])
    if isinstance(weight, np.ndarray | torch.Tensor):
        weight = weight.tolist()
    values: list[Any] = [*weight] if isinstance(weight, list | tuple) else [weight] * length
    if len(values) != length:
        raise InputError(
            f"a row has {length} tokens, as prepared, and a list of {len(values)} weights; give one number "
            "per row, or input_ids of at most max_length and one number per token"
        )
    for value in values:
        if not isinstance(value, Real | torch.Tensor) or not 0 <= float(value) < math.inf:
            raise InputError(f"a row has the weight {value!r}; the column weight holds numbers, 0 or above")
    return torch.tensor([float(value) for value in values])


def _placed(values: list[torch.Tensor], labels: torch.Tensor) -> torch.Tensor:
    """Return one value per token where TRL's collator has the tokens: padded right, or all in one row."""
    if len(values) != len(labels):
        values = [torch.cat(values)]
    placed = labels.new_zeros(labels.shape).to(values[0].dtype)
    for row, some in zip(placed, values, strict=True):
        row[: len(some)] = some
    return placed


def _refuse_lost_sequences(rows: list[Any], batch: Any, labels: torch.Tensor) -> None:
    if not isinstance(rows[0], Mapping):
        return
    wanted = sum(map(_sequences_in, rows))
    breaks = sequence_breaks(batch, labels)
    if wanted > len(labels) + (0 if breaks is None else int(breaks.sum())):
        raise InputError(
            f"the data_collator makes {wanted} sequences {len(labels)} rows, and the batch does not say "
            "where each begins; let it return position_ids that start again, seq_idx or cu_seq_lens_q"
        )


def _sequences_in(row: Mapping[str, Any]) -> int:
    """Return how many sequences a row says that it holds."""
    if row.get("seq_lengths") is not None:
        return len(row["seq_lengths"])
    marks = {name: torch.as_tensor(row[name])[None] for name in MARKS if row.get(name) is not None}
    breaks = sequence_breaks(marks, next(iter(marks.values()))) if marks else None
    return 1 if breaks is None else 1 + int(breaks.sum())
