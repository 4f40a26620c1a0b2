"""A recipe → lines on what running it takes: cells, steps, tokens, memory and hours. Nothing is run."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from erce import events
from erce.catalog import is_here, is_hub_name
from erce.errors import InputError, counted
from erce.hf.prompt import demonstration_ids, prompt_ids, training_rows
from erce.recipe import RFT, SELF, Recipe, load_recipe
from erce.study import memory
from erce.study.demonstrations import cell_splits
from erce.study.engines.progress import duration
from erce.study.folder import Study, cell_folder, read_timing
from erce.study.memory import DEVICES, Lengths
from erce.study.schedule import planned_cells
from erce.study.stages import decodings
from erce.tasks import check_demonstrations, load_task
from erce.tasks.source import NotOnThisMachineError
from erce.types import CROSS_ENTROPY, Arm, Problem, Splits, Task

SIZES = ("n_train", "n_validation", "n_test")
TRAINING_SHARE, GENERATION_SHARE = 0.35, 0.02  # of a device's peak, assumed: one token at a time is slow
MOST_COUNTED = 3000  # texts of a split whose tokens are counted
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


class Speed(NamedTuple):
    """The tokens that a device reads in training, and generates, per second."""

    training: float
    generation: float


class TaskWork(NamedTuple):
    """What a task of a recipe asks for: in lines, and in numbers over all its cells."""

    lines: list[str]
    notes: list[str]  # what was assumed, not counted
    read: int  # tokens in training, prompts included
    expected: int  # tokens generated if each completion is as long as its demonstration
    most: int  # tokens generated if each completion is cut off at its limit
    lengths: Lengths


class TextTokens(NamedTuple):
    """The tokens of a problem's prompt and demonstration, the template and the end token included."""

    prompt: int
    demonstration: int


class Texts(NamedTuple):
    """The texts of a task's problems, or as many of the data set's mean lengths."""

    train: list[TextTokens]
    validation: list[TextTokens]
    test: list[TextTokens]
    are_real: bool
    notes: list[str]  # what was assumed


def dry_run(recipe: Recipe, root: Path, *, device: str = "h100", speed: Speed | None = None) -> list[str]:
    """Return lines on what the recipe's study takes if its folder is `root`; assumptions come last.

    With HF_HUB_OFFLINE set, as `erce run --dry-run` does, a tokenizer, a config.json or a data set of the hub
    is read from the cache alone; if it is missing, notes say what is assumed. All else that a run would
    refuse, and a device that is not in `DEVICES`, are InputErrors.
    """
    if device not in (*DEVICES, "cpu"):
        raise InputError(f"no device {device!r}; there are {', '.join(DEVICES)} and cpu")
    if recipe.has_user_defined_losses:
        from erce.loss import check_names

        check_names(recipe.penalty, recipe.order, recipe.objective_names)
    for name in recipe.tasks:  # before the tokenizer, which takes seconds: a file may be missing
        with suppress(NotOnThisMachineError):
            cell_splits(recipe, name)
    tokenizer = _tokenizer(recipe.model)
    tasks = [task_work(recipe, name, tokenizer) for name in recipe.tasks]
    cells, there, taken = len(planned_cells(recipe)), "", []
    if root.is_dir():
        study = Study(root, recipe)
        taken = _taken_lines(study) if device == "cpu" and speed is None else []
        cells, done = len(study.planned), study.finished
        there = f", {done} of them done" if done else ""
    lines = [f"{root}: {counted(cells, 'cell')}{there}; a dry run, nothing is written"]
    lines += [line for task in tasks for line in task.lines]
    notes = [note for task in tasks for note in task.notes]
    config = None  # last: without one the rest holds all the same, and a note says what is left out
    try:
        config = memory.read_config(recipe.model)
    except InputError as error:
        notes.append(f"memory, and hours without --tokens-per-second, are not computed: {error}")
    if config is not None:
        lengths = Lengths(*map(max, zip(*(task.lengths for task in tasks), strict=True)))
        lines += _memory_lines(recipe, config, lengths, device)
    lines += taken or _time_lines(recipe, tasks, config, device, speed)
    if recipe.server is not None:
        notes.append("the server generates the completions; its memory and hours are not counted")
    return [*lines, *(f"note     {note}" for note in dict.fromkeys(notes))]


def task_work(recipe: Recipe, name: str, tokenizer: Any) -> TaskWork:
    """Count the work of one task; without a tokenizer, assume tokens from characters, and say so in a note.

    If the problems would come from the hub and are not in its cache, `MEAN_CHARACTERS` is assumed. All else
    that a run would refuse is an InputError, first of all a demonstration that the task's own verifier does
    not accept; programs are run for that as in a study.
    """
    task = load_task(name)
    limit = task.max_length if recipe.training.max_length is None else recipe.training.max_length
    texts = _texts(recipe, task, tokenizer, limit)
    train, evaluated, notes = texts.train, texts.validation + texts.test, [*texts.notes]
    kept = [TextTokens(text.prompt, max(0, min(text.demonstration, limit - text.prompt))) for text in train]
    epochs, longest = recipe.training.epochs, max(map(sum, kept)) if texts.are_real else limit
    read, scored = (round(epochs * sum(tokens)) for tokens in (map(sum, kept), (text[1] for text in kept)))
    truncated = sum(text != whole for text, whole in zip(kept, train, strict=True))
    # Cells that generate alike are one line; the base model's own samples come before training.
    cells = [cell for cell in planned_cells(recipe) if cell.task == name and not cell.is_own]
    swept = [cell for cell in cells if cell.all_temperatures and recipe.decoding.temperatures]
    groups = [([cell for cell in cells if cell not in swept], "", evaluated)]
    groups.append((swept, " with the temperature sweep", evaluated))
    demonstrations: dict[str, int] = {}  # objective → demonstrations per problem, at most, if not 1
    if (own := recipe.own_cell) is not None and own.task == name:
        keep = min(recipe.own_samples.keep, recipe.own_samples.samples)
        demonstrations = {RFT: 1 + keep, SELF: keep}
        groups.append(([own], " before training", train))
        notes.append(f"rft and self: counted as if every problem had {keep} accepted samples, the most")
    trained = [cell for cell in cells if not cell.arm.is_base]
    trainings = sum(demonstrations.get(cell.objective, 1) for cell in trained)
    new = recipe.decoding.max_new_tokens or task.max_new_tokens
    cut = f", {counted(truncated, 'sequence')} cut off there" if truncated else ""
    per_cell = f"{steps(recipe, len(train))} steps, {scored:,} tokens trained on of {read:,} read"
    lines = [
        f"{name}: {len(train)} train, {len(texts.validation)} validation, {len(texts.test)} test problems",
        f"  cells     {len(cells)}: {_arms(recipe, list(dict.fromkeys(cell.arm for cell in cells)))}",
        f"  training  per cell: {per_cell}; the longest sequence has {longest}{cut}",
    ]
    completions = expected = most = prompt = 0
    for alike, words, asked in groups:
        if not alike:
            continue
        samples = sum(settings.samples for settings in decodings(recipe, alike[0]).values())
        number, likely = samples * len(asked), samples * sum(min(text.demonstration, new) for text in asked)
        tokens = f"{likely:,} tokens if as long as the demonstrations, {number * new:,} at most"
        each = f"{counted(len(alike), 'cell')}{words}, each: {number:,} completions"
        lines.append(f"  sampling  {each}, {tokens}")
        completions += len(alike) * number
        expected += len(alike) * likely
        most += len(alike) * number * new
        prompt = max(prompt, *(text.prompt for text in asked))
    read *= trainings
    all_steps = trainings * steps(recipe, len(train))
    lines.append(f"  in all    {all_steps:,} steps, {read:,} tokens read, {completions:,} completions")
    return TaskWork(lines, notes, read, expected, most, Lengths(longest, prompt + new, new))


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


def _texts(recipe: Recipe, task: Task, tokenizer: Any, limit: int) -> Texts:
    """Check a task's problems and count their tokens; refuse a prompt that fills the `limit`."""
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
    train, *others = (_counted(tokenizer, part) for part in vars(problems).values())
    if are_real and max(map(len, vars(problems).values())) > MOST_COUNTED:
        notes.append(f"{task.name}: of a split's texts the tokens of about {MOST_COUNTED:,} are counted")
    if tokenizer is not None:  # in a run's words
        too_long = [each for each, text in zip(problems.train, train, strict=True) if text.prompt >= limit]
        training_rows(tokenizer, too_long, limit)
    return Texts(train, *others, are_real=are_real, notes=notes)


def _counted(tokenizer: Any, problems: Sequence[Problem]) -> list[TextTokens]:
    """Count the tokens of each problem; of many problems one stands for its neighbours, save the longest."""
    if not problems:
        return []
    step = math.ceil(len(problems) / MOST_COUNTED)
    counted_texts = [_tokens(tokenizer, problem) for problem in problems[::step]]
    texts = [counted_texts[at // step] for at in range(len(problems))]
    longest = max(range(len(problems)), key=lambda at: len(problems[at].prompt + problems[at].demonstration))
    texts[longest] = _tokens(tokenizer, problems[longest])
    events.advance(len(problems))
    return texts


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
    others = "".join(f" and {arm.label}" for arm in arms if recipe.is_other(arm))
    trained = f"λ = {', '.join(lams)}{on}{others}"
    if len(lams) < len(recipe.lams):
        trained = f"λ = 0 and the λ that validation chooses{on}"
    return f"the base model, and {trained} with {counted(len(recipe.seeds), 'seed')}"


def _memory_lines(recipe: Recipe, config: Any, lengths: Lengths, device: str) -> list[str]:
    there = DEVICES[device].memory if device in DEVICES else memory.free_memory()
    share = recipe.resources.gpus or 1.0 if device in DEVICES else 1.0
    sizes = memory.fitting(recipe, config, lengths, device=device, memory=there, share=share)
    needs = {"training": memory.training_memory(recipe, config, lengths, sizes.sequences, device)}
    if recipe.server is None:
        needs["generation"] = memory.generation_memory(recipe, config, lengths, sizes.completions, device)
    weights, adapter = memory.weights(config), memory.adapter_weights(config, recipe.training.rank)
    of_model = f"{weights / 1e6:,.1f} M weights, {adapter / 1e6:,.1f} M of the adapter"
    lines = [f"model {recipe.model} in {memory.dtype_on(recipe, device)}: {of_model}"]
    for name, parts in needs.items():
        total, of_parts = sum(parts.values()), " + ".join(f"{part} {_size(parts[part])}" for part in parts)
        has = f"; {device} has {_size(there)}" if device in DEVICES else ""
        if has and total >= there:
            has = f"; MORE than {device}'s {_size(there)}: lower micro_batch_size or [decoding] batch_size"
        lines.append(f"  memory    {name}: {_size(total)} = {of_parts}{has}")
    lines.append(f"  batches   {sizes}" + (f" (fitted to {_size(sizes.free)})" if sizes.free else ""))
    if device in DEVICES and recipe.server is None and recipe.decoding.compile is False:
        lines.append("  compile   without decoding.compile = false a GPU generates several times faster")
    return lines


def _size(count: float) -> str:
    """Return bytes in words, such as 3.1 GB or 21.5 MB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _time_lines(
    recipe: Recipe, tasks: list[TaskWork], config: Any, device: str, speed: Speed | None
) -> list[str]:
    """Return the hours at the measured speed, or at one assumed from the device's peak and the weights."""
    if speed is not None:
        basis = f"at {speed.training:g} tokens per second read in training, {speed.generation:g} generated"
        device = "device with these speeds"
    elif config is None:
        return []
    elif device not in DEVICES:
        return ["  time      unknown for this device; measure it and give --tokens-per-second"]
    else:
        shares = f"{TRAINING_SHARE:.0%} of the peak in training, {GENERATION_SHARE:.0%} in generation"
        basis = f"computed, not measured: an assumed {shares}"
        # Operations per weight and token: 2 forward, 2 backward through frozen weights, 2 to compute again.
        of_training = 6 if recipe.training.gradient_checkpointing else 4
        rate = DEVICES[device].flops / memory.weights(config)
        speed = Speed(TRAINING_SHARE * rate / of_training, GENERATION_SHARE * rate / 2)
    training = sum(task.read for task in tasks) / speed.training
    generated = [] if recipe.server is not None else tasks
    expected = sum(task.expected for task in generated) / speed.generation
    most = duration(sum(task.most for task in generated) / speed.generation)
    cut_off = f"{most} if every completion is cut off at its limit"
    parts = f"training {duration(training)}, generation {duration(expected)} ({cut_off})"
    return [f"  time      {duration(training + expected)} of one {device}: {parts}", f"            {basis}"]


def _taken_lines(study: Study) -> list[str]:
    """Return the time of the cells that are missing, by what finished ones took; none where none tells."""
    lines = []
    for what, is_base in (("of the base model", True), ("trained", False)):
        missing = sum(cell.arm.is_base == is_base for cell in study.missing)
        done = [cell for cell in study.results if cell.arm.is_base == is_base and cell not in study.missing]
        timings = [read_timing(cell_folder(study.root, study.recipe, cell)) for cell in done]
        seconds = [sum(timing.values()) for timing in timings if timing]
        if seconds and missing:
            left, each = (duration(factor * fmean(seconds)) for factor in (missing, 1))
            measured = f"{counted(len(seconds), 'finished one')} took {each} each"
            lines.append(f"  time      {left} for {counted(missing, 'cell')} {what}: {measured}")
    return lines
