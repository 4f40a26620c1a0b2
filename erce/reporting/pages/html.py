"""A summary → the report's page and the page of completions: HTML files that open from disk, fetch nothing.

The report runs no script. The page of completions runs one, which shows what a model wrote as text.
"""

import base64
import hashlib
import json
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from erce.files import read_json
from erce.recipe import Cell, as_settings
from erce.reporting.numbers.completions import (
    MOST_ON_A_PAGE,
    Completions,
    examples,
    shorten,
    shown_completions,
)
from erce.reporting.numbers.gains import DECODINGS, Summary, TableRow
from erce.reporting.numbers.inference import package_versions
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.reporting.numbers.verdict import gains, preferences
from erce.reporting.pages.figures import accuracy, accuracy_over_temperature, curves, inline
from erce.reporting.pages.templates import TEMPLATES, environment
from erce.reporting.words import sentences as words
from erce.reporting.words.cautions import faults, next_steps
from erce.study.folder import TRAINING, read_record
from erce.study.provenance import CHECKS

VERDICTS = {  # a name on the page → the verifier's reasons; all other reasons are "other"
    "right": ("exact", "numeric", "structural", "passed", "unproven"),
    "wrong": ("different", "failed"),
    "no answer": ("no answer",),
    "cut off": ("truncated",),
    "timeout": ("timeout",),
}
MOST_POINTS = 300  # of a curve; the eye cannot tell more apart


def document(summary: Summary) -> str:
    """Return the page; texts of models, recipes and paths are escaped, and equal studies give equal bytes."""
    tasks = [task for task in summary.study.recipe.tasks if summary.arms(task)]
    sweep = temperature_sweep(summary)
    settings = as_settings(summary.study.recipe)
    del settings["imported"]
    template = environment().get_template("report.html")
    return template.render(
        summary=summary,
        recipe=summary.study.recipe,
        complete=not summary.study.missing,
        preferences=preferences(summary),
        gains=gains,
        preferred={name: found.arm for name, found in preferences(summary).items()},
        meanings=[
            text for arm in summary.arms(summary.task) if "(" in (text := words.in_words(summary, arm))
        ],
        decodings=DECODINGS,
        sentences=words.sentences(summary),
        faults=faults(summary),
        next_steps=next_steps(summary),
        figures={task: inline(accuracy(summary, task), f"Accuracy of every arm on {task}") for task in tasks},
        curves=_curves(summary),
        checks={task: read_record(summary.study.folder(Cell(task, None, 0))).get(CHECKS) for task in tasks},
        verdict_mixes=_mixes(summary),
        temperature=sweep and inline(accuracy_over_temperature(sweep), "Accuracy against temperature"),
        coverage=sample_coverage(summary),
        examples=examples(summary),
        settings=json.dumps(settings, indent=2, ensure_ascii=False),
        versions={name: ", ".join(texts) for name, texts in package_versions(summary).items()},
    )


def completions_page(summary: Summary) -> str:
    """Return the page; a model's text is data to its one script, which shows it as text."""
    shown = shown_completions(summary)
    script = (TEMPLATES / "completions.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    content = htmlsafe_json_dumps(_completions(summary, shown), separators=(",", ":"))
    template = environment().get_template("completions.html")
    return template.render(
        recipe=summary.study.recipe,
        shown=shown,
        most=MOST_ON_A_PAGE,
        script=Markup(script),
        script_source=Markup(f"'sha256-{digest}'"),
        content=content,
    )


def _completions(summary: Summary, shown: Completions) -> dict[str, Any]:
    """Return the data for completions.js: a row has indices into `problems`, `arms`, … and its texts."""
    arms = summary.arms(summary.task)
    problems = list(dict.fromkeys(row.problem for row in shown.rows))
    verdicts = sorted({(not row.accepted, row.reason) for row in shown.rows})
    places = {name: at for at, name in enumerate(problems)}
    return {
        "arms": [words.in_words(summary, arm) for arm in arms],
        "problems": [[shorten(name), *shown.texts.get(name, ["", "", ""])] for name in problems],
        "verdicts": [[reason, not rejected] for rejected, reason in verdicts],
        "rows": [
            [
                places[row.problem],
                arms.index(row.arm),
                verdicts.index((not row.accepted, row.reason)),
                row.decoding,
                row.seed,
                row.extracted,
                row.text,
            ]
            for row in shown.rows
        ],
    }


def _curves(summary: Summary) -> Markup | None:
    """Draw how each arm of the main task learned, with its first seed that is done."""
    logs, study = {}, summary.study
    for arm in summary.arms(summary.task):
        path = study.folder(study.cells(summary.task, arm)[0]) / TRAINING
        log = [entry for entry in read_json(path, "log")["log"] if "ce" in entry] if path.is_file() else []
        kept = log[:: -(-len(log) // MOST_POINTS) or 1]
        logs[summary.name(arm)] = [(entry["step"], entry["ce"]) for entry in kept]
    logs = {name: log for name, log in logs.items() if len(log) > 1}
    return inline(curves(logs), "Cross-entropy against the training step") if logs else None


def _mixes(summary: Summary) -> dict[str, list[tuple[TableRow, dict[str, float]]]]:
    """Return task → (row, its shares by the names of VERDICTS and "other"); unused names are left out."""
    by_task = {}
    for task in summary.study.recipe.tasks:
        rows = sorted(
            (row for row in summary.rows if row.task == task), key=lambda row: DECODINGS.index(row.decoding)
        )
        mixes = [_mix(row) for row in rows]
        names = [name for name in (*VERDICTS, "other") if any(mix[name] for mix in mixes)]
        if rows:
            shares = [{name: mix[name] for name in names} for mix in mixes]
            by_task[task] = list(zip(rows, shares, strict=True))
    return by_task


def _mix(row: TableRow) -> dict[str, float]:
    shares = {
        name: sum(row.reasons.get(reason, 0.0) for reason in reasons) for name, reasons in VERDICTS.items()
    }
    return shares | {"other": max(0.0, round(1.0 - sum(shares.values()), 9))}
