"""The page: self-contained, the same bytes again, and the numbers that the paper's theorems give."""

import json
import re

import pytest

from erce.theory import page
from erce.theory.figures import drawings
from erce.theory.page import findings


@pytest.fixture(scope="module")
def drawn():
    return drawings(runs=3, sizes=(1, 4, 16))


@pytest.fixture(scope="module")
def text(drawn):
    return page.render(findings(), drawn)


def test_the_page_needs_nothing_else_and_runs_nothing(text, drawn):
    assert not re.search(r"<script|<link|<img|\bsrc=|@import|url\((?!#)", text)
    assert not re.findall(r"href=\"(?!#)", text)
    assert text.count('role="img"') == text.count("<figure") == len(drawn)
    assert all(drawing in text for drawing in drawn.values())
    assert "var(--blue)" in text
    assert "#1f5c88" not in text[text.index("<svg") :]  # the style sheet colours the figures


def test_the_same_settings_give_the_same_figures(drawn):
    assert drawings(runs=3, sizes=(1, 4, 16)) == drawn


def test_page_terminal_and_json_have_the_numbers(text):
    numbers = json.loads(json.dumps(findings(), allow_nan=False))
    assert numbers["sample_complexity_bound"]["step_3"] == 980_479
    assert numbers["critical_lambda"] == pytest.approx(3.591121, abs=5e-7)
    assert numbers["critical_p"] == pytest.approx(0.2178, abs=5e-5)
    assert numbers["learning"]["promised"]["step_1"] <= numbers["learning"]["promised"]["step_3"]
    until = f"{numbers['learning']['vacuous_until']:,}"
    assert all(number in text for number in ("1.0774", "3.5911", "980,479", until))
    assert "  R_1                         1.0774" in page.table(numbers)
    assert "  bound of step 3            980,479" in page.table(numbers)


def test_a_page_is_written_beside_its_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "drawings", lambda: drawings(runs=2, sizes=(1, 4)))
    lines = page.write(tmp_path / "new" / "theory.html", tmp_path / "theory.json")
    assert lines[-1].endswith(str(tmp_path / "new" / "theory.html"))
    assert (tmp_path / "new" / "theory.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads((tmp_path / "theory.json").read_text())["switch_lambda"].keys() == set(page.SWITCHES)
