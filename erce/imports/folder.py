"""Rows with the columns of `COLUMNS`, of any run → a study's folder, as if erce had run it."""

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from erce.files import read_rows, write_json, write_rows
from erce.recipe import GREEDY, SAMPLED, Cell, Decoding, Recipe
from erce.score import summarize
from erce.score.majority import Equal
from erce.study.arrays import outcome_arrays
from erce.study.export import COLUMNS, NUMBER, TEXT, TEXTS, TRUTH, WHOLE, Row
from erce.study.folder import RESULT, Study, cell_folder, open_study, read_study
from erce.study.provenance import CELL
from erce.types import Completion, Verdict

SPLITS = ("validation", "test")
SETTINGS = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "stop")
NO_ANSWER = ("", "[invalid]")  # what lm-eval extracts where it finds nothing
PLACE = ("arm", "seed", "split", "decoding", "problem", "sample")  # no row is without
_FITS: dict[str, type] = {TEXT: str, TRUTH: bool, TEXTS: list}


def study_of_rows(
    out: str | Path,
    rows: Iterable[Row],
    *,
    prompts: Mapping[tuple[str, str], str] | None = None,
    equal: Equal | None = None,
    temperature: float | None = None,
) -> Study:
    """The study in the new folder `out`, of rows as `erce records` writes them.

    `prompts` are of (split, problem), `equal` joins the votes of maj@k, as in `erce.score.summarize`, and
    `temperature` is that of samples whose rows do not say it. A second task is the control. All seeds of all
    arms need the same problems under the same decodings, with a verdict for each sample; more tasks, and two
    temperatures or penalties under one name, are ValueErrors, and so is a folder that is not empty.
    """
    out, rows = Path(out), [_known(row, temperature) for row in rows]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} is not empty; a study is imported whole, into a new folder")
    _check(rows)
    cells: dict[Cell, list[Row]] = {}
    for row in rows:
        cells.setdefault(_cell(row), []).append(row)
    recipe = _recipe(cells)
    half = out.with_name(f".{out.name}.tmp")
    shutil.rmtree(half, ignore_errors=True)
    open_study(half, recipe, _problems(rows, prompts or {}))
    for cell, drawn in cells.items():
        _write(cell_folder(half, recipe, cell), recipe, cell, drawn, equal)
    half.replace(out)
    return read_study(out)


NAME = re.compile(r"\w[\w.:+=@-]*")  # of an arm, which is part of a folder's
NAME_HAS = "a name has letters, digits and . : + = @ _ -"


def read_rows_file(path: str | Path) -> list[Row]:
    """The rows of a .jsonl file that `erce records` wrote; a file of other rows is a ValueError."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"no file {str(path)!r}; `erce records RUNS {path.name}` writes one")
    rows = list(read_rows(path, damaged="is no JSON object; correct or remove the line"))
    if not all(row.keys() == COLUMNS.keys() for row in rows):
        raise ValueError(
            f"{path} has not the columns that `erce records` writes; is it a log of another tool?"
        )
    for number, row in enumerate(rows, 1):
        row |= {name: _typed(f"{path}, row {number}", name, value) for name, value in row.items()}
    return rows


def _typed(where: str, name: str, value: Any) -> Any:
    """The value as `erce records` writes it: tools in between write 2.0 as 2, or 2 as 2.0.

    >>> _typed("row 1", "lam", 2), _typed("row 1", "seed", 2.0)
    (2.0, 2)
    """
    kind = COLUMNS[name]
    if value is None and name not in PLACE:
        return None
    if kind in (WHOLE, NUMBER) and isinstance(value, int | float) and not isinstance(value, bool):
        if kind == NUMBER:
            return float(value)
        if value % 1 == 0:
            return int(value)
    elif isinstance(value, _FITS.get(kind, ())):
        return value
    raise ValueError(f"{where}: {name} = {value!r}, where `erce records` writes {kind}; correct it")


def _known(row: Row, temperature: float | None) -> Row:
    unknown = row["temperature"] is None and row["decoding"] == SAMPLED
    return row | {"temperature": temperature} if unknown else row


def _check(rows: list[Row]) -> None:
    """Everything that would make one number of the study a comparison of unlike things."""
    if not rows:
        raise ValueError("no rows: there is nothing to import")
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    if len(tasks) > 2:
        raise ValueError(f"rows of the tasks {', '.join(tasks)}; a study is of one, and perhaps a control")
    sets: dict[tuple[str, str, str], list[Row]] = {}
    drawn: dict[tuple[str, str, int], set[tuple[str, str]]] = {}
    for row in rows:
        sets.setdefault((row["task"], row["split"], row["decoding"]), []).append(row)
        drawn.setdefault((row["task"], row["arm"], row["seed"]), set()).add((row["split"], row["decoding"]))
    for each in sets.values():
        outcome_arrays(each)
    for (task, arm, seed), has in drawn.items():
        for split, decoding in sorted({(s, d) for t, s, d in sets if t == task} - has):
            raise ValueError(
                f"arm {arm!r}, seed {seed} has no {decoding} completions of the {split} problems, which "
                "others have; every seed of every arm needs the same logs"
            )
    _check_names(rows)


def _check_names(rows: list[Row]) -> None:
    """An arm is one policy and a policy one arm; a problem has one answer."""
    names: dict[tuple[Any, Any], str] = {}
    answers: dict[tuple[str, str, str], tuple[str, str]] = {}
    for row in rows:
        if row["objective"] is not None and not NAME.fullmatch(str(row["objective"])):
            raise ValueError(f"no arm can be called {row['objective']!r}; {NAME_HAS}")
        known = names.setdefault((row["lam"], row["objective"]), row["arm"])
        if known != row["arm"]:
            raise ValueError(f"arms {known!r} and {row['arm']!r} are the same; give their logs to one")
        if row["answer"] is not None:
            arm, answer = answers.setdefault(
                (row["task"], row["split"], row["problem"]), (row["arm"], row["answer"])
            )
            if answer != row["answer"]:
                raise ValueError(
                    f"problem {row['problem']!r} has the answer {answer[:40]!r} in arm {arm!r} and "
                    f"{row['answer'][:40]!r} in arm {row['arm']!r}; they are not the same problems"
                )


def _cell(row: Row) -> Cell:
    if row["lam"] is None:
        return Cell(_task(row), None, 0)
    return Cell(_task(row), row["lam"], row["seed"], row["objective"])


def _task(row: Row) -> str:
    """Its name as a folder can have it.

    >>> _task({"task": "inspect_evals/gsm8k"})
    'inspect_evals-gsm8k'
    """
    return re.sub(r"[^\w.:+@-]+", "-", str(row["task"] or "task")).lstrip(".-") or "task"


def _recipe(cells: dict[Cell, list[Row]]) -> Recipe:
    """What the rows say of how they came about; the rest is as in any recipe and was not so."""
    rows = [row for drawn in cells.values() for row in drawn]
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    trained = [cell for cell in cells if cell.lam is not None]
    arms = list(dict.fromkeys(cell.arm for cell in trained))
    main = next((cell for cell in trained if cell.arm == 0), trained[0] if trained else next(iter(cells)))
    return Recipe(
        task=tasks[0],
        control=tasks[1] if len(tasks) == 2 else None,
        lams=tuple(arm for arm in arms if isinstance(arm, float)),
        objectives=tuple(arm for arm in arms if isinstance(arm, str)),
        seeds=tuple(sorted({cell.seed for cell in trained})),
        model=cells[main][0]["model"] or "unknown",
        penalty=_one(rows, "penalty") or "shannon",
        order=_one(rows, "order") or 1.0,
        decoding=_decoding(rows),
        imported=tuple(cell.name for cell in cells),
    )


def _decoding(rows: list[Row]) -> Decoding:
    drawn: dict[str, list[Row]] = {}
    for row in rows:
        drawn.setdefault(row["decoding"], []).append(row)
    degrees = {name: _one(each, "temperature") for name, each in drawn.items()}
    for name, degree in degrees.items():
        if degree is None and name != GREEDY:
            raise ValueError(
                f"nothing says at which temperature the {name} completions were drawn; give it with "
                "--temperature"
            )
    counts = {name: 1 + max(row["sample"] for row in each) for name, each in drawn.items()}
    further = [name for name in drawn if name not in (GREEDY, SAMPLED)]
    limits = {row["max_new_tokens"] for row in rows}
    known: dict[str, Any] = {}
    if SAMPLED in drawn:
        known = {"temperature": degrees[SAMPLED], "samples": counts[SAMPLED]}
    if further:
        known["frontier"] = tuple(degrees[name] for name in further)
        known["frontier_samples"] = max(counts[name] for name in further)
    return Decoding(**known, max_new_tokens=limits.pop() if len(limits) == 1 else None)


def _one(rows: list[Row], column: str) -> Any:
    """The one value of a column; None where no row has one."""
    values = {row[column] for row in rows} - {None}
    if len(values) > 1:
        first, second, *_ = sorted(values)
        raise ValueError(
            f"rows of the {rows[0]['decoding']} completions have {column} {first} and {second}; "
            "one study has one: import them apart"
        )
    return values.pop() if values else None


def _problems(rows: list[Row], prompts: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """What problems.jsonl holds: each problem once, with an empty prompt where no log has it."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        at = (_task(row), row["split"], row["problem"])
        if at not in found:
            known = {"prompt": prompts.get(at[1:], ""), "demonstration": "", "answer": row["answer"] or ""}
            place = dict(zip(("task", "split", "problem"), at, strict=True))
            found[at] = place | known | {"tests": row["tests"] or []}
    return list(found.values())


def _write(folder: Path, recipe: Recipe, cell: Cell, rows: list[Row], equal: Equal | None) -> None:
    """A cell's files, as `erce.study.cell` writes them."""
    drawn: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        drawn.setdefault((row["split"], row["decoding"]), []).append(row)
    trained = {"penalty": recipe.penalty, "order": recipe.order, "objective": cell.objective}
    names = ("study", "model", "revision", "dtype", "adapter", "verifier")
    origin = {"task": cell.task, "lam": cell.lam, "seed": cell.seed} | (
        trained if cell.lam is not None else {}
    )
    origin |= {name: rows[0][name] for name in names}
    origin["decoding"] = {name: {each: of[0][each] for each in SETTINGS} for (_, name), of in drawn.items()}
    write_json(folder / CELL, origin)
    write_rows(folder / "completions.jsonl", map(_drawn, rows))
    write_rows(folder / "verdicts.jsonl", (_place(row) | _judged(row) for row in rows))
    scores: dict[str, dict[str, Any]] = {}
    for (split, decoding), of in drawn.items():
        completions, verdicts = [_completion(row) for row in of], [_verdict(row) for row in of]
        said = summarize(completions, verdicts, equal=equal)
        unknown = {} if all(row["finish"] for row in of) else {"finished": None}
        scores.setdefault(split, {})[decoding] = said | unknown
    result = {"cell": asdict(cell), "scores": scores}
    warnings = sorted({row["warning"] for row in rows if row["warning"]})
    write_json(folder / RESULT, result | ({"warnings": warnings} if warnings else {}))


def _place(row: Row) -> dict[str, Any]:
    return {"split": row["split"], "decoding": row["decoding"]}


def _drawn(row: Row) -> dict[str, Any]:
    """As completions.jsonl has it; whether it was cut off is None there where nothing says so."""
    return _place(row) | asdict(_completion(row)) | ({} if row["finish"] else {"finished": None})


def _completion(row: Row) -> Completion:
    return Completion(
        problem=row["problem"],
        sample=row["sample"],
        text=row["completion"] or "",  # a choice among given answers has none
        tokens=row["tokens"],
        finished=row["finish"] != "length",
        logprob=row["logprob"],
        entropy=row["entropy"],
        drawn_entropy=row["drawn_entropy"],
    )


def _verdict(row: Row) -> Verdict:
    return Verdict(row["accepted"], row["reason"] or _reason(row), row["extracted"])


def _judged(row: Row) -> dict[str, Any]:
    verdict = _verdict(row)
    said = {"problem": row["problem"], "sample": row["sample"], "accepted": verdict.accepted}
    said |= {"reason": verdict.reason, "extracted": verdict.extracted}
    return said | ({"warning": row["warning"]} if row["warning"] else {})


def _reason(row: Row) -> str:
    """Why, where the log does not say it in our words."""
    if row["accepted"]:
        return "passed"
    found = row["extracted"]
    if found is not None and found.strip() in NO_ANSWER:
        return "truncated" if row["finish"] == "length" else "no answer"
    return "failed"
