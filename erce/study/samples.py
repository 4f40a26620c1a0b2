"""A cell's completions and verdicts ⇄ completions.jsonl and verdicts.jsonl: one row per sample, in one order.

While completions are sampled they go to a journal, one line per chunk of problems, so that a killed run
samples no chunk again. Each line holds the chunk's completions, the key of what sampled them and a checksum,
and is on the disk before the next chunk begins. A chunk is whole problems and at least one batch, so a
resumed run sees the same batches as an undisturbed one, and rounds as it does.
"""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from erce.errors import DamagedError, RunError
from erce.files import MADE_AGAIN, new_file, read_rows, short_hash, write_rows
from erce.recipe import GREEDY, SAMPLED
from erce.types import Completion, Problem, Verdict

COMPLETIONS, VERDICTS = "completions.jsonl", "verdicts.jsonl"
PLACE = ("split", "decoding", "problem", "sample")  # the columns that say which sample a row is
COLUMNS = (*PLACE, "text", "tokens", "finished", "logprob", "entropy")  # that every completion's row has

Generate = Callable[[Sequence[Problem]], Sequence[Completion]]


class SampleSet(NamedTuple):
    """One set of a cell's completions: those of a split under one decoding."""

    split: str
    decoding: str


class VerifiedSample(NamedTuple):
    """One completion and its verdict."""

    sample_set: SampleSet
    completion: Completion
    verdict: Verdict


def place_of_decoding(name: str) -> float:
    """Return a sorting key: greedy and sampled come first, then the lower temperature.

    >>> sorted(["T1", "sampled", "T0.2", "greedy"], key=place_of_decoding)
    ['greedy', 'sampled', 'T0.2', 'T1']
    """
    main = {GREEDY: -2.0, SAMPLED: -1.0}
    return main[name] if name in main else float(name.removeprefix("T"))


def write_completions(folder: Path, samples: Iterable[tuple[SampleSet, Completion]]) -> None:
    """Write a row for each completion, in the order in which they come."""
    rows = (sample_set._asdict() | vars(completion) for sample_set, completion in samples)
    write_rows(folder / COMPLETIONS, rows)


def read_completions(folder: Path) -> dict[SampleSet, list[Completion]]:
    """Return the sets in the order of the file; an empty dict if the cell has no completions yet."""
    completions: dict[SampleSet, list[Completion]] = {}
    for row in read_rows(folder / COMPLETIONS, *COLUMNS) if (folder / COMPLETIONS).is_file() else ():
        sample_set = SampleSet(row["split"], row["decoding"])
        completions.setdefault(sample_set, []).append(_completion(row))
    return completions


def _completion(row: dict[str, Any]) -> Completion:
    """Return a row's completion; its other columns say which sample it is."""
    return Completion(**{name: row[name] for name in Completion.__dataclass_fields__})


def write_verdicts(folder: Path, samples: Sequence[VerifiedSample]) -> None:
    """Write the verdicts without `elapsed` and `detail`, so that two equal runs write the same bytes."""
    rows = []
    for sample_set, completion, verdict in samples:
        row = sample_set._asdict() | {"problem": completion.problem, "sample": completion.sample}
        row |= {"accepted": verdict.accepted, "reason": verdict.reason, "extracted": verdict.extracted}
        if verdict.flexible is not None:
            row["flexible"] = verdict.flexible
        rows.append(row | {"warning": verdict.warning} if verdict.warning else row)
    write_rows(folder / VERDICTS, rows)


def read_samples(folder: Path) -> list[VerifiedSample]:
    """Return each completion with its verdict; a DamagedError where the files hold other samples."""
    completions = [
        (sample_set, completion)
        for sample_set, of_set in read_completions(folder).items()
        for completion in of_set
    ]
    rows = _verdict_rows(folder, "reason", "extracted")
    places = [tuple(row[name] for name in PLACE) for row in rows]
    if places != [(*sample_set, each.problem, each.sample) for sample_set, each in completions]:
        raise DamagedError(f"{folder / VERDICTS} does not match {COMPLETIONS}; {MADE_AGAIN}")
    return [
        VerifiedSample(sample_set, completion, _verdict(row))
        for (sample_set, completion), row in zip(completions, rows, strict=True)
    ]


def read_outcomes(folder: Path) -> dict[SampleSet, np.ndarray]:
    """Return each set as 0/1 (problems, samples), problems sorted by id: 1 where the verifier accepted."""
    accepted: dict[tuple[str, str], dict[tuple[str, int], bool]] = {}
    for row in _verdict_rows(folder):
        by_sample = accepted.setdefault((row["split"], row["decoding"]), {})
        by_sample[row["problem"], row["sample"]] = row["accepted"]
    if any(len(by_sample) % len({problem for problem, _ in by_sample}) for by_sample in accepted.values()):
        raise DamagedError(f"{folder / VERDICTS} lacks samples of some problems; {MADE_AGAIN}")
    return {SampleSet(*names): _array(by_sample) for names, by_sample in accepted.items()}


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


@dataclass(frozen=True)
class Journal:
    """The finished chunks of one cell's generation; lines with another `key` came from another policy."""

    path: Path
    key: str

    def completed(
        self,
        problems: Sequence[Problem],
        generate: Generate,
        *,
        sample_set: SampleSet,
        samples: int,
        batch_size: int,
    ) -> list[Completion]:
        """Return a completion for each problem and sample, in that order; `generate` makes the missing ones.

        The journal keeps the sets of one cell apart. The longest prompts come first, so that memory runs out
        at once or never. If `generate` leaves a completion out or adds one, a RunError says so and the
        journal stays as it was. The problems have different ids.
        """
        # Kept by problem: the order of the result must not depend on where a run stopped.
        finished: dict[str, list[Completion]] = {}
        for completion in self.completions(sample_set):
            finished.setdefault(completion.problem, []).append(completion)
        missing = [problem for problem in problems if problem.id not in finished]
        for chunk in chunks(missing, samples=samples, batch_size=batch_size):
            made = generate(chunk)
            _check_complete(made, [(problem.id, sample) for problem in chunk for sample in range(samples)])
            self._append(sample_set, made, batch_size)
            for completion in made:
                finished.setdefault(completion.problem, []).append(completion)
        return [completion for problem in problems for completion in finished[problem.id]]

    def completions(self, sample_set: SampleSet) -> list[Completion]:
        """Return what this key finished of a set, each problem and sample once, without torn lines."""
        kept: dict[tuple[str, int], Completion] = {}
        for line in self._lines():
            if (line["key"], line["labels"]) == (self.key, sample_set._asdict()):
                for row in line["rows"]:
                    kept.setdefault((row["problem"], row["sample"]), _completion(row))
        return list(kept.values())

    def batch_sizes(self) -> list[int]:
        """Return the batch size that each line of this key was generated with."""
        return [line["batch_size"] for line in self._lines() if line["key"] == self.key]

    def _lines(self) -> list[dict[str, Any]]:
        """Return the content of the whole lines, and drop all others from the file."""
        if not self.path.is_file():
            return []
        with self.path.open("rb") as file:
            contents = {line: _checked_content(line) for line in file}
        lines = {line: content for line, content in contents.items() if content is not None}
        if len(lines) < len(contents):
            with new_file(self.path) as temporary:
                temporary.write_bytes(b"".join(lines))
        return list(lines.values())

    def _append(self, sample_set: SampleSet, completions: Sequence[Completion], batch_size: int) -> None:
        rows = [vars(completion) for completion in completions]
        line = {"key": self.key, "labels": sample_set._asdict(), "batch_size": batch_size, "rows": rows}
        content = json.dumps(line, allow_nan=False).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(b"%s %s\n" % (_checksum(content), content))
            file.flush()
            os.fsync(file.fileno())


def chunks(problems: Sequence[Problem], *, samples: int, batch_size: int) -> list[list[Problem]]:
    """Cut the problems, longest prompts first, into chunks that each fill at least one batch.

    The rest of the list after some chunks are done is cut as it would have been without a stop.

    >>> rows = [Problem(id=str(n), prompt="?" * n, demonstration="") for n in (1, 3, 2)]
    >>> [[problem.id for problem in chunk] for chunk in chunks(rows, samples=4, batch_size=6)]
    [['3', '2'], ['1']]
    """
    size = -(-batch_size // samples)
    ordered = sorted(problems, key=lambda problem: len(problem.prompt), reverse=True)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _check_complete(completions: Sequence[Completion], wanted: list[tuple[str, int]]) -> None:
    places = [(completion.problem, completion.sample) for completion in completions]
    if places != wanted:
        odd = sorted(set(places) ^ set(wanted))[:1] or "their order"
        raise RunError(
            f"{len(places)} completions came back where {len(wanted)} were requested (see {odd}); none was "
            "recorded, and the next run samples them again"
        )


def _checksum(content: bytes) -> bytes:
    return short_hash(content).encode()


def _checked_content(line: bytes) -> dict[str, Any] | None:
    """Return what the line holds; None if it was cut off or its checksum is wrong."""
    checksum, _, content = line.removesuffix(b"\n").partition(b" ")
    whole = line.endswith(b"\n") and checksum == _checksum(content)
    return json.loads(content) if whole else None
