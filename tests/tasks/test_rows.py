"""Rows as trainers take them."""

from dataclasses import replace

from erce.tasks import as_dataset
from erce.tasks.rows import read_row
from erce.types import Problem

PROBLEMS = [
    Problem(id="a", prompt="Work out 2+3.", demonstration="#### 5", answer="5"),
    Problem(id="b", prompt="f?", demonstration="f = 1", tests=("assert f == 1",), entry_points=("f",)),
    Problem(id="c", prompt="1?", demonstration="1", setup=("import re",), inputs=("2",), outputs=("1",)),
]


def test_a_problem_comes_back_from_a_data_set_of_trainers_rows_with_its_reference():
    rows = as_dataset(PROBLEMS)
    assert [read_row(row, number).problem for number, row in enumerate(rows, start=1)] == PROBLEMS
    assert rows[0]["prompt"] == [{"role": "user", "content": "Work out 2+3."}]
    assert "weight" not in rows.column_names


def test_a_weight_that_a_problem_has_is_a_column():
    rows = as_dataset([*PROBLEMS, replace(PROBLEMS[0], id="d", weight=0.5)])
    assert rows["weight"][:] == [1, 1, 1, 0.5]
