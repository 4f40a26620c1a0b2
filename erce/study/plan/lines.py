"""A StudyPlan → lines for a terminal."""

from pathlib import Path

from erce.errors import counted
from erce.recipe import Recipe
from erce.study.engines.progress import duration
from erce.study.folder import TIMING, Study, cell_folder, read_timing
from erce.study.plan import StudyPlan
from erce.study.plan.counts import DrawingWork, TaskPlan
from erce.study.plan.needs import DEVICES, DRAWING_UTILISATION, TRAINING_UTILISATION, Memory, dtype_on
from erce.types import CROSS_ENTROPY, Arm


def plan_lines(plan: StudyPlan, root: Path) -> list[str]:
    """Return all that the plan says of a study whose folder would be `root`; assumptions come last."""
    cells, done, taken = plan.cells, 0, []
    if root.is_dir():
        study = Study(root, plan.recipe)
        taken = _taken_lines(study) if plan.device not in DEVICES and plan.speed is None else []
        done = len(study.expected) - len(study.missing)
        cells = max(cells, done) if study.missing else done
    there = f", {done} of them done" if done else ""
    lines = [f"{root}: {counted(cells, 'cell')}{there}; a dry run, nothing is written"]
    for task in plan.tasks:
        lines += _task_lines(task, plan.recipe)
    lines += _memory_lines(plan) + (taken or _cost_lines(plan))
    return [*lines, *(f"note     {note}" for note in plan.notes)]


def _task_lines(task: TaskPlan, recipe: Recipe) -> list[str]:
    train, validation, test = task.sizes
    training, (prompt, demonstration) = task.training, task.characters
    cut = f", {counted(training.truncated, 'sequence')} cut off there" if training.truncated else ""
    trained = f"{training.steps} steps, {training.scored:,} tokens trained on of {training.read:,} read"
    steps, read = task.trained * training.steps, task.trained * training.read
    completions = sum(cells * work.completions for cells, work in task.drawings)
    lams = [Arm(arm.lam).short_label for arm in task.arms if not arm.is_base and not recipe.is_other(arm)]
    others = [arm.label for arm in task.arms if recipe.is_other(arm)]
    on = "" if recipe.objective == CROSS_ENTROPY else f" on {recipe.objective}"
    arms = f"λ = {', '.join(lams)}{on}" + "".join(f" and {name}" for name in others)
    if len(lams) < len(recipe.lams):
        arms = f"λ = 0 and the λ that validation chooses{on}"
    return [
        f"{task.task}: {train} train, {validation} validation, {test} test problems",
        f"  cells     {task.cells}: the base model, and {arms} with {counted(len(recipe.seeds), 'seed')}",
        f"  texts     mean characters in training: prompt {prompt:.0f}, demonstration {demonstration:.0f}",
        f"  training  a cell: {trained}; the longest sequence has {training.longest}{cut}",
        f"  drawing   a cell: {_drawn(task.drawing)}",
        *_frontier_lines(task),
        *([] if task.own is None else [f"  own       before training: {_drawn(task.own)}"]),
        f"  in all    {steps:,} steps, {read:,} tokens read, {completions:,} completions",
    ]


def _frontier_lines(task: TaskPlan) -> list[str]:
    if task.frontier is None:
        return []
    which = f"{counted(task.frontier_cells, 'cell')} with the frontier, each"
    return [f"            {which}: {_drawn(task.frontier)}"]


def _drawn(work: DrawingWork) -> str:
    expected = f"{work.expected:,} tokens if as long as the demonstrations"
    return f"{work.completions:,} completions, {expected}, {work.most:,} at most"


def _memory_lines(plan: StudyPlan) -> list[str]:
    architecture = plan.model.architecture
    if architecture is None:
        return []
    adapter = architecture.adapter(plan.recipe.training.rank)
    weights = f"{architecture.weights:,} weights, {adapter:,} of the adapter"
    dtype = dtype_on(plan.recipe, plan.device)
    lines = [f"model {plan.recipe.model} in {dtype}: {weights} (from {plan.model.where})"]
    for name, memory in (("training", plan.training_memory), ("drawing", plan.drawing_memory)):
        if memory is not None:
            lines.append(f"  memory    {name}: {_memory(memory)}{_room(memory, plan.device)}")
    if plan.sizes is not None:
        fit = f" (fitted to {_size(plan.sizes.free)})" if plan.sizes.free else ""
        lines.append(f"  batches   {plan.sizes}{fit}")
    return lines


def _memory(memory: Memory) -> str:
    parts = {name.replace("_", " "): size for name, size in vars(memory).items() if size}
    return f"{_size(memory.total)} = " + " + ".join(f"{name} {_size(size)}" for name, size in parts.items())


def _size(count: float) -> str:
    """Return bytes in words.

    >>> _size(3_100_000_000), _size(21_500_000)
    ('3.1 GB', '21.5 MB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _room(memory: Memory, device: str) -> str:
    if device not in DEVICES:
        return ""
    there = DEVICES[device].memory
    if memory.total < there:
        return f"; {device} has {_size(there)}"
    return f"; MORE than the {_size(there)} of {device}: lower micro_batch_size or [decoding] batch_size"


def _cost_lines(plan: StudyPlan) -> list[str]:
    hours = plan.hours
    if hours is None:
        known = plan.model.architecture is not None
        return (
            ["  time      unknown for this device; measure it and give --tokens-per-second"] if known else []
        )
    total, drawing = _time(hours.training + hours.drawing), _time(hours.drawing)
    most = f"{_time(hours.drawing_most)} if every completion is cut off at its limit"
    training = f"training {_time(hours.training)}, drawing {drawing} ({most})"
    device = plan.device if plan.speed is None else "device with these speeds"
    lines = [f"  time      {total} of one {device}: {training}"]
    if plan.speed is None:
        shares = f"{TRAINING_UTILISATION:.0%} of the peak in training, {DRAWING_UTILISATION:.0%} in drawing"
        lines.append(f"            computed, not measured: operations over an assumed {shares}")
    else:
        speeds = f"{plan.speed.training:g} tokens a second read in training, {plan.speed.drawing:g} drawn"
        lines.append(f"            at {speeds}")
    return lines


def _taken_lines(study: Study) -> list[str]:
    """Return the time of the cells that are missing, by what finished ones took; none where none tells."""
    lines = []
    for what, is_base in (("of the base model", True), ("trained", False)):
        missing = sum(cell.arm.is_base == is_base for cell in study.missing)
        done = [cell for cell in study.results if cell.arm.is_base == is_base and cell not in study.missing]
        seconds = [
            sum(read_timing(cell_folder(study.root, study.recipe, cell)).values())
            for cell in done
            if (cell_folder(study.root, study.recipe, cell) / TIMING).is_file()
        ]
        if seconds and missing:
            each = duration(sum(seconds) / len(seconds))
            left = duration(missing * sum(seconds) / len(seconds))
            measured = f"{counted(len(seconds), 'finished one')} took {each} each"
            lines.append(f"  time      {left} for {counted(missing, 'cell')} {what}: {measured}")
    return lines


def _time(hours: float) -> str:
    return duration(3600 * hours)
