"""The scripts in examples/ run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def output_of(name: str, *args: str, folder: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_plain_loop_lowers_the_objective_that_it_prints(tmp_path):
    lines = output_of("plain_loop.py", folder=tmp_path).splitlines()
    rows = [[float(x) for x in re.findall(r"[\d.]+", line)] for line in lines]
    assert [row[0] for row in rows] == list(range(8))
    for _, objective, nll, lam, entropy in rows:
        assert objective == pytest.approx(nll + lam * entropy, abs=3e-3)
    for first, second in zip(rows[:4], rows[4:], strict=True):  # the same demonstrations, an epoch later
        assert second[1] < first[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_trl_script_logs_the_penalty_and_leaves_an_adapter(tmp_path):
    printed = output_of("trl_script.py", "sums", folder=tmp_path)
    assert "'entropy'" in printed
    assert "'ce'" in printed
    assert (tmp_path / "sums" / "adapter_model.safetensors").exists()


@pytest.mark.slow
def test_the_notebook_goes_from_the_loss_to_a_report(tmp_path):
    printed = output_of("notebook.py", folder=tmp_path)
    assert "right on the test problems" in printed
    assert (tmp_path / "runs" / "notebook" / "report" / "index.html").exists()
