"""ONE CELL, from demonstrations to scores: the file to read first.

    problems → fine-tuned adapter → completions → verdicts → scores

Every stage leaves its file in the cell's folder and is skipped when the file is there: delete verdicts.jsonl
and result.json, and the next run judges the same completions again. Within generation, what a run had
finished when it was stopped is in the journal and is not drawn again, and neither are completions that are
there when the recipe asks for more temperatures.
"""

import gc
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from erce.files import read_json, read_rows, write_json, write_rows
from erce.generate.decoding import GenerationSettings
from erce.generate.policy import policy
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, RegularizedObjective, frontier
from erce.score import summarize
from erce.study.folder import COMPLETIONS, RESULT, TIMING, VERDICTS, cell_folder, timed
from erce.study.journal import Journal
from erce.study.provenance import check_origin, write_origin, write_verifier
from erce.tasks import load_task, splits
from erce.types import Completion, Splits, Verdict

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

EVALUATED = ("validation", "test")
JOURNAL = "completions.journal"
TRAINING = "training.json"


def run_cell(root: Path, recipe: Recipe, cell: Cell, *, problems: Mapping[str, Splits] | None = None) -> None:
    """Everything that one cell of the grid needs, skipping what its folder already holds.

    `problems` are each task's, where its source may be out of reach; None loads them.
    """
    folder = cell_folder(root, recipe, cell)
    given = problems[cell.task] if problems else cell_splits(recipe, cell.task)
    (folder / f".{TIMING}.tmp").unlink(missing_ok=True)  # of a kill; the only file that may not come again
    with _threads(recipe.resources.threads):
        if cell.lam is not None and not (folder / TRAINING).is_file():
            with timed(folder, "training"):
                _train(folder, recipe, cell, cell.lam, given)
        if _incomplete(folder, recipe, cell, given):
            with timed(folder, "generation"):
                _generate(folder, recipe, cell, given)
    (folder / JOURNAL).unlink(missing_ok=True)
    if not (folder / VERDICTS).is_file():
        with timed(folder, "verification"):
            _verify(folder, cell, given)
    result: dict[str, Any] = {"cell": asdict(cell), "scores": _scores(folder, cell)}
    if cell.lam is not None:
        result["training"] = {k: v for k, v in read_json(folder / TRAINING).items() if k != "log"}
    warnings = {row["warning"] for row in read_rows(folder / VERDICTS) if "warning" in row}
    if warnings:
        result["warnings"] = sorted(warnings)
    write_json(folder / RESULT, result | {"versions": _versions()})


@lru_cache(maxsize=8)
def cell_splits(recipe: Recipe, task: str) -> Splits:
    """The problems of a task as the recipe wants them; the same for every cell."""
    return splits(
        load_task(task),
        data=recipe.data,
        n_train=recipe.n_train,
        n_validation=recipe.n_validation,
        n_test=recipe.n_test,
        seed=recipe.split_seed,
    )


@lru_cache(maxsize=1)
def base_policy(model: str, dtype: str) -> "BasePolicy":
    """The base model and its tokenizer, loaded once a process; whoever adds an adapter takes it off again."""
    import erce.train  # noqa: F401 (imported now, so that it is frozen below)
    from erce.hf.models import BasePolicy, load_model, load_tokenizer

    loaded = BasePolicy(load_model(model, dtype=dtype), load_tokenizer(model))
    gc.freeze()  # what lives as long as the process; every trainer collects garbage, in 0.3 s with it
    return loaded


def _train(folder: Path, recipe: Recipe, cell: Cell, lam: float, problems: Splits) -> None:
    """The adapter, then its log; an adapter without one was left by a kill between the two."""
    adapter, training = folder / "adapter", recipe.training
    shutil.rmtree(adapter, ignore_errors=True)
    if training.max_length is None:
        training = replace(training, max_length=load_task(cell.task).max_length)
    objective = RegularizedObjective(
        lam=lam, penalty=recipe.penalty, order=recipe.order, objective=cell.objective
    )
    if recipe.resources.training_processes > 1:
        _leave_the_devices()
        from erce.train.launch import FineTuning, launch

        work = FineTuning(
            model=recipe.model,
            dtype=recipe.dtype,
            problems=problems.train,
            objective=objective,
            training=training,
            seed=cell.seed,
            folder=str(adapter),
        )
        summary = launch(work, resources=recipe.resources)
    else:
        from erce.train.fine_tune import fine_tune

        summary = fine_tune(
            base_policy(recipe.model, recipe.dtype),
            problems.train,
            objective=objective,
            training=training,
            seed=cell.seed,
            folder=adapter,
        )
    for left in folder.glob(f"{adapter.name}.launch.*"):  # of use where it failed
        left.unlink()
    # Beside it is timing.json; a log with the time in it would never be the same twice.
    write_json(folder / TRAINING, {name: told for name, told in summary.items() if name != "seconds"})


def _leave_the_devices() -> None:
    """Drop this process's base model, so that the processes to be launched have the GPUs to themselves."""
    import torch

    if torch.cuda.is_available():
        base_policy.cache_clear()
        gc.unfreeze()
        gc.collect()
        torch.cuda.empty_cache()


@contextmanager
def _threads(wanted: int | None) -> Iterator[None]:
    """So many on the CPU, however many this process has for others; None leaves it alone."""
    if wanted is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _incomplete(folder: Path, recipe: Recipe, cell: Cell, problems: Splits) -> bool:
    """Whether completions are missing: all of them, or those of temperatures that the recipe has gained."""
    evaluated = [split for split in EVALUATED if getattr(problems, split)]
    wanted = {(split, decoding) for split in evaluated for decoding in draws(recipe, cell.task)}
    return not (folder / COMPLETIONS).is_file() or not wanted <= _drawn(folder).keys()


def _drawn(folder: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(split, decoding) → the rows of completions that are there."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in read_rows(folder / COMPLETIONS) if (folder / COMPLETIONS).is_file() else ():
        found.setdefault((row["split"], row["decoding"]), []).append(row)
    return found


def _generate(folder: Path, recipe: Recipe, cell: Cell, problems: Splits) -> None:
    """Every decoding that is missing, of the same problems whatever the cell was trained with.

    What speaks of the completions goes before these change: no kill leaves verdicts of other completions.
    """
    base = base_policy(recipe.model, recipe.dtype)
    wanted, drawn = draws(recipe, cell.task), _drawn(folder)
    evaluated = {split: getattr(problems, split) for split in EVALUATED}
    if drawn:
        check_origin(folder, recipe, cell, policy=base, evaluated=evaluated)
    key = write_origin(folder, recipe, cell, policy=base, evaluated=evaluated, draws=wanted)
    journal = Journal(folder / JOURNAL, key)
    with policy(recipe, base, None if cell.lam is None else folder / "adapter") as draw_from:
        for split in EVALUATED:
            for decoding, draw in wanted.items():
                if (split, decoding) in drawn:
                    continue
                drawn[split, decoding] = journal.completed(
                    evaluated[split],
                    partial(draw_from, decoding=draw, seed=cell.seed),
                    labels={"split": split, "decoding": decoding},
                    samples=draw.samples,
                    batch_size=draw.batch_size,
                )
    for name in (RESULT, VERDICTS):
        (folder / name).unlink(missing_ok=True)
    places = sorted(drawn, key=_place)
    write_rows(folder / COMPLETIONS, (row for place in places for row in drawn[place]))


def _place(of: tuple[str, str]) -> tuple[int, float]:
    """Where the rows of a (split, decoding) stand: greedy, sampled, then by rising temperature."""
    split, decoding = of
    main = {GREEDY: -2.0, SAMPLED: -1.0}
    return EVALUATED.index(split), main[decoding] if decoding in main else float(decoding.removeprefix("T"))


def draws(recipe: Recipe, task: str) -> dict[str, GenerationSettings]:
    """Each way of decoding that is scored, by the name it has in tables."""
    wanted = recipe.decoding
    limit = load_task(task).max_new_tokens if wanted.max_new_tokens is None else wanted.max_new_tokens
    greedy = GenerationSettings(
        temperature=0.0, samples=1, max_new_tokens=limit, batch_size=wanted.batch_size, stop=wanted.stop
    )
    sampled = replace(greedy, temperature=wanted.temperature, samples=wanted.samples)
    return {GREEDY: greedy, SAMPLED: sampled} | {
        name: replace(sampled, temperature=temperature, samples=wanted.frontier_samples)
        for name, temperature in frontier(recipe, task).items()
    }


def _verify(folder: Path, cell: Cell, problems: Splits) -> None:
    verify = load_task(cell.task).verify
    write_verifier(folder, verify)
    known = {problem.id: problem for split in EVALUATED for problem in getattr(problems, split)}
    rows = []
    for row, completion in completions(folder):
        judged = verify(known[completion.problem], completion)
        # `elapsed` and `detail` (which may hold an address) would differ between two runs of the same study.
        verdict = {"accepted": judged.accepted, "reason": judged.reason, "extracted": judged.extracted}
        if judged.warning:
            verdict["warning"] = judged.warning
        rows.append({key: row[key] for key in ("split", "decoding", "problem", "sample")} | verdict)
    write_rows(folder / VERDICTS, rows)


def _scores(folder: Path, cell: Cell) -> dict[str, dict[str, Any]]:
    """split → decoding → what `erce.score.summarize` says of its completions."""
    equal = load_task(cell.task).equal
    grouped: dict[tuple[str, str], list[tuple[Completion, Verdict]]] = {}
    for (row, completion), judged in zip(completions(folder), read_rows(folder / VERDICTS), strict=True):
        verdict = Verdict(judged["accepted"], judged["reason"], judged["extracted"])
        grouped.setdefault((row["split"], row["decoding"]), []).append((completion, verdict))
    scores: dict[str, dict[str, Any]] = {}
    for (split, decoding), pairs in grouped.items():
        scores.setdefault(split, {})[decoding] = summarize(*zip(*pairs, strict=True), equal=equal)
    return scores


def completions(folder: Path) -> list[tuple[dict[str, Any], Completion]]:
    """A cell's rows, each with its split and decoding, and the Completion in it."""
    return [(row, _completion(row)) for row in read_rows(folder / COMPLETIONS)]


def _completion(row: dict[str, Any]) -> Completion:
    return Completion(**{name: value for name, value in row.items() if name not in ("split", "decoding")})


def _versions() -> dict[str, str]:
    packages = ("erce", "torch", "transformers", "trl", "peft")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
