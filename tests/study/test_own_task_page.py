"""docs/own-task.md, followed to the letter."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "own-task.md").read_text(encoding="utf-8")


def shown(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def here(tmp_path):
    """The folder `sums` with the files that the page has one save."""
    for name, text in zip(("make_problems.py", "checks.py"), shown("python"), strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    [recipe] = shown("toml")
    (tmp_path / "own.toml").write_text(recipe, encoding="utf-8")
    assert run(tmp_path, "make_problems.py").returncode == 0
    return tmp_path


def test_the_problems_are_those_that_the_page_shows(here):
    lines = (here / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    [first] = shown("json")
    assert json.loads(lines[0]) == json.loads(first)
    count = len(lines)
    test = count // 5
    validation = (count - test) // 5
    assert f"With\n{count} problems that is {test}, {validation} and {count - test - validation}" in PAGE


@pytest.mark.slow
def test_the_page_leads_to_a_report(here):
    done = run(here, "-m", "erce.cli.main", "run", "own.toml")
    assert done.returncode == 0, done.stderr
    assert (here / "runs" / "own" / "report" / "index.html").exists()
    assert (here / "runs" / "own" / "report" / "tables").is_dir()
    assert len(list((here / "runs" / "own").glob("cells/*/verdicts.jsonl"))) == 5  # four, and the base model
