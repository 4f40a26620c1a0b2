"""A user's JSONL file, or data set of the hub or in a folder → rows with the fields of a problem.

`columns` is field → the column that has it, where their names differ. Other fields are read from the column
of their own name. In a file without `columns`, any other field is an error, since it may be a misspelt one.
Of other files and data sets, the columns that no field needs are left out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from erce.errors import InputError, did_you_mean
from erce.tasks.source import Source, SourceRow, json_lines

FIELDS = (
    *("prompt", "demonstration", "answer", "id", "tests", "setup", "entry_points", "inputs", "outputs"),
    *("weight", "split", "messages"),
)
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?<!\.jsonl)(?<!\.json)(:[\w.-]+)?")


def user_rows(data: str, columns: Mapping[str, str]) -> list[SourceRow]:
    """Read the rows of a file or data set, each with an `id`; InputError if neither is there.

    Of a data set with the splits train and test both are read, and the field `split` says which. Without a
    split test only train is read, and a single split is read whatever its name.
    """
    if Path(data).is_file():
        lines = list(json_lines(Path(data)))
        if not lines:
            raise InputError(f"{data} is empty; its problems are one JSON object per line")
        if not columns:
            _check_fields(lines)
        return [_fields(row, columns, id=f"line-{number}") for number, row in enumerate(lines, start=1)]
    pools = _read_data_set(data)
    return [
        _fields(row, columns, id=f"{split}-{number}", split=split if len(pools) > 1 else None)
        for split, rows in pools.items()
        for number, row in enumerate(rows, start=1)
    ]


def hub_name(data: str) -> str | None:
    """Return the hub's name of the data set in a recipe's `data`; None if `data` is a file or folder.

    >>> hub_name("owner/name:main"), hub_name("problems.jsonl")
    ('owner/name', None)
    """
    of_hub = _HUB_NAME.fullmatch(data) and not Path(data).exists()
    return data.partition(":")[0] if of_hub else None


def _check_fields(rows: list[SourceRow]) -> None:
    for row in rows:
        for key in row.values:
            if key not in FIELDS:
                way_out = did_you_mean(key, FIELDS, otherwise="leave it out, or say in [columns] what it is")
                raise InputError(
                    f"{row.where}: field {key!r} is none that a study reads ({', '.join(FIELDS)}); {way_out}"
                )


def _read_data_set(data: str) -> dict[str, list[SourceRow]]:
    """Return split → rows of "owner/name", "owner/name:configuration" or a folder."""
    is_folder = Path(data).is_dir()
    if not is_folder and not _HUB_NAME.fullmatch(data):
        raise InputError(
            f'no file {data!r}; problems are one JSON object per line, or a data set of the hub: "owner/name"'
        )
    name, _, configuration = (data, "", "") if is_folder else data.partition(":")
    source = Source(hub=name, files="its rows in train.jsonl", digests={})
    try:
        splits = source.from_hub(configuration or None)
    except InputError:
        raise
    except ValueError as error:  # a configuration that is missing or does not exist
        why = " ".join(str(error).split())
        way_out = (
            "name the file itself, one JSON object per line"
            if is_folder
            else f'a configuration is named by data = "{name}:CONFIGURATION"'
        )
        raise InputError(f"{data} cannot be loaded ({why}); {way_out}") from error
    pools = {split: splits[split] for split in ("train", "test") if split in splits}
    if "train" not in pools and len(splits) != 1:
        raise InputError(f"{data} has the splits {', '.join(splits)}; a study needs train, or a single split")
    return pools or splits


def _fields(row: SourceRow, columns: Mapping[str, str], *, id: str, split: str | None = None) -> SourceRow:
    """Return the row's fields under their own names, with `split` if it is given, and `id` if it has none."""
    elsewhere = set(columns.values())  # a column that has one field is not read as the field of its own name
    column_of = {field: field for field in FIELDS if field not in elsewhere} | dict(columns)
    two_turns = column_of.get("messages") in row.values
    for field in dict.fromkeys([*columns, *(() if two_turns else ("prompt", "demonstration"))]):
        column = column_of.get(field, field)
        if column not in row.values:
            there = did_you_mean(column, row.values)
            raise InputError(f"{row.where}: no column {column!r} for `{field}` ([columns] names it); {there}")
    values = {field: row.values.get(column) for field, column in column_of.items()}
    if values.get("messages") is not None:
        values |= _one_exchange(SourceRow(row.where, values))
    if values.get("id") is None:
        values["id"] = id
    return SourceRow(row.where, values if split is None else values | {"split": split})


def _one_exchange(row: SourceRow) -> dict[str, Any]:
    """Return the `prompt` and `demonstration` that a conversation of two turns is."""
    for field in ("prompt", "demonstration"):
        if row.values.get(field) is not None:
            raise row.fault(f"it has both `messages` and `{field}`")
    turns: Any = row.values["messages"]
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise row.fault("`messages` is no list of turns with `role` and `content`")
    roles = [str(turn.get("role")) for turn in turns]
    if roles == ["system", "user", "assistant"]:
        raise row.fault(
            "`messages` begins with a system turn, and a study keeps that of the model's own chat template; "
            "write it into the user's text"
        )
    if roles != ["user", "assistant"]:
        shown = ", ".join(roles[:6]) or "none"
        raise row.fault(
            f"`messages` has the turns {shown}; a problem is one of the user, one of the assistant"
        )
    return {"prompt": turns[0].get("content"), "demonstration": turns[1].get("content")}
