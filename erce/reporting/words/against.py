"""A study beside the paper → the lines of `--against paper`: tables, then how study and paper differ."""

import math

from erce.errors import counted
from erce.recipe import Training
from erce.reporting.format import NOTHING, fixed, percent, points, strength
from erce.reporting.numbers.against import (
    Beside,
    PaperPair,
    against_rows,
    paper_pairs,
    seed_scores,
    shape,
)
from erce.stats import over_seeds
from erce.study.folder import Study, read_problems
from erce.types import BASE_MODEL, BASELINE, Arm

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


def against_lines(study: Study) -> list[str]:
    """Write the comparison: a table for each task and decoding, then what differs from the paper."""
    lines, rows = [], against_rows(study)
    for pair in paper_pairs(study):
        lines += _table(pair, [row for row in rows if (row.task, row.decoding) == (pair.task, pair.decoding)])
    lines.append("What differs from the paper:")
    return [*lines, *(f"  · {text}" for text in against_warnings(study))]


def against_warnings(study: Study) -> list[str]:
    """Return a sentence for each way in which study and paper differ; the last is on the problems drawn."""
    pairs = paper_pairs(study)
    where: dict[str, list[str]] = {}
    for pair in pairs:
        for text in _pair_differences(study, pair):
            where.setdefault(text, []).append(f"{pair.task} {pair.decoding}")
    differences = [
        text if len(places) == len(pairs) else f"{', '.join(places)}: {text}"
        for text, places in where.items()
    ]
    return [*_recipe_differences(study, pairs), *differences, *_remarks(study, pairs)]


def _table(pair: PaperPair, rows: list[Beside]) -> list[str]:
    """Write a table in %, differences and gains in points."""
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
    """Write percentages with two decimals, as precise as the paper's fractions with four."""
    return percent(mean, 2) if sd is None else f"{percent(mean, 2)} ± {percent(sd, 2)}"


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
        _, problems, samples = shape(study, pair, lam)
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
    bases = [
        f"{percent(over_seeds(seed_scores(study, pair, BASE_MODEL)).mean)} % ({pair.task} {pair.decoding})"
        for pair in pairs
        if study.cells(pair.task, BASE_MODEL)
    ]
    if bases:
        remarks.append(f"The paper has no row of the base model, which is right in {', '.join(bases)} here.")
    remarks.append(
        "Verdicts are of this study's verifiers; `erce verify` counts where the paper's own differ."
    )
    return [*remarks, _by_problems(study, pairs)]


def _by_problems(study: Study, pairs: list[PaperPair]) -> str:
    """Say how far apart chance puts draws of n and m problems: up to 1.96 √(¼/n + ¼/m), 95 % of the time."""
    text = "Which problems the paper drew is not known"
    for pair in pairs:
        if study.cells(pair.task, BASELINE):
            n, m = shape(study, pair, 0.0)[1], pair.table.n_test
            chance = 1.96 * math.sqrt(0.25 / n + 0.25 / m)
            return (
                f"{text}: {counted(n, 'problem')} here and {m} there can differ by up to "
                f"{fixed(100 * chance, 1)} points by the draw alone, which intervals over seeds do not cover."
            )
    return f"{text}, and intervals over seeds do not cover the draw."
