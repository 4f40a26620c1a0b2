"""MkDocs hook and griffe extension: the parser, the recipe's classes and docstrings → reference pages.

python -m scripts.reference > recipes/README.md     # settings and commands, for readers of the repository
"""

import argparse
import ast
import dataclasses
import inspect
import json
import re
import textwrap
from pathlib import Path
from typing import Any

from griffe import Attribute, Docstring, Extension, Object
from mkdocs.structure.pages import Page

RECIPES = Path(__file__).parents[1] / "recipes"
DOCTEST = re.compile(r"(?m)^>>> .*(?:\n(?!\s*$).*)*")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replace `{{ commands }}` and `{{ settings }}` by what the code says, links out of docs by text."""
    for name, lines in (("commands", command_lines), ("settings", setting_lines)):
        mark = f"{{{{ {name} }}}}"
        if mark in markdown:
            markdown = markdown.replace(mark, "\n".join(lines()))
    outside = "../" * (page.file.src_uri.count("/") + 1)
    return re.sub(rf"\[([^]]+)\]\({re.escape(outside)}[^)]+\)", r"\1", markdown)


def command_lines() -> list[str]:
    """Return a section for each command: its summary, and a table of its arguments."""
    from erce.cli.main import _parser

    parser = _parser()
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    lines = []
    for name, command in commands.choices.items():
        summary, *rest = (command.description or "").split("\n\n")
        lines += [f"## erce {name}", "", summary, "", *rest, "", "| argument | |", "|---|---|"]
        for action in command._actions:
            if not isinstance(action, argparse._HelpAction):
                lines.append(f"| {_argument(action)} | {_cell(action.help or '')} |")
        lines.append("")
    return lines


def _argument(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.dest.upper()}`"
    values = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    words = values if isinstance(values, str) else " ".join(values)
    if action.choices:
        words = "{" + ",".join(map(str, action.choices)) + "}"
    return f"`{_cell(' '.join([action.option_strings[-1], words]).strip())}`"


def setting_lines() -> list[str]:
    """Return a table of settings for the recipe and for each of its sections."""
    from erce import recipe

    lines = _setting_table("Top level", recipe.Recipe)
    for section, kind in SECTIONS.items():
        lines += _setting_table(f"[{section}]", getattr(recipe, kind))
    return lines


SECTIONS = {
    "columns": "Columns",
    "verify": "Verification",
    "training": "Training",
    "decoding": "Decoding",
    "resources": "Resources",
    "own": "OwnSamples",
    "server": "Serving",
}


def settings_page() -> str:
    """Return recipes/README.md: the recipes that come with erce, all settings and all commands."""
    from erce.recipe import load_recipe

    lines = [
        "# Recipes, settings and commands",
        "",
        "`erce run NAME` runs a recipe of this folder; [the guide](../docs/recipes.md) explains settings.",
        "After the recipes come [every setting](#top-level) and [every command](#erce-demo).",
        "Written by `python -m scripts.reference > recipes/README.md`.",
        "",
        "| recipe | task | model | λ | seeds |",
        "|---|---|---|---|---|",
    ]
    for path in sorted(RECIPES.glob("*.toml")):
        recipe = load_recipe(path)
        lams = ", ".join(f"{lam:g}" for lam in recipe.lams)
        lines.append(
            f"| `{path.stem}` | {', '.join(recipe.tasks)} | {recipe.model} | {lams} | {len(recipe.seeds)} |"
        )
    lines += ["", "Where a default is empty, the key is left out; the text then says `None`.", ""]
    return "\n".join([*lines, *setting_lines(), *command_lines()])


def _setting_table(title: str, kind: type) -> list[str]:
    lines = [f"## {title}", "", kind.__doc__ or "", "", "| setting | default | |", "|---|---|---|"]
    meanings = _meanings(kind)
    for field in dataclasses.fields(kind):
        if field.name not in (*SECTIONS, "imported"):
            lines.append(f"| `{field.name}` | {_default(field.default)} | {_cell(meanings[field.name])} |")
    return [*lines, ""]


def _meanings(kind: type) -> dict[str, str]:
    """Return a dataclass's field → the comment beside it."""
    source = inspect.getsource(kind).splitlines()
    [body] = [
        definition.body
        for definition in ast.parse("\n".join(source)).body
        if isinstance(definition, ast.ClassDef)
    ]
    fields = [field for field in body if isinstance(field, ast.AnnAssign)]
    return {
        ast.unparse(field.target): trailing_comment(source[(field.end_lineno or field.lineno) - 1])
        for field in fields
    }


def _default(value: Any) -> str:
    """Return a default as TOML has it."""
    if value is dataclasses.MISSING:
        return "required"
    return "" if value is None else f"`{json.dumps(value)}`"


def trailing_comment(line: str) -> str:
    """Return the text after two spaces and `#`.

    >>> trailing_comment("rank: int = 16  # of the adapter")
    'of the adapter'
    """
    return line.partition("  # ")[2].strip()


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


class Docstrings(Extension):
    """Fences doctests, which Markdown takes for quotations, and gives a field its comment as a docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.is_module:
            obj.docstring = None  # a map of files, for readers of the code
        elif obj.docstring is not None:
            text = textwrap.dedent(obj.docstring.value)
            obj.docstring.value = DOCTEST.sub(lambda test: f"```pycon\n{test[0]}\n```", text)

    def on_attribute(self, *, attr: Attribute, **_: Any) -> None:
        if attr.docstring is None and attr.lines and (comment := trailing_comment(attr.lines[-1])):
            attr.docstring = Docstring(comment, parent=attr)


if __name__ == "__main__":
    print(settings_page(), end="")
