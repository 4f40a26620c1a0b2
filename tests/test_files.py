"""erce.files: rows of JSON Lines come in order, damaged lines are numbered, files are whole or not there."""

import pytest

from erce.errors import DamagedError
from erce.files import new_file, read_rows, write_text


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
def test_rows_come_in_order(tmp_path, text, numbers):
    (tmp_path / "rows.jsonl").write_bytes(text.encode())
    assert [row["n"] for row in read_rows(tmp_path / "rows.jsonl", "n")] == numbers


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"n": 0}\n{"n": 1}\n{"n": 2}\n{"n": ', 4),  # cut off
        ('{"n": 0}\n{"n": 1}\n{"m": 2}\n', 3),
        ('{"n": 0}\n[1]\n', 2),
        ('{"n": 0}{"n": 1}\n', 1),
        ('{"n": 0}, {"n": 1}\n{"n": 2}\n', 1),
        ('{"n": [0\n1]}\n', 1),
        ("\n\n" + '{"n": 0}\n' + "[" * 100_000 + "\n", 4),
    ],
)
def test_a_damaged_line_is_named(tmp_path, text, line):
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises(DamagedError, match=f"line {line} is damaged"):
        list(read_rows(tmp_path / "rows.jsonl", "n"))


def test_text_that_is_not_utf_8_is_damaged(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b'{"n": 0}\n{"n": "\xff"}\n')
    with pytest.raises(DamagedError, match="line 2 is damaged"):
        list(read_rows(tmp_path / "rows.jsonl", "n"))


def test_two_processes_that_write_a_file_at_once_leave_one_of_both_whole(tmp_path, monkeypatch):
    path = tmp_path / "rows.txt"
    with new_file(path) as first, first.open("w", encoding="utf-8") as file:
        file.write("first")
        with monkeypatch.context() as other:
            other.setattr("os.getpid", lambda: 1)
            write_text(path, "second")
        assert path.read_text(encoding="utf-8") == "second"
    assert path.read_text(encoding="utf-8") == "first"


def test_what_could_not_be_written_leaves_the_old_file_and_nothing_else(tmp_path):
    write_text(tmp_path / "rows.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "rows.txt", "half\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.txt"]
    assert (tmp_path / "rows.txt").read_text(encoding="utf-8") == "old"
