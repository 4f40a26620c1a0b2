"""Completions as they are drawn → one line a chunk of problems, so that a killed run draws no chunk again.

Each line holds the completions of one chunk, the key of what drew them and a checksum, and is on the disk
before the next chunk begins. A chunk is whole problems and at least one batch, so a resumed run sees the same
batches as an undisturbed one, and rounds as it does.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from erce.errors import InputError, RunError
from erce.files import new_file
from erce.study.samples import DrawnSet
from erce.types import Completion, Problem

Draws = Callable[[Sequence[Problem]], Sequence[Completion]]


@dataclass(frozen=True)
class Journal:
    """The finished chunks of one cell's generation; lines with another `key` came from another policy."""

    path: Path
    key: str

    def completed(
        self,
        problems: Sequence[Problem],
        draw: Draws,
        *,
        drawn_set: DrawnSet,
        samples: int,
        batch_size: int,
    ) -> list[Completion]:
        """Return a completion for each problem and sample, in that order; `draw` makes the missing ones.

        The journal keeps the sets of one cell apart. The longest prompts are drawn first, so
        that memory runs out at once or never. If `draw` leaves a completion out or adds one, a RunError says
        so and the journal stays as it was. Two problems with one id are an InputError.
        """
        if len({problem.id for problem in problems}) < len(problems):
            raise InputError("two problems have the same id and would get the same completions; rename one")
        finished: dict[str, list[Completion]] = {}
        for completion in self.completions(drawn_set):
            finished.setdefault(completion.problem, []).append(completion)
        missing = [problem for problem in problems if problem.id not in finished]
        for chunk in chunks(missing, samples=samples, batch_size=batch_size):
            drawn = draw(chunk)
            _check_complete(drawn, [(problem.id, sample) for problem in chunk for sample in range(samples)])
            self._append(drawn_set, drawn, batch_size)
            for completion in drawn:
                finished.setdefault(completion.problem, []).append(completion)
        return [completion for problem in problems for completion in finished[problem.id]]

    def completions(self, drawn_set: DrawnSet) -> list[Completion]:
        """Return what this key finished of a set, each problem and sample once, without torn lines."""
        kept: dict[tuple[str, int], Completion] = {}
        for line in self._lines():
            if (line["key"], line["labels"]) == (self.key, drawn_set._asdict()):
                for row in line["rows"]:
                    kept.setdefault((row["problem"], row["sample"]), Completion(**row))
        return list(kept.values())

    def batch_sizes(self) -> list[int]:
        """Return the batch size that each line of this key was drawn with."""
        return [
            line["batch_size"] for line in self._lines() if line["key"] == self.key and "batch_size" in line
        ]

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

    def _append(self, drawn_set: DrawnSet, drawn: Sequence[Completion], batch_size: int) -> None:
        rows = [vars(completion) for completion in drawn]
        line = {"key": self.key, "labels": drawn_set._asdict(), "batch_size": batch_size, "rows": rows}
        content = json.dumps(line, allow_nan=False).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(b"%s %s\n" % (_checksum(content), content))
            file.flush()
            os.fsync(file.fileno())


def chunks(problems: Sequence[Problem], *, samples: int, batch_size: int) -> list[list[Problem]]:
    """Cut the problems, longest prompts first, into chunks that each fill at least one batch.

    The rest of the list after some chunks were drawn is cut as it would have been without a stop.

    >>> rows = [Problem(id=str(n), prompt="?" * n, demonstration="") for n in (1, 3, 2)]
    >>> [[problem.id for problem in chunk] for chunk in chunks(rows, samples=4, batch_size=6)]
    [['3', '2'], ['1']]
    """
    size = -(-batch_size // samples)
    ordered = sorted(problems, key=lambda problem: len(problem.prompt), reverse=True)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _check_complete(drawn: Sequence[Completion], wanted: list[tuple[str, int]]) -> None:
    places = [(completion.problem, completion.sample) for completion in drawn]
    if places != wanted:
        odd = sorted(set(places) ^ set(wanted))[:1] or "their order"
        raise RunError(
            f"{len(places)} completions came back for {len(wanted)} asked for (see {odd}); nothing was "
            "recorded of them, and the next run draws them again"
        )


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest()[:16].encode()


def _checked_content(line: bytes) -> dict[str, Any] | None:
    """Return what the line holds; None if it was cut off or its checksum is wrong."""
    checksum, _, content = line.removesuffix(b"\n").partition(b" ")
    whole = line.endswith(b"\n") and checksum == _checksum(content)
    return json.loads(content) if whole else None
