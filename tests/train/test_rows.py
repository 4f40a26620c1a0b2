"""Batches over several processes and from rows of several sequences: every row once, every sequence apart."""

import itertools
from typing import Any

import pytest
import torch
from accelerate.data_loader import prepare_data_loader
from datasets import Dataset, IterableDataset
from torch.utils.data import DataLoader
from toys import training as toy
from transformers import DataCollatorWithFlattening
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from erce.train.rows import Collator, FilledStream, _Filler, fill_up
from erce.train.trainer import ERCETrainer

SEVERAL = [1, 2, 3, 5, 8]
FLAT = DataCollatorWithFlattening()


def rows(count: int) -> list[dict[str, list[int]]]:
    """Rows of growing length; the number of a row is its labels' value."""
    return [{"input_ids": [i] * (i + 2), "labels": [i] * (i + 2)} for i in range(1, count + 1)]


def read_by(  # noqa: PLR0913 - a case each
    processes: int, *, count: int, size: int, kind: str, split: bool, collate: Any, workers: int = 0
) -> list[list[torch.Tensor]]:
    """Return the labels of each process's batches."""
    read = []
    for process in range(processes):
        data: Any = Dataset.from_list(rows(count))
        if kind == "stream":
            step = size if split else size * processes
            data = FilledStream(data.to_iterable_dataset(num_shards=min(count, 3)), step)
        loader = prepare_data_loader(
            DataLoader(data, batch_size=size, collate_fn=collate, num_workers=workers),
            num_processes=processes,
            process_index=process,
            split_batches=split,
            even_batches=kind != "uneven",
        )
        fill_up(loader)
        read.append([batch["labels"] for batch in loader])
    return read


@pytest.mark.parametrize("kind", ["even", "uneven", "stream"])
@pytest.mark.parametrize("collate", [toy.batch, FLAT], ids=["padded", "flattened"])
@pytest.mark.parametrize(("processes", "split"), [(2, False), (3, False), (2, True)])
def test_every_row_is_scored_once_and_every_process_has_as_many_batches(kind, collate, processes, split):
    for count, per_process in itertools.product(SEVERAL, (1, 2, 3)):
        size = per_process * processes if split else per_process
        case = {"count": count, "size": size, "kind": kind, "split": split, "collate": collate}
        read = read_by(processes, **case)
        scored = torch.cat([labels[labels != toy.IGNORED] for each in read for labels in each])
        wanted = {i: i + (2 if collate is toy.batch else 1) for i in range(1, count + 1)}
        assert {int(i): int((scored == i).sum()) for i in scored.unique()} == wanted, case
        assert len({len(each) for each in read}) == 1, case
        shapes = {labels.shape[0] for each in read for labels in each}
        assert shapes == ({per_process} if collate is toy.batch else {1}), case


@pytest.mark.slow
def test_workers_that_collate_know_the_rows_that_only_fill_up():
    for kind in ("even", "stream"):
        read = read_by(2, count=5, size=2, kind=kind, split=False, collate=toy.batch, workers=2)
        scored = torch.cat([labels[labels != toy.IGNORED] for each in read for labels in each])
        assert sorted(scored.unique().tolist()) == [1, 2, 3, 4, 5]
        assert len(scored) == sum(len(row["labels"]) for row in rows(5))


def packed(**marks: Any) -> list[dict[str, Any]]:
    return [{"input_ids": [1, 2, 3, 4, 5], "labels": [1, 2, 3, 4, 5], **marks}]


@pytest.mark.parametrize(
    ("collator", "rows"),
    [
        (FLAT, packed(seq_lengths=[2, 3])),
        (FLAT, packed(position_ids=[0, 1, 0, 1, 2])),
        (FLAT, packed(seq_idx=[0, 0, 1, 1, 1])),
        (DataCollatorWithFlattening(return_position_ids=False), rows(2)),
    ],
    ids=["seq_lengths", "position_ids", "seq_idx", "without a word"],
)
def test_a_collator_that_loses_the_sequences_of_a_row_is_refused(collator, rows):
    with pytest.raises(ValueError, match="makes 2 sequences 1 rows, and the batch does not say where"):
        Collator(collator)(rows)


def test_a_collator_that_says_where_sequences_begin_is_taken():
    def whole(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}

    assert Collator(whole)(packed(position_ids=[0, 1, 0, 1, 2]) * 2)["labels"].shape == (2, 5)
    for told in ({"return_flash_attn_kwargs": True}, {"return_seq_idx": True}):
        Collator(DataCollatorWithFlattening(return_position_ids=False, **told))(rows(2))


def trainer(folder: Any, data: Any, args: dict[str, Any] | None = None, **named: Any) -> ERCETrainer:
    settings = {"learning_rate": 0.0, "max_steps": 1, "gradient_accumulation_steps": 1} | (args or {})
    return toy.trainer(folder, data, settings, **named)


@pytest.mark.parametrize("column", ["position_ids", "seq_idx", "cu_seq_lens_q", "seq_lengths"])
def test_a_column_of_sequences_that_would_be_dropped_is_refused(column, tmp_path):
    data = Dataset.from_list(packed(**{column: [0, 1, 0, 1, 2]}))
    with pytest.raises(ValueError, match=f"column '{column}' says that rows hold several sequences"):
        trainer(tmp_path, data)


DOCUMENTS = toy.rows([(3, 2), (2, 9), (1, 4), (4, 7)])
HOW = {
    "flattened": {"data_collator": FLAT},
    "flash keywords": {"data_collator": DataCollatorWithFlattening(return_flash_attn_kwargs=True)},
    "padding_free": {"args": {"padding_free": True, "max_length": None}},
    "packing": {"args": {"packing": True, "max_length": 32, "dataset_kwargs": {}}},
}


@pytest.mark.parametrize("normalize", ["token", "sequence"])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.filterwarnings("ignore:.*packing.*:UserWarning")
def test_sequences_in_one_row_count_as_sequences_in_rows_of_their_own(how, normalize, tmp_path):
    logs = []
    for given in ({}, HOW[how]):
        args = {"normalize": normalize, "entropy_penalty": 2.0, "per_device_train_batch_size": 4}
        args |= {"per_device_eval_batch_size": 4} | given.get("args", {})
        made = trainer(tmp_path, DOCUMENTS, eval_dataset=DOCUMENTS, **given | {"args": args})
        made.train()
        logs.append((made.state.log_history[0], made.evaluate()))
    for name in ("loss", "ce", "entropy", "objective", "scored_tokens", "grad_norm"):
        assert logs[1][0][name] == pytest.approx(logs[0][0][name], rel=2e-5), name
        if name != "grad_norm":
            assert logs[1][1][f"eval_{name}"] == pytest.approx(logs[0][1][f"eval_{name}"], rel=2e-5), name


def with_mask(some: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    batch = FLAT(some)
    return batch | {"attention_mask": torch.ones_like(batch["input_ids"])}


def test_a_batch_in_which_sequences_would_read_each_other_is_refused(tmp_path):
    made = trainer(tmp_path, DOCUMENTS, data_collator=with_mask)
    with pytest.raises(ValueError, match=r"\(attention_mask, position_ids\) the model lets one"):
        made.train()
    alone = {"per_device_train_batch_size": 1}
    trainer(tmp_path, DOCUMENTS, data_collator=with_mask, args=alone).train()


def test_prompts_that_drop_the_marks_of_sequences_are_refused(tmp_path):
    from peft import PromptTuningConfig

    prompts = PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    made = trainer(tmp_path, DOCUMENTS, data_collator=FLAT, peft_config=prompts)
    with pytest.raises(ValueError, match=r"\(position_ids\) the model lets one .* leave out packing"):
        made.train()


def test_batches_of_embeddings_alone_are_trained(tmp_path):
    table = toy.model().get_input_embeddings().weight.detach()

    def embedded(some: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        batch = toy.batch(some)
        return batch | {"inputs_embeds": table[batch.pop("input_ids")]}

    logs = []
    for collator in (toy.batch, embedded):
        made = trainer(tmp_path, DOCUMENTS, data_collator=collator)
        made.train()
        logs.append(made.state.log_history[0])
    for name in ("loss", "scored_tokens", "num_tokens"):
        assert logs[0][name] == pytest.approx(logs[1][name], rel=1e-6), name


def test_a_batch_without_labels_is_one_sentence(tmp_path):
    def bare(some: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return {name: x for name, x in toy.batch(some).items() if name != "labels"}

    made = trainer(tmp_path, DOCUMENTS, data_collator=bare)
    with pytest.raises(ValueError, match="no labels, only input_ids, attention_mask; let the data_c"):
        made.train()
    with pytest.raises(ValueError, match="a batch has no labels"):
        made.evaluate(Dataset.from_list(DOCUMENTS))


def test_a_strategy_that_repeats_rows_by_itself_is_refused(tmp_path):
    args = {"train_sampling_strategy": "batch_rebalance", "gradient_accumulation_steps": 4}
    made = trainer(tmp_path, DOCUMENTS[:3], args=args)
    with pytest.raises(ValueError, match=r"'batch_rebalance' repeats rows .*; set"):
        made.train()
    trainer(tmp_path, DOCUMENTS * 4, args=args | {"per_device_train_batch_size": 4}).train()


def test_a_stream_of_every_kind_is_read_by_every_process():
    stream = FilledStream(IterableDataset.from_generator(lambda: iter(rows(3))), 2)
    stream.set_epoch(1)
    assert len(list(stream)) == 4


WEIGHED: list[Any] = [
    {"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "weight": [0.0, 2.0, 3.0], "source": "b"},
    {"input_ids": [4, 5], "labels": [-100, 5], "weight": torch.tensor(7), "source": "unknown"},
]


@pytest.mark.parametrize(
    ("padding_free", "weights", "sources"),
    [
        (False, [[0, 2, 3], [7, 7, 0], [0, 2, 3]], [[1, 1, 1], [-1, -1, 0], [1, 1, 1]]),
        (True, [[0, 2, 3, 7, 7]], [[1, 1, 1, -1, -1]]),
    ],
)
def test_weights_and_sources_stand_where_their_tokens_do(padding_free, weights, sources):
    collate = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=padding_free)
    batch = Collator(collate, {"a": 0, "b": 1})([*WEIGHED, _Filler(WEIGHED[0])])
    assert batch["labels"].shape == batch["weight"].shape == batch["source"].shape
    assert (batch["weight"].tolist(), batch["source"].tolist()) == (weights, sources)
    assert not {"weight", "source"} & Collator(collate)(WEIGHED).keys()


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (None, "has the weight None; the column weight holds numbers, 0 or above"),
        (-1.0, "has the weight -1.0;"),
        ("2", "has the weight '2';"),
        ([1.0, float("nan"), 1.0], "has the weight nan;"),
        (
            [1.0, 2.0],
            "has 3 tokens, as prepared, and a list of 2 weights; .* input_ids of at most max_length",
        ),
    ],
)
def test_a_weight_that_is_no_number_per_row_or_token_is_refused(weight, message):
    collate = DataCollatorForLanguageModeling(pad_token_id=0)
    with pytest.raises(ValueError, match=message):
        Collator(collate, {})([WEIGHED[0] | {"weight": weight}])


@pytest.mark.parametrize(
    ("settings", "arguments", "what"),
    [
        ({"packing": True, "max_length": 64}, {}, "packing"),
        pytest.param({"head": "trl"}, {}, "head='trl'", marks=toy.TRLS_HEAD),
        ({}, {"data_collator": toy.batch}, "a data_collator of your own"),
    ],
)
def test_weights_that_would_be_dropped_are_refused(settings, arguments, what, tmp_path):
    with pytest.raises(ValueError, match=f"{what} would drop the column 'weight'"):
        toy.trainer(tmp_path, [toy.UNEQUAL[0] | {"weight": 1.0}], settings, **arguments)


def test_columns_beside_a_text_go_through_trls_preparation(tmp_path):
    texts = [
        {"prompt": "a", "completion": "bcd", "weight": 0.0, "source": "x"},
        {"prompt": "e", "completion": "f", "weight": 2.0, "source": "y"},
    ]
    settings = {"dataset_kwargs": None, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 1}
    trainer = toy.trainer(tmp_path, texts, settings | {"learning_rate": 0.0})
    trainer.train()
    [entry] = [entry for entry in trainer.state.log_history if "loss" in entry]
    counts = {"x": 4, "y": 2}  # tokens, the end-of-sequence token included
    assert entry["scored_tokens"] == sum(counts.values())
    assert entry["loss"] == pytest.approx(2 * counts["y"] * entry["ce/y"] / entry["scored_tokens"], rel=1e-5)
    both = sum(counts[name] * entry[f"ce/{name}"] for name in counts) / entry["scored_tokens"]
    assert entry["ce"] == pytest.approx(both, rel=1e-5)


def test_a_source_of_very_many_values_is_said_and_not_logged(tmp_path):
    rows: list[Any] = [row | {"source": f"https://{i}"} for i, row in enumerate(toy.rows([(2, 3)] * 51))]
    with pytest.warns(UserWarning, match="the column source has 51 values, over 50"):
        trainer = toy.trainer(tmp_path, rows, {"max_steps": 1})
    trainer.train()
    assert not [name for name in trainer.state.log_history[0] if "/" in name]


@pytest.mark.parametrize("source", [["a", "b"], {"url": "a"}, None], ids=str)
def test_a_source_that_is_no_text_or_number_costs_nothing(source, tmp_path):
    trainer = toy.trainer(tmp_path, [row | {"source": source} for row in toy.UNEQUAL], {"max_steps": 1})
    assert "source" not in next(iter(trainer.get_train_dataloader()))
    trainer.train()
    assert not [name for name in trainer.state.log_history[0] if "/" in name]
