"""What README and docs show, runs: every Python block of a page, top to bottom."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.reference import settings_page

ROOT = Path(__file__).parents[1]
OUTSIDE = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "recipes/README.md", "scripts/paper/README.md")
]
PAGES = [*OUTSIDE, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_is_in_the_table_of_contents():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [
        page.name for page in PAGES[len(OUTSIDE) :] if f" {page.relative_to(ROOT / 'docs')}\n" not in nav
    ] == []


def test_the_tables_of_settings_and_commands_are_those_of_the_code():
    """If not: python -m scripts.reference > recipes/README.md."""
    assert (ROOT / "recipes" / "README.md").read_text(encoding="utf-8") == settings_page()


@pytest.mark.slow
def test_the_reference_has_every_public_name(tmp_path):
    """Of every room that says with `__all__` what is public."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    pages = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "reference").rglob("index.html"))
    for room in ("", ".loss", ".verify", ".score", ".stats", ".recipe", ".tasks", ".imports"):
        names = importlib.import_module(f"erce{room}").__all__
        shown = [name for name in names if re.search(rf'id="erce[\w.]*\.{name}"|<code>{name}</code>', pages)]
        assert shown == list(names)
