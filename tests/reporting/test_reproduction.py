"""The rows for the table of reproductions have the report's own numbers."""

from pathlib import Path

import pytest
from toys.studies import TASK, make_study

from erce.errors import InputError
from erce.reporting.format import interval, points
from erce.reporting.numbers.gains import summary
from erce.types import Arm
from scripts.reproduction import rows

PAGE = Path(__file__).parents[2] / "docs" / "real.md"


def test_each_arm_has_a_row_with_the_columns_of_the_page_and_the_gains_of_the_report(tmp_path):
    made = summary(make_study(tmp_path / "runs", lams=(-0.3, 0.0), methods=("dft",), control=None))
    ours = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows(made, commit="abc")]
    headings = next(
        line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| model | task")
    )
    assert {len(row) for row in ours} == {len(headings.strip("| ").split(" | "))}
    assert [row[:3] for row in ours] == [["tiny", "sums", "−0.3"], ["tiny", "sums, `dft`", "0"]]
    gain = made.row(TASK, Arm(-0.3), "greedy").gain
    assert ours[0][4:] == [f"{points(gain.gain)} ({interval(gain)})", "3", "abc", "…"]


def test_a_study_without_two_arms_has_no_row(tmp_path):
    made = summary(make_study(tmp_path / "runs", lams=(0.0,), control=None))
    with pytest.raises(InputError, match="no gain over λ = 0 yet"):
        rows(made, commit="abc")
