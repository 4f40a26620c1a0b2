"""A file in the form of a log: JSON lines, or one JSON object."""

import json

import pytest


@pytest.fixture
def file(tmp_path):
    def write(content, name="samples_gsm8k_2026-01-01T00-00-00.000000.jsonl"):
        lines = content if isinstance(content, list) else [content]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
        return tmp_path / name

    return write
