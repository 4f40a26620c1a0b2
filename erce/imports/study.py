"""Logs that other tools made, arm by arm → a study's folder."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.files import new_folder, write_json
from erce.imports.readers import Reading, read_log
from erce.recipe import SAMPLED, Cell, Decoding, Recipe
from erce.study.export import outcome_arrays
from erce.study.folder import CELL, RESULT, Study, cell_folder, open_study, read_study
from erce.study.samples import SampleSet, VerifiedSample, write_completions, write_verdicts
from erce.study.stages import scores_of
from erce.types import CROSS_ENTROPY, Arm, Completion, SampleRow, Verdict

BASELINE = "baseline"
BASE = "base"  # the model before any training
ARM_NAME = re.compile(r"\w[\w.:+=@-]*")  # it becomes part of a folder's name
DECODING = ("temperature", "top_p", "top_k", "repetition_penalty", "max_new_tokens", "stop")
NOTHING_EXTRACTED = ("", "[invalid]")  # the second is lm-eval's
Logs = Mapping[str, Sequence[str | Path]]


def import_study(
    out: str | Path, arms: Logs, *, validation: Logs | None = None, reading: Reading | None = None
) -> Study:
    """Write a study into the new folder `out`, of one log for each seed of each arm, and return it.

    A log is a file, or the folder that a run wrote. Greedy logs and logs of samples of one arm are two
    decodings of the same seeds, in order. What a log does not hold is None in the study, never guessed. Only
    the reason of a verdict is filled in: "passed", "failed", or "no answer" and "truncated" if the log shows
    it.

    Args:
        out: A folder that is empty or does not exist.
        arms: Name → logs. "baseline" is what gains are measured from and must be there; "lam=2" is the λ 2,
            "base" the model before any training, any other name an arm of its own.
        validation: Logs of other problems for the same arms and seeds; without them nothing is chosen.
        reading: What the logs do not say, or say twice.

    Returns:
        The study, which `erce.report` reads.

    Raises:
        InputError: A log that cannot be read, or arms with other problems or samples than the baseline.
    """
    out, reading, validation = Path(out), reading or Reading(), validation or {}
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not empty; a study is imported whole, into a new folder")
    _check_arms(arms, validation)
    rows: list[SampleRow] = []
    prompts: dict[tuple[str, str], str] = {}  # (split, problem) → prompt
    for split, logs in (("validation", validation), ("test", arms)):
        for arm, paths in logs.items():
            lam, method = _lam_and_method(arm)
            seeds: Counter[str] = Counter()  # decoding → logs so far; each is a seed
            for path in paths:
                of_log, by_problem = read_log(path, arm, reading)
                _refuse_others_rows(path, of_log[0], arm=arm, split=split)
                decoding = _checked_decoding(path, of_log)
                seed = 0 if lam is None else seeds[decoding]  # the base model is not trained
                columns = {"lam": lam, "method": method, "seed": seed, "split": split}
                seeds[decoding] += 1
                rows += [replace(row, **columns) for row in of_log]
                prompts = {(split, name): text for name, text in by_problem.items() if text} | prompts
    _check_complete(rows)
    rows_by_cell: dict[Cell, list[SampleRow]] = {}
    for row in rows:
        cell = Cell(_task(row.task), row.lam, row.seed, row.method or CROSS_ENTROPY)
        rows_by_cell.setdefault(cell, []).append(row)
    recipe = _recipe(rows_by_cell)
    with new_folder(out) as folder:
        open_study(folder, recipe, _problems(rows, prompts))
        for cell, cell_rows in rows_by_cell.items():
            _write_cell(cell_folder(folder, recipe, cell), recipe, cell, cell_rows)
    return read_study(out)


def _check_arms(arms: Logs, validation: Logs) -> None:
    """Raise an InputError for arms without a baseline, of names that no folder can have, or alike."""
    if not arms.get(BASELINE):
        raise InputError(
            f"no arm {BASELINE!r} among {list(arms)}; gains are measured from it: name one arm so"
        )
    if unknown := validation.keys() - arms.keys():
        raise InputError(f"validation logs for {min(unknown)!r}, which is not an arm; there are {list(arms)}")
    known: dict[str, str] = {}
    for arm in arms:
        if not ARM_NAME.fullmatch(arm):
            raise InputError(f"no arm can be called {arm!r}; a name has letters, digits and . : + = @ _ -")
        lam, method = _lam_and_method(arm)
        name = Cell("", lam, 0, method or CROSS_ENTROPY).name
        if (other := known.setdefault(name, arm)) != arm:
            raise InputError(
                f"arms {other!r} and {arm!r} would have one name; rename one, or give it all logs"
            )
    of_arms = chain(arms.values(), validation.values())
    paths = Counter(str(Path(path).resolve()) for path in chain.from_iterable(of_arms))
    path, count = paths.most_common(1)[0]
    if count > 1:
        raise InputError(f"{path} is named {count} times; a log is of one arm, one seed and one split")


def _refuse_others_rows(path: str | Path, row: SampleRow, *, arm: str, split: str) -> None:
    """Raise an InputError where a log's first row names another split or λ than those it is given for."""
    lam, method = _lam_and_method(arm)
    said = ""
    if {row.split, split} == {"validation", "test"}:
        said = f"split = {row.split!r}"
    elif isinstance(row.lam, int | float) and method in (None, CROSS_ENTROPY) and row.lam != lam:
        said = f"lam = {row.lam!r}"
    if said:
        raise InputError(
            f"{path} has rows of {said}, and is given as {split} problems of arm {arm!r}; give it as what it "
            "is, or drop that column"
        )


def _checked_decoding(path: str | Path, rows: list[SampleRow]) -> str:
    """Return the decoding of a log; refuse a log of two decodings, or without a verdict on some sample."""
    if len({row.decoding for row in rows}) > 1:
        raise InputError(f"{path} has greedy completions and samples; give one log per decoding and seed")
    if missing := [row for row in rows if row.accepted is None]:
        raise InputError(
            f"{path} has no verdict on problem {missing[0].problem!r}, sample {missing[0].sample} "
            f"({len(missing)} in all); choose another --metric or --filter, or verify it"
        )
    return rows[0].decoding


def _lam_and_method(arm: str) -> tuple[float | None, str | None]:
    """Return the λ and the method that an arm's name stands for; (None, None) is the base model.

    >>> [_lam_and_method(arm) for arm in ("baseline", "lam=2", "base", "dpo")]
    [(0.0, 'cross-entropy'), (2.0, 'cross-entropy'), (None, None), (0.0, 'dpo')]
    """
    if arm == BASE:
        return None, None
    if arm == BASELINE:
        return 0.0, CROSS_ENTROPY
    if arm.startswith("lam="):
        try:
            lam = float(arm.removeprefix("lam="))
        except ValueError:
            lam = math.nan
        if not math.isfinite(lam):
            raise InputError(f"arm {arm!r} is not a λ; write lam=2, or another name than lam")
        return lam, CROSS_ENTROPY
    return 0.0, arm


def _check_complete(rows: list[SampleRow]) -> None:
    """Raise an InputError unless every seed of every arm has each sample of the same problems."""
    tasks = sorted({str(row.task) for row in rows})
    if len(tasks) != 1:
        raise InputError(
            f"the logs are of the tasks {', '.join(tasks) or '(none)'}; import one at a time, named by --task"
        )
    sets: dict[tuple[str, str], list[SampleRow]] = {}  # (split, decoding) → rows
    for row in rows:
        sets.setdefault((row.split, row.decoding), []).append(row)
    seeds = {(row.arm, row.seed) for row in rows}
    for (split, decoding), set_rows in sets.items():
        outcome_arrays(set_rows)
        for name in ("max_new_tokens", "stop", "top_p", "top_k", "repetition_penalty"):
            known = [row for row in set_rows if getattr(row, name) is not None]
            arms = {str(getattr(row, name)): row.arm for row in known}
            if len(arms) > 1:
                two = [f"{value} in arm {arm!r}" for value, arm in arms.items()][:2]
                raise InputError(
                    f"{decoding} completions have {name} = {' and '.join(two)}; sample them alike"
                )
        for arm, seed in sorted(seeds - {(row.arm, row.seed) for row in set_rows}):
            what = f"{decoding} completions of the {split} problems, which others have"
            raise InputError(f"arm {arm!r}, seed {seed} has no {what}; give every seed the same logs")
    answers: dict[tuple[str, str], tuple[str, str]] = {}  # (split, problem) → the arm and its answer
    for row in rows:
        if row.answer is None:
            continue
        arm, answer = answers.setdefault((row.split, row.problem), (row.arm, row.answer))
        if answer != row.answer:
            two = f"{answer[:40]!r} in arm {arm!r} and {row.answer[:40]!r} in arm {row.arm!r}"
            raise InputError(f"problem {row.problem!r} has the answer {two}; they are not the same problems")


def _task(name: str | None) -> str:
    """Return the task's name in a form that a folder's name can have.

    >>> _task("mine/gsm8k")
    'mine-gsm8k'
    """
    return re.sub(r"[^\w.:+@-]+", "-", name or "task").lstrip(".-") or "task"


def _recipe(rows_by_cell: dict[Cell, list[SampleRow]]) -> Recipe:
    """Return a recipe with what the rows say; every other setting is a default that nobody ran."""
    trained = [cell for cell in rows_by_cell if cell.lam is not None]
    arms = dict.fromkeys(cell.arm for cell in trained)
    baseline = next(cell for cell in trained if cell.arm == Arm(0.0))
    return Recipe(
        task=baseline.task,
        lams=tuple(cell.lam or 0.0 for cell in trained if cell.seed == 0 and cell.method == CROSS_ENTROPY),
        methods=tuple(arm.method for arm in arms if arm.method != CROSS_ENTROPY),
        seeds=tuple(sorted({cell.seed for cell in trained})),
        model=rows_by_cell[baseline][0].model or "unknown",
        decoding=_decoding([row for cell_rows in rows_by_cell.values() for row in cell_rows]),
        imported=tuple(cell.name for cell in rows_by_cell),
    )


def _decoding(rows: list[SampleRow]) -> Decoding:
    limits = {row.max_new_tokens for row in rows}
    decoding = Decoding(max_new_tokens=limits.pop() if len(limits) == 1 else None)
    sampled = [row for row in rows if row.decoding == SAMPLED]
    if not sampled:
        return decoding
    temperatures = sorted({row.temperature for row in sampled if row.temperature is not None})
    if not temperatures:
        raise InputError("at which temperature were the completions sampled? give --temperature")
    if len(temperatures) > 1:
        two = f"{temperatures[0]} and {temperatures[1]}"
        raise InputError(f"the sampled completions have temperature {two}; import them as two studies")
    samples = 1 + max(row.sample for row in sampled)
    return replace(decoding, temperature=temperatures[0], samples=samples)


def _problems(rows: list[SampleRow], prompts: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Return the rows of problems.jsonl; a problem whose log has no prompt gets an empty one."""
    problems: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        place = {"task": _task(row.task), "split": row.split, "problem": row.problem}
        text = {
            "prompt": prompts.get((row.split, row.problem), ""),
            "demonstration": "",
            "answer": row.answer or "",
        }
        problem = problems.setdefault(tuple(place.values()), place | text | {"tests": row.tests or []})
        problem["answer"] = problem["answer"] or text["answer"]
    return list(problems.values())


def _write_cell(folder: Path, recipe: Recipe, cell: Cell, rows: list[SampleRow]) -> None:
    """Write a cell's folder from its rows: cell.json, completions, verdicts and result.json."""
    origin: dict[str, Any] = {"task": cell.task, "lam": cell.lam, "seed": cell.seed, "model": rows[0].model}
    if cell.lam is not None:
        origin["method"] = cell.method
    by_decoding = {row.decoding: {name: getattr(row, name) for name in DECODING} for row in reversed(rows)}
    write_json(folder / CELL, origin | {"decoding": dict(reversed(by_decoding.items()))})
    sets = list(dict.fromkeys((row.split, row.decoding) for row in rows))
    rows = sorted(rows, key=lambda row: sets.index((row.split, row.decoding)))
    samples = [
        VerifiedSample(SampleSet(row.split, row.decoding), _completion(row), _verdict(row)) for row in rows
    ]
    write_completions(folder, (sample[:2] for sample in samples))
    write_verdicts(folder, samples)
    write_json(folder / RESULT, {"cell": asdict(cell), "scores": scores_of(samples, equal=None)})


def _completion(row: SampleRow) -> Completion:
    return Completion(
        problem=row.problem,
        sample=row.sample,
        text=row.completion or "",  # a choice among fixed answers has no text
        tokens=row.tokens,
        finished=None if row.finish is None else row.finish != "length",
        logprob=row.logprob,
        entropy=row.entropy,
    )


def _verdict(row: SampleRow) -> Verdict:
    """Return the row's verdict, with the reason that it shows if its log gives none."""
    shown = "passed" if row.accepted else "failed"
    if not row.accepted and row.extracted is not None and row.extracted.strip() in NOTHING_EXTRACTED:
        shown = "truncated" if row.finish == "length" else "no answer"
    return Verdict(bool(row.accepted), row.reason or shown, row.extracted, flexible=row.flexible)
