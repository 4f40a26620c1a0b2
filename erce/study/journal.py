"""Completions as they are finished → one line a chunk of problems, which a killed run does not draw again.

Each line holds the rows of one chunk, the key of what drew them and a checksum, and is on the disk before the
next chunk begins. A chunk is whole problems and at least one batch, so a run that goes on sees the same
batches as one that was never stopped, and rounds as it does.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from erce.types import Completion, Problem

Draws = Callable[[Sequence[Problem]], Sequence[Completion]]


@dataclass(frozen=True)
class Journal:
    """The finished chunks of one cell's generation; lines with another `key` were drawn by something else."""

    path: Path
    key: str

    def completed(
        self,
        problems: Sequence[Problem],
        draw: Draws,
        *,
        labels: dict[str, str],
        samples: int,
        batch_size: int,
    ) -> list[dict[str, Any]]:
        """A row a completion, in the order of `problems`, then of samples; only what is missing is drawn.

        `labels` (split, decoding) tell the sets of one cell apart and stand in each row. The longest prompts
        are drawn first: memory runs out at once or never. `draw` leaving one out, or adding one, is a
        ValueError and leaves the journal as it was.
        """
        if len({problem.id for problem in problems}) < len(problems):
            raise ValueError("two problems have the same id and would get the same completions; rename one")
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows(labels):
            found.setdefault(row["problem"], []).append(row)
        missing = [problem for problem in problems if problem.id not in found]
        for chunk in chunks(missing, samples=samples, batch_size=batch_size):
            rows = [asdict(completion) for completion in draw(chunk)]
            _check(rows, [(problem.id, sample) for problem in chunk for sample in range(samples)])
            self._append(labels, rows)
            for row in rows:
                found.setdefault(row["problem"], []).append(row)
        return [labels | row for problem in problems for row in found[problem.id]]

    def rows(self, labels: dict[str, str]) -> list[dict[str, Any]]:
        """The rows that this key finished under `labels`, each (problem, sample) once.

        A last line that was cut off is dropped from the file; damage before it is a ValueError.
        """
        kept: dict[tuple[str, int], dict[str, Any]] = {}
        for line in self._lines():
            if (line["key"], line["labels"]) == (self.key, labels):
                for row in line["rows"]:
                    kept.setdefault((row["problem"], row["sample"]), row)
        return list(kept.values())

    def _lines(self) -> list[dict[str, Any]]:
        if not self.path.is_file():
            return []
        with self.path.open("rb") as file:
            lines = list(file)
        begins, found = 0, []
        for number, line in enumerate(lines, 1):
            read = _read(line)
            if read is None and number < len(lines):
                raise ValueError(
                    f"{self.path}, line {number} is damaged; delete the file, and the next run draws the "
                    "cell's completions again"
                )
            if read is None:
                os.truncate(self.path, begins)
            else:
                found.append(read)
            begins += len(line)
        return found

    def _append(self, labels: dict[str, str], rows: list[dict[str, Any]]) -> None:
        content = json.dumps({"key": self.key, "labels": labels, "rows": rows}, allow_nan=False).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(b"%s %s\n" % (_checksum(content), content))
            file.flush()
            os.fsync(file.fileno())


def chunks(problems: Sequence[Problem], *, samples: int, batch_size: int) -> list[list[Problem]]:
    """Whole problems, longest prompts first, as many to a chunk as fill at least one batch.

    What is left of the list after some chunks were drawn is cut as the rest of it was.

    >>> rows = [Problem(id=str(n), prompt="?" * n, demonstration="") for n in (1, 3, 2)]
    >>> [[problem.id for problem in chunk] for chunk in chunks(rows, samples=4, batch_size=6)]
    [['3', '2'], ['1']]
    """
    size = -(-batch_size // samples)
    ordered = sorted(problems, key=lambda problem: len(problem.prompt), reverse=True)
    return [ordered[at : at + size] for at in range(0, len(ordered), size)]


def _check(rows: list[dict[str, Any]], wanted: list[tuple[str, int]]) -> None:
    drawn = [(row["problem"], row["sample"]) for row in rows]
    if drawn != wanted:
        odd = sorted(set(drawn) ^ set(wanted))[:1] or "their order"
        raise ValueError(
            f"{len(drawn)} completions came back for {len(wanted)} asked for (see {odd}); nothing was "
            "recorded of them, and the next run draws them again"
        )


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:16].encode()


def _read(line: bytes) -> dict[str, Any] | None:
    """The line's content; None where it is not what was written."""
    checksum, _, content = line.removesuffix(b"\n").partition(b" ")
    whole = line.endswith(b"\n") and checksum == _checksum(content)
    return json.loads(content) if whole else None
