"""A data set's rows → batches in which no row is scored twice and no two sequences are taken for one.

Over several processes accelerate fills up the last batch with rows of the epoch's beginning. Here the rows
are filled up before it divides them, with marked rows, and the collator leaves those out of the labels.
"""

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch.utils.data import BatchSampler, Dataset, IterableDataset, Sampler

from erce.errors import InputError
from erce.hf.head import IGNORED
from erce.hf.sequences import MARKS, sequence_breaks


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
    """A collator that also takes fillers, and refuses a batch whose sequences nothing tells apart."""

    def __init__(self, collate: Callable[[list[Any]], Any]) -> None:
        self.collate = collate

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
        return batch


def fill_up(loader: Any) -> None:
    """Make the data loader that accelerate prepared end with fillers, where it would repeat rows."""
    loader.base_dataloader.collate_fn = Collator(loader.base_dataloader.collate_fn)
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
