"""The scripts in examples/ run as they stand."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from peft import PeftModel

import erce
from erce.hf.models import load_model, load_tokenizer
from erce.tasks import as_dataset, load_task, splits

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


def verified_log(folder: Path) -> dict[int, dict]:
    """What the last checkpoint's log says of verified accuracy at each step."""
    last = max(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    log = json.loads((last / "trainer_state.json").read_text(encoding="utf-8"))["log_history"]
    return {entry["step"]: entry for entry in log if "eval_verified" in entry}


@pytest.mark.slow
def test_the_trl_script_keeps_the_best_checkpoint_and_goes_on_where_it_was_stopped(tmp_path):
    printed = output_of("trl_script.py", "sums", folder=tmp_path)
    assert "'entropy'" in printed
    assert "'ce'" in printed
    folder = tmp_path / "sums"
    log = verified_log(folder)
    assert list(log) == [0, 16, 32, 48]
    best = max(list(log.values())[1:], key=lambda entry: entry["eval_verified"])  # step 0 has no checkpoint
    validation = splits(load_task("mini-styles"), n_train=128, n_validation=60, n_test=1).validation
    asked = as_dataset(validation)
    adapter = PeftModel.from_pretrained(load_model("tiny-styles"), str(folder))
    again = erce.evaluate(
        adapter, load_tokenizer("tiny-styles"), asked, "number", samples=4, max_new_tokens=40
    )
    assert {f"eval_{name}": number for name, number in again.metrics().items()}.items() <= best.items()
    assert len(list((folder / "completions").iterdir())) == len(log)

    for checkpoint in folder.glob("checkpoint-*"):
        if int(checkpoint.name.split("-")[1]) > 16:
            shutil.rmtree(checkpoint)
    output_of("trl_script.py", "sums", folder=tmp_path)
    assert verified_log(folder) == log


@pytest.mark.slow
def test_the_notebook_goes_from_the_loss_to_a_report(tmp_path):
    printed = output_of("notebook.py", folder=tmp_path)
    assert "right on the test problems" in printed
    assert (tmp_path / "runs" / "notebook" / "report" / "index.html").exists()


@pytest.mark.slow
def test_grpo_goes_on_from_the_demonstrations(tmp_path):
    printed = output_of("demonstrations_to_grpo.py", "models", folder=tmp_path)
    figures = re.findall(
        r"^(base model|after \w+)\ngreedy +([\d.]+) % right.*\nsampled +([\d.]+) % right", printed, re.M
    )
    assert [when for when, *_ in figures] == ["base model", "after demonstrations", "after GRPO"]
    assert float(figures[1][2]) > float(figures[0][2])  # of the samples more are right
    assert (tmp_path / "models" / "grpo" / "adapter_model.safetensors").exists()
