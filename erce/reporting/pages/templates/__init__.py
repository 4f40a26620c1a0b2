"""The pages' templates, and their environment, which escapes every text and shows what it hides."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from erce.errors import counted
from erce.reporting import format

TEMPLATES = Path(__file__).parent
FILTERS = ("percent", "points", "interval", "p_value", "spread", "strength", "fixed", "grouped")


@cache  # for the templates that it has compiled
def environment(markdown: Callable[[str], str] | None = None) -> Environment:
    """Return the environment of every page: an unknown name in a template is an error.

    Pages are HTML, or with `markdown`, which escapes a text for it, Markdown.
    """
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=markdown is None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=markdown is not None,
        finalize=lambda value: _shown(value, markdown or format.visible),
    )
    made.filters |= {name: getattr(format, name) for name in FILTERS}
    made.filters |= {"counted": counted, "with_code": _with_code}
    made.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return made


def _with_code(text: str) -> Markup:
    """Return a sentence of ours as HTML, with what stands between backticks as code.

    >>> str(_with_code("Say `a < b`."))
    'Say <code>a &lt; b</code>.'
    """
    parts = [escape(format.visible(part)) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def _shown(value: Any, escaped: Callable[[str], str]) -> Any:
    """Spell out a text's hidden characters; leave our own drawings alone."""
    return escaped(value) if isinstance(value, str) and not isinstance(value, Markup) else value
