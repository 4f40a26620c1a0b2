"""Rows and a Python function → a user-defined Task.

    {"prompt": "Spell 3 backwards.", "demonstration": "eerht", "answer": "eerht"}       problems.jsonl

    def verify(problem, completion):                                                    checks.py
        return completion.text.strip() == problem.answer

    task = "checks:verify"                                                              the recipe
    data = "problems.jsonl"

docs/recipes.md lists the fields, under "Data of a study". Without `split`, a fifth of the problems is for
tests, chosen by a digest of the prompts. In a file without `columns` (field → column), any other field is an
error, since it may be misspelt; of other files and data sets, the columns that no field needs are left out.

The function gets the `Problem` and the `Completion` and returns a bool or a `Verdict`. If it raises
an error, the study stops: a crash is never counted as a wrong answer.
"""

import hashlib
import inspect
import math
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import InputError, did_you_mean
from erce.tasks.source import Source, SourceRow, json_lines
from erce.types import Pools, Problem, Task, Verifier

ALL = 0  # a size: all problems that the other sizes leave
PROBLEMS_PER_TEST_PROBLEM = 5  # in a file without `split`
REFERENCE = ("answer", "tests", "setup", "entry_points", "inputs", "outputs")  # what a verifier compares with
FIELDS = ("prompt", "demonstration", "id", *REFERENCE, "weight", "meta", "split", "messages")
OTHER_WORDS = {  # what other tools call a field → ours
    **dict.fromkeys(("completion", "response", "solution", "output"), "demonstration"),
    **dict.fromkeys(("question", "problem", "instruction", "input"), "prompt"),
}
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(?<!\.jsonl)(?<!\.json)(:[\w.-]+)?")


def jsonl_task(
    name: str,
    file: str | None,
    verify: Verifier,
    *,
    columns: Mapping[str, str] | None = None,
    max_new_tokens: int = 512,
    max_length: int = 1024,
) -> Task:
    """Return a task of the problems in a JSONL file, verified by `verify`; this module's docstring says how.

    By default the task uses the whole file: all test problems, a fifth of the others for validation, the
    rest to train on.

    Args:
        name: What recipes and reports call the task.
        file: The problems; the recipe's `data` wins over it, and must be there if it is None.
        verify: (problem, completion) → a bool or a Verdict.
        columns: Field → column, where their names differ.
        max_new_tokens: Of a completion.
        max_length: Of a prompt and a demonstration in training, in tokens.

    Returns:
        The task; its file is read when a study begins.

    Raises:
        InputError: `verify` cannot be called with a problem and a completion.
    """
    _check_signature(verify)
    return Task(
        name=name,
        pools=partial(_pools, name=name, file=file, columns=dict(columns or {})),
        verify=verify,
        n_train=ALL,
        n_validation=ALL,
        n_test=ALL,
        max_new_tokens=max_new_tokens,
        max_length=max_length,
    )


def _pools(data: str | None, *, name: str, file: str | None, columns: Mapping[str, str]) -> Pools:
    path = data or file
    if path is None:
        raise InputError(
            f'task {name!r} has no problems yet: name their file with data = "problems.jsonl" or --data'
        )
    rows = user_rows(path, columns)
    problems = [problem_of(row) for row in rows]
    _check_references(rows)
    sorted_out = list(zip(problems, _for_tests(rows, problems), strict=True))
    return Pools(
        train=tuple(problem for problem, for_tests in sorted_out if not for_tests),
        test=tuple(problem for problem, for_tests in sorted_out if for_tests),
    )


def _check_references(rows: list[SourceRow]) -> None:
    """Refuse a row without any reference among rows that have one: a lax verifier would accept anything."""
    read = ("answer", "tests", "outputs", "meta")
    lacking = [row for row in rows if all(row.values.get(name) in (None, "", [], {}) for name in read)]
    if lacking and len(lacking) < len(rows):
        raise lacking[0].fault(f"it has none of {', '.join(read)}, which other rows have")


def problem_of(row: SourceRow, *, needed: tuple[str, ...] = ("prompt", "demonstration")) -> Problem:
    """Return the problem that a row's fields are; an InputError names the first that cannot be used."""
    for name in needed:
        if isinstance(row.values.get(name), list):
            raise row.fault(f"`{name}` is a list, not a text; a conversation of two turns is `messages`")
        if not row.text(name).strip():
            raise row.fault(f"`{name}` is empty")
    names = row.values.get("entry_points")
    inputs, outputs = (row.texts(name, default=()) for name in ("inputs", "outputs"))
    if len(inputs) != len(outputs):
        raise row.fault(f"it has {len(inputs)} `inputs` and {len(outputs)} `outputs`, which are pairs")
    if inputs and row.values.get("tests"):
        raise row.fault("it has both `tests` and `inputs`; a program is verified by one of them")
    if inputs and not any(map(str.strip, outputs)):
        raise row.fault("all its `outputs` are empty, so any program would pass")
    return Problem(
        id=_text_or_number(row, "id"),
        prompt=row.text("prompt"),
        demonstration=row.text("demonstration"),
        answer=_text_or_number(row, "answer"),
        tests=row.texts("tests", default=()),
        setup=row.texts("setup", default=()),
        entry_points=None if names is None else row.texts("entry_points"),
        inputs=inputs,
        outputs=outputs,
        weight=_weight(row),
        meta=row.values.get("meta"),
    )


def _weight(row: SourceRow) -> float:
    value = row.values.get("weight")
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise row.fault(f"`weight` is {value!r}; it is a number, 0 or above")
    return float(value)


def _text_or_number(row: SourceRow, key: str) -> str:
    """Return a text, or a number as text; "" where there is none."""
    value = row.values.get(key)
    if isinstance(value, list | dict):
        raise row.fault(f"`{key}` is {value!r:.60}, not a text; `meta` may hold a list or an object")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else row.text(key, default="")


def _for_tests(rows: list[SourceRow], problems: list[Problem]) -> list[bool]:
    """Return for each problem whether it is a test problem."""
    splits = [row.values.get("split") for row in rows]
    if any(split is not None for split in splits):
        for row, split in zip(rows, splits, strict=True):
            if split not in ("train", "test"):
                raise row.fault(
                    f'`split` is {split!r}; it is "train" or "test", in every line or in none; problems '
                    "to validate on are taken from train"
                )
        return [split == "test" for split in splits]
    prompts = ["".join(problem.prompt.casefold().split()) for problem in problems]
    digests = [hashlib.sha256(prompt.encode()).digest() for prompt in prompts]
    distinct = sorted(set(digests))
    chosen = set(distinct[: math.ceil(len(distinct) / PROBLEMS_PER_TEST_PROBLEM)])
    return [digest in chosen for digest in digests]


def _check_signature(verifier: Verifier) -> None:
    try:
        signature = inspect.signature(verifier)
    except ValueError:  # some functions written in C have none
        return
    try:
        signature.bind("problem", "completion")
    except TypeError as error:
        name = getattr(verifier, "__qualname__", repr(verifier))
        raise InputError(
            f"the verifier {name}{signature} cannot be called with a problem and a completion ({error}); "
            f"write def {name}(problem, completion)"
        ) from None


def user_rows(data: str, columns: Mapping[str, str]) -> list[SourceRow]:
    """Read the rows of a file or data set, each with an `id`; InputError if neither is there.

    Of a data set with the splits train and test both are read, and the field `split` says which. Without a
    split test only train is read, and a single split is read whatever its name.
    """
    if Path(data).is_file():
        lines = [_as_conversation(row, columns) for row in json_lines(Path(data))]
        if not lines:
            raise InputError(f"{data} is empty; its problems are one JSON object per line")
        if not columns:
            _check_fields(lines)
        return [_fields(row, columns, id=f"line-{number}") for number, row in enumerate(lines, start=1)]
    pools = _read_data_set(data)
    return [
        _fields(row, columns, id=f"{split}-{number}", split=split if len(pools) > 1 else None)
        for split, rows in pools.items()
        for number, row in enumerate((_as_conversation(row, columns) for row in rows), start=1)
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
                otherwise = "leave it out, or say in [columns] what it is"
                way_out = did_you_mean(OTHER_WORDS.get(key, key), FIELDS, otherwise=otherwise)
                raise InputError(
                    f"{row.where}: a study does not read field {key!r}, only {', '.join(FIELDS)}; {way_out}"
                )


def _read_data_set(data: str) -> dict[str, list[SourceRow]]:
    """Return split → rows of "owner/name", "owner/name:configuration" or a folder."""
    is_folder = Path(data).is_dir()
    if not is_folder and not _HUB_NAME.fullmatch(data):
        files = [path.name for path in Path(data).parent.glob("*.json*")]
        otherwise = 'problems are one JSON object per line, or a data set of the hub: "owner/name"'
        raise InputError(f"no file {data!r}; {did_you_mean(Path(data).name, files, otherwise=otherwise)}")
    name, _, configuration = (data, "", "") if is_folder else data.partition(":")
    source = Source(hub=name, files="its rows in train.jsonl", digests={})
    try:
        splits = source.from_hub(configuration or None)
    except InputError:
        raise
    except ValueError as error:  # a configuration that is missing or does not exist
        why = " ".join(str(error).split())
        raise InputError(
            f"{data} cannot be loaded ({why}); name a file of one JSON object per line, or a configuration: "
            f'data = "{name}:CONFIGURATION"'
        ) from error
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
            otherwise = f'name one in [columns]: {field} = "COLUMN"'
            raise InputError(
                f"{row.where}: no column {column!r} for `{field}`, only {', '.join(row.values)}; "
                f"{did_you_mean(column, row.values, otherwise=otherwise)}"
            )
    values = {field: row.values.get(column) for field, column in column_of.items()}
    if values.get("messages") is not None:
        values |= _one_exchange(SourceRow(row.where, values))
    if values.get("id") is None:
        values["id"] = id
    return SourceRow(row.where, values if split is None else values | {"split": split})


def _as_conversation(row: SourceRow, columns: Mapping[str, str]) -> SourceRow:
    """Return a row as trainers have it, whose `prompt` and `completion` are messages, with its `messages`."""
    turns: Any = [row.values.get(name) for name in ("prompt", "completion")]
    if not all(isinstance(some, list) for some in turns) or {"prompt", "demonstration", "messages"} & {
        *columns
    }:
        return row
    rest = {name: value for name, value in row.values.items() if name not in ("prompt", "completion")}
    return SourceRow(row.where, {"messages": [*turns[0], *turns[1]]} | rest)


def _one_exchange(row: SourceRow) -> dict[str, Any]:
    """Return the `prompt` and `demonstration` that a conversation of two turns is."""
    for field in ("prompt", "demonstration"):
        if row.values.get(field) is not None:
            raise row.fault(f"it has both `messages` and `{field}`")
    turns: Any = row.values["messages"]
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise row.fault("`messages` is not a list of turns with `role` and `content`")
    roles = [str(turn.get("role")) for turn in turns]
    if roles != ["user", "assistant"]:
        raise row.fault(
            f"`messages` has the turns {', '.join(roles[:6]) or 'none'}; a problem is one of the user, one "
            "of the assistant (write a system turn into the user's)"
        )
    return {"prompt": turns[0].get("content"), "demonstration": turns[1].get("content")}
