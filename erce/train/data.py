"""A user's data sets → a refusal or a warning where other tokens would be scored than are meant."""

import warnings
from collections.abc import Mapping
from typing import Any

from datasets import ClassLabel, Dataset, Value
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from erce.errors import InputError
from erce.train.config import ERCEConfig

MOST_SOURCES = 50  # whose means are logged
STACK = 4  # warnings name the line that made the trainer
USERS = ("user", "human", "system", "tool")


def check_data(arguments: Mapping[str, Any], args: ERCEConfig) -> None:
    """Look at the columns and the first row of every data set that `SFTTrainer(**arguments)` gets.

    InputError: images, or a column that marks the sequences of a row and would be dropped. Warnings: a
    penalty on words that are not the model's, a column whose name means something else to TRL.
    """
    for data in (arguments.get("train_dataset"), *several(arguments.get("eval_dataset")).values()):
        if data is None or isinstance(data, Mapping):  # TRL says that splits are not a data set to train on
            continue
        if hasattr(data, "__len__") and len(data) == 0:
            raise InputError("a data set has no rows; give at least one")
        first: Any = next(iter(data), {})
        columns: list[str] = getattr(data, "column_names", None) or list(first)
        if {"image", "images"} & {*columns}:
            raise InputError("the rows have images, which ERCETrainer does not support; use SFTTrainer")
        collator = arguments.get("data_collator")
        _refuse_unmarked(columns, args, own_collator=collator is not None)
        if "weight" in columns:
            _refuse_lost_weights(args, own_collator=collator is not None and not is_trls(collator))
        prepared: Any = args.dataset_kwargs or {}
        if "input_ids" in columns or prepared.get("skip_prepare_dataset"):
            continue
        if arguments.get("formatting_func") is None:
            _check_columns(columns, args.dataset_text_field)
            if args.entropy_penalty and not args.assistant_only_loss:
                _warn_of_penalised_prompts(first, args)


def is_trls(collator: Any) -> bool:
    """Return whether the collator is TRL's for texts, which puts tokens where `erce.train.rows` expects."""
    return type(collator) is DataCollatorForLanguageModeling


def sources_in(*data_sets: Any) -> dict[str, int]:
    """Return the values of the data sets' columns `source`, each with a number; none of a stream is known."""
    names: set[str] = set()
    for data in data_sets:
        # Of a list or a mapping there are no values to count.
        if isinstance(data, Dataset) and isinstance(data.features.get("source"), Value | ClassLabel):
            names |= {str(value) for value in data.unique("source") if value is not None}
    if len(names) > MOST_SOURCES:
        warnings.warn(
            f"the column source has {len(names):,} values, over {MOST_SOURCES}: nothing is logged per source",
            stacklevel=STACK,
        )
        return {}
    return {name: number for number, name in enumerate(sorted(names))}


def refuse_nothing(train_data: Any, eval_data: Any, args: ERCEConfig) -> None:
    """Refuse data that have no row left after TRL has prepared them."""
    for name, data in {"training": train_data, **several(eval_data)}.items():
        if data is not None and hasattr(data, "__len__") and len(data) == 0:
            raise InputError(
                f"no row of the {name} data has a token to score within max_length = {args.max_length}; "
                "raise max_length, or shorten the prompts"
            )


def several(eval_data: Any) -> dict[str, Any]:
    return dict(eval_data) if isinstance(eval_data, Mapping) else {"evaluation": eval_data}


def _refuse_unmarked(columns: list[str], args: ERCEConfig, *, own_collator: bool) -> None:
    lost = {"position_ids", "seq_idx", "cu_seq_lens", "cu_seq_lens_q"}
    if own_collator:
        lost = lost if args.remove_unused_columns else set()
    elif not args.padding_free:
        lost |= {"seq_lengths"}
    for name in columns:
        if name in lost:
            raise InputError(
                f"the column {name!r} says that rows hold several sequences, and would be dropped; let TRL "
                "pack (packing=True), or pass it on: a data_collator of yours, remove_unused_columns=False"
            )


def _refuse_lost_weights(args: ERCEConfig, *, own_collator: bool) -> None:
    reasons = {
        "packing": args.packing or args.eval_packing,
        "head='trl'": args.head == "trl",
        "a data_collator of your own": own_collator,
    }
    for what, is_so in reasons.items():
        if is_so:
            raise InputError(
                f"{what} would drop the column 'weight', and all rows would weigh the same; leave {what} or "
                "the column out"
            )


def _check_columns(columns: list[str], text_field: str) -> None:
    is_pair = {"prompt", "completion"} <= set(columns)
    if columns and not is_pair and not {text_field, "messages", "conversations"} & set(columns):
        raise InputError(
            f"the data set has the columns {', '.join(columns)}, which TRL does not train on; rename two to "
            f"prompt and completion, or one to messages or {text_field}"
        )
    if "labels" in columns:
        warnings.warn(
            "TRL takes the column 'labels' for the tokens to score, and does not make them of the text; "
            "rename it if it is something else",
            stacklevel=STACK,
        )
    if text_field in columns and is_pair:
        warnings.warn(
            f"beside prompt and completion, a column {text_field!r} gets the end-of-sequence token in place "
            "of the completion; rename or remove it",
            stacklevel=STACK,
        )


def _warn_of_penalised_prompts(row: Mapping[str, Any], args: ERCEConfig) -> None:
    """Warn where λ would lower the entropy of words that are not the model's, for all turns are scored."""
    if args.completion_only_loss is False and {"prompt", "completion"} <= set(row):
        prompts = "completion_only_loss=False: the penalty covers the prompts too; leave it out"
        warnings.warn(prompts, stacklevel=STACK)
    for name in ("messages", "conversations", "completion"):
        turns = row.get(name)
        if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
            continue
        others = any((turn.get("role") or turn.get("from")) in USERS for turn in turns)
        if others:
            warnings.warn(
                f"every token of {name!r} is scored, so the penalty covers the user's words and the "
                "template's too; set assistant_only_loss=True, or give columns 'prompt' and 'completion', "
                "the latter with the model's turns alone",
                stacklevel=STACK,
            )
            return
