"""A summary → one HTML file that opens from disk, needs nothing else, and runs nothing."""

from pathlib import Path
from statistics import fmean
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from erce.catalog import penalty_in_words
from erce.files import read_json
from erce.recipe import as_settings
from erce.reporting import changes, coverage, figure, format, frontier, searched
from erce.reporting.cautions import ACCIDENTS, cautions
from erce.reporting.examples import examples
from erce.reporting.gains import DECODINGS, Row, Summary
from erce.reporting.inference import grid_sentences, inference
from erce.reporting.sentences import sentences
from erce.study.folder import cell_folder
from erce.types import BASELINE, Arm

TEMPLATES = Path(__file__).parent / "templates"
FILTERS = (
    "percent",
    "points",
    "interval",
    "p_value",
    "spread",
    "strength",
    "known_as",
    "fixed",
    "counted",
    "unbroken",
)
VERDICTS = {  # what a reader wants to tell apart → the verifier's reasons; all others are "other"
    "right": ("exact", "numeric", "structural", "passed"),
    "wrong": ("different", "failed"),
    "no answer": ("no answer",),
    "cut off": ("truncated",),
    "timeout": ("timeout",),
}
CURVES = (
    ("ce", "cross-entropy, nats a token", "Cross-entropy of the demonstrations."),
    ("entropy", "entropy, nats a token", "Entropy of the policy on them, which λ > 0 lowers."),
)
LONGEST = 20_000  # characters of any one text: more is no name, setting or sentence
POINTS = 300  # of a curve: more cannot be seen


def document(summary: Summary) -> str:
    """The page. What a model, a recipe or a path wrote is escaped; the same study gives the same bytes."""
    recipe = summary.study.recipe
    return (
        _environment()
        .get_template("report.html")
        .render(
            summary=summary,
            recipe=recipe,
            penalty=penalty_in_words(recipe.penalty, recipe.order),
            decodings=DECODINGS,
            sentences=sentences(summary),
            of_the_grid=grid_sentences(inference(summary)),
            search=searched.told(summary),
            complete=not summary.study.missing and searched.ended(summary.study),
            seeds_note=searched.seeds_note,
            cautions=cautions(summary),
            limits={reason: limit for reason, limit, _ in ACCIDENTS},
            forest=_forest(summary),
            figures={task: _figures(summary, task) for task in recipe.tasks if summary.arms(task)},
            curves=_curves(summary),
            mixes=_mixes(summary),
            temperature=_temperature(summary),
            together=_together(summary),
            changes=_changes(summary),
            examples=examples(summary),
            settings=_settings(summary),
            versions=_versions(summary),
            minutes=summary.study.seconds / 60,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {name: getattr(format, name) for name in FILTERS}
    environment.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return environment


def _shown(value: Any) -> Any:
    """Texts as they may stand on a page, whoever wrote them; our own drawings as they are."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return format.visible(value if len(value) <= LONGEST else f"{value[:LONGEST]} …")


def _forest(summary: Summary) -> list[dict[str, Any]]:
    """The gains at the chosen λ on one scale: each a line with the places of its ends, in %."""
    recipe, found = summary.study.recipe, []
    for task in recipe.tasks if summary.chosen_penalty else ():
        for decoding in DECODINGS:
            entry = summary.gain(task, summary.chosen, decoding)
            if entry is not None and entry["ci"] is not None:
                found.append(entry | {"group": "control" if task == recipe.control else "task"})
    found += [entry | {"group": "difference", "mean": None} for entry in summary.interaction]
    ends = [0.0, *(end for entry in found for end in entry["ci"])]
    low, width = min(ends), max(ends) - min(ends) or 1.0

    def place(value: float) -> str:
        return f"{3 + 94 * (value - low) / width:.2f}%"

    keys = ("zero", "low", "mid", "high")
    values = ((0.0, entry["ci"][0], entry["gain"], entry["ci"][1]) for entry in found)
    return [
        entry | dict(zip(keys, map(place, at), strict=True)) for entry, at in zip(found, values, strict=True)
    ]


def _figures(summary: Summary, task: str) -> list[dict[str, Any]]:
    """Accuracy, and gain where there is one, against λ."""
    drawn = [
        {
            "drawing": _drawing(figure.accuracy(summary, [task]), f"Accuracy on {task} against λ"),
            "caption": "Right on the test problems. Bars: ±1 standard deviation over seeds.",
        }
    ]
    if any(arm != BASELINE and summary.has_gain(task, arm) for arm in summary.arms(task)):
        drawn.append(
            {
                "drawing": _drawing(figure.gain(summary, task), f"Gain over λ = 0 on {task} against λ"),
                "caption": "Gain over cross-entropy. Bars: 95 % interval over problems and seeds.",
            }
        )
    return drawn


def _temperature(summary: Summary) -> list[dict[str, Any]]:
    """Empty where the recipe has no frontier."""
    found = frontier.temperature_frontier(summary)
    if found is None:
        return []
    over_entropy = _drawing(frontier.drawn(found), "Accuracy against entropy, an arm a line over temperature")
    over_temperature = _drawing(frontier.drawn_by_temperature(found), "Accuracy against temperature")
    return [
        {"drawing": over_entropy, "caption": frontier.OVER_ENTROPY},
        {"drawing": over_temperature, "caption": frontier.OVER_TEMPERATURE},
    ]


def _together(summary: Summary) -> dict[str, Any] | None:
    """What k samples of a problem do together: the figure, and the table's numbers."""
    found = coverage.sample_coverage(summary)
    if found is None:
        return None
    drawing = _drawing(coverage.drawn(found), "The chance that one of k samples is right against k")
    return {"found": found, "drawing": drawing, "caption": coverage.caption(found)}


def _changes(summary: Summary) -> dict[str, Any] | None:
    found = changes.problem_changes(summary)
    if found is None:
        return None
    drawing = _drawing(changes.drawn(found), "The gain on every test problem, sorted")
    return {"drawing": drawing, "caption": changes.caption(found)}


def _curves(summary: Summary) -> list[dict[str, Any]]:
    """What training logged on the study's own task, averaged over seeds."""
    drawn = []
    for name, label, caption in CURVES:
        logs = _logs(summary, name)
        if any(len(log) > 1 for log in logs.values()):
            drawing = _drawing(
                figure.curves(logs, label), f"{label} against the training step", lines=len(logs)
            )
            drawn.append({"drawing": drawing, "caption": caption})
    return drawn


def _drawing(drawn: Any, description: str, *, lines: int = 0) -> Markup:
    text = figure.inline(drawn, f"{format.visible(description)}; the tables have the numbers", lines=lines)
    return Markup(text)


def _logs(summary: Summary, name: str) -> dict[float, list[tuple[int, float]]]:
    """λ → (step, mean over seeds), at the steps that every seed logged."""
    study, found = summary.study, {}
    for lam in study.lams:
        seeds = []
        for cell in study.cells(study.recipe.task, Arm(lam)):
            path = cell_folder(study.root, study.recipe, cell) / "training.json"
            if path.is_file():
                log = read_json(path).get("log", [])
                seeds.append({entry["step"]: entry[name] for entry in log if name in entry})
        steps = sorted(set.intersection(*map(set, seeds))) if seeds else []
        if steps:
            kept = steps[:: -(-len(steps) // POINTS)]
            found[lam] = [(step, fmean(seed[step] for seed in seeds)) for step in kept]
    return found


def _mixes(summary: Summary) -> dict[str, list[tuple[Row, dict[str, float]]]]:
    """Task → (row, share of completions under each name of VERDICTS, or "other"); no name that all lack."""
    found = {}
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
            found[task] = [
                (row, {name: mix[name] for name in names}) for row, mix in zip(rows, mixes, strict=True)
            ]
    return found


def _mix(row: Row) -> dict[str, float]:
    shares = {
        name: sum(row.reasons.get(reason, 0.0) for reason in reasons) for name, reasons in VERDICTS.items()
    }
    return shares | {"other": max(0.0, round(1.0 - sum(shares.values()), 9))}


def _settings(summary: Summary) -> dict[str, str]:
    """Every setting of the recipe; of a study that logs were read into, what they say."""
    settings = as_settings(summary.study.recipe)
    if settings.pop("imported"):
        for name in (
            "data",
            "dtype",
            "n_train",
            "n_validation",
            "n_test",
            "split_seed",
            "training",
            "server",
        ):
            del settings[name]
        del settings["decoding"]["batch_size"]
    return _flat(settings)


def _flat(settings: dict[str, Any], where: str = "") -> dict[str, str]:
    """Every setting of the recipe under its full name, as text."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{where}{name}.")
        elif isinstance(value, tuple | list):
            texts = [each if isinstance(each, str) else f"{each:g}" for each in value]
            found[where + name] = ", ".join(texts) or "–"
        else:
            found[where + name] = "–" if value is None else str(value)
    return found


def _versions(summary: Summary) -> dict[str, str]:
    """Package → the versions that the cells were run with."""
    found: dict[str, set[str]] = {}
    for result in summary.study.results.values():
        for name, version in result.get("versions", {}).items():
            found.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(found[name])) for name in sorted(found)}
