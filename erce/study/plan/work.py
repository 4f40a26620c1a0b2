"""A recipe and one of its tasks → cells, optimizer steps and tokens: counted where the texts are here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from erce.hf.prompt import demonstration_ids, prompt_ids, training_rows
from erce.recipe import Recipe
from erce.study.drawing import EVALUATED, decodings
from erce.study.problems import cell_splits
from erce.tasks import check_demonstrations, load_task
from erce.types import BASE_MODEL, Arm, Problem, Splits, Task

CHARACTERS_A_TOKEN = 3  # fewer than English has, so that what is assumed is rather too many tokens
TEMPLATE = 30  # tokens that a chat template adds to a prompt
# Task → of a prompt and a demonstration; `erce run RECIPE --data FOLDER --dry-run` counts them.
MEAN_CHARACTERS = {
    "gsm8k": (299, 245),
    "gsm8k-answer-only": (286, 7),
    "math": (222, 469),
    "mbpp": (271, 156),
    "mbpp-full": (260, 182),
}


class Text(NamedTuple):
    """Tokens of a problem's prompt and demonstration, the template and the end token included."""

    prompt: int
    demonstration: int


@dataclass(frozen=True, kw_only=True)
class TrainingWork:
    """One fine-tuning; tokens over all epochs: `read` with those of prompts, `scored` those trained on."""

    steps: int
    read: int
    scored: int
    squares: int  # the sum over the sequences read of their squared lengths, for attention
    longest: int  # tokens of one sequence
    truncated: int  # demonstrations that lose their end


@dataclass(frozen=True, kw_only=True)
class DrawingWork:
    """All completions of one cell: tokens if each is as long as its demonstration, and at most."""

    completions: int
    read: int  # tokens of prompts, each once a decoding
    prompt: float  # of them, mean
    expected: int
    most: int
    longest: int  # tokens of one prompt and its completion, at most
    rows: int  # completions drawn at a time, at most


@dataclass(frozen=True, kw_only=True)
class TaskPlan:
    """What one task of a recipe asks for; `training` and `drawing` are of one cell."""

    task: str
    sizes: tuple[int, int, int]  # train, validation, test
    arms: dict[Arm, int]  # → its cells
    characters: tuple[float, float]  # of a prompt and a demonstration of training, mean
    training: TrainingWork
    drawing: DrawingWork
    notes: tuple[str, ...] = ()  # what was assumed

    @property
    def cells(self) -> int:
        return sum(self.arms.values())

    @property
    def trained(self) -> int:
        """The cells that are trained: all but the base model."""
        return self.cells - self.arms.get(BASE_MODEL, 0)


def task_plan(recipe: Recipe, name: str, tokenizer: Any) -> TaskPlan:
    """The plan of one task; `tokenizer` None: tokens are assumed from characters, and a note says how.

    A task whose problems would come from the hub and are not in its cache is assumed too, where
    `MEAN_CHARACTERS` knows it. Everything else that a run would refuse is a ValueError, first of all a
    demonstration that the task's own verifier does not accept; programs are run for that as a study does.
    """
    task, notes = load_task(name), []
    limit = task.max_length if recipe.training.max_length is None else recipe.training.max_length
    try:
        problems = cell_splits(recipe, name)
    except ValueError as error:
        if recipe.data is not None or name not in MEAN_CHARACTERS:
            raise
        texts = _assumed(recipe, task)
        said = "prompts of {} and demonstrations of {} characters, its means".format(*texts.characters)
        notes.append(f"{name}: {said}, for {_first(error)}; --data FOLDER counts")
    else:
        check_demonstrations(task, (each for part in vars(problems).values() for each in part))
        texts = _counted(problems, tokenizer, limit)
    if tokenizer is None:
        lengths = f"{CHARACTERS_A_TOKEN} characters a token and {TEMPLATE} tokens more a prompt"
        notes.append(f"{lengths}, for the tokenizer of {recipe.model!r} is not on this machine")
    return TaskPlan(
        task=name,
        sizes=(len(texts.train), len(texts.evaluated["validation"]), len(texts.evaluated["test"])),
        arms=_arms(recipe, name),
        characters=texts.characters,
        training=_training(recipe, texts, limit),
        drawing=_drawing(recipe, name, texts.evaluated),
        notes=tuple(notes),
    )


def steps(recipe: Recipe, demonstrations: int) -> int:
    """Optimizer steps of one fine-tuning; the last of an epoch may have a smaller batch.

    >>> from erce.recipe import parse_recipe
    >>> steps(parse_recipe({"task": "gsm8k", "lams": [0], "seeds": [0]}), 1000)
    189
    """
    wanted = recipe.training
    batches = math.ceil(demonstrations / wanted.micro_batch_size)
    accumulated = wanted.batch_size // wanted.micro_batch_size
    return math.ceil(wanted.epochs * math.ceil(batches / accumulated))


def _training(recipe: Recipe, texts: "_Texts", limit: int) -> TrainingWork:
    kept = [Text(each.prompt, max(0, min(each.demonstration, limit - each.prompt))) for each in texts.train]
    epochs, lengths = recipe.training.epochs, [sum(each) for each in kept]
    return TrainingWork(
        steps=steps(recipe, len(kept)),
        read=round(epochs * sum(lengths)),
        scored=round(epochs * sum(each.demonstration for each in kept)),
        squares=round(epochs * sum(length * length for length in lengths)),
        longest=max(lengths) if texts.known else limit,
        truncated=sum(a != b for a, b in zip(kept, texts.train, strict=True)),
    )


def _drawing(recipe: Recipe, name: str, evaluated: dict[str, list[Text]]) -> DrawingWork:
    asked = list(decodings(recipe, name).values())
    texts = [each for split in EVALUATED for each in evaluated[split]]
    samples = sum(draw.samples for draw in asked)
    limit = max(draw.max_new_tokens for draw in asked)
    return DrawingWork(
        completions=samples * len(texts),
        read=len(asked) * sum(each.prompt for each in texts),
        prompt=sum(each.prompt for each in texts) / len(texts),
        expected=samples * sum(min(each.demonstration, limit) for each in texts),
        most=samples * len(texts) * limit,
        longest=max(each.prompt for each in texts) + limit,
        rows=min(
            recipe.decoding.batch_size,
            max(map(len, evaluated.values())) * max(draw.samples for draw in asked),
        ),
    )


class _Texts(NamedTuple):
    """The lengths of a task's problems; those that are not `known` are all as long as the mean."""

    train: list[Text]
    evaluated: dict[str, list[Text]]
    characters: tuple[float, float]
    known: bool


def _counted(problems: Splits, tokenizer: Any, limit: int) -> _Texts:
    if tokenizer is not None:
        training_rows(tokenizer, problems.train, limit)  # what it refuses, a run would
    train = problems.train
    prompts, demonstrations = (
        sum(map(len, texts)) / len(train)
        for texts in ([each.prompt for each in train], [each.demonstration for each in train])
    )
    evaluated = {split: _lengths(getattr(problems, split), tokenizer) for split in EVALUATED}
    return _Texts(_lengths(train, tokenizer), evaluated, (prompts, demonstrations), True)


def _assumed(recipe: Recipe, task: Task) -> _Texts:
    characters = MEAN_CHARACTERS[task.name]
    asked = (recipe.n_train, recipe.n_validation, recipe.n_test)
    usual = (task.n_train, task.n_validation, task.n_test)
    train, *others = (own if n is None else n for n, own in zip(asked, usual, strict=True))
    text = [_assumed_text(*characters)]
    evaluated = {split: text * n for split, n in zip(EVALUATED, others, strict=True)}
    return _Texts(text * train, evaluated, characters, False)


def _lengths(problems: Sequence[Problem], tokenizer: Any) -> list[Text]:
    if tokenizer is None:
        return [_assumed_text(len(each.prompt), len(each.demonstration)) for each in problems]
    return [
        Text(len(prompt_ids(tokenizer, each.prompt)), len(demonstration_ids(tokenizer, each.demonstration)))
        for each in problems
    ]


def _assumed_text(prompt: float, demonstration: float) -> Text:
    """Of so many characters."""
    words, answer = (math.ceil(each / CHARACTERS_A_TOKEN) for each in (prompt, demonstration))
    return Text(TEMPLATE + words, answer + 1)


def _arms(recipe: Recipe, name: str) -> dict[Arm, int]:
    counted: dict[Arm, int] = {}
    for cell in recipe.cells():
        if cell.task == name:
            counted[cell.arm] = counted.get(cell.arm, 0) + 1
    return counted


def _first(error: ValueError) -> str:
    """What is wrong, without the way out."""
    return str(error).partition(";")[0].partition(" (")[0]
