"""A recipe and one of its tasks → cells, optimizer steps and tokens, counted if the texts are here."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import cycle, islice
from typing import Any, NamedTuple

from erce import events
from erce.hf.prompt import demonstration_ids, prompt_ids, training_rows
from erce.recipe import RFT, SELF, Cell, Recipe
from erce.study.demonstrations import cell_splits
from erce.study.folder import planned_cells
from erce.study.sampling import EVALUATED, decodings
from erce.tasks import check_demonstrations, load_task
from erce.tasks.source import NotOnThisMachineError
from erce.types import Arm, Problem, Splits, Task

MOST_COUNTED = 3000  # texts of a split whose tokens are counted, and of the others the longest
LONGEST_COUNTED = 8
CHARACTERS_A_TOKEN = 3  # fewer than English has, so that rather too many tokens are assumed
TEMPLATE_TOKENS = 30  # that a chat template adds to a prompt
# Task → means of a prompt and a demonstration; `erce run RECIPE --data FOLDER --dry-run` counts them.
MEAN_CHARACTERS = {
    "gsm8k": (299, 245),
    "gsm8k-answer-only": (286, 7),
    "math": (222, 469),
    "mbpp": (271, 156),
    "mbpp-full": (260, 182),
}


class TextTokens(NamedTuple):
    """The tokens of a problem's prompt and demonstration, the template and the end token included."""

    prompt: int
    demonstration: int


@dataclass(frozen=True, kw_only=True)
class TrainingWork:
    """One fine-tuning; tokens are counted over all epochs."""

    steps: int
    read: int  # tokens of prompts and demonstrations
    scored: int  # tokens trained on
    squares: int  # the sum over the sequences read of their squared lengths, for attention
    longest: int  # tokens of one sequence
    truncated: int  # demonstrations that lose their end


@dataclass(frozen=True, kw_only=True)
class DrawingWork:
    """All completions of one cell."""

    completions: int
    read: int  # tokens of prompts, each once a decoding
    prompt: float  # mean tokens of a prompt
    expected: int  # tokens drawn if each completion is as long as its demonstration
    most: int  # tokens drawn if each completion is cut off at its limit
    longest: int  # tokens of one prompt and its completion, at most
    rows: int  # completions of the largest set


@dataclass(frozen=True, kw_only=True)
class TaskPlan:
    """The work that one task of a recipe asks for; `training`, `drawing` and `frontier` are of one cell.

    Where only the λ that validation chooses has cells, the first λ of `arms` other than 0 stands for it.
    """

    task: str
    sizes: tuple[int, int, int]  # train, validation, test
    arms: dict[Arm, int]  # arm → number of its cells
    characters: tuple[float, float]  # means of a prompt and a demonstration of training
    training: TrainingWork
    drawing: DrawingWork  # of a cell without the frontier
    frontier: DrawingWork | None  # what a cell with the frontier draws, all in all; None if none has it
    frontier_cells: int
    own: DrawingWork | None  # the base model's samples of the training problems; None if no arm needs them
    most_demonstrations: dict[str, int]  # objective → demonstrations of a problem, at most, if not 1
    notes: tuple[str, ...] = ()  # what was assumed

    @property
    def cells(self) -> int:
        return sum(self.arms.values())

    @property
    def trained(self) -> int:
        """Return how many trainings on the given demonstrations all trained cells are worth, at most."""
        trained = {arm: cells for arm, cells in self.arms.items() if not arm.is_base}
        return sum(self.most_demonstrations.get(arm.objective, 1) * cells for arm, cells in trained.items())

    @property
    def drawings(self) -> list[tuple[int, DrawingWork]]:
        """Return how many cells draw what."""
        frontier = [] if self.frontier is None else [(self.frontier_cells, self.frontier)]
        own = [] if self.own is None else [(1, self.own)]
        return [(self.cells - self.frontier_cells, self.drawing), *frontier, *own]


def task_plan(recipe: Recipe, name: str, tokenizer: Any) -> TaskPlan:
    """Count the work of one task; without a tokenizer, assume tokens from characters, and say so in a note.

    If the problems would come from the hub and are not in its cache, `MEAN_CHARACTERS` is assumed. All else
    that a run would refuse is an InputError, first of all a demonstration that the task's own verifier does
    not accept; programs are run for that as in a study.
    """
    task, notes = load_task(name), []
    limit = task.max_length if recipe.training.max_length is None else recipe.training.max_length
    events.begin("reading problems and looking for near-duplicates", cell="")
    try:
        problems = cell_splits(recipe, name)
    except NotOnThisMachineError as error:
        if name not in MEAN_CHARACTERS:
            raise
        texts = _assumed(recipe, task)
        prompt, demonstration = texts.characters
        notes.append(
            f"{name}: {error.what}, so every prompt is assumed to have {prompt} characters and every "
            f"demonstration {demonstration}, the data set's means; --data FOLDER counts the real texts"
        )
    else:
        every = [problem for part in vars(problems).values() for problem in part]
        events.begin("checking demonstrations", len(every))
        check_demonstrations(task, _told(every), refuse_unproven=recipe.refuses_unproven)
        events.begin("counting tokens", len(every))
        texts = _counted(problems, tokenizer, limit)
    if tokenizer is None:
        lengths = f"{CHARACTERS_A_TOKEN} characters a token and {TEMPLATE_TOKENS} tokens more a prompt"
        notes.append(f"{lengths}, for the tokenizer of {recipe.model!r} is not on this machine")
    own, keep = recipe.own_cell, min(recipe.own_samples.keep, recipe.own_samples.samples)
    own = own if own is not None and own.task == name else None
    if own is not None:
        notes.append(f"rft and self: counted as if every problem had {keep} accepted samples, the most")
    if max(sizes := [len(texts.train), *map(len, texts.evaluated.values())]) > MOST_COUNTED and texts.known:
        notes.append(f"{name}: of {max(sizes):,} texts the tokens of about {MOST_COUNTED:,} are counted")
    cells = [cell for cell in planned_cells(recipe) if cell.task == name]
    wide = [cell for cell in cells if cell.all_temperatures and recipe.decoding.temperatures]
    return TaskPlan(
        task=name,
        sizes=(len(texts.train), len(texts.evaluated["validation"]), len(texts.evaluated["test"])),
        arms=dict(Counter(cell.arm for cell in cells)),
        characters=texts.characters,
        training=_training(recipe, texts, limit),
        drawing=_drawing(recipe, replace(cells[0], all_temperatures=False), texts.evaluated),
        frontier=_drawing(recipe, wide[0], texts.evaluated) if wide else None,
        frontier_cells=len(wide),
        own=None if own is None else _drawing(recipe, own, {"train": texts.train}),
        most_demonstrations={RFT: 1 + keep, SELF: keep} if own is not None else {},
        notes=tuple(notes),
    )


def _told(problems: Sequence[Problem]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        events.advance(1)


def steps(recipe: Recipe, demonstrations: int) -> int:
    """Return the optimizer steps of one fine-tuning; the last of an epoch may have a smaller batch.

    >>> from erce.recipe import parse_recipe
    >>> steps(parse_recipe({"task": "gsm8k", "lams": [0], "seeds": [0]}), 1000)
    189
    """
    return math.ceil(recipe.training.epochs * math.ceil(demonstrations / recipe.training.batch_size))


def _training(recipe: Recipe, texts: "_Texts", limit: int) -> TrainingWork:
    kept = [
        TextTokens(text.prompt, max(0, min(text.demonstration, limit - text.prompt))) for text in texts.train
    ]
    epochs, lengths = recipe.training.epochs, [sum(text) for text in kept]
    return TrainingWork(
        steps=steps(recipe, len(kept)),
        read=round(epochs * sum(lengths)),
        scored=round(epochs * sum(text.demonstration for text in kept)),
        squares=round(epochs * sum(length * length for length in lengths)),
        longest=max(lengths) if texts.known else limit,
        truncated=sum(short != whole for short, whole in zip(kept, texts.train, strict=True)),
    )


def _drawing(recipe: Recipe, cell: Cell, evaluated: dict[str, list[TextTokens]]) -> DrawingWork:
    drawn = list(decodings(recipe, cell).values())
    texts = [text for some in evaluated.values() for text in some]
    samples = sum(settings.samples for settings in drawn)
    limit = max(settings.max_new_tokens for settings in drawn)
    return DrawingWork(
        completions=samples * len(texts),
        read=len(drawn) * sum(text.prompt for text in texts),
        prompt=sum(text.prompt for text in texts) / len(texts),
        expected=samples * sum(min(text.demonstration, limit) for text in texts),
        most=samples * len(texts) * limit,
        longest=max(text.prompt for text in texts) + limit,
        rows=max(map(len, evaluated.values())) * max(settings.samples for settings in drawn),
    )


class _Texts(NamedTuple):
    """The lengths of a task's problems; if they are not `known`, all are as long as the mean."""

    train: list[TextTokens]
    evaluated: dict[str, list[TextTokens]]
    characters: tuple[float, float]
    known: bool


def _counted(problems: Splits, tokenizer: Any, limit: int) -> _Texts:
    train = problems.train
    prompts, demonstrations = (
        sum(map(len, texts)) / len(train)
        for texts in ([problem.prompt for problem in train], [problem.demonstration for problem in train])
    )
    evaluated = {split: _lengths(getattr(problems, split), tokenizer) for split in EVALUATED}
    return _Texts(_lengths(train, tokenizer, limit), evaluated, (prompts, demonstrations), True)


def _assumed(recipe: Recipe, task: Task) -> _Texts:
    characters = MEAN_CHARACTERS[task.name]
    wanted = (recipe.n_train, recipe.n_validation, recipe.n_test)
    usual = (task.n_train, task.n_validation, task.n_test)
    train, *others = (own if n is None else n for n, own in zip(wanted, usual, strict=True))
    text = [_assumed_text(*characters)]
    evaluated = {split: text * n for split, n in zip(EVALUATED, others, strict=True)}
    return _Texts(text * train, evaluated, characters, False)


def _lengths(problems: Sequence[Problem], tokenizer: Any, limit: int | None = None) -> list[TextTokens]:
    """Return the tokens of each problem's texts; refuse a prompt that fills `limit`.

    Of many problems some are counted, with the longest, and the others taken to be as long as these.
    """
    if tokenizer is None:
        return [_assumed_text(len(problem.prompt), len(problem.demonstration)) for problem in problems]
    every = -(-len(problems) // MOST_COUNTED)
    longest = _longest(problems) if every > 1 else []
    counted = []
    for problem in (*problems[::every], *longest):
        prompt = len(prompt_ids(tokenizer, problem.prompt))
        if limit is not None and prompt >= limit:
            training_rows(tokenizer, [problem], limit)  # which refuses it as a run would
        counted.append(TextTokens(prompt, len(demonstration_ids(tokenizer, problem.demonstration))))
        events.advance(every)
    of_longest = counted[len(counted) - len(longest) :]
    sample = counted[: len(counted) - len(longest)]
    return [*islice(cycle(sample), len(problems) - len(longest)), *of_longest]


def _longest(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems with the longest prompts, and with the longest texts, by characters."""
    by_prompt = nlargest(LONGEST_COUNTED, problems, key=lambda problem: len(problem.prompt))
    whole = nlargest(
        LONGEST_COUNTED, problems, key=lambda problem: len(problem.prompt) + len(problem.demonstration)
    )
    return list({problem.id: problem for problem in (*by_prompt, *whole)}.values())


def _assumed_text(prompt: float, demonstration: float) -> TextTokens:
    """Return the assumed tokens of a prompt and a demonstration with these numbers of characters."""
    words, answer = (math.ceil(characters / CHARACTERS_A_TOKEN) for characters in (prompt, demonstration))
    return TextTokens(TEMPLATE_TOKENS + words, answer + 1)
