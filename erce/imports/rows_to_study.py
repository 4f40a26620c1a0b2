"""Rows with the columns of `erce records`, of any run → a study's folder, as if erce had run it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import new_folder, write_json
from erce.recipe import GREEDY, SAMPLED, Cell, Decoding, Recipe
from erce.study.export import outcome_arrays
from erce.study.folder import RESULT, Study, cell_folder, open_study, read_study
from erce.study.judging import Equal, score
from erce.study.provenance import CELL
from erce.study.samples import DrawnSet, JudgedSample, write_completions, write_verdicts
from erce.types import CROSS_ENTROPY, Arm, Completion, SampleRow, Verdict

ARM_NAME = re.compile(r"\w[\w.:+=@-]*")  # it becomes part of a folder's name
ARM_NAME_RULE = "a name has letters, digits and . : + = @ _ -"
ORIGIN = ("study", "model", "revision", "dtype", "adapter", "verifier")  # columns that cell.json holds
DRAWING = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "stop")
RowsByDraw = dict[tuple[str, str], list[SampleRow]]  # (split, decoding) → rows

NOTHING_EXTRACTED = ("", "[invalid]")  # the second is lm-eval's


def study_of_rows(
    out: str | Path,
    rows: Iterable[SampleRow],
    *,
    prompts: Mapping[tuple[str, str], str] | None = None,
    equal: Equal | None = None,
    temperature: float | None = None,
) -> Study:
    """Write a study into the new folder `out`, of rows as `erce records` writes them, and return it.

    `prompts` maps (split, problem) to a prompt, `equal` joins the votes of maj@k (as in `summarize`), and
    `temperature` is for samples whose rows do not say it. A second task becomes the control. All seeds of all
    arms need the same problems under the same decodings, with a verdict for each sample. InputError: rows
    that break this, a third task, two temperatures or penalties under one name, a folder that is not empty.
    """
    out, rows = Path(out), [_with_temperature(row, temperature) for row in rows]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not empty; a study is imported whole, into a new folder")
    _check_complete(rows)
    _check_names(rows)
    rows_by_cell: dict[Cell, list[SampleRow]] = {}
    for row in rows:
        rows_by_cell.setdefault(_cell(row), []).append(row)
    recipe = _recipe(rows_by_cell)
    with new_folder(out) as folder:
        open_study(folder, recipe, _problems(rows, prompts or {}))
        for cell, cell_rows in rows_by_cell.items():
            _write_cell(cell_folder(folder, recipe, cell), recipe, cell, cell_rows, equal)
    return read_study(out)


def _with_temperature(row: SampleRow, temperature: float | None) -> SampleRow:
    unknown = row.temperature is None and row.decoding == SAMPLED
    return replace(row, temperature=temperature) if unknown else row


def _check_complete(rows: list[SampleRow]) -> None:
    """Raise an InputError unless every seed of every arm has each sample of the same problems."""
    if not rows:
        raise InputError("no rows: there is nothing to import")
    tasks = list(dict.fromkeys(str(row.task) for row in rows))
    if len(tasks) > 2:
        raise InputError(f"rows of the tasks {', '.join(tasks)}; a study is of one, and perhaps a control")
    rows_by_draw: dict[tuple[str | None, str, str], list[SampleRow]] = {}  # (task, split, decoding) → rows
    draws_by_seed: dict[
        tuple[str | None, str, int], set[tuple[str, str]]
    ] = {}  # (task, arm, seed) → its draws
    for row in rows:
        draw = (row.split, row.decoding)
        rows_by_draw.setdefault((row.task, *draw), []).append(row)
        draws_by_seed.setdefault((row.task, row.arm, row.seed), set()).add(draw)
    for draw_rows in rows_by_draw.values():
        outcome_arrays(draw_rows)
    for (task, arm, seed), draws in draws_by_seed.items():
        others = {(split, decoding) for other, split, decoding in rows_by_draw if other == task}
        for split, decoding in sorted(others - draws):
            raise InputError(
                f"arm {arm!r}, seed {seed} has no {decoding} completions of the {split} problems, which "
                "others have; every seed of every arm needs the same logs"
            )


def _check_names(rows: list[SampleRow]) -> None:
    """Raise an InputError if two arms are the same policy, or one problem has two answers."""
    arms: dict[tuple[Any, Any], str] = {}
    answers: dict[tuple[str | None, str, str], tuple[str, str]] = {}
    for row in rows:
        if row.objective is not None and not ARM_NAME.fullmatch(str(row.objective)):
            raise InputError(f"no arm can be called {row.objective!r}; {ARM_NAME_RULE}")
        known = arms.setdefault((row.lam, row.objective), row.arm)
        if known != row.arm:
            raise InputError(f"arms {known!r} and {row.arm!r} are the same; give their logs to one")
        if row.answer is None:
            continue
        problem = (row.task, row.split, row.problem)
        arm, answer = answers.setdefault(problem, (row.arm, row.answer))
        if answer != row.answer:
            raise InputError(
                f"problem {row.problem!r} has the answer {answer[:40]!r} in arm {arm!r} and "
                f"{row.answer[:40]!r} in arm {row.arm!r}; they are not the same problems"
            )


def _cell(row: SampleRow) -> Cell:
    if row.lam is None:
        return Cell(_task(row.task), None, 0)
    return Cell(_task(row.task), row.lam, row.seed, row.objective or CROSS_ENTROPY)


def _task(name: str | None) -> str:
    """Return the task's name in a form that a folder's name can have.

    >>> _task("inspect_evals/gsm8k")
    'inspect_evals-gsm8k'
    """
    return re.sub(r"[^\w.:+@-]+", "-", name or "task").lstrip(".-") or "task"


def _recipe(rows_by_cell: dict[Cell, list[SampleRow]]) -> Recipe:
    """Return a recipe with what the rows say; every other setting is a default that nobody ran."""
    rows = [row for cell_rows in rows_by_cell.values() for row in cell_rows]
    tasks = list(dict.fromkeys(cell.task for cell in rows_by_cell))
    trained = [cell for cell in rows_by_cell if cell.lam is not None]
    arms = list(dict.fromkeys(cell.arm for cell in trained))
    objective = _grid_objective(arms)
    baseline = [cell for cell in trained if cell.arm == Arm(0.0, objective)]
    main = (*baseline, *trained, *rows_by_cell)[0]
    others = [arm for arm in arms if arm.objective != objective]
    return Recipe(
        task=tasks[0],
        control=tasks[1] if len(tasks) == 2 else None,
        lams=tuple(arm.lam for arm in arms if arm.lam is not None and arm.objective == objective),
        objective=objective,
        objectives=tuple(f"{arm.objective} + {arm.lam!r}" if arm.lam else arm.objective for arm in others),
        seeds=tuple(sorted({cell.seed for cell in trained})),
        model=rows_by_cell[main][0].model or "unknown",
        penalty=_only_value(rows, "penalty") or "shannon",
        order=_only_value(rows, "order") or 1.0,
        decoding=_decoding(rows),
        imported=tuple(cell.name for cell in rows_by_cell),
    )


def _grid_objective(arms: list[Arm]) -> str:
    """Return the objective, with λ = 0, that most λ are added to; of equals cross-entropy, then the first."""
    counts = Counter(arm.objective for arm in arms if Arm(0.0, arm.objective) in arms)
    return max(counts, key=lambda name: (counts[name], name == CROSS_ENTROPY), default=CROSS_ENTROPY)


def _decoding(rows: list[SampleRow]) -> Decoding:
    """Return the recipe's section on decoding; decodings beside greedy and sampled are its frontier."""
    rows_by_decoding: dict[str, list[SampleRow]] = {}
    for row in rows:
        rows_by_decoding.setdefault(row.decoding, []).append(row)
    temperatures = {name: _only_value(drawn, "temperature") for name, drawn in rows_by_decoding.items()}
    for name, temperature in temperatures.items():
        if temperature is None and name != GREEDY:
            raise InputError(
                f"nothing says at which temperature the {name} completions were drawn; give it with "
                "--temperature"
            )
    samples = {name: 1 + max(row.sample for row in drawn) for name, drawn in rows_by_decoding.items()}
    frontier = [name for name in rows_by_decoding if name not in (GREEDY, SAMPLED)]
    limits = {row.max_new_tokens for row in rows}
    settings: dict[str, Any] = {}
    if SAMPLED in rows_by_decoding:
        settings = {"temperature": temperatures[SAMPLED], "samples": samples[SAMPLED]}
    if frontier:
        settings["frontier"] = tuple(temperatures[name] for name in frontier)
        settings["frontier_samples"] = max(samples[name] for name in frontier)
    return Decoding(**settings, max_new_tokens=limits.pop() if len(limits) == 1 else None)


def _only_value(rows: list[SampleRow], column: str) -> Any:
    """Return the only value in a column; None if no row has one."""
    values = {getattr(row, column) for row in rows} - {None}
    if len(values) > 1:
        first, second, *_ = sorted(values)
        raise InputError(
            f"rows of the {rows[0].decoding} completions have {column} {first} and {second}; "
            "one study has one: import them apart"
        )
    return values.pop() if values else None


def _problems(rows: list[SampleRow], prompts: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Return the rows of problems.jsonl; a problem whose log has no prompt gets an empty one."""
    problems: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        task, split, problem = key = (_task(row.task), row.split, row.problem)
        problems.setdefault(
            key,
            {"task": task, "split": split, "problem": problem}
            | {"prompt": prompts.get((split, problem), ""), "demonstration": ""}
            | {"answer": row.answer or "", "tests": row.tests or []},
        )
    return list(problems.values())


def _write_cell(folder: Path, recipe: Recipe, cell: Cell, rows: list[SampleRow], equal: Equal | None) -> None:
    """Write the files that `erce.study.cell` writes of a cell."""
    rows_by_draw: RowsByDraw = {}
    for row in rows:
        rows_by_draw.setdefault((row.split, row.decoding), []).append(row)
    write_json(folder / CELL, _origin(recipe, cell, rows_by_draw))
    samples = [
        JudgedSample(DrawnSet(*draw), _completion(row), _verdict(row))
        for draw, drawn in rows_by_draw.items()
        for row in drawn
    ]
    write_completions(folder, (sample[:2] for sample in samples))
    write_verdicts(folder, samples)
    result = {"cell": asdict(cell), "scores": score(samples, equal=equal)}
    warnings = sorted({row.warning for row in rows if row.warning})
    write_json(folder / RESULT, result | ({"warnings": warnings} if warnings else {}))


def _origin(recipe: Recipe, cell: Cell, rows_by_draw: RowsByDraw) -> dict[str, Any]:
    """Return what cell.json holds: what drew the completions and judged them."""
    first = next(iter(rows_by_draw.values()))[0]
    origin = {"task": cell.task, "lam": cell.lam, "seed": cell.seed}
    if cell.lam is not None:
        origin |= {"penalty": recipe.penalty, "order": recipe.order, "objective": cell.objective}
    origin |= {name: getattr(first, name) for name in ORIGIN}
    drawing = {
        decoding: {name: getattr(drawn[0], name) for name in DRAWING}
        for (_, decoding), drawn in rows_by_draw.items()
    }
    return origin | {"decoding": drawing}


def _completion(row: SampleRow) -> Completion:
    return Completion(
        problem=row.problem,
        sample=row.sample,
        text=row.completion or "",  # a choice among fixed answers has no text
        tokens=row.tokens,
        finished=None if row.finish is None else row.finish != "length",
        logprob=row.logprob,
        entropy=row.entropy,
        drawn_entropy=row.drawn_entropy,
    )


def _verdict(row: SampleRow) -> Verdict:
    assert row.accepted is not None  # outcome_arrays has refused the others
    return Verdict(row.accepted, row.reason or _reason(row), row.extracted, warning=row.warning or "")


def _reason(row: SampleRow) -> str:
    """Return the reason of a verdict whose log gives none."""
    if row.accepted:
        return "passed"
    extracted = row.extracted
    if extracted is not None and extracted.strip() in NOTHING_EXTRACTED:
        return "truncated" if row.finish == "length" else "no answer"
    return "failed"
