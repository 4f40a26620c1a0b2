"""A cell's completions and verdicts ⇄ completions.jsonl and verdicts.jsonl: a row a sample, in one order."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from erce.errors import DamagedError
from erce.files import MADE_AGAIN, read_rows, write_rows
from erce.types import Completion, Verdict

COMPLETIONS, VERDICTS = "completions.jsonl", "verdicts.jsonl"
PLACE = ("split", "decoding", "problem", "sample")  # the columns that say which sample a row is
COLUMNS = (*PLACE, "text", "tokens", "finished", "logprob", "entropy")  # that every completion's row has


class DrawnSet(NamedTuple):
    """One set of a cell's completions: those of a split under one decoding."""

    split: str
    decoding: str


class JudgedSample(NamedTuple):
    """One completion and its verdict."""

    drawn_set: DrawnSet
    completion: Completion
    verdict: Verdict


def write_completions(folder: Path, samples: Iterable[tuple[DrawnSet, Completion]]) -> None:
    """Write a row for each completion, in the order in which they come."""
    rows = (drawn_set._asdict() | vars(completion) for drawn_set, completion in samples)
    write_rows(folder / COMPLETIONS, rows)


def read_completions(folder: Path) -> dict[DrawnSet, list[Completion]]:
    """Return the drawn sets in the order of the file; an empty dict if the cell has no completions yet."""
    completions: dict[DrawnSet, list[Completion]] = {}
    for row in read_rows(folder / COMPLETIONS, *COLUMNS) if (folder / COMPLETIONS).is_file() else ():
        drawn_set = DrawnSet(row.pop("split"), row.pop("decoding"))
        completions.setdefault(drawn_set, []).append(Completion(**row))
    return completions


def write_verdicts(folder: Path, samples: Sequence[JudgedSample]) -> None:
    """Write the verdicts without `elapsed` and `detail`, so that two equal runs write the same bytes."""
    rows = []
    for drawn_set, completion, verdict in samples:
        row = drawn_set._asdict() | {"problem": completion.problem, "sample": completion.sample}
        row |= {"accepted": verdict.accepted, "reason": verdict.reason, "extracted": verdict.extracted}
        if verdict.flexible is not None:
            row["flexible"] = verdict.flexible
        rows.append(row | {"warning": verdict.warning} if verdict.warning else row)
    write_rows(folder / VERDICTS, rows)


def read_samples(folder: Path) -> list[JudgedSample]:
    """Return each completion with its verdict; a DamagedError where the files hold other samples."""
    completions = [
        (drawn_set, completion)
        for drawn_set, drawn in read_completions(folder).items()
        for completion in drawn
    ]
    rows = _verdict_rows(folder, "reason", "extracted")
    judged = [tuple(row[name] for name in PLACE) for row in rows]
    if judged != [(*drawn_set, drawn.problem, drawn.sample) for drawn_set, drawn in completions]:
        raise DamagedError(f"{folder / VERDICTS} is not of the samples in {COMPLETIONS}; {MADE_AGAIN}")
    return [
        JudgedSample(drawn_set, completion, _verdict(row))
        for (drawn_set, completion), row in zip(completions, rows, strict=True)
    ]


def read_outcomes(folder: Path) -> dict[DrawnSet, np.ndarray]:
    """Return each set as 0/1 (problems, samples), problems sorted by id: 1 where the verifier accepted."""
    accepted: dict[tuple[str, str], dict[tuple[str, int], bool]] = {}
    for row in _verdict_rows(folder):
        by_sample = accepted.setdefault((row["split"], row["decoding"]), {})
        by_sample[row["problem"], row["sample"]] = row["accepted"]
    if any(len(by_sample) % len({problem for problem, _ in by_sample}) for by_sample in accepted.values()):
        raise DamagedError(f"{folder / VERDICTS} lacks samples of some problems; {MADE_AGAIN}")
    return {DrawnSet(*names): _array(by_sample) for names, by_sample in accepted.items()}


def _verdict_rows(folder: Path, *further: str) -> list[dict[str, Any]]:
    """Return the rows of verdicts.jsonl with the `further` columns; a cell has at least one."""
    path = folder / VERDICTS
    rows = list(read_rows(path, *PLACE, "accepted", *further)) if path.is_file() else []
    if not rows:
        raise DamagedError(f"{path} is missing or empty; {MADE_AGAIN}")
    return rows


def _verdict(row: dict[str, Any]) -> Verdict:
    known = {"warning": row.get("warning", ""), "flexible": row.get("flexible")}
    return Verdict(row["accepted"], row["reason"], row["extracted"], **known)


def _array(by_sample: dict[tuple[str, int], bool]) -> np.ndarray:
    problems = len({problem for problem, _ in by_sample})
    values = [by_sample[place] for place in sorted(by_sample)]
    return np.array(values, dtype=np.int8).reshape(problems, -1)
