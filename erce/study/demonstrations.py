"""A recipe's task → its problems, and what each cell trains on: given demonstrations, own right answers.

Samples of the training problems are cells of their own (`Recipe.own_cells`), which run before those that
learn from them: a folder with a journal, completions and verdicts. The arm "self" trains on the accepted
samples alone, "rft" (rejection-sampling fine-tuning, Yuan et al. 2023) also on the given demonstrations.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.recipe import RFT, Cell, Recipe
from erce.study.folder import Study, cell_folder, read_problems
from erce.study.samples import VERDICTS, read_samples
from erce.tasks import load_task, near_duplicates, splits
from erce.types import Problem, Splits

COUNTS = "own"  # in the result.json of a cell of own samples
LISTS = ("setup", "entry_points", "inputs", "outputs")  # of a problem


@lru_cache(maxsize=8)
def cell_splits(recipe: Recipe, task: str) -> Splits:
    """Return the problems of a task in the sizes of the recipe; every cell has the same ones."""
    named = {} if recipe.columns is None else asdict(recipe.columns)
    return splits(
        load_task(task, columns={field: column for field, column in named.items() if column is not None}),
        data=recipe.data,
        n_train=recipe.n_train,
        n_validation=recipe.n_validation,
        n_test=recipe.n_test,
        seed=recipe.split_seed,
    )


def problem_rows(splits_by_task: Mapping[str, Splits]) -> list[dict[str, Any]]:
    """Return a row for each problem of each task's splits, as JSON keeps it."""
    return [
        _problem_row(task, split, problem)
        for task in splits_by_task
        for split, problems in vars(splits_by_task[task]).items()
        for problem in problems
    ]


def _problem_row(task: str, split: str, problem: Problem) -> dict[str, Any]:
    row = (
        {"task": task, "split": split, "problem": problem.id, "prompt": problem.prompt}
        | {"demonstration": problem.demonstration, "answer": problem.answer, "tests": list(problem.tests)}
        | ({} if problem.weight == 1 else {"weight": problem.weight})
        | ({} if problem.meta is None else {"meta": problem.meta})
        | {name: list(getattr(problem, name) or ()) for name in LISTS}
    )
    try:
        return json.loads(json.dumps(row, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"problem {problem.id!r} of {task!r} cannot be written as JSON ({error}); make its `meta` "
            "and `weight` of texts, finite numbers, lists and dicts"
        ) from None


def read_splits(root: Path, task: str) -> Splits:
    """Return the problems of a task as problems.jsonl has them, without what only their verifier reads."""
    by_split: dict[str, list[Problem]] = {"train": [], "validation": [], "test": []}
    texts = ("prompt", "demonstration", "answer")
    for row in read_problems(root, *texts, "tests"):
        if row["task"] == task:
            fields = {name: row[name] for name in texts}
            problem = Problem(id=row["problem"], tests=tuple(row["tests"]), **fields)
            by_split[row["split"]].append(problem)
    return Splits(**{split: tuple(problems) for split, problems in by_split.items()})


def demonstrations(root: Path, recipe: Recipe, cell: Cell, problems: Splits) -> Sequence[Problem]:
    """Return what a cell trains on, a Problem for each demonstration; a problem may have several."""
    if not cell.learns_own:
        return problems.train
    source = recipe.source(cell)
    assert source is not None
    answers, keep = accepted(cell_folder(root, recipe, source), problems), recipe.own_samples.keep
    chosen: list[Problem] = []
    for problem in problems.train:
        given = [problem] if cell.method == RFT else []
        texts = {one.demonstration.strip() for one in given}
        own = [answer for answer in answers[problem.id] if answer.demonstration.strip() not in texts]
        chosen += [*given, *own[:keep]]
    return chosen


def accepted(folder: Path, problems: Splits) -> dict[str, list[Problem]]:
    """Return training problem → itself with each of its distinct accepted samples as its demonstration.

    Left out are samples that were cut off, and those that make a problem a near-duplicate of a test problem.
    """
    return _accepted(folder, (folder / VERDICTS).stat().st_mtime_ns, problems)


@lru_cache(maxsize=2)
def _accepted(folder: Path, written: int, problems: Splits) -> dict[str, list[Problem]]:
    texts: dict[str, dict[str, str]] = {problem.id: {} for problem in problems.train}
    for _, completion, verdict in read_samples(folder):
        if verdict.accepted and completion.finished and completion.text.strip():
            texts[completion.problem].setdefault(completion.text.strip(), completion.text)
    answers = {
        problem.id: [
            replace(problem, id=f"{problem.id}, own answer {number}", demonstration=text)
            for number, text in enumerate(texts[problem.id].values(), start=1)
        ]
        for problem in problems.train
    }
    # A problem with an answer is compared by that, which the splits have been.
    compared = [answer for some in answers.values() for answer in some if not answer.answer]
    leaked = {pair.trained.id for pair in near_duplicates(compared, problems.test)}
    return {name: [answer for answer in some if answer.id not in leaked] for name, some in answers.items()}


def counts(folder: Path, problems: Splits) -> dict[str, int | None]:
    """Return how many samples and tokens there are, and how many problems have an accepted sample.

    The tokens are None if a server does not report them.
    """
    answers, samples = accepted(folder, problems), read_samples(folder)
    tokens = [sample.completion.tokens for sample in samples]
    known = [count for count in tokens if count is not None]
    return {
        "problems": len(answers),
        "with_one": sum(map(bool, answers.values())),
        "accepted": sum(map(len, answers.values())),
        "samples": len(samples),
        "tokens": sum(known) if len(known) == len(tokens) else None,
    }


def read_counts(study: Study) -> dict[str, Any] | None:
    """Return the sums of the `counts` of `Recipe.own_cells`, and as "sets" how many cells these are.

    None until all are verified, and where no arm needs them.
    """
    cells = [result[COUNTS] for result in study.own_results.values()]
    if not cells or len(cells) < len(study.recipe.own_cells):
        return None
    sums = {
        name: None if None in values else sum(values)
        for name, values in ((name, [cell[name] for cell in cells]) for name in cells[0])
    }
    return sums | {"sets": len(cells)}


def refuse_none(study: Study) -> None:
    """Raise an InputError if the samples of a cell are verified and none of them can be trained on."""
    for cell, result in study.own_results.items():
        if not result[COUNTS]["with_one"]:
            raise InputError(
                f"none of {result[COUNTS]['samples']:,} samples of {cell.name} is right on its training "
                'problem, so "rft" and "self" have nothing to train on; leave them out of methods, raise '
                "[own] samples, or let the models of a λ sample with [own] lam"
            )
