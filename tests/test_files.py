"""erce.files: JSON Lines are read a block at a time, and a damaged line is named by its number."""

import pytest

from erce import files
from erce.errors import DamagedError
from erce.files import read_rows


@pytest.fixture
def two_lines_at_once(monkeypatch):
    monkeypatch.setattr(files, "LINES_AT_ONCE", 2)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ('{"n": 0}\n{"n": 1}\n{"n": 2}', [0, 1, 2]),
        ('\n{"n": 0}\r\n \n\n{"n": 1}\n\n', [0, 1]),  # blank lines, and the ends of lines that Windows writes
        ('\ufeff{"n": 0}\n{"n": 1}\n', [0, 1]),
        ('{"n": 0}\n{"n": "a\\nb"}\n', [0, "a\nb"]),
    ],
)
def test_rows_come_in_order(tmp_path, two_lines_at_once, text, numbers):
    (tmp_path / "rows.jsonl").write_bytes(text.encode())
    assert [row["n"] for row in read_rows(tmp_path / "rows.jsonl", "n")] == numbers


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"n": 0}\n{"n": 1}\n{"n": 2}\n{"n": ', 4),  # cut off
        ('{"n": 0}\n{"n": 1}\n{"m": 2}\n', 3),
        ('{"n": 0}\n[1]\n', 2),
        ('{"n": 0}{"n": 1}\n', 1),
        ('{"n": 0}, {"n": 1}\n{"n": 2}\n', 1),  # joined by a comma, the lines are an array, but of three rows
        ('{"n": [0\n1]}\n', 1),  # likewise of one row
        ("\n\n" + '{"n": 0}\n' + "[" * 100_000 + "\n", 4),
    ],
)
def test_a_damaged_line_is_named(tmp_path, two_lines_at_once, text, line):
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises(DamagedError, match=f"line {line} is damaged"):
        list(read_rows(tmp_path / "rows.jsonl", "n"))


def test_text_that_is_not_utf_8_is_damaged(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b'{"n": 0}\n{"n": "\xff"}\n')
    with pytest.raises(DamagedError, match="line 2 is damaged"):
        list(read_rows(tmp_path / "rows.jsonl", "n"))
