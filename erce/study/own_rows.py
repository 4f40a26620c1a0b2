"""A recipe → right answers of a model's own to its training problems, as rows that any trainer takes.

    {"prompt": [{"role": "user", …}], "completion": [{"role": "assistant", …}], "source": "own"}

The samples are those of a study's arms "self" and "rft" (`erce.study.demonstrations`), in the same folder, so
a study that follows reads them. Prompts and completions are texts for a model without a chat template.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from erce.errors import InputError
from erce.files import write_rows
from erce.recipe import RFT, SAMPLED, SELF, Cell, Recipe
from erce.score import mixed_share
from erce.score.rounding import percent
from erce.study.demonstrations import cell_splits, demonstrations, read_counts
from erce.study.folder import cell_folder
from erce.study.run import run
from erce.study.samples import SampleSet, read_outcomes, read_samples
from erce.study.schedule import TRAIN
from erce.types import Problem

GIVEN = "given"  # the `source` of a demonstration that came with the problem
MOST_CUT_OFF = 1 / 10  # of the samples; above it the others say little
MOST, SOME = 2 / 3, 1 / 4  # of the problems with a right answer, above which docs/when.md advises


class OwnRows(NamedTuple):
    """What `sample` wrote: shares are of 1, those of problems over all training problems."""

    rows: int
    samples: int
    tokens: int | None  # sampled; None: a server does not say
    right: float  # share of the samples
    with_one: float  # share of the problems that have a right sample to train on
    mixed: float  # share of the problems with right and with wrong samples
    cut_off: float = 0.0  # share of the samples

    def __str__(self) -> str:
        tokens = "" if self.tokens is None else f" ({self.tokens:,} tokens)"
        shares = self.right, self.cut_off, self.with_one, self.mixed
        right, cut_off, with_one, mixed = (f"{percent(share)} %" for share in shares)
        are = f"are right, {cut_off} were cut off at max_new_tokens" if self.cut_off else "are right"
        return (
            f"Of {self.samples:,} samples{tokens} {right} {are}. {with_one} of the training problems "
            f"have a right one, {mixed} right and wrong ones, which is what GRPO learns from. {self.advice}"
        )

    @property
    def advice(self) -> str:
        """What docs/when.md advises, by how many problems have a right answer."""
        if self.cut_off > MOST_CUT_OFF:
            return "Raise max_new_tokens in [decoding] first, or set stop there, in another folder (--out)."
        first = "First see that λ = 0 on the given demonstrations stays below the base model; if so, "
        if self.with_one >= MOST:
            return f"{first}train on own answers alone with entropy_penalty = 4."
        if self.with_one >= SOME:
            return f"{first}train on both (--with-demonstrations) with entropy_penalty = 4."
        return (
            "Own answers are too few: train on the given demonstrations with λ = 0, and sample from that "
            "model (--adapter)."
        )


def sample(
    recipe: Recipe, file: Path, *, out: Path, with_demonstrations: bool = False, jobs: int | None = None
) -> OwnRows:
    """Sample and verify the training problems, and write a row for each answer that is kept.

    A command that was stopped goes on where it was. Answers are kept as for the arm "self", or with the
    given demonstrations as for "rft": distinct, accepted, not cut off, no near-duplicates of a test problem,
    at most [own] keep of a problem.

    Args:
        recipe: Whose task, model, [own] and [decoding] count; of its grid only what [own] lam names runs.
        file: The JSON Lines file to write.
        out: The study's folder.
        with_demonstrations: Whether the given demonstrations are rows, too.
        jobs: As for `erce.study.run.run`.

    Returns:
        What was sampled.

    Raises:
        InputError: As `erce.study.run.run`, for a `file` other than .jsonl, for a model that diverged.
    """
    if file.suffix != ".jsonl":
        raise InputError(f"{str(file)!r} does not end in .jsonl, as a file of JSON Lines does; rename it")
    if not recipe.own_cells:
        recipe = replace(recipe, methods=(*recipe.methods, SELF))
    study = run(recipe, out=out, jobs=jobs, own_only=True)
    counts = read_counts(study)
    if counts is None:
        raise InputError("a model that [own] lam names diverged in training; take another λ and --out")
    rows = list(_rows(recipe, out, with_demonstrations=with_demonstrations))
    folders = [cell_folder(out, recipe, cell) for cell in recipe.own_cells]
    accepted = np.stack([read_outcomes(folder)[SampleSet(TRAIN, SAMPLED)] for folder in folders])
    written = OwnRows(
        rows=len(rows),
        samples=counts["samples"],
        tokens=counts["tokens"],
        right=float(accepted.mean()),
        with_one=counts["with_one"] / counts["problems"],
        mixed=mixed_share(accepted),
        cut_off=fmean(one.completion.finished is False for folder in folders for one in read_samples(folder)),
    )
    if not rows:
        raise InputError(f"no sample is right, so {str(file)!r} was not written. {written}")
    write_rows(file, rows)
    return written


def _rows(recipe: Recipe, root: Path, *, with_demonstrations: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows, without repeats where several seeds sample."""
    from erce.hf.models import load_tokenizer

    is_chat = bool(load_tokenizer(recipe.model).chat_template)
    problems, seen = cell_splits(recipe, recipe.task), set[tuple[str, str]]()
    given = {problem.id for problem in problems.train}
    arm = RFT if with_demonstrations else SELF
    for own in recipe.own_cells:
        for problem in demonstrations(root, recipe, Cell(recipe.task, 0.0, own.seed, arm), problems):
            if (problem.prompt, problem.demonstration) not in seen:
                seen.add((problem.prompt, problem.demonstration))
                yield _row(problem, GIVEN if problem.id in given else "own", is_chat=is_chat)


def _row(problem: Problem, source: str, *, is_chat: bool) -> dict[str, Any]:
    if not is_chat:
        return {"prompt": problem.prompt, "completion": problem.demonstration, "source": source}
    return {
        "prompt": [{"role": "user", "content": problem.prompt}],
        "completion": [{"role": "assistant", "content": problem.demonstration}],
        "source": source,
    }
