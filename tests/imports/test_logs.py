"""The tool that wrote a log is told by the content."""

import pytest
from toys.logs import write_evalplus, write_inspect, write_lm_eval

from erce.imports.logs import FORMATS, format_of, read_prompts


def test_the_format_is_read_from_the_content(tmp_path):
    logs = {
        "lm-eval": next(write_lm_eval(tmp_path / "lm", [[1]]).iterdir()),
        "inspect": write_inspect(tmp_path / "a.json", [[1]]),
        "evalplus": write_evalplus(tmp_path / "b.json", [[("pass", "pass")]]),
    }
    assert {kind: format_of(path) for kind, path in logs.items()} == {kind: kind for kind in FORMATS}
    assert {kind: len(read_prompts(path)) for kind, path in logs.items()} == {
        "lm-eval": 1,
        "inspect": 1,
        "evalplus": 0,
    }
    for content in ("no log", "[]", '{"a": 1}', ""):
        (tmp_path / "c").write_text(content)
        with pytest.raises(ValueError, match="is no log of lm-eval, inspect, evalplus"):
            format_of(tmp_path / "c")
