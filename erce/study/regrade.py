"""A JSON Lines file, or a study's completions → the verdicts of several procedures side by side."""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from erce.errors import InputError, did_you_mean
from erce.files import write_rows
from erce.study.folder import cell_folder, read_study
from erce.study.problems import cell_splits
from erce.study.samples import read_completions
from erce.tasks import load_task
from erce.types import Verdict
from erce.verify.killable import math_verify, math_verify_is_installed
from erce.verify.math import equivalent, verify_math
from erce.verify.number import verify_number
from erce.verify.paper_steps import equivalent_paper
from erce.verify.parallel import verify_many
from erce.verify.program import inside_fence
from erce.verify.sandbox import Job, Sandbox

COLUMNS = {  # what other tools call the same columns; the first that a row has is read
    "answer": ("answer", "gold", "reference", "target"),
    "completion": ("completion", "response", "pred", "prediction", "output"),
    "program": ("program", "code", "completion"),
}
KINDS = ("math", "answer", "number", "program")
ALIASES = {"response": "math"}  # in files of labelled answers


@dataclass(frozen=True)
class Judged:
    """One row's verdicts by procedure; `expected` is the label in the file, None if it has none."""

    where: str
    reference: str
    verdicts: dict[str, Verdict]
    expected: bool | None = None

    @property
    def disputed(self) -> bool:
        """Whether the procedures disagree, each in its usual way of reading."""
        usual = {name: verdict for name, verdict in self.verdicts.items() if name != "flexible"}
        return len({verdict.accepted for verdict in usual.values()}) > 1

    @property
    def misses_format(self) -> bool:
        """Whether the completion is accepted only if the form of its answer is ignored."""
        flexible = self.verdicts.get("flexible")
        return flexible is not None and flexible.accepted and not self.verdicts["strict"].accepted


@dataclass(frozen=True)
class _Check:
    """One row of a file, read: the pair to judge, and the label."""

    where: str
    kind: str
    pair: tuple[Any, Any]
    setup: tuple[str, ...] = ()
    entry_points: tuple[str, ...] | None = None
    expected: bool | None = None


def regrade_file(path: Path, *, kind: str | None = None, workers: int | None = None) -> list[Judged]:
    """Judge every row of a JSON Lines file under each procedure for its kind.

    A row holds `answer` and `completion` (also as gold, response, pred …), or `program` and `tests`, and may
    hold `kind` and the label `expected`. Kinds: "math" (the answer is looked for in the completion), "answer"
    (the completion is the answer), "number" (GSM8K's `####`; one procedure), "program". `kind` is for rows
    that do not say theirs; None reads rows with tests as programs and others as "math". Rows of "math" and
    "number" also have our flexible verdict (`ours`). `workers` judge side by side (None: one a core). A row
    that cannot be read, or of an unknown kind, is an InputError with its line.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}: at least one is needed to judge")
    if kind is not None:
        _require_kind("the rows", kind)
    checks = [_check(f"line {number}", row, kind) for number, row in _rows(path)]
    judged: dict[int, Judged] = {}  # by the place of the row in the file
    for name in KINDS:
        of_kind = {place: check for place, check in enumerate(checks) if check.kind == name}
        all_verdicts = _verdicts(name, list(of_kind.values()), workers)
        for (place, check), verdicts in zip(of_kind.items(), all_verdicts, strict=True):
            judged[place] = Judged(check.where, str(check.pair[0]), verdicts, check.expected)
    return [judged[place] for place in sorted(judged)]


def regrade_study(root: Path, *, workers: int | None = None) -> list[Judged]:
    """Judge every completion of a study's finished cells by the task's verifiers and the paper's procedure.

    A task without a procedure of the paper's own, or a study without finished cells, is an InputError.
    """
    study, judged = read_study(root), []
    if not study.results:
        raise InputError(f"{root} has no finished cell to judge again; `erce run` finishes them")
    for cell in study.results:
        task = load_task(cell.task)
        if task.verify_paper is None:
            raise InputError(
                f"the paper judges task {cell.task!r} as its own verifier does: nothing to compare"
            )
        splits = cell_splits(study.recipe, cell.task)
        known = {problem.id: problem for problems in vars(splits).values() for problem in problems}
        verifiers = _side_by_side(task.verify, task.verify_flexible) | {"paper": task.verify_paper}
        drawn_sets = read_completions(cell_folder(study.root, study.recipe, cell)).values()
        rows = [completion for drawn in drawn_sets for completion in drawn]
        pairs = [(known[completion.problem], completion) for completion in rows]
        columns = {name: verify_many(verify, pairs, workers=workers) for name, verify in verifiers.items()}
        for completion, *row in zip(rows, *columns.values(), strict=True):
            where = f"{cell.name}, {completion.problem}, sample {completion.sample}"
            reference = known[completion.problem].answer or "\n".join(known[completion.problem].tests)
            judged.append(Judged(where, reference, dict(zip(columns, row, strict=True))))
    return judged


def summary(rows: Iterable[Judged]) -> list[dict[str, Any]]:
    """Count for each procedure the rows, what it accepted and, of labelled rows, right and false accepts."""
    by_procedure: dict[str, list[tuple[Verdict, bool | None]]] = {}
    for row in rows:
        for name, verdict in row.verdicts.items():
            by_procedure.setdefault(name, []).append((verdict, row.expected))
    return [
        {
            "procedure": name,
            "rows": len(pairs),
            "accepted": sum(verdict.accepted for verdict, _ in pairs),
            "labelled": sum(expected is not None for _, expected in pairs),
            "right": sum(verdict.accepted == expected for verdict, expected in pairs),
            "false accepts": sum(verdict.accepted and expected is False for verdict, expected in pairs),
        }
        for name, pairs in by_procedure.items()
    ]


def write_judged(path: Path, rows: Iterable[Judged]) -> None:
    """Write the rows as JSON Lines, each with whether the procedures disagree (`disputed`)."""
    write_rows(path, (asdict(row) | {"disputed": row.disputed} for row in rows))


def _verdicts(kind: str, checks: list[_Check], workers: int | None) -> list[dict[str, Verdict]]:
    """Return each procedure's verdict on each check; the checks are of one kind."""
    if not checks:
        return []
    if kind == "program":
        return _programs(checks, workers)
    pairs = [check.pair for check in checks]
    columns = {
        name: verify_many(verify, pairs, workers=workers) for name, verify in _procedures(kind).items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def ours(kind: str) -> dict[str, Callable[..., Verdict]]:
    """Return our verifiers of an answer and a completion: "strict", which decides, and "flexible".

    A bare answer, of kind "answer", has no form that could be ignored, and so the strict one alone.
    """
    if kind == "answer":
        return {"strict": equivalent}
    verify = verify_number if kind == "number" else verify_math
    return _side_by_side(verify, partial(verify, strict=False))


def _side_by_side(
    strict: Callable[..., Verdict], flexible: Callable[..., Verdict] | None
) -> dict[str, Callable[..., Verdict]]:
    return {"strict": strict} | ({"flexible": partial(_either, strict, flexible)} if flexible else {})


def _either(strict: Callable[..., Verdict], flexible: Callable[..., Verdict], *pair: Any) -> Verdict:
    """Return the strict verdict if that accepts, else the flexible one."""
    verdict = strict(*pair)
    return verdict if verdict.accepted else flexible(*pair)


def _procedures(kind: str) -> dict[str, Callable[..., Verdict]]:
    papers = {"math": partial(verify_math, mode="paper"), "answer": equivalent_paper}
    others: dict[str, Callable[..., Verdict]] = {"paper": papers[kind]} if kind in papers else {}
    if math_verify_is_installed():
        others["math-verify"] = partial(math_verify, bare=kind == "answer")
    return ours(kind) | others


def _programs(checks: list[_Check], workers: int | None) -> list[dict[str, Verdict]]:
    modes = ("strict", "paper")
    jobs = [
        Job(*check.pair, check.setup, check.entry_points, mode=mode) for check in checks for mode in modes
    ]
    tier, side_by_side = os.environ.get("ERCE_SANDBOX") or "auto", workers or os.cpu_count() or 1
    with Sandbox(tier, workers=side_by_side) as sandbox:
        verdicts = sandbox.map(jobs)  # of each check the strict verdict, then the paper's
        pairs = enumerate(zip(jobs, verdicts, strict=True))
        fenced = {at: inside for at, pair in pairs if (inside := inside_fence(*pair))}
        for at, verdict in zip(fenced, sandbox.map(fenced.values()), strict=True):
            verdicts[at] = verdict
    return [dict(zip(modes, pair, strict=True)) for pair in zip(verdicts[::2], verdicts[1::2], strict=True)]


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if not path.exists():
        raise InputError(f"no file {str(path)!r}; give one of rows (JSON Lines), or a study's folder")
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # also for text that is not UTF-8
            raise InputError(
                f"{path}, line {number} is no JSON object ({error}); correct or remove the line"
            ) from None
        if not isinstance(row, dict):
            raise InputError(
                f"{path}, line {number} is no JSON object but {line[:40]!r}; correct or remove the line"
            )
        rows.append((number, row))
    if not rows:
        raise InputError(f"{path} has no rows to judge; write one JSON object per line")
    return rows


def _check(where: str, row: dict[str, Any], kind: str | None) -> _Check:
    """Read a row; the row's own `kind` wins over the caller's."""
    if row.get("kind") is not None:
        kind = _require_kind(where, row["kind"])
    kind = kind or ("program" if row.get("tests") else "math")
    expected = row.get("expected")
    label = expected if isinstance(expected, bool) else None
    if kind == "program":
        tests = _texts(where, row, "tests")
        names = _texts(where, row, "entry_points") if row.get("entry_points") is not None else None
        pair = (_text(where, row, "program"), tests)
        return _Check(where, kind, pair, _texts(where, row, "setup"), names, label)
    return _Check(where, kind, (_text(where, row, "answer"), _text(where, row, "completion")), expected=label)


def _require_kind(where: str, kind: Any) -> str:
    """Return the kind by its name in `KINDS`."""
    known = ALIASES.get(kind, kind) if isinstance(kind, str) else None
    if known in KINDS:
        return known
    raise InputError(f"{where}: no kind {kind!r}; {did_you_mean(str(kind).lower(), KINDS)}")


def _text(where: str, row: dict[str, Any], column: str) -> str:
    for name in COLUMNS[column]:
        value = row.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
    raise InputError(
        f"{where} has no text or number {column!r} (nor {', '.join(COLUMNS[column][1:])}); add it"
    )


def _texts(where: str, row: dict[str, Any], column: str) -> tuple[str, ...]:
    texts = row.get(column, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: {column} = {texts!r} is no list of texts; make it one")
    return tuple(texts)
