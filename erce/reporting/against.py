"""A study of a task that the paper has → its accuracies beside the paper's, and what keeps them apart."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from erce.files import read_rows
from erce.paper import PaperTable, lookup, tables
from erce.recipe import Training
from erce.reporting.format import NOTHING, counted, fixed, percent, points, strength
from erce.stats import over_seeds, paper, welch
from erce.study.folder import PROBLEMS, Study
from erce.types import BASE_MODEL, BASELINE, Arm

SAME_TASK = {"mbpp-full": "mbpp"}  # ours → the paper's, where it goes by another name
DECODINGS = ("greedy", "sampled")
FROM_SEEDS = "Welch over seeds"
FROM_SUMMARY = "Welch over seeds, the paper's from its printed mean and ±"
ONE_SEED = "none, with one seed"
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


@dataclass(frozen=True)
class Beside:
    """One λ of the study beside the paper's, in fractions of 1; None where one seed cannot tell.

    `sd` divides by the number of seeds, as the paper's ± does. `difference` is the study's mean minus the
    paper's, its 95 % interval `low` to `high` over seeds alone; `basis` names what it rests on. `gain` and
    `paper_gain` are over λ = 0.
    """

    task: str
    decoding: str
    lam: float
    mean: float
    sd: float | None
    n_seeds: int
    n_problems: int
    paper_mean: float
    paper_sd: float
    paper_n_seeds: int
    difference: float
    low: float | None
    high: float | None
    p: float | None
    basis: str
    gain: float | None
    paper_gain: float | None


def against_rows(study: Study) -> list[Beside]:
    """Every finished λ that the paper has too, for the task and for the control if the paper has that.

    A ValueError where the paper has no such task, or not with this penalty and order.
    """
    return [
        _beside(study, pair, lam)
        for pair in _pairs(study)
        for lam in pair.table.lams
        if study.cells(pair.task, Arm(lam))
    ]


def against_warnings(study: Study) -> list[str]:
    """What differs from the paper besides chance, a sentence each; its problems always do."""
    pairs = _pairs(study)
    where: dict[str, list[str]] = {}
    for pair in pairs:
        for text in _of_pair(study, pair):
            where.setdefault(text, []).append(f"{pair.task} {pair.decoding}")
    found = [
        text if len(places) == len(pairs) else f"{', '.join(places)}: {text}"
        for text, places in where.items()
    ]
    return [*_of_recipe(study, pairs), *found, *_always(study, pairs)]


def against_lines(study: Study) -> list[str]:
    """The comparison as text: a table for each task and decoding, then what differs from the paper."""
    lines, rows = [], against_rows(study)
    for pair in _pairs(study):
        lines += _table(pair, [row for row in rows if (row.task, row.decoding) == (pair.task, pair.decoding)])
    lines.append("What differs from the paper:")
    return [*lines, *(f"  · {text}" for text in against_warnings(study))]


class _Pair(NamedTuple):
    """A task of the study under one decoding, and the paper's table of it."""

    task: str
    decoding: str
    table: PaperTable


def _pairs(study: Study) -> list[_Pair]:
    recipe, known = study.recipe, {table.task for table in tables()}
    tasks = [task for task in recipe.tasks if SAME_TASK.get(task, task) in known]
    if not tasks:
        there_are = ", ".join(dict.fromkeys([*(table.task for table in tables()), *SAME_TASK]))
        raise ValueError(
            f"the paper has no task {recipe.task!r} to hold this study against; it has {there_are}"
        )
    found, reasons = [], []
    for task in tasks:
        for decoding in DECODINGS:
            try:
                of_paper = SAME_TASK.get(task, task)
                table = lookup(of_paper, decoding, penalty=recipe.penalty, order=recipe.order)
                found.append(_Pair(task, decoding, table))
            except ValueError as reason:
                reasons.append(str(reason))
    if not found:
        raise ValueError(reasons[0])
    return found


def _beside(study: Study, pair: _Pair, lam: float) -> Beside:
    ours, row = _scores(study, pair, Arm(lam)), pair.table.row(lam)
    theirs, estimate = pair.table.scores(lam), paper.over_seeds(ours)
    several = estimate.n > 1
    off = welch(ours, theirs) if several else None
    baseline = _scores(study, pair, BASELINE) if lam and study.cells(pair.task, BASELINE) else None
    return Beside(
        task=pair.task,
        decoding=pair.decoding,
        lam=lam,
        mean=estimate.mean,
        sd=estimate.sd if several else None,
        n_seeds=estimate.n,
        n_problems=_shape(study, pair, lam)[1],
        paper_mean=row.mean,
        paper_sd=row.sd,
        paper_n_seeds=pair.table.n_seeds,
        difference=estimate.mean - over_seeds(theirs).mean,
        low=off.low if off else None,
        high=off.high if off else None,
        p=off.p if off else None,
        basis=(FROM_SEEDS if pair.table.is_per_seed else FROM_SUMMARY) if off else ONE_SEED,
        gain=estimate.mean - over_seeds(baseline).mean if baseline else None,
        paper_gain=row.mean - pair.table.row(0).mean if lam else None,
    )


def _scores(study: Study, pair: _Pair, arm: Arm) -> list[float]:
    outcomes = study.outcomes(pair.task, arm, split="test", decoding=pair.decoding)
    return outcomes.mean(axis=(1, 2)).tolist()


def _shape(study: Study, pair: _Pair, lam: float) -> tuple[int, ...]:
    """(seeds, problems, samples)"""
    return study.outcomes(pair.task, Arm(lam), split="test", decoding=pair.decoding).shape


def _table(pair: _Pair, rows: list[Beside]) -> list[str]:
    """In %, differences and gains in points."""
    title = f"{pair.task}, {pair.decoding}, beside the paper's {pair.table.label}, in %"
    if not rows:
        return [title, "  none of the paper's λ is done here", ""]
    headings = ("λ", "here", "seeds", "paper", "seeds", "difference", "95 % interval", "gain", "paper's gain")
    cells = [headings, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
        for line in cells
    ]
    bases = ", ".join(dict.fromkeys(row.basis for row in rows))
    note = f"± over seeds divides by their number, as the paper's does; interval: {bases}."
    return [title, *lines, f"  {note}", ""]


def _cells(row: Beside) -> tuple[str, ...]:
    return (
        strength(row.lam),
        _spread(row.mean, row.sd),
        str(row.n_seeds),
        _spread(row.paper_mean, row.paper_sd),
        str(row.paper_n_seeds),
        points(row.difference),
        NOTHING if row.low is None or row.high is None else f"{points(row.low)} to {points(row.high)}",
        points(row.gain),
        points(row.paper_gain),
    )


def _spread(mean: float, sd: float | None) -> str:
    """With the two decimals that the paper's four of a fraction are."""
    return percent(mean, 2) if sd is None else f"{percent(mean, 2)} ± {percent(sd, 2)}"


def _of_recipe(study: Study, pairs: list[_Pair]) -> list[str]:
    recipe, found = study.recipe, []
    model = pairs[0].table.model
    if recipe.model != model:
        found.append(f"The model here is {recipe.model}, the paper's is {model}: these are two models.")
    usual = Training()
    for name in TRAINING:
        ours, theirs = getattr(recipe.training, name), getattr(usual, name)
        if ours != theirs:
            found.append(f"[training] {name} is {ours:g} here, {theirs:g} in the paper.")
    if recipe.training.normalize != "sequence":
        found.append(
            f'[training] normalize is "{recipe.training.normalize}" here; the paper writes its objective as '
            'an average over each sequence, "sequence".'
        )
    return found


def _of_pair(study: Study, pair: _Pair) -> list[str]:
    """What differs between a task of the study under one decoding and the paper's table of it."""
    recipe, table, found = study.recipe, pair.table, []
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
        found += [
            f"{what}: {here:g} here, {there:g} in the paper."
            for what, here, there in settings
            if here is not None and there is not None and here != there
        ]
    for lams, text in (
        ([lam for lam in recipe.lams if lam not in table.lams], "not in the paper, so not compared"),
        ([lam for lam in table.lams if lam not in ours], "in the paper and not done here"),
    ):
        if lams:
            found.append(f"λ = {', '.join(map(strength, sorted(lams)))}: {text}.")
    return found


def _n_train(study: Study, task: str) -> int | None:
    """From the study's own list of problems; None where neither that nor the recipe says."""
    path = study.root / PROBLEMS
    if path.is_file():
        rows = [row for row in read_rows(path) if row.get("task") == task and row.get("split") == "train"]
        if rows:
            return len(rows)
    return study.recipe.n_train


def _always(study: Study, pairs: list[_Pair]) -> list[str]:
    """What is missing here, and what the paper leaves unsaid or cannot be sure of."""
    found = []
    if study.missing:
        found.append(f"Missing here: {counted(len(study.missing), 'cell')}, so the study's means can change.")
    if any(pair.table.task == "mbpp" for pair in pairs):
        found.append(
            "The paper names 300 problems of sanitized MBPP to train on and 200 to test on, of 427 in all: "
            "its split overlaps or is another than it says."
        )
    if "mbpp-full" in study.recipe.tasks:
        found.append("mbpp-full trains on problems outside the sanitized subset that the paper names.")
    if any((pair.table.task, pair.decoding) == ("gsm8k", "sampled") for pair in pairs):
        found.append(
            "The paper's sampled GSM8K has 3 seeds and the grid of its sweep over 200 problems; it may be on "
            "those and not on 500."
        )
    bases = [
        f"{percent(over_seeds(_scores(study, pair, BASE_MODEL)).mean)} % ({pair.task} {pair.decoding})"
        for pair in pairs
        if study.cells(pair.task, BASE_MODEL)
    ]
    if bases:
        found.append(f"The paper has no row of the base model, which is right in {', '.join(bases)} here.")
    found.append("Verdicts are of this study's verifiers; `erce verify` counts where the paper's own differ.")
    return [*found, _by_problems(study, pairs)]


def _by_problems(study: Study, pairs: list[_Pair]) -> str:
    """How far two draws of n and m problems differ by chance, 19 times in 20: at most 1.96 √(¼/n + ¼/m)."""
    text = "Which problems the paper drew is not known"
    for pair in pairs:
        if study.cells(pair.task, BASELINE):
            n, m = _shape(study, pair, 0.0)[1], pair.table.n_test
            chance = 1.96 * math.sqrt(0.25 / n + 0.25 / m)
            return (
                f"{text}: {counted(n, 'problem')} here and {m} there can differ by up to "
                f"{fixed(100 * chance, 1)} points by the draw alone, which intervals over seeds do not cover."
            )
    return f"{text}, and intervals over seeds do not cover the draw."
