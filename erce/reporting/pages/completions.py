"""A study's completions → one HTML file that filters them without a server; no other script can run in it."""

import base64
import hashlib
import json
from typing import Any

from markupsafe import Markup

from erce.reporting.format import row_label
from erce.reporting.numbers.completions import Completions, shorten, shown_completions
from erce.reporting.numbers.gains import Summary
from erce.reporting.pages.templates import TEMPLATES, environment
from erce.reporting.words.captions import completions_caption


def completions_page(summary: Summary) -> str:
    """Return the page; a model's text is data to its one script, which shows it as text."""
    shown = shown_completions(summary)
    script = (TEMPLATES / "completions.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = environment().get_template("completions.html")
    return template.render(
        summary=summary,
        recipe=summary.study.recipe,
        caption=completions_caption(shown, len(summary.study.recipe.seeds)),
        script=Markup(script),
        policy=Markup(f"'sha256-{digest}'"),
        content=Markup(_as_json(_content(summary, shown))),
    )


def _content(summary: Summary, shown: Completions) -> dict[str, Any]:
    """Return what the script reads; a row is a list of places in `problems`, `arms`, … and its own texts."""
    arms = summary.arms(summary.study.recipe.task)
    problems = list(dict.fromkeys(row.problem for row in shown.rows))
    verdicts = sorted({(not row.accepted, row.reason) for row in shown.rows})
    places = {name: at for at, name in enumerate(problems)}
    return {
        "arms": [row_label(arm, summary.baseline) for arm in arms],
        "problems": [[shorten(name), shown.prompts.get(name, "")] for name in problems],
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


def _as_json(content: dict[str, Any]) -> str:
    """Return the content as JSON in ASCII, escaped so that no text in it can close the <script> element."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
