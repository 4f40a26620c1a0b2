"""A recipe's problems → what each of its cells takes: optimizer steps, completions and tokens."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from erce import events
from erce.catalog import is_here, is_hub_name
from erce.errors import InputError
from erce.hf.prompt import demonstration_ids, prompt_ids, training_rows
from erce.recipe import RFT, Cell, Recipe, load_recipe
from erce.study.demonstrations import cell_splits, demonstrations
from erce.study.folder import TRAINING, Study
from erce.study.memory import Lengths
from erce.study.schedule import decodings
from erce.tasks import check_demonstrations, load_task
from erce.tasks.source import NotOnThisMachineError
from erce.types import Problem, Splits, Task

SIZES = ("n_train", "n_validation", "n_test")
CHARACTERS_PER_TOKEN = 3  # fewer than English has, so that rather too many tokens are assumed
TEMPLATE_TOKENS = 30  # that a chat template adds to a prompt
# Task → mean characters of a prompt and a demonstration, for a dry run without the problems.
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


@dataclass(frozen=True)
class Texts:
    """Token counts of a task's problems; of the data set's mean lengths where it is not here."""

    train: list[TextTokens]
    validation: list[TextTokens]
    test: list[TextTokens]
    are_real: bool  # whether the counts are those of problems, and not of means
    limit: int  # tokens of a sequence in training, at most
    new: int  # tokens of a completion, at most
    notes: list[str]  # what was assumed

    @property
    def trained(self) -> list[TextTokens]:
        """The training texts, cut off at the limit."""
        ends = (max(0, min(text.demonstration, self.limit - text.prompt)) for text in self.train)
        return [TextTokens(text.prompt, end) for text, end in zip(self.train, ends, strict=True)]

    @property
    def longest(self) -> int:
        """The tokens of the longest sequence in training; the limit where the lengths are means."""
        return max(map(sum, self.trained)) if self.are_real else self.limit

    def lengths(self, *, samples_train: bool) -> Lengths:
        """Return the most tokens of what a cell trains on and samples, with or without training problems."""
        sampled = [*self.validation, *self.test, *(self.train if samples_train else ())]
        return Lengths(self.longest, max(text.prompt for text in sampled) + self.new, self.new)


class CellCost(NamedTuple):
    """What a cell takes, or what is left of it."""

    steps: int
    read: int  # tokens of its training, prompts included
    completions: int
    expected: int  # tokens of its completions if each is as long as its demonstration
    most: int  # tokens if each completion is cut off at its limit


@dataclass(frozen=True)
class StudyCost:
    """What each cell of a study takes, by the texts of its tasks."""

    study: Study
    texts: Mapping[str, Texts]

    @property
    def recipe(self) -> Recipe:
        return self.study.recipe

    @cached_property
    def results(self) -> dict[Cell, dict[str, Any]]:
        """The result.json of each cell that is done, those of own samples first."""
        return self.study.own_results | self.study.results

    def whole(self, cell: Cell) -> CellCost:
        """Return what a cell takes from its beginning to its end."""
        return self._cost(cell, passes=self._demonstrations(cell), sampled=())

    def left(self, cell: Cell) -> CellCost:
        """Return what a cell takes without what is done: its training, and decodings with their scores."""
        is_trained = (self.study.folder(cell) / TRAINING).is_file()
        scores = self.results.get(cell, {}).get("scores", {})
        sampled = set.intersection(*map(set, scores.values())) if scores else ()
        return self._cost(cell, passes=0.0 if is_trained else self._demonstrations(cell), sampled=sampled)

    def _cost(self, cell: Cell, *, passes: float, sampled: Collection[str]) -> CellCost:
        """Return the cost of a cell with so many demonstrations per problem, without what is `sampled`."""
        texts, epochs = self.texts[cell.task], self.recipe.training.epochs
        problems = texts.train if cell.is_own else texts.validation + texts.test
        settings = [how for name, how in decodings(self.recipe, cell).items() if name not in sampled]
        samples = sum(how.samples for how in settings)
        return CellCost(
            steps=steps(self.recipe, round(passes * len(texts.train))),
            read=round(passes * epochs * sum(map(sum, texts.trained))),
            completions=samples * len(problems),
            expected=samples * sum(min(text.demonstration, texts.new) for text in problems),
            most=samples * len(problems) * texts.new,
        )

    def _demonstrations(self, cell: Cell) -> float:
        """Return a training's demonstrations per problem; of own answers the most, until these are there."""
        if not cell.learns_own:
            return float(cell.is_trained)
        splits = cell_splits(self.recipe, cell.task) if self.texts[cell.task].are_real else None
        if splits and self.recipe.source(cell) in self.results:
            return len(demonstrations(self.study.root, self.recipe, cell, splits)) / len(splits.train)
        return self.most_own + (cell.method == RFT)

    @property
    def most_own(self) -> int:
        """How many own answers of a problem a cell trains on, at most."""
        return min(self.recipe.own_samples.keep, self.recipe.own_samples.samples)


def steps(recipe: Recipe, demonstrations: int) -> int:
    """Return the optimizer steps of one fine-tuning; the last of an epoch may have a smaller batch.

    >>> from erce.recipe import parse_recipe
    >>> steps(parse_recipe({"task": "gsm8k", "lams": [0], "seeds": [0]}), 1000)
    189
    """
    return math.ceil(recipe.training.epochs * math.ceil(demonstrations / recipe.training.batch_size))


def limits(recipe: str | Path, limit: int, **overrides: Any) -> dict[str, int]:
    """Return the three sizes, as settings, that leave every task of a recipe at most `limit` problems each.

    `overrides` are what `load_recipe` takes. Sizes below `limit` stay. A user's own task has the sizes of its
    file, which is read for them.
    """
    if limit < 1:
        raise InputError(f"limit = {limit} leaves no problems; it is at least 1")
    whole = load_recipe(recipe, **overrides)

    def size(task: str, name: str) -> int:
        wanted = getattr(load_task(task) if getattr(whole, name) is None else whole, name)
        return wanted or len(getattr(cell_splits(whole, task), name.removeprefix("n_")))

    return {name: min(limit, *(size(task, name) for task in whole.tasks)) for name in SIZES}


def cached_tokenizer(model: str) -> Any:
    """Return the tokenizer; None for a model of the hub that is not in the cache."""
    if is_here(model) or not is_hub_name(model):
        from erce.hf.models import load_tokenizer

        return load_tokenizer(model)  # as a run, which refuses what is no model
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model, local_files_only=True)
    except OSError:
        return None


def read_texts(recipe: Recipe, task: Task, tokenizer: Any) -> Texts:
    """Count the tokens of a task's problems; without a tokenizer, assume them from characters, with a note.

    If the problems would come from the hub and are not in its cache, `MEAN_CHARACTERS` is assumed. All else
    that a run would refuse is an InputError, first of all a demonstration that the task's own verifier does
    not accept; programs are run for that as in a study.
    """
    limit = task.max_length if recipe.training.max_length is None else recipe.training.max_length
    events.begin("reading problems and looking for near-duplicates", cell="")
    notes, are_real = [], True
    try:
        problems = cell_splits(recipe, task.name)
    except NotOnThisMachineError as error:
        if task.name not in MEAN_CHARACTERS:
            raise
        are_real, tokenizer, (prompt, answer) = False, None, MEAN_CHARACTERS[task.name]
        means = f"a prompt of {prompt} characters and a demonstration of {answer}, the data set's means, are"
        notes.append(f"{task.name}: {error.what}, so {means} assumed; --data FOLDER counts the real texts")
        problem = Problem(id="", prompt="x" * prompt, demonstration="x" * answer, answer="")
        sizes = (getattr(task if getattr(recipe, name) is None else recipe, name) for name in SIZES)
        problems = Splits(*((problem,) * size for size in sizes))
    # What a run refuses comes before what is only counted.
    every = [problem for part in vars(problems).values() for problem in part]
    if are_real:
        events.begin("checking demonstrations", len(every))
        check_demonstrations(task, _advancing(every), refuse_unproven=recipe.refuses_unproven)
    if tokenizer is None:
        why = f", for the tokenizer of {recipe.model!r} is not on this machine" if are_real else ""
        assumed = f"{CHARACTERS_PER_TOKEN} characters per token and {TEMPLATE_TOKENS} tokens more per prompt"
        notes.append(f"{assumed} are assumed{why}")
    events.begin("counting tokens", len(every))
    train, *others = (
        [_tokens(tokenizer, problem) for problem in _advancing(part)] for part in vars(problems).values()
    )
    if tokenizer is not None:  # in a run's words
        too_long = [each for each, text in zip(problems.train, train, strict=True) if text.prompt >= limit]
        training_rows(tokenizer, too_long, limit)
    new = recipe.decoding.max_new_tokens or task.max_new_tokens
    cut_off = sum(text.demonstration > new for text in chain(train, *others))
    if cut_off and tokenizer is not None:
        notes.append(
            f"{task.name}: {cut_off} of {len(every)} demonstrations are longer than max_new_tokens = {new}, "
            "at which answers are cut off"
        )
    return Texts(train, *others, are_real=are_real, limit=limit, new=new, notes=notes)


def _advancing(problems: Iterable[Problem]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        events.advance(1)


def _tokens(tokenizer: Any, problem: Problem) -> TextTokens:
    texts = problem.prompt, problem.demonstration
    if tokenizer is None:
        prompt, answer = (math.ceil(len(text) / CHARACTERS_PER_TOKEN) for text in texts)
        return TextTokens(TEMPLATE_TOKENS + prompt, answer + 1)
    return TextTokens(len(prompt_ids(tokenizer, texts[0])), len(demonstration_ids(tokenizer, texts[1])))
