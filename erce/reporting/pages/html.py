"""A summary → the report's page: an HTML file that opens from disk, fetches nothing and runs no script."""

import json
from statistics import fmean
from typing import Any, NamedTuple

from markupsafe import Markup
from matplotlib.figure import Figure

from erce.files import read_json
from erce.recipe import as_settings
from erce.reporting import format
from erce.reporting.numbers.changes import problem_changes
from erce.reporting.numbers.completions import three_completions
from erce.reporting.numbers.examples import examples
from erce.reporting.numbers.frontier import temperature_frontier
from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow
from erce.reporting.numbers.inference import inference
from erce.reporting.numbers.k_samples import all_samples, sample_coverage
from erce.reporting.pages import figures, line_figures
from erce.reporting.pages.templates import environment
from erce.reporting.words import captions, searched
from erce.reporting.words.cautions import faults
from erce.reporting.words.next_steps import next_steps
from erce.reporting.words.sentences import all_alike, sentences, statement
from erce.reporting.words.whole_grid import grid_sentences
from erce.stats import Gain
from erce.study.folder import cell_folder

VERDICTS = {  # a name on the page → the verifier's reasons; all other reasons are "other"
    "right": ("exact", "numeric", "structural", "passed", "unproven"),
    "wrong": ("different", "failed"),
    "no answer": ("no answer",),
    "cut off": ("truncated",),
    "timeout": ("timeout",),
}
CURVES = (
    ("ce", "cross-entropy, nats a token", "Cross-entropy of the demonstrations."),
    ("entropy", "entropy, nats a token", "Entropy of the policy on them, which λ > 0 lowers."),
)
NOT_IN_LOGS = {"data", "dtype", "n_train", "n_validation", "n_test", "split_seed", "training", "server"}
MAX_POINTS = 300  # of a curve; the eye cannot tell more apart


class Drawing(NamedTuple):
    """A figure of the page as SVG, and the caption below it."""

    svg: Markup
    caption: str


class ForestRow(NamedTuple):
    """A gain in the forest plot; `zero`, `low`, `mid` and `high` are places on its scale, in %."""

    group: str  # "task", "control" or "difference"
    decoding: str
    accuracies: tuple[float, float] | None  # of the baseline and of the chosen λ
    gain: Gain
    zero: str
    low: str
    mid: str
    high: str


def document(summary: Summary) -> str:
    """Return the page; texts of models, recipes and paths are escaped, and equal studies give equal bytes."""
    alike = three_completions(summary) if all_alike(summary) else []
    return (
        environment()
        .get_template("report.html")
        .render(
            summary=summary,
            recipe=summary.study.recipe,
            penalty=summary.study.recipe.penalty_in_words,
            search=searched.search_table(summary),
            complete=not summary.study.missing and searched.ended(summary.study),
            statement=statement(summary),
            alike=alike,
            forest=_forest(summary),
            covers=_covers(summary),
            **({} if alike else _sections(summary)),
        )
    )


def _sections(summary: Summary) -> dict[str, Any]:
    """Return what stands below the headline, by the names of the template."""
    tasks = [task for task in summary.study.recipe.tasks if summary.arms(task)]
    coverage = sample_coverage(summary)
    return {
        "decodings": DECODINGS,
        "sentences": sentences(summary),
        "grid_statements": grid_sentences(inference(summary)),
        "seeds_note": searched.seeds_note,
        "faults": faults(summary),
        "next_steps": next_steps(summary),
        "figures": {task: _accuracy(summary, task) for task in tasks},
        "curves": _curves(summary),
        "verdict_mixes": _mixes(summary),
        "temperature": _temperature(summary),
        "coverage": coverage,
        "coverage_caption": coverage and captions.coverage_caption(coverage),
        "together": all_samples(summary),
        "changes": _changes(summary),
        "examples": examples(summary),
        "settings": _settings(summary),
        "versions": _versions(summary),
    }


def _forest(summary: Summary) -> list[ForestRow]:
    """Return the gains at the chosen λ, then the differences to the control's, on one scale."""
    recipe = summary.study.recipe
    gains: list[tuple[str, str, tuple[float, float] | None, Gain]] = []
    for task in recipe.tasks if summary.chosen_penalty else ():
        for decoding in DECODINGS:
            if arm_gain := summary.gain(task, summary.chosen, decoding):
                group = "control" if task == recipe.control else "task"
                gains.append((group, decoding, (arm_gain.baseline, arm_gain.mean), arm_gain.gain))
    gains += [("difference", decoding, None, gain) for decoding, gain in summary.interaction.items()]
    ends = [0.0, *(end for *_, gain in gains for end in (gain.low, gain.high))]
    low, width = min(ends), max(ends) - min(ends) or 1.0

    def place(value: float) -> str:
        return f"{3 + 94 * (value - low) / width:.2f}%"

    return [
        ForestRow(
            group, decoding, accuracies, gain, place(0.0), place(gain.low), place(gain.gain), place(gain.high)
        )
        for group, decoding, accuracies, gain in gains
    ]


def _covers(summary: Summary) -> str:
    """Say what the intervals of the forest allow for."""
    gain = summary.gain(summary.study.recipe.task, summary.chosen_penalty, summary.decoding)
    alone = gain is not None and gain.gain.covers == "problems"
    return "problems; other seeds may differ" if alone else "problems and seeds"


def _accuracy(summary: Summary, task: str) -> Drawing:
    several = any(row.sd is not None for row in summary.rows if row.task == task)
    bars = " Bars: ±1 standard deviation over seeds." if several else ""
    drawn = _svg(figures.accuracy(summary, [task]), f"Accuracy on {task} against λ")
    return Drawing(drawn, f"Right on the test problems.{bars}")


def _temperature(summary: Summary) -> Drawing | None:
    """Draw the frontier; None where the recipe has none."""
    frontier = temperature_frontier(summary)
    if frontier is None:
        return None
    drawn = _svg(line_figures.accuracy_over_temperature(frontier), "Accuracy against temperature")
    return Drawing(drawn, captions.OVER_TEMPERATURE)


def _changes(summary: Summary) -> Drawing | None:
    changes = problem_changes(summary)
    if changes is None:
        return None
    drawn = _svg(line_figures.every_problem(changes), "The gain on every test problem, sorted")
    return Drawing(drawn, captions.changes_caption(changes))


def _curves(summary: Summary) -> list[Drawing]:
    """Draw what training logged on the study's own task, averaged over seeds."""
    drawn = []
    for name, label, caption in CURVES:
        logs = _logs(summary, name)
        if any(len(log) > 1 for log in logs.values()):
            description = f"{label} against the training step"
            drawn.append(Drawing(_svg(figures.curves(logs, label), description, lines=len(logs)), caption))
    return drawn


def _svg(figure: Figure, description: str, *, lines: int = 0) -> Markup:
    text = f"{format.visible(description)}; the tables have the numbers"
    return Markup(figures.inline(figure, text, lines=lines))


def _logs(summary: Summary, name: str) -> dict[float, list[tuple[int, float]]]:
    """Return λ → (step, mean over seeds), at the steps that every seed logged."""
    study, logs = summary.study, {}
    for lam in study.lams:
        seeds = []
        for cell in study.cells(study.recipe.task, study.recipe.grid_arm(lam)):
            path = cell_folder(study.root, study.recipe, cell) / "training.json"
            if path.is_file():
                log = read_json(path).get("log", [])
                seeds.append({entry["step"]: entry[name] for entry in log if name in entry})
        steps = sorted(set.intersection(*map(set, seeds))) if seeds else []
        if steps:
            kept = steps[:: -(-len(steps) // MAX_POINTS)]
            logs[lam] = [(step, fmean(seed[step] for seed in seeds)) for step in kept]
    return logs


def _mixes(summary: Summary) -> dict[str, list[tuple[TableRow, dict[str, float]]]]:
    """Return task → (row, its shares by the names of VERDICTS and "other"); unused names are left out."""
    by_task = {}
    for task in summary.study.recipe.tasks:
        rows = [
            row
            for decoding in DECODINGS
            for row in summary.rows
            if (row.task, row.decoding) == (task, decoding)
        ]
        mixes = [_mix(row) for row in rows]
        names = [name for name in (*VERDICTS, "other") if any(mix[name] for mix in mixes)]
        if rows:
            by_task[task] = [
                (row, {name: mix[name] for name in names}) for row, mix in zip(rows, mixes, strict=True)
            ]
    return by_task


def _mix(row: TableRow) -> dict[str, float]:
    shares = {
        name: sum(row.reasons.get(reason, 0.0) for reason in reasons) for name, reasons in VERDICTS.items()
    }
    return shares | {"other": max(0.0, round(1.0 - sum(shares.values()), 9))}


def _settings(summary: Summary) -> str:
    """Write the recipe; without one that can run, only the settings that logs show."""
    settings = as_settings(summary.study.recipe)
    del settings["imported"]
    if not summary.study.recipe.can_run:
        del settings["decoding"]["batch_size"], settings["decoding"]["compile"]
        settings = {name: value for name, value in settings.items() if name not in NOT_IN_LOGS}
    return json.dumps(settings, indent=2, ensure_ascii=False)


def _versions(summary: Summary) -> dict[str, str]:
    """Return package → the versions that the cells were run with."""
    versions: dict[str, set[str]] = {}
    for result in summary.study.results.values():
        for name, version in result.get("versions", {}).items():
            versions.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(versions[name])) for name in sorted(versions)}
