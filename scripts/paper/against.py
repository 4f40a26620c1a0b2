"""A study beside the paper → lines of text: a table for each task and decoding, then what differs."""

from contextlib import suppress
from itertools import product
from typing import NamedTuple

from erce.errors import InputError, counted
from erce.recipe import Training
from erce.reporting.format import interval, points, spread, strength
from erce.reporting.numbers.gains import DECODINGS
from erce.stats import over_seeds, welch
from erce.study.folder import Study, read_problems
from erce.types import BASELINE, Arm
from scripts.paper import PaperTable, conventions, lookup

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
    pairs = _paper_pairs(study)
    lines = [line for pair in pairs for line in _table(study, pair)]
    differences = _recipe_differences(study, pairs)
    for pair in pairs:
        differences += [f"{pair.task} {pair.decoding}: {text}" for text in _pair_differences(study, pair)]
    if study.missing:
        differences.append(f"Missing here: {counted(len(study.missing), 'cell')}; the means can change.")
    differences += [
        "Verdicts are of this study's verifiers; `--verify` for `--against` shows where the paper's differ.",
        "Intervals over seeds do not cover the choice of problems, and the paper's is not known.",
    ]
    return [*lines, "What differs from the paper:", *(f"  · {text}" for text in differences)]


def _paper_pairs(study: Study) -> list[PaperPair]:
    """Return the study's tasks and decodings for which the paper has a table, greedy first."""

    def pair(task: str, decoding: str) -> PaperPair:
        paper_task, recipe = SAME_TASK.get(task, task), study.recipe
        return PaperPair(
            task, decoding, lookup(paper_task, decoding, penalty=recipe.penalty, order=recipe.order)
        )

    pairs = []
    for task, decoding in product(study.recipe.tasks, reversed(DECODINGS)):
        with suppress(InputError):
            pairs.append(pair(task, decoding))
    return pairs or [pair(study.recipe.task, "greedy")]  # which raises, with what the paper has


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
    here, several = conventions.over_seeds(ours), len(ours) > 1
    gain = None
    if lam and study.cells(pair.task, BASELINE):
        gain = here.mean - over_seeds(_seed_scores(study, pair, BASELINE)).mean
    return (
        strength(lam),
        spread(here.mean, here.sd if several else None, 2),  # as precise as the paper's fractions with four
        str(here.n),
        spread(row.mean, row.sd, 2),
        str(pair.table.n_seeds),
        points(here.mean - over_seeds(theirs).mean),
        interval(welch(ours, theirs) if several else None),
        points(gain),
        points(row.mean - pair.table.row(0).mean if lam else None),
    )


def _seed_scores(study: Study, pair: PaperPair, arm: Arm) -> list[float]:
    outcomes = study.outcomes(pair.task, arm, split="test", decoding=pair.decoding)
    return outcomes.mean(axis=(1, 2)).tolist()


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
        outcomes = study.outcomes(pair.task, Arm(lam), split="test", decoding=pair.decoding)
        _, problems, samples = outcomes.shape
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
