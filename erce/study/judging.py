"""The last stages of a cell: completions → verdicts → scores."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from erce import events
from erce.recipe import Cell, Recipe
from erce.score import summarize
from erce.study.drawing import sampled_problems
from erce.study.folder import RESULT, cell_folder, is_done, verifiers_of
from erce.study.provenance import verifier_version, write_verifier
from erce.study.samples import VERDICTS, DrawnSet, JudgedSample, read_completions, write_verdicts
from erce.tasks import load_task
from erce.tasks.verdicts import verdict
from erce.types import Splits

Equal = Callable[[str, str], bool]  # whether two extracted answers are one vote


def judge(folder: Path, cell: Cell, problems: Splits) -> None:
    """Write a verdict for every completion, and into cell.json who judged."""
    task = load_task(cell.task)
    write_verifier(folder, task.verify, task=cell.task)
    by_id = {problem.id: problem for some in sampled_problems(cell, problems).values() for problem in some}
    completions = [(place, drawn) for place, some in read_completions(folder).items() for drawn in some]
    judged = []
    events.begin("verification", len(completions))
    for drawn_set, completion in completions:
        by_task = verdict(task, by_id[completion.problem], completion)
        judged.append(JudgedSample(drawn_set, completion, by_task))
        events.advance(1)
    write_verdicts(folder, judged)


def judge_again(root: Path, recipe: Recipe, cells: Sequence[Cell]) -> list[Cell]:
    """Delete the verdicts and the result of finished cells that another verifier judged; return the cells."""
    done = [cell for cell in cells if is_done(root, recipe, cell)]
    judged = verifiers_of(root, recipe, done)
    present = {task: verifier_version(load_task(task).verify) for task in {cell.task for cell in judged}}
    outdated = [cell for cell, verifier in judged.items() if verifier != present[cell.task]]
    for cell in outdated:
        for name in (RESULT, VERDICTS):
            (cell_folder(root, recipe, cell) / name).unlink(missing_ok=True)
    return outdated


def score(samples: Iterable[JudgedSample], *, equal: Equal | None) -> dict[str, dict[str, Any]]:
    """Return split → decoding → what `erce.score.summarize` returns; `equal` joins the votes of maj@k."""
    samples_by_set: dict[DrawnSet, list[JudgedSample]] = {}
    for sample in samples:
        samples_by_set.setdefault(sample.drawn_set, []).append(sample)
    scored: dict[str, dict[str, Any]] = {}
    for (split, decoding), judged in samples_by_set.items():
        completions = [sample.completion for sample in judged]
        verdicts = [sample.verdict for sample in judged]
        scored.setdefault(split, {})[decoding] = summarize(completions, verdicts, equal=equal)
    return scored
