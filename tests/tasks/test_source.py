"""Original files and hub rows: what is wrong with them is said with its place."""

import hashlib
import re

import pytest

from erce.tasks import TASKS
from erce.tasks.source import ChecksumWarning, Source, SourceRow, json_lines, json_list

SOURCE = Source(hub="our/rows", files="the original a.jsonl", digests={"a.jsonl": "0" * 64})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 3: not JSON .*; rows are JSON objects"),
        (b"[" * 100_000, "line 3: not JSON"),
        (b'{"a": "\xff"}', "line 3: not UTF-8 .byte 0xff at 7.; save the file as UTF-8"),
        (b"[1]", "line 3: .1. is not a JSON object"),
        (b"null", "line 3: missing is not a JSON object"),
    ],
)
def test_a_line_that_is_no_row_is_an_error_with_file_and_line(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n\n' + line + b"\n")
    with pytest.raises(ValueError, match=r"a\.jsonl, " + message):
        list(json_lines(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[{}", r"a\.json: not JSON"),
        (b'{"a": 1}', r"a\.json: a JSON dict, not a list of rows"),
        (b"[{}, 3]", r"a\.json, row 2: 3 is not a JSON object"),
    ],
)
def test_a_file_that_is_no_list_of_rows_is_an_error_with_file_and_row(tmp_path, text, message):
    (tmp_path / "a.json").write_bytes(text)
    with pytest.raises(ValueError, match=message):
        list(json_list(tmp_path / "a.json"))


def test_blank_lines_windows_line_ends_and_a_byte_order_mark_are_no_rows(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a": "b"}\r\n\r\n  \n{"a": "\xe2\x80\xa8"}')
    rows = list(json_lines(tmp_path / "a.jsonl"))
    assert [row.text("a") for row in rows] == ["b", "\u2028"]
    assert rows[1].where.endswith("line 4")


def test_a_field_is_a_list_of_texts_or_is_named_with_its_value_and_may_have_a_default():
    row = SourceRow("here", {"a": [1], "null": None})
    with pytest.raises(ValueError, match=r"here: `a` is \[1\], not a list of texts"):
        row.texts("a")
    with pytest.raises(ValueError, match="here: `b` is missing"):
        row.texts("b")
    assert (row.text("null", default=""), row.texts("none", default=())) == ("", ())


def test_a_file_with_another_digest_is_read_after_a_warning_with_both(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    digest = hashlib.sha256(b"{}").hexdigest()
    with pytest.warns(ChecksumWarning) as caught:
        path = SOURCE.file(str(tmp_path), "a.jsonl")
    assert path.read_bytes() == b"{}"
    warning = str(caught[0].message)
    assert re.search(r"a\.jsonl is not the file that this task was checked with", warning)
    assert digest in warning
    assert "0" * 64 in warning
    Source(hub="h", files="f", digests={"a.jsonl": digest}).file(str(tmp_path), "a.jsonl")  # without a word


@pytest.mark.parametrize("name", ["gsm8k", "math", "mbpp-full"])
def test_every_file_of_a_task_is_compared_with_its_own_digest(name, data_of):
    with pytest.warns(ChecksumWarning) as caught:
        TASKS[name].pools(data_of(name))
    digests = {digest for each in caught for digest in re.findall(r"\b[0-9a-f]{64}\b", str(each.message))}
    assert (len(caught), len(digests)) == (2, 4)


def test_no_network_is_a_sentence_with_the_way_out(hub):
    def load(name, config):
        raise ConnectionError("Couldn't reach 'our/rows' on the Hub")

    hub(load)
    with pytest.raises(ValueError, match=r"our/rows cannot be loaded \(Couldn't reach.*data = \"folder"):
        SOURCE.from_hub()


def test_a_missing_extra_is_a_sentence_with_the_way_out(hub):
    hub(None)
    with pytest.raises(ValueError, match=r"our/rows needs .*erce\[study\].*data = \"folder\""):
        SOURCE.from_hub()
