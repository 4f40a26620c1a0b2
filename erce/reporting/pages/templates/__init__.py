"""Our templates and their environment, in which every text is escaped and shows what it hides."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from erce.errors import counted
from erce.reporting import format
from erce.reporting.words.terms import TERMS

TEMPLATES = Path(__file__).parent
FILTERS = ("percent", "points", "interval", "p_value", "spread", "strength", "fixed", "grouped")
FILTERS += ("known_as", "row_label", "sentence_label", "unbroken")
MAX_CHARACTERS = 20_000  # of any one text; longer texts are cut


def environment() -> Environment:
    """Return the environment of every page: an unknown name in a template is an error."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= {name: getattr(format, name) for name in FILTERS} | {"counted": counted}
    made.globals |= {"terms": TERMS, "style": Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))}
    return made


def _shown(value: Any) -> Any:
    """Spell out a text's hidden characters, and cut a text that is too long; leave our own drawings alone."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return format.visible(value if len(value) <= MAX_CHARACTERS else f"{value[:MAX_CHARACTERS]} …")
