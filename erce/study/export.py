"""A study's folder → flat rows, one a sample, and one file of them that data tools read.

datasets.load_dataset("json", data_files="rows.jsonl", split="train")
pandas.read_json("rows.jsonl", lines=True, dtype=False)  (else ids that look like numbers become numbers)
polars.read_ndjson("rows.jsonl", infer_schema_length=None)
duckdb.sql("from 'rows.jsonl'")
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from erce.files import read_rows
from erce.recipe import Cell
from erce.study.folder import PROBLEMS, Study, cell_folder
from erce.study.provenance import read_origin

TEXT, WHOLE, NUMBER, TRUTH, TEXTS = "string", "int64", "double", "bool", "list<string>"
COLUMNS = {  # in their order; each row has all of them, None where there is nothing to say
    "key": TEXT,  # of everything that the sample depends on: equal keys, equal samples
    "study": TEXT,
    "task": TEXT,
    "arm": TEXT,  # "base", "lam0.5", "dft": what it is one seed of
    "lam": NUMBER,
    "objective": TEXT,
    "penalty": TEXT,
    "order": NUMBER,
    "seed": WHOLE,  # of training, and with `problem` and `sample` of the random numbers it was drawn with
    "model": TEXT,
    "revision": TEXT,
    "dtype": TEXT,
    "adapter": TEXT,  # digest of its weights
    "split": TEXT,
    "decoding": TEXT,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "top_k": WHOLE,
    "repetition_penalty": NUMBER,
    "max_new_tokens": WHOLE,
    "stop": TEXTS,
    "problem": TEXT,
    "prompt_hash": TEXT,
    "answer": TEXT,
    "tests": TEXTS,
    "sample": WHOLE,
    "completion": TEXT,
    "tokens": WHOLE,
    "finish": TEXT,  # "stop" or "length"
    "logprob": NUMBER,
    "entropy": NUMBER,
    "drawn_entropy": NUMBER,
    "accepted": TRUTH,
    "reason": TEXT,
    "extracted": TEXT,
    "warning": TEXT,
    "verifier": TEXT,
}
BATCH = 10_000  # rows of a Parquet file's groups

Row = dict[str, Any]


def records(study: Study) -> Iterator[Row]:
    """A row for each sample of each finished cell, with the columns of `COLUMNS`, in grid order.

    A cell whose completions and verdicts do not belong together is a ValueError.
    """
    problems = _problems(study.root / PROBLEMS)
    for cell in study.results:
        folder = cell_folder(study.root, study.recipe, cell)
        origin = read_origin(folder)
        shared = _shared(study, cell, origin)
        verdicts = list(read_rows(folder / "verdicts.jsonl"))
        completions = list(read_rows(folder / "completions.jsonl"))
        if [_place(row) for row in completions] != [_place(row) for row in verdicts]:
            raise ValueError(
                f"{folder}: verdicts.jsonl is not of the samples in completions.jsonl; delete it and "
                "result.json, and the next run judges again"
            )
        for completion, verdict in zip(completions, verdicts, strict=True):
            problem = problems.get((cell.task, completion["split"], completion["problem"]), {})
            yield flat(shared | _drawn(origin, completion) | problem | _sample(completion) | _judged(verdict))


def flat(values: Row) -> Row:
    """The values under every column in order, None where there is none; an unknown one is our mistake."""
    assert values.keys() <= COLUMNS.keys(), values.keys() - COLUMNS.keys()
    return {name: values.get(name) for name in COLUMNS}


def export(rows: Study | Iterable[Row], path: str | Path) -> int:
    """How many rows were written to `path`: JSON Lines, or Parquet where the name ends in .parquet.

    `rows` is a study, for all of its records, or rows of the same columns. The same rows give the same bytes.
    Parquet needs pyarrow, which comes with `datasets`; any other ending is a ValueError, and so is a folder
    that does not exist.
    """
    path, rows = Path(path), iter(records(rows) if isinstance(rows, Study) else rows)
    writers = {".jsonl": _write_lines, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise ValueError(f"{path} ends in {path.suffix!r}; rows are written to .jsonl or .parquet")
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent} is no folder; make it first")
    half = path.with_name(f".{path.name}.tmp")
    count = writers[path.suffix](half, rows)
    half.replace(path)
    return count


def _write_lines(path: Path, rows: Iterator[Row]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for count, row in enumerate(rows, 1):  # noqa: B007 (counted)
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    return count


def _write_parquet(path: Path, rows: Iterator[Row]) -> int:
    if find_spec("pyarrow") is None:
        raise ValueError("Parquet needs pyarrow; `pip install pyarrow`, or write to a name in .jsonl")
    import pyarrow
    import pyarrow.parquet

    kinds = {TEXTS: pyarrow.list_(pyarrow.string()), NUMBER: pyarrow.float64(), TRUTH: pyarrow.bool_()}
    kinds |= {TEXT: pyarrow.string(), WHOLE: pyarrow.int64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _problems(path: Path) -> dict[tuple[str, str, str], Row]:
    """(task, split, id) → what a row says of its problem; nothing where the study has no problems.jsonl."""
    rows = read_rows(path) if path.is_file() else ()
    return {
        (row["task"], row["split"], row["problem"]): {
            "prompt_hash": _digest(row["prompt"]) if row["prompt"] else None,
            "answer": row["answer"] or None,
            "tests": row["tests"] or None,
        }
        for row in rows
    }


def _shared(study: Study, cell: Cell, origin: Row) -> Row:
    trained = cell.lam is not None
    recipe = study.recipe
    names = ("study", "revision", "dtype", "adapter", "verifier")
    return {name: origin.get(name) for name in names} | {
        "task": cell.task,
        "arm": cell.arm.slug,
        "lam": cell.lam,
        "objective": cell.objective if trained else None,
        "penalty": recipe.penalty if trained else None,
        "order": recipe.order if trained else None,
        "seed": cell.seed,
        "model": origin.get("model") or recipe.model,
    }


def _drawn(origin: Row, row: Row) -> Row:
    names = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "stop")
    decoding = origin.get("decoding", {}).get(row["decoding"], {})
    key = _digest(json.dumps([origin["key"], *_place(row)])) if "key" in origin else None
    return {"key": key} | {name: decoding.get(name) for name in names}


def _sample(row: Row) -> Row:
    names = ("split", "decoding", "problem", "sample", "tokens", "logprob", "entropy")
    return {name: row[name] for name in names} | {
        "drawn_entropy": row.get("drawn_entropy"),
        "completion": row["text"],
        "finish": None if row["finished"] is None else "stop" if row["finished"] else "length",
    }


def _judged(row: Row) -> Row:
    return {name: row.get(name) for name in ("accepted", "reason", "extracted", "warning")}


def _place(row: Row) -> list[Any]:
    return [row["split"], row["decoding"], row["problem"], row["sample"]]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
