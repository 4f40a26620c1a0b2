"""A study's folder → sample rows, a file of them that data tools read, and arrays for `erce.stats`.

datasets.load_dataset("json", data_files="rows.jsonl", split="train")
pandas.read_json("rows.jsonl", lines=True, dtype=False)  (else ids that look like numbers become numbers)
polars.read_ndjson("rows.jsonl", infer_schema_length=None)
duckdb.sql("from 'rows.jsonl'")
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from erce.errors import InputError
from erce.files import new_file, short_hash
from erce.recipe import Cell
from erce.study.folder import Study, read_problems, read_record
from erce.study.samples import VerifiedSample, read_samples
from erce.types import SampleRow

_Place = tuple[int, str, int]  # seed, problem, sample


def records(study: Study) -> Iterator[SampleRow]:
    """Yield a row for each sample of each finished cell, in grid order.

    A cell whose completions and verdicts do not belong together is an InputError.
    """
    problems = _problem_columns(study.root)
    for cell in study.results:
        folder = study.folder(cell)
        origin = read_record(folder)
        shared = _cell_columns(study, cell, origin)
        for sample in read_samples(folder):
            problem = problems.get((cell.task, sample.sample_set.split, sample.completion.problem), {})
            yield SampleRow(
                **shared, **problem, **_decoding_columns(origin, sample), **_sample_columns(sample)
            )


def export(rows: Study | Iterable[SampleRow], path: str | Path) -> int:
    """Write rows to `path` as JSON Lines and return how many were written.

    A study stands for all of its records. The same rows give the same bytes. InputError: a name that does not
    end in .jsonl, a folder that does not exist.
    """
    path, rows, count = Path(path), records(rows) if isinstance(rows, Study) else rows, 0
    if path.suffix != ".jsonl":
        raise InputError(
            f"{path} ends in {path.suffix!r}; rows are written to .jsonl, and datasets makes others of it: "
            "load_dataset('json', data_files='rows.jsonl', split='train').to_parquet('rows.parquet')"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder; make it first")
    with new_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(vars(row), ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def outcome_arrays(rows: Iterable[SampleRow]) -> dict[str, np.ndarray]:
    """Return arm → 1 where accepted, (seeds, problems, samples), with the same problems in every arm.

    Arms come in the order of the rows, seeds ascending, problems by id. Rows of two tasks, splits or
    decodings, a sample without a verdict, twice or missing, and arms on different problems are InputErrors:
    what is missing never counts as wrong.

    >>> rows = [SampleRow(arm=arm, seed=0, split="test", decoding="greedy", problem=problem, sample=0,
    ...                   accepted=problem != arm) for arm in ("base", "mine") for problem in ("base", "p")]
    >>> {arm: array.tolist() for arm, array in outcome_arrays(rows).items()}
    {'base': [[[0], [1]]], 'mine': [[[1], [1]]]}
    """
    # All rows are read before any array is made: only then is it known which samples an arm lacks.
    outcomes: dict[str, dict[_Place, bool]] = {}
    first: SampleRow | None = None
    for row in rows:
        first = first or row
        if (row.task, row.split, row.decoding) != (first.task, first.split, first.decoding):
            two = sorted([str((each.task, each.split, each.decoding)) for each in (first, row)])
            raise InputError(f"rows of {two[0]} and of {two[1]}; select one task, split and decoding")
        of_arm, place = outcomes.setdefault(row.arm, {}), (row.seed, row.problem, row.sample)
        if row.accepted is None:
            raise InputError(f"{_place_name(row.arm, place)} has no verdict; `erce run` verifies it")
        if place in of_arm:
            raise InputError(f"{_place_name(row.arm, place)} is there twice; give it once")
        of_arm[place] = row.accepted
    if not outcomes:
        raise InputError("no rows: there is nothing to compare")
    problems = sorted({problem for of_arm in outcomes.values() for _, problem, _ in of_arm})
    return {arm: _array(arm, of_arm, problems) for arm, of_arm in outcomes.items()}


def _array(arm: str, outcomes: dict[_Place, bool], problems: list[str]) -> np.ndarray:
    seeds = sorted({seed for seed, _, _ in outcomes})
    samples = sorted({sample for _, _, sample in outcomes})
    places = [(seed, problem, sample) for seed in seeds for problem in problems for sample in samples]
    missing = [place for place in places if place not in outcomes]
    if missing:
        raise InputError(
            f"{_place_name(arm, missing[0])} is missing ({len(missing)} in all); every arm needs each sample "
            "of the same problems"
        )
    values = [outcomes[place] for place in places]
    return np.array(values, dtype=np.int8).reshape(len(seeds), len(problems), len(samples))


def _place_name(arm: str, place: _Place) -> str:
    seed, problem, sample = place
    return f"arm {arm!r}, seed {seed}, problem {problem!r}, sample {sample}"


def _problem_columns(root: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return (task, split, id) → the columns of a problem; nothing where the study has no problems.jsonl."""
    return {
        (row["task"], row["split"], row["problem"]): {
            "prompt_hash": _digest(row["prompt"]) if row["prompt"] else None,
            "answer": row["answer"] or None,
            "tests": row["tests"] or None,
        }
        for row in read_problems(root)
    }


def _cell_columns(study: Study, cell: Cell, origin: dict[str, Any]) -> dict[str, Any]:
    recipe = study.recipe
    trained, known = cell.lam is not None, cell.lam is not None and recipe.can_run
    names = ("study", "revision", "dtype", "adapter", "verifier")
    return {name: origin.get(name) for name in names} | {
        "task": cell.task,
        "arm": cell.arm.slug,
        "lam": cell.lam,
        "method": cell.method if trained else None,
        "penalty": recipe.penalty if known else None,
        "order": recipe.order if known else None,
        "seed": cell.seed,
        "model": origin.get("model") or (recipe.model if recipe.can_run else None),
    }


def _decoding_columns(origin: dict[str, Any], sample: VerifiedSample) -> dict[str, Any]:
    names = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "stop")
    decoding = origin.get("decoding", {}).get(sample.sample_set.decoding, {})
    place = [*sample.sample_set, sample.completion.problem, sample.completion.sample]
    key = _digest(json.dumps([origin["key"], *place])) if "key" in origin else None
    return {"key": key} | {name: decoding.get(name) for name in names}


def _sample_columns(sample: VerifiedSample) -> dict[str, Any]:
    (split, decoding), completion, verdict = sample
    return {
        "split": split,
        "decoding": decoding,
        "problem": completion.problem,
        "sample": completion.sample,
        "completion": completion.text,
        "tokens": completion.tokens,
        "finish": {True: "stop", False: "length", None: None}[completion.finished],
        "logprob": completion.logprob,
        "entropy": completion.entropy,
        "accepted": verdict.accepted,
        "flexible": verdict.flexible,
        "reason": verdict.reason,
        "extracted": verdict.extracted,
        "warning": verdict.warning or None,
    }


def _digest(text: str) -> str:
    return short_hash(text.encode("utf-8", "surrogatepass"))
