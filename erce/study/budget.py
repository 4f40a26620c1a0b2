"""A recipe → what its study takes: cells, steps, tokens, memory and time, and the batch sizes that fit.

`dry_run` runs no cell. Batch sizes change speed alone, but for rounding and for which numbers dropout sets to
zero. The embedded models fit anywhere: they have the largest sizes, and so their bits on every machine.

Bytes are rules of thumb. The allocator's share, CUDA's context and the libraries take 1 to 2 GB more.
"""

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from erce import events
from erce.catalog import EMBEDDED_MODELS, is_here, is_hub_name, nearest_model
from erce.errors import InputError, counted
from erce.generate.backend import backend_of
from erce.hf.prompt import demonstration_ids, prompt_ids, training_rows
from erce.recipe import RFT, SELF, Cell, Recipe, load_recipe
from erce.recipe.sections import MOST_COMPLETIONS, MOST_SEQUENCES
from erce.study.demonstrations import cell_splits
from erce.study.engines.progress import duration
from erce.study.folder import TRAINING, Study, cell_folder, check_folder, read_result, read_timing
from erce.study.probe import MEASURED_SECONDS, Speed, measured_speed
from erce.study.schedule import decodings, planned_cells
from erce.study.stages import cpu_threads
from erce.tasks import check_demonstrations, load_task
from erce.tasks.source import NotOnThisMachineError
from erce.types import CROSS_ENTROPY, Arm, Problem, Splits, Task

SIZES = ("n_train", "n_validation", "n_test")
# What an H100 in a virtual machine reached with Qwen2.5-1.5B's shape, as shares of its peak: 4,362 tokens a
# second read in training, 589 generated eagerly. Compiled, 0.5B's shape was 25 times as fast (docs/scale.md).
TRAINING_SHARE, GENERATION_SHARE, COMPILED = 0.027, 0.0018, 25
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


WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes per weight
OPTIMIZER_BYTES = 16  # per adapter weight: itself, its gradient and AdamW's two moments, in float32
HEAD_BYTES = 512 * 2**20  # of logits that the loss holds at a time (erce.loss.chunked)
# Bytes that autograd keeps per token and layer, in bfloat16 with LoRA's dropout, for each unit of the hidden
# state and of the feed-forward; keys and LoRA's rank add some 3 % (tests/study/test_budget_memory.py).
KEPT_HIDDEN, KEPT_INTERMEDIATE = 48, 12
STEP_BYTES = 40  # per token of the vocabulary in a step of sampling: float32 and float64 at once

USED_SHARE = 0.8  # of the free memory
LIBRARY_BYTES = 1e9  # that torch and its libraries take beside what is computed
BATCH_SECONDS = 60.0  # of a batch of completions on a CPU: what a killed run loses
# Operations per second of a CPU's thread that writes 64 completions: measured once with SmolLM2-135M on a
# busy server with AMX (47e9, and 31e9 in float32), and only to choose a size.
THREAD_FLOPS = {"bfloat16": 50e9, "float16": 30e9, "float32": 30e9}
LONGEST_TEXTS = 8  # by characters, among which the longest by tokens is looked for

FIELDS = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "vocab_size",
    "tie_word_embeddings",
    "num_key_value_heads",
)
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")  # fields of a mixture of experts
# The paper's models, for a dry run on a machine without them; from each config.json on the hub.
PUBLIC: dict[str, tuple[Any, ...]] = {
    "Qwen/Qwen2.5-1.5B-Instruct": (1536, 8960, 28, 12, 151_936, True, 2),
    "Qwen/Qwen2.5-7B-Instruct": (3584, 18_944, 28, 28, 152_064, False, 4),
}


class Device(NamedTuple):
    """A device as its maker describes it."""

    flops: float  # dense bfloat16 operations per second
    memory: float  # bytes


DEVICES = {
    "a100": Device(312e12, 80e9),
    "a100-40": Device(312e12, 40e9),
    "h100": Device(989e12, 80e9),
    "h200": Device(989e12, 141e9),
    "l40s": Device(362e12, 48e9),
    "l4": Device(121e12, 24e9),
    "rtx4090": Device(165e12, 24e9),
}


class Lengths(NamedTuple):
    """The most tokens of a sequence in training, of a prompt with its completion, and of a completion."""

    trained: int
    sampled: int
    new: int


class BatchSizes(NamedTuple):
    """How many completions are written at a time, and how many sequences are in a forward pass."""

    completions: int
    sequences: int
    free: float = 0.0  # bytes that they were fitted to; 0: to none

    def __str__(self) -> str:
        return f"{self.completions} completions at a time, {self.sequences} sequences a forward pass"


class TrainingWork(NamedTuple):
    """What one training on the given demonstrations takes, and how many such trainings a task asks for."""

    steps: int
    read: int  # tokens, prompts included
    scored: int  # tokens that are trained on
    longest: int  # tokens of a sequence
    truncated: int  # sequences that are cut off there
    trainings: int  # a cell that has k demonstrations per problem counts k times

    def __str__(self) -> str:
        cut = f", {counted(self.truncated, 'sequence')} cut off there" if self.truncated else ""
        tokens = f"{self.scored:,} tokens trained on of {self.read:,} read"
        return f"per cell: {self.steps} steps, {tokens}; the longest sequence has {self.longest}{cut}"


class SamplingWork(NamedTuple):
    """What cells take that sample alike; all but their number is of one cell."""

    cells: int
    when: str  # words after the number of cells
    completions: int
    expected: int  # tokens if each completion is as long as its demonstration
    most: int  # tokens if each completion is cut off at its limit
    prompt: int  # tokens of the longest prompt
    prompts: int  # tokens of the prompts, each read once per decoding

    def __str__(self) -> str:
        tokens = f"{self.expected:,} tokens if as long as the demonstrations, {self.most:,} at most"
        return f"{counted(self.cells, 'cell')}{self.when}, each: {self.completions:,} completions, {tokens}"


class TaskWork(NamedTuple):
    """What a task of a recipe asks for."""

    sizes: str  # of its splits, in words
    arms: list[Arm]
    cells: int  # without that of own samples
    training: TrainingWork
    sampling: list[SamplingWork]
    new: int  # tokens of a completion, at most
    notes: list[str]  # what was assumed, not counted

    @property
    def read(self) -> int:
        """The tokens of all its trainings, prompts included."""
        return self.training.read * self.training.trainings

    @property
    def lengths(self) -> Lengths:
        """The most tokens of a sequence, of a prompt with its completion, and of a completion."""
        prompt = max((work.prompt for work in self.sampling), default=0)
        return Lengths(self.training.longest, prompt + self.new, self.new)

    def lines(self, recipe: Recipe) -> list[str]:
        """Return what the dry run prints of the task."""
        steps_of_all = self.training.trainings * self.training.steps
        completions = sum(work.cells * work.completions for work in self.sampling)
        return [
            self.sizes,
            f"  cells     {self.cells}: {_arms(recipe, self.arms)}",
            f"  training  {self.training}",
            *(f"  sampling  {work}" for work in self.sampling),
            f"  in all    {steps_of_all:,} steps, {self.read:,} tokens read, {completions:,} completions",
        ]


class Tokens(NamedTuple):
    """The tokens of cells: read in training, read as prompts, and written as `SamplingWork` expects."""

    read: int
    prompts: int
    expected: int
    most: int


class TextTokens(NamedTuple):
    """The tokens of a problem's prompt and demonstration, the template and the end token included."""

    prompt: int
    demonstration: int


class Texts(NamedTuple):
    """The texts of a task's problems, or as many of the data set's mean lengths."""

    train: list[TextTokens]
    validation: list[TextTokens]
    test: list[TextTokens]
    problems: tuple[Problem, ...]  # to train on; none where the lengths are not of real ones
    limit: int  # tokens of a sequence in training, at most
    new: int  # tokens of a completion, at most
    notes: list[str]  # what was assumed


def device_here() -> str:
    """Return the name in `DEVICES` of this machine's GPU, "h100" for one that is not there, or "cpu"."""
    import torch

    if not torch.cuda.is_available():
        return "cpu"
    called = torch.cuda.get_device_name().lower().replace(" ", "")
    return next((name for name in DEVICES if name in called), "h100")


def dry_run(
    recipe: Recipe, root: Path, *, device: str = "h100", speed: Speed | None = None, jobs: int = 1
) -> list[str]:
    """Return lines on what the recipe's study takes if its folder is `root`; assumptions come last.

    `jobs` cells run at a time, each on a device of its own.

    With HF_HUB_OFFLINE set, as `erce run --dry-run` does, a tokenizer, a config.json or a data set of the hub
    is read from the cache alone; if it is missing, notes say what is assumed. All else that a run would
    refuse, and a device that is not in `DEVICES`, are InputErrors.
    """
    if device not in (*DEVICES, "cpu"):
        raise InputError(f"no device {device!r}; there are {', '.join(DEVICES)} and cpu")
    check_folder(root, recipe)
    if recipe.has_user_defined_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objective_names)
    for name in recipe.tasks:  # before the tokenizer, which takes seconds: a file may be missing
        with suppress(NotOnThisMachineError):
            cell_splits(recipe, name)
    tokenizer = _tokenizer(recipe.model)
    texts = {name: _texts(recipe, load_task(name), tokenizer) for name in recipe.tasks}
    tasks = [_task_work(recipe, name, texts[name]) for name in recipe.tasks]
    planned = Study(root, recipe).planned
    results = {cell: result for cell in planned if (result := read_result(cell_folder(root, recipe, cell)))}
    done = f", {len(results)} of them done" if results else ""
    lines = [f"{root}: {counted(len(planned), 'cell')}{done}; a dry run, nothing is written"]
    lines += [line for task in tasks for line in task.lines(recipe)]
    notes = [note for task in tasks for note in task.notes]
    config, sizes = None, BatchSizes(0, 0)  # last: without a config the rest holds all the same, with a note
    try:
        config = read_config(recipe.model)
    except InputError as error:
        notes.append(f"memory, and hours without --tokens-per-second, are not computed: {error}")
    if config is not None:
        lengths = Lengths(*map(max, zip(*(task.lengths for task in tasks), strict=True)))
        there = DEVICES[device].memory if device in DEVICES else free_memory()
        share = recipe.resources.gpus or 1.0 if device in DEVICES else 1 / jobs
        sizes = fitting(recipe, config, lengths, device=device, memory=there, share=share)
        lines += _memory_lines(recipe, config, lengths, sizes, device=device, there=there)
    work = StudyWork(root, recipe, planned, results, texts)
    lines += _time_lines(work, speed, config=config, device=device, sizes=sizes, jobs=jobs)
    if not backend_of(recipe).in_cell_process:
        notes.append("the server generates the completions; its memory and hours are not counted")
    return [*lines, *(f"note     {note}" for note in dict.fromkeys(notes))]


def _task_work(recipe: Recipe, name: str, texts: Texts) -> TaskWork:
    """Count the work of one task."""
    # Own samples are of training problems, and are counted apart.
    cells = [cell for cell in planned_cells(recipe) if cell.task == name and not cell.is_own]
    own = recipe.own_cells if recipe.task == name else []
    notes = [*texts.notes]
    if own:
        keep = min(recipe.own_samples.keep, recipe.own_samples.samples)
        notes.append(f"rft and self: counted as if every problem had {keep} accepted samples, the most")
    sizes = f"{len(texts.train)} train, {len(texts.validation)} validation, {len(texts.test)} test problems"
    swept = [cell for cell in cells if cell.all_temperatures and recipe.decoding.temperatures]
    groups = [
        ([cell for cell in cells if cell not in swept], ""),
        (swept, " with the temperature sweep"),
        (own, " of training problems"),
    ]
    return TaskWork(
        sizes=f"{name}: {sizes}",
        arms=list(dict.fromkeys(cell.arm for cell in cells)),
        cells=len(cells),
        training=_training_work(recipe, cells, texts),
        sampling=[
            _sampling_work(recipe, alike[0], texts)._replace(cells=len(alike), when=when)
            for alike, when in groups
            if alike
        ],
        new=texts.new,
        notes=notes,
    )


def _training_work(recipe: Recipe, cells: Sequence[Cell], texts: Texts) -> TrainingWork:
    limit = texts.limit
    kept = [
        TextTokens(text.prompt, max(0, min(text.demonstration, limit - text.prompt))) for text in texts.train
    ]
    keep, epochs = min(recipe.own_samples.keep, recipe.own_samples.samples), recipe.training.epochs
    demonstrations = {RFT: 1 + keep, SELF: keep}  # objective → demonstrations per problem, at most
    return TrainingWork(
        steps=steps(recipe, len(kept)),
        read=round(epochs * sum(map(sum, kept))),
        scored=round(epochs * sum(text.demonstration for text in kept)),
        longest=max(map(sum, kept)) if texts.problems else limit,
        truncated=sum(text != whole for text, whole in zip(kept, texts.train, strict=True)),
        trainings=sum(demonstrations.get(cell.objective, 1) for cell in cells if cell.is_trained),
    )


def _sampling_work(recipe: Recipe, cell: Cell, texts: Texts, *, done: Collection[str] = ()) -> SamplingWork:
    """Return what one cell samples, without the decodings that are `done`."""
    problems = texts.train if cell.is_own else texts.validation + texts.test
    samples = [settings.samples for name, settings in decodings(recipe, cell).items() if name not in done]
    completions = sum(samples) * len(problems)
    return SamplingWork(
        cells=1,
        when="",
        completions=completions,
        expected=sum(samples) * sum(min(text.demonstration, texts.new) for text in problems),
        most=completions * texts.new,
        prompt=max(text.prompt for text in problems),
        prompts=len(samples) * sum(text.prompt for text in problems),
    )


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


def _tokenizer(model: str) -> Any:
    """Return the tokenizer; None for a model of the hub that is not in the cache."""
    if is_here(model) or not is_hub_name(model):
        from erce.hf.models import load_tokenizer

        return load_tokenizer(model)  # as a run, which refuses what is no model
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(model, local_files_only=True)
    except OSError:
        return None


def _texts(recipe: Recipe, task: Task, tokenizer: Any) -> Texts:
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
    return Texts(
        train,
        *others,
        problems=problems.train if are_real else (),
        limit=limit,
        new=recipe.decoding.max_new_tokens or task.max_new_tokens,
        notes=notes,
    )


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


def _arms(recipe: Recipe, arms: list[Arm]) -> str:
    grid = [arm for arm in arms if not arm.is_base and not recipe.is_other(arm)]
    lams = [f"{arm.lam:g}".replace("-", "−") for arm in grid]
    on = "" if recipe.objective == CROSS_ENTROPY else f" on {recipe.objective}"
    others = "".join(f" and {arm.name(recipe.objective)}" for arm in arms if recipe.is_other(arm))
    trained = f"λ = {', '.join(lams)}{on}{others}"
    if len(lams) < len(recipe.lams):
        trained = f"λ = 0 and the λ that validation chooses{on}"
    return f"the base model, and {trained} with {counted(len(recipe.seeds), 'seed')}"


def _memory_lines(
    recipe: Recipe, config: Any, lengths: Lengths, sizes: BatchSizes, *, device: str, there: float
) -> list[str]:
    needs = {"training": training_memory(recipe, config, lengths, sizes.sequences, device)}
    if backend_of(recipe).in_cell_process:
        needs["generation"] = generation_memory(recipe, config, lengths, sizes.completions, device)
    of_base, of_adapter = weights(config), adapter_weights(config, recipe.training.rank)
    of_model = f"{of_base / 1e6:,.1f} M weights, {of_adapter / 1e6:,.1f} M of the adapter"
    lines = [f"model {recipe.model} in {dtype_on(recipe, device)}: {of_model}"]
    for name, parts in needs.items():
        total, of_parts = sum(parts.values()), " + ".join(f"{part} {_size(parts[part])}" for part in parts)
        has = f"; {device} has {_size(there)}" if device in DEVICES else ""
        if has and total >= there:
            has = f"; MORE than {device}'s {_size(there)}: lower micro_batch_size or [decoding] batch_size"
        lines.append(f"  memory    {name}: {_size(total)} = {of_parts}{has}")
    lines.append(f"  batches   {sizes}" + (f" (fitted to {_size(sizes.free)})" if sizes.free else ""))
    return lines


def _size(count: float) -> str:
    """Return bytes in words, such as 3.1 GB or 21.5 MB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


class StudyWork(NamedTuple):
    """The cells that a study will have, which of them are done, and the texts of their tasks."""

    root: Path
    recipe: Recipe
    planned: Sequence[Cell]
    results: Mapping[Cell, dict[str, Any]]
    texts: Mapping[str, Texts]

    def tokens(self, cell: Cell, *, also_done: bool = False) -> Tokens:
        """Return what a cell reads and writes, without what is done already unless asked for."""
        scores = {} if also_done else self.results.get(cell, {}).get("scores", {})
        done = set.intersection(*map(set, scores.values())) if scores else ()
        is_trained = (cell_folder(self.root, self.recipe, cell) / TRAINING).is_file() and not also_done
        training = _training_work(self.recipe, [cell], self.texts[cell.task])
        sampling = _sampling_work(self.recipe, cell, self.texts[cell.task], done=done)
        read = 0 if is_trained else training.read * training.trainings
        return Tokens(read, sampling.prompts, sampling.expected, sampling.most)

    def seconds(self, cells: Iterable[Cell], speed: Speed) -> "Seconds":
        """Return what is left of some cells takes, one after another."""
        read, prompts, expected, most = map(sum, zip(*map(self.tokens, cells), strict=True))
        if not backend_of(self.recipe).in_cell_process:
            prompts = expected = most = 0
        before = prompts / speed.prompts
        return Seconds(
            read / speed.training, before + expected / speed.generation, before + most / speed.generation
        )


class Seconds(NamedTuple):
    """The time of trainings, and of generation: as `SamplingWork` counts tokens."""

    training: float
    expected: float
    most: float


def _time_lines(
    work: StudyWork, speed: Speed | None, *, config: Any, device: str, sizes: BatchSizes, jobs: int
) -> list[str]:
    """Return the time of what is left, and of a first look, at the given speed or one that is known here."""
    left = [cell for cell in work.planned if any(work.tokens(cell))]
    if not left:
        return []
    one = "one device with these speeds" if speed else "this machine" if device == "cpu" else f"one {device}"
    try:
        speed = speed or _known_speed(work, config=config, device=device, sizes=sizes, jobs=jobs)
    except InputError as error:
        return [f"  time      unknown: {error}"]
    if speed is None:
        return []
    seconds = work.seconds(left, speed)
    cut_off = f"{duration(seconds.most)} if every completion is cut off at its limit"
    parts = f"training {duration(seconds.training)}, generation {duration(seconds.expected)} ({cut_off})"
    total, cells = seconds.training + seconds.expected, ""
    if work.results:
        cells = f" for the {counted(len(left), 'cell')} that are not done"
    if jobs > 1:
        one = one.replace("one ", f"{jobs} times ").replace("machine", f"machine, {jobs} cells at a time")
        one += f", of {duration(total)} in all"
    basis = speed.basis or (
        f"at {speed.training:g} tokens per second read in training, {speed.generation:g} generated"
    )
    lines = [f"  time      {duration(total / jobs)} of {one}{cells}: {parts}", f"            {basis}"]
    return lines + _first_look_lines(work, speed, jobs)


def _first_look_lines(work: StudyWork, speed: Speed, jobs: int) -> list[str]:
    """Return the time of λ = 0 and one other λ with one seed, if that is less than the study and not done."""
    recipe = work.recipe
    lams = (*[lam for lam in recipe.lams if not lam], *[lam for lam in recipe.lams if lam][:1])
    cells = planned_cells(replace(recipe, lams=lams, seeds=recipe.seeds[:1]))
    seconds = work.seconds(cells, speed)
    total, names = seconds.training + seconds.expected, [f"{lam:g}" for lam in lams]
    if len(cells) == len(work.planned) or not total:
        return []
    settings = f"--set 'lams=[{', '.join(names)}]' --set 'seeds=[{recipe.seeds[0]}]'"
    look = f"a first look at λ = {' and '.join(names)} with one seed"
    return [f"  first     {duration(total / jobs)} for {look}: {settings}, and the rest later"]


def _known_speed(work: StudyWork, *, config: Any, device: str, sizes: BatchSizes, jobs: int) -> Speed | None:
    """Return the speed of finished cells, if they ran on such a device; else by its peak, or measured.

    None for a model whose weights cannot be counted, as a note says.
    """
    if work.results and device == device_here() and (finished := _finished_speed(work)):
        return finished
    if config is None:
        return None
    if device not in DEVICES:
        return _measured_speed(work, config, sizes, jobs)
    # Operations per weight and token: 2 forward, 2 backward through frozen weights, 2 to compute again.
    of_training = 6 if work.recipe.training.gradient_checkpointing else 4
    rate = DEVICES[device].flops / weights(config)
    compiled = 1 if work.recipe.decoding.compile is False else COMPILED
    return Speed(
        TRAINING_SHARE * rate / of_training,
        compiled * GENERATION_SHARE * rate / 2,
        basis="from what one H100 did with a model of 1.5 B weights, by peak and weights: a guess elsewhere",
    )


def _finished_speed(work: StudyWork) -> Speed | None:
    """Return the speed at which cells were trained, and sampled and verified; None if no time was kept."""
    read = written = training = generation = 0.0
    for cell in work.results:
        timing = read_timing(cell_folder(work.root, work.recipe, cell))
        tokens = work.tokens(cell, also_done=True)
        if "training" in timing:
            read, training = read + tokens.read, training + timing["training"]
        if "generation" in timing:
            written = written + tokens.expected
            generation += timing["generation"] + timing.get("verification", 0.0)
    if not min(read, written, training, generation):
        return None
    basis = f"as fast as the {counted(len(work.results), 'cell')} that are done"
    return Speed(read / training, written / generation, basis=basis)


def _measured_speed(work: StudyWork, config: Any, sizes: BatchSizes, jobs: int) -> Speed:
    """Measure the speed of this machine's processor, if the model and the problems are here and fit."""
    recipe, texts = work.recipe, work.texts[work.recipe.task]
    way_out = "so no speed can be measured; --device names a GPU instead"
    if not texts.problems or _tokenizer(recipe.model) is None:
        raise InputError(
            f"the {'model is' if texts.problems else 'problems are'} not on this machine, {way_out}"
        )
    if weights(config) * WIDTHS[dtype_on(recipe, "cpu")] > free_memory():
        raise InputError(f"the model does not fit the memory, {way_out}")
    of_token = 2 * weights(config) / _cpu_flops(recipe, 1 / jobs)  # seconds of a forward pass
    of_sequence = 3 * of_token * fmean(map(sum, texts.train))
    of_prompt = of_token * fmean(text.prompt for text in texts.train)
    threads = recipe.resources.threads or (max(1, (os.cpu_count() or 1) // jobs) if jobs > 1 else None)
    with cpu_threads(threads):
        return measured_speed(
            recipe,
            texts.problems,
            [min(text.demonstration, texts.new) for text in texts.test],
            sequences=min(sizes.sequences, max(1, int(MEASURED_SECONDS / 3 / of_sequence))),
            prompts=min(sizes.completions, max(1, int(MEASURED_SECONDS / 2 / of_prompt))),
            rows=sizes.completions,
        )


def _cpu_flops(recipe: Recipe, share: float) -> float:
    """Return the operations per second of a share of this machine's threads, by `THREAD_FLOPS`."""
    return max(1.0, share * (os.cpu_count() or 1)) * THREAD_FLOPS[dtype_on(recipe, "cpu")]


def read_config(model: str) -> Any:
    """Return the transformers config of a dense decoder on this machine or in `PUBLIC`; nothing is fetched.

    An InputError says why there is none: no config.json, other fields, or a mixture of experts.
    """
    from transformers import AutoConfig, Qwen2Config

    from erce.hf.models import pretrained_name

    here = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(pretrained_name(model), **here).get_text_config()
    except (OSError, ValueError) as error:
        if model in PUBLIC:
            return Qwen2Config(**dict(zip(FIELDS, PUBLIC[model], strict=True)))
        why, meant = str(error).split("\n")[0].rstrip("."), nearest_model(model)
        raise InputError(
            f"no config.json of {model!r} that can be read on this machine ({why}); "
            f"{meant or 'name a folder that has it'}"
        ) from None
    if any(name.startswith(EXPERTS) for name in vars(config)):
        raise InputError(f"{model!r} is a mixture of experts, for which there is no formula here")
    if lacking := [name for name in FIELDS[:-1] if not hasattr(config, name)]:
        raise InputError(
            f"the config.json of {model!r} is not that of a dense decoder: it has no {lacking[0]}"
        )
    return config


def _widths(config: Any) -> tuple[int, int]:
    """Return the widths of a layer's queries, and of its keys."""
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return heads * width, (getattr(config, "num_key_value_heads", None) or heads) * width


def _projections(config: Any) -> list[tuple[int, int]]:
    """Return (inputs, outputs) of q, k, v, o, gate, up and down in one layer."""
    (query, key), hidden, inner = _widths(config), config.hidden_size, config.intermediate_size
    return [(hidden, query), *[(hidden, key)] * 2, (query, hidden), *[(hidden, inner)] * 3]


def weights(config: Any) -> int:
    """Return the weights of projections, embedding and head; norms and biases, under 0.2 %, are left out.

    >>> f"{weights(read_config('Qwen/Qwen2.5-1.5B-Instruct')):,}"
    '1,543,569,408'
    """
    tables = (1 if config.tie_word_embeddings else 2) * config.vocab_size * config.hidden_size
    return config.num_hidden_layers * sum(n * m for n, m in _projections(config)) + tables


def adapter_weights(config: Any, rank: int) -> int:
    """Return the weights of LoRA on all projections: rank · (inputs + outputs) of each."""
    return config.num_hidden_layers * rank * sum(n + m for n, m in _projections(config))


def training_memory(
    recipe: Recipe, config: Any, lengths: Lengths, sequences: int, device: str
) -> dict[str, float]:
    """Return part → bytes of a forward and backward pass of `sequences`, all of the greatest length.

    The weights are frozen, so without gradients. With gradient checkpointing each layer's input is kept, and
    all of one layer; in float32 twice that, too much. On a CPU two thirds of the activations are kept
    (`lean_lora`), and the allocator holds the rest. The loss has the logits of one chunk.
    """
    width, layers = WIDTHS[dtype_on(recipe, device)], config.num_hidden_layers
    tokens = sequences * lengths.trained
    layer = (KEPT_HIDDEN * config.hidden_size + KEPT_INTERMEDIATE * config.intermediate_size) * width / 2
    kept = layers * layer
    if recipe.training.gradient_checkpointing:
        kept = layers * config.hidden_size * width + layer
    return {
        "weights": weights(config) * width,
        "adapter": OPTIMIZER_BYTES * adapter_weights(config, recipe.training.rank),
        "activations": tokens * kept,
        "loss": min(HEAD_BYTES, tokens * config.vocab_size * 4),
    }


def generation_memory(
    recipe: Recipe, config: Any, lengths: Lengths, rows: int, device: str
) -> dict[str, float]:
    """Return part → bytes at the last token of a batch of `rows` texts, all of the greatest length."""
    width = WIDTHS[dtype_on(recipe, device)]
    token = 2 * config.num_hidden_layers * _widths(config)[1] * width  # its key and value in each layer
    return {
        "weights": weights(config) * width,
        "adapter": 4 * adapter_weights(config, recipe.training.rank),
        "keys and values": rows * lengths.sampled * token,
        "sampling": rows * config.vocab_size * STEP_BYTES,
    }


def dtype_on(recipe: Recipe, device: str) -> str:
    """Return the dtype of the base model's weights; "auto" is what it is on this machine for "cpu"."""
    if recipe.dtype != "auto":
        return recipe.dtype
    if device != "cpu":
        return "bfloat16"
    from erce.hf.models import dtype_here

    return dtype_here("auto", recipe.model)


def batch_sizes(recipe: Recipe, problems: Mapping[str, Splits], *, share: float) -> BatchSizes:
    """Return the batch sizes for cells on this machine, of which each has a `share`.

    On a GPU each has the share of a device that the recipe's `gpus` says, if it says one.
    """
    config = None
    with suppress(InputError):  # of a model whose sizes are unknown: nothing can be fitted
        config = read_config(recipe.model) if _left_out(recipe) else None
    if config is None:
        return fitting(recipe, None, Lengths(0, 0, 0), device="cpu", memory=0.0)
    import torch

    from erce.hf.models import load_tokenizer

    tokenizer, lengths = load_tokenizer(recipe.model), []
    for name, splits in problems.items():
        task = load_task(name)
        new = recipe.decoding.max_new_tokens or task.max_new_tokens
        trained = _longest(tokenizer, ((each.prompt, each.demonstration) for each in splits.train))
        sampled = [*splits.validation, *splits.test, *(splits.train if recipe.own_cells else ())]
        read = _longest(tokenizer, ((each.prompt, "") for each in sampled))
        lengths.append((min(recipe.training.max_length or task.max_length, trained), read + new, new))
    longest, gpu = Lengths(*map(max, zip(*lengths, strict=True))), torch.cuda.is_available()
    memory = torch.cuda.mem_get_info()[0] if gpu else free_memory()
    share = recipe.resources.gpus or share if gpu else share
    return fitting(recipe, config, longest, device="cuda" if gpu else "cpu", memory=memory, share=share)


def fitting(
    recipe: Recipe, config: Any, lengths: Lengths, *, device: str, memory: float, share: float = 1.0
) -> BatchSizes:
    """Return the recipe's sizes; those left out are the largest that fit a `share` of the `memory`.

    Completions are a power of two. On a CPU a batch also ends within `BATCH_SECONDS` if every completion is
    as long as it may be. Without a config, and for an embedded model, sizes left out are the largest of all.
    """
    rows, sequences = recipe.decoding.batch_size or MOST_COMPLETIONS, recipe.training.sequences()
    if config is None or not _left_out(recipe):
        return BatchSizes(rows, sequences)
    room, flops = USED_SHARE * share * memory - LIBRARY_BYTES, float("inf")
    if device == "cpu":
        flops = _cpu_flops(recipe, share)
    while recipe.decoding.batch_size is None and rows > 1:
        needed = sum(generation_memory(recipe, config, lengths, rows, device).values())
        if needed <= room and lengths.new * 2 * weights(config) * rows / flops <= BATCH_SECONDS:
            break
        rows //= 2
    for most in range(MOST_SEQUENCES, 0, -1):
        sequences = recipe.training.sequences(most=most)
        if sum(training_memory(recipe, config, lengths, sequences, device).values()) <= room:
            break
    return BatchSizes(rows, sequences, share * memory)


def free_memory(cgroup: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the bytes of main memory that are free, or what a container's limit leaves of them."""
    import psutil

    free = float(psutil.virtual_memory().available)
    try:
        limit, used = (int((cgroup / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return free
    return min(free, float(limit - used))


def _left_out(recipe: Recipe) -> bool:
    sizes = (recipe.training.micro_batch_size, recipe.decoding.batch_size)
    return None in sizes and recipe.model not in EMBEDDED_MODELS


def _longest(tokenizer: Any, texts: Iterable[tuple[str, str]]) -> int:
    """Return the most tokens of a prompt with its answer, of those with the most characters."""
    likely = nlargest(LONGEST_TEXTS, texts, key=lambda text: sum(map(len, text)))
    return max(
        len(prompt_ids(tokenizer, prompt)) + len(demonstration_ids(tokenizer, answer))
        for prompt, answer in likely
    )
