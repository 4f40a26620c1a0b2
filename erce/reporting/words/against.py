"""A study beside the paper → the lines of `--against paper`: tables, then how study and paper differ."""

import math
from typing import NamedTuple

from erce.errors import InputError, counted
from erce.paper import PaperTable, lookup, tables
from erce.recipe import Training
from erce.reporting.format import fixed, interval, percent, points, strength
from erce.reporting.numbers.gains import DECODINGS
from erce.stats import over_seeds, paper, welch
from erce.study.folder import Study, read_problems
from erce.types import BASELINE, Arm

SAME_TASK = {"mbpp-full": "mbpp"}  # our name of a task → the paper's, where they differ
HEADINGS = ("λ", "here", "seeds", "paper", "seeds", "difference", "95 % interval", "gain", "paper's gain")
TRAINING = (
    "epochs",
    "learning_rate",
    "warmup",
    "batch_size",
    "max_grad_norm",
    "rank",
    "lora_alpha",
    "dropout",
)


class PaperPair(NamedTuple):
    """A task of the study under one decoding, and the paper's table for it."""

    task: str
    decoding: str
    table: PaperTable


def against_lines(study: Study) -> list[str]:
    """Write the comparison: a table for each task and decoding, then what differs from the paper.

    InputError where the paper has no such task, or not with this penalty and order.
    """
    lines = [line for pair in _paper_pairs(study) for line in _table(study, pair)]
    return [*lines, "What differs from the paper:", *(f"  · {text}" for text in against_warnings(study))]


def against_warnings(study: Study) -> list[str]:
    """Return a sentence for each way in which study and paper differ, the choice of problems last."""
    pairs = _paper_pairs(study)
    where: dict[str, list[str]] = {}
    for pair in pairs:
        for text in _pair_differences(study, pair):
            where.setdefault(text, []).append(f"{pair.task} {pair.decoding}")
    differences = [
        text if len(places) == len(pairs) else f"{', '.join(places)}: {text}"
        for text, places in where.items()
    ]
    return [*_recipe_differences(study, pairs), *differences, *_remarks(study, pairs)]


def _paper_pairs(study: Study) -> list[PaperPair]:
    """Return the study's tasks and decodings for which the paper has a table."""
    recipe, known = study.recipe, {table.task for table in tables()}
    tasks = [task for task in recipe.tasks if SAME_TASK.get(task, task) in known]
    if not tasks:
        there_are = ", ".join(dict.fromkeys([*(table.task for table in tables()), *SAME_TASK]))
        raise InputError(
            f"the paper has no task {recipe.task!r} to hold this study against; it has {there_are}"
        )
    pairs, reasons = [], []
    for task in tasks:
        for decoding in reversed(DECODINGS):  # greedy first, as in the paper
            try:
                paper_task = SAME_TASK.get(task, task)
                table = lookup(paper_task, decoding, penalty=recipe.penalty, order=recipe.order)
                pairs.append(PaperPair(task, decoding, table))
            except ValueError as reason:
                reasons.append(str(reason))
    if not pairs:
        raise InputError(reasons[0])
    return pairs


def _table(study: Study, pair: PaperPair) -> list[str]:
    """Write a table of the λ that both have: means in %, differences and gains in points."""
    title = f"{pair.task}, {pair.decoding}, beside the paper's {pair.table.label}, in %"
    lams = [lam for lam in pair.table.lams if study.cells(pair.task, Arm(lam))]
    if not lams:
        return [title, "  none of the paper's λ is done here", ""]
    cells = [HEADINGS, *(_row(study, pair, lam) for lam in lams)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
        for line in cells
    ]
    printed = "" if pair.table.is_per_seed else ", the paper's from its printed mean and ±"
    seeds = [len(study.cells(pair.task, Arm(lam))) for lam in lams]
    bases = [f"Welch over seeds{printed}" if number > 1 else "none, with one seed" for number in seeds]
    note = "± over seeds divides by their number, as the paper's does"
    return [title, *lines, f"  {note}; interval: {', '.join(dict.fromkeys(bases))}.", ""]


def _row(study: Study, pair: PaperPair, lam: float) -> tuple[str, ...]:
    """Return the cells of a λ: both means, their difference, and both gains over λ = 0.

    The difference is the study's minus the paper's, with its 95 % interval over seeds alone; one seed has
    none.
    """
    theirs, row = pair.table.scores(lam), pair.table.row(lam)
    ours = _seed_scores(study, pair, Arm(lam))
    here, several = paper.over_seeds(ours), len(ours) > 1
    gain = None
    if lam and study.cells(pair.task, BASELINE):
        gain = here.mean - over_seeds(_seed_scores(study, pair, BASELINE)).mean
    return (
        strength(lam),
        _spread(here.mean, here.sd if several else None),
        str(here.n),
        _spread(row.mean, row.sd),
        str(pair.table.n_seeds),
        points(here.mean - over_seeds(theirs).mean),
        interval(welch(ours, theirs) if several else None),
        points(gain),
        points(row.mean - pair.table.row(0).mean if lam else None),
    )


def _spread(mean: float, sd: float | None) -> str:
    """Write percentages with two decimals, as precise as the paper's fractions with four."""
    return percent(mean, 2) if sd is None else f"{percent(mean, 2)} ± {percent(sd, 2)}"


def _seed_scores(study: Study, pair: PaperPair, arm: Arm) -> list[float]:
    """Return an arm's accuracy under each seed."""
    outcomes = study.outcomes(pair.task, arm, split="test", decoding=pair.decoding)
    return outcomes.mean(axis=(1, 2)).tolist()


def _shape(study: Study, pair: PaperPair, lam: float) -> tuple[int, ...]:
    """Return (seeds, problems, samples) of the test problems."""
    return study.outcomes(pair.task, Arm(lam), split="test", decoding=pair.decoding).shape


def _recipe_differences(study: Study, pairs: list[PaperPair]) -> list[str]:
    recipe, differences = study.recipe, []
    model = pairs[0].table.model
    if recipe.model != model:
        differences.append(f"The model here is {recipe.model}, the paper's is {model}: these are two models.")
    usual = Training()
    for name in TRAINING:
        ours, theirs = getattr(recipe.training, name), getattr(usual, name)
        if ours != theirs:
            differences.append(f"[training] {name} is {ours:g} here, {theirs:g} in the paper.")
    if recipe.training.normalize != "sequence":
        differences.append(
            f'[training] normalize is "{recipe.training.normalize}" here; the paper writes its objective as '
            'an average over each sequence, "sequence".'
        )
    return differences


def _pair_differences(study: Study, pair: PaperPair) -> list[str]:
    """Say how a task of the study, under one decoding, differs from the paper's table of that task."""
    recipe, table, differences = study.recipe, pair.table, []
    ours = [lam for lam in table.lams if study.cells(pair.task, Arm(lam))]
    for lam in ours[:1]:
        _, problems, samples = _shape(study, pair, lam)
        settings = [
            ("training problems", _n_train(study, pair.task), table.n_train),
            ("test problems", problems, table.n_test),
            ("samples a problem", samples, table.n_samples),
            ("seeds", len(recipe.seeds), table.n_seeds),
        ]
        if pair.decoding == "sampled":
            settings.append(("temperature", recipe.decoding.temperature, table.temperature))
        differences += [
            f"{what}: {here:g} here, {there:g} in the paper."
            for what, here, there in settings
            if here is not None and there is not None and here != there
        ]
    for lams, text in (
        ([lam for lam in recipe.lams if lam not in table.lams], "not in the paper, so not compared"),
        ([lam for lam in table.lams if lam not in ours], "in the paper and not done here"),
    ):
        if lams:
            differences.append(f"λ = {', '.join(map(strength, sorted(lams)))}: {text}.")
    return differences


def _n_train(study: Study, task: str) -> int | None:
    """Return the length of the study's list of training problems; without a list, the recipe's number."""
    rows = [row for row in read_problems(study.root) if (row["task"], row["split"]) == (task, "train")]
    return len(rows) or study.recipe.n_train


def _remarks(study: Study, pairs: list[PaperPair]) -> list[str]:
    """Say what the study lacks, and what the paper leaves out or states inconsistently."""
    remarks = []
    if study.missing:
        remarks.append(
            f"Missing here: {counted(len(study.missing), 'cell')}, so the study's means can change."
        )
    if any(pair.table.task == "mbpp" for pair in pairs):
        remarks.append(
            "The paper names 300 problems of sanitized MBPP to train on and 200 to test on, of 427 in all: "
            "its split overlaps or is another than it says."
        )
    if "mbpp-full" in study.recipe.tasks:
        remarks.append("mbpp-full trains on problems outside the sanitized subset that the paper names.")
    if any((pair.table.task, pair.decoding) == ("gsm8k", "sampled") for pair in pairs):
        remarks.append(
            "The paper's sampled GSM8K has 3 seeds and the grid of its sweep over 200 problems; it may be on "
            "those and not on 500."
        )
    remarks.append(
        "Verdicts are of this study's verifiers; `erce verify` counts where the paper's own differ."
    )
    return [*remarks, _by_problems(study, pairs)]


def _by_problems(study: Study, pairs: list[PaperPair]) -> str:
    """Say how far chance puts n problems from m others: up to 1.96 √(¼/n + ¼/m), 95 % of the time."""
    text = "Which problems the paper chose is not known"
    for pair in pairs:
        if study.cells(pair.task, BASELINE):
            n, m = _shape(study, pair, 0.0)[1], pair.table.n_test
            chance = 1.96 * math.sqrt(0.25 / n + 0.25 / m)
            return (
                f"{text}: {counted(n, 'problem')} here and {m} there can differ by up to "
                f"{fixed(100 * chance, 1)} points by that choice alone, which intervals over seeds do not "
                "cover."
            )
    return f"{text}, and intervals over seeds do not cover the choice."
