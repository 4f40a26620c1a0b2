"""A folder of small original files for each task that reads files, and a stand-in for the hub."""

import json
import sys
from pathlib import Path
from types import ModuleType

import huggingface_hub.constants
import pytest
from toys.task_files import full_row, gsm8k_rows, math500_rows, math_rows, sanitized_row, write_lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds a subfolder of original files for each task that reads files."""
    for name in ("gsm8k", "math", "mbpp"):
        (tmp_path / name).mkdir()
    write_lines(tmp_path / "gsm8k" / "train.jsonl", gsm8k_rows()[:3])
    write_lines(tmp_path / "gsm8k" / "test.jsonl", gsm8k_rows()[3:])
    write_lines(tmp_path / "math" / "train.jsonl", math_rows())
    write_lines(tmp_path / "math" / "math500.jsonl", math500_rows())
    write_lines(tmp_path / "mbpp" / "mbpp.jsonl", [full_row(id) for id in (1, 2, 11, 12, 700)])
    rows = [sanitized_row(id) for id in (2, 11, 510, 511, 602)]
    (tmp_path / "mbpp" / "sanitized-mbpp.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path


@pytest.fixture
def data_of(folder: Path):
    """Task name → what its `pools` wants as `data`."""

    def data(task: str) -> str | None:
        kind = task.partition("-")[0]
        return str(folder / kind) if (folder / kind).is_dir() else None

    return data


@pytest.fixture
def hub(monkeypatch):
    """Puts a function in the place of `datasets.load_dataset`; None: the package is missing."""

    def put(load):
        module = ModuleType("datasets")
        module.load_dataset = load
        monkeypatch.setitem(sys.modules, "datasets", load and module)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)

    return put
