"""The page: self-contained, the same bytes again, and the numbers that the paper's theorems give."""

import json
import re

import pytest

from scripts.theory import page
from scripts.theory.figures import drawings


@pytest.fixture(scope="module")
def drawn():
    return drawings(runs=2, sizes=(1, 4))


@pytest.fixture(scope="module")
def written(drawn, tmp_path_factory):
    """The page's text, its numbers, and the printed lines."""
    folder = tmp_path_factory.mktemp("theory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "drawings", lambda: drawn)
        lines = page.write(folder / "new" / "theory.html", folder / "theory.json")
    text = (folder / "new" / "theory.html").read_text(encoding="utf-8")
    assert lines[-1].endswith(str(folder / "new" / "theory.html"))
    return text, json.loads((folder / "theory.json").read_text(encoding="utf-8")), lines


def test_the_page_needs_nothing_else_and_runs_nothing(written, drawn):
    text, _, _ = written
    assert text.startswith("<!doctype html>")
    assert not re.search(r"<script|<link|<img|\bsrc=|@import|url\((?!#)", text)
    assert not re.findall(r"href=\"(?!#)", text)
    assert text.count('role="img"') == text.count("<figure") == len(drawn)
    assert all(drawing in text for drawing in drawn.values())
    assert "var(--blue)" in text
    assert "#1f5c88" not in text[text.index("<svg") :]  # the style sheet colours the figures


@pytest.mark.slow
def test_the_same_settings_give_the_same_figures(drawn):
    assert drawings(runs=2, sizes=(1, 4)) == drawn


def test_page_terminal_and_json_have_the_numbers(written):
    text, numbers, lines = written
    assert numbers["sample_complexity_bound"]["step_3"] == 980_479
    assert numbers["critical_lambda"] == pytest.approx(3.591121, abs=5e-7)
    assert numbers["critical_p"] == pytest.approx(0.2178, abs=5e-5)
    assert numbers["learning"]["promised"]["step_1"] <= numbers["learning"]["promised"]["step_3"]
    assert numbers["switch_lambda"].keys() == set(page.SWITCHES)
    until = f"{numbers['learning']['vacuous_until']:,}"
    assert all(number in text for number in ("1.0774", "3.5911", "980,479", until))
    assert "  R_1                         1.0774" in lines
    assert "  bound of step 3            980,479" in lines
