"""The page: self-contained, the same bytes for the same numbers, and all the numbers promised."""

import json
import re

import pytest

from erce.theory import learning, page
from erce.theory.figures import drawings
from erce.theory.page import findings


@pytest.fixture(scope="module")
def numbers():
    return findings(runs=50, curves=3, sizes=(1, 4, 16))


@pytest.fixture(scope="module")
def text(numbers):
    return page.render(numbers)


def test_the_page_needs_nothing_else_and_runs_nothing(text):
    assert not re.search(r"<script|<link|<img|\bsrc=|@import|url\((?!#)", text)
    assert not re.findall(r"href=\"(?!#)", text)
    assert text.count("<svg") == text.count("<figure") == 7
    assert text.count('role="img"') == 7


def test_the_same_numbers_give_the_same_bytes(text, numbers):
    assert all(drawing in text for drawing in drawings(numbers).values())


def test_the_page_says_where_the_bounds_say_nothing(text, numbers):
    until = numbers["learning"]["vacuous_until"]
    setting = {"eta": numbers["learning"]["eta"], "supports": numbers["learning"]["supports"], "delta": 0.05}
    assert all(learning.risk_bound(step, until, **setting) == 1 for step in learning.STEPS)
    assert learning.risk_bound(1, until + 1, **setting) < 1
    assert f"vacuous: every bound is 1 or more up to m = {until:,}" in text
    assert f"{980_479:,}" in text
    assert "1.0774" in text
    assert "3.5911" in text


def test_a_page_takes_its_colours_from_its_style_sheet(text):
    drawn = text[text.index("<svg") :]
    assert "var(--blue)" in drawn
    assert "#1f5c88" not in drawn


def test_the_numbers_are_plain_and_complete(numbers):
    again = json.loads(json.dumps(numbers, allow_nan=False))
    assert again["switch_lambda"]["S_1"] == pytest.approx(0.4848, abs=5e-5)
    assert again["switch_lambda"]["R_inf"] is None
    assert again["critical_lambda"] == pytest.approx(3.591121, abs=5e-7)
    assert (again["samples_enough"], again["samples_enough_cross_entropy"]) == (1, None)
    assert again["sample_complexity_counterexample"] == 980_479
    assert again["sample_complexity_bound"]["step_3"] == 980_479
    assert max(again["counterexample"]["m"]) == 1000
    steps = [again["learning"]["bounds"][f"step_{n}"] for n in (1, 2, 3)]
    assert all(steps[0][i] <= steps[1][i] <= steps[2][i] for i in range(len(steps[0])))


def test_the_table_names_what_it_counts(numbers):
    lines = page.table(numbers)
    assert "  R_1                         1.0774" in lines
    assert "  bound of step 3            980,479" in lines
    assert any(line.split() == ["cross-entropy", "over", "1,000"] for line in lines)


@pytest.mark.slow
def test_two_runs_write_the_same_files_in_less_than_a_minute_each(tmp_path):
    import time

    started = time.process_time()
    lines = page.write(tmp_path / "a" / "theory.html", tmp_path / "a.json")
    assert time.process_time() - started < 60
    page.write(tmp_path / "b.html", tmp_path / "b.json")
    assert (tmp_path / "a" / "theory.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert lines[-1].endswith(str(tmp_path / "a" / "theory.html"))
