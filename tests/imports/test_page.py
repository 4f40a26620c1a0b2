"""The logs that docs/records.md prints are read as they stand."""

import re
from pathlib import Path

from erce.imports import from_evalplus, from_inspect, from_lm_eval

PAGE = Path(__file__).parents[2] / "docs" / "records.md"


def test_the_pages_logs_become_rows(tmp_path):
    printed = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = ("samples_sums_2026-01-01T00-00-00.000000.jsonl", "log.json", "x_temp_0.0_eval_results.json")
    paths = [tmp_path / name for name in names]
    for path, text in zip(paths, printed, strict=True):
        path.write_text(text, encoding="utf-8")
    readers = (from_lm_eval, from_inspect, from_evalplus)
    rows = [row for read, path in zip(readers, paths, strict=True) for row in read(path, arm="mine")]
    assert [row.task for row in rows] == ["sums", "sums", "humaneval"]
    assert {(row.arm, row.decoding, row.accepted) for row in rows} == {("mine", "greedy", True)}
    assert [row.completion for row in rows][:2] == ["2+2=4"] * 2
