"""A task of one's own, and programs in the sandbox, through the door that users take."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from safetensors.torch import load_file, save_file
from toys.recipes import tiny_recipe

import erce.study.cell
from erce.catalog import EMBEDDED_MODELS
from erce.cli.main import main
from erce.files import read_rows
from erce.recipe import Training
from erce.reporting import report
from erce.study.run import run

TINY = Training(epochs=0.5, learning_rate=1e-3)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a file of problems, where the command is given."""
    rows = [
        {"prompt": f"Work out {n}+{m}.", "demonstration": f"#### {n + m}", "answer": str(n + m)}
        for n in range(10, 14)
        for m in range(1, 8)
    ]
    (tmp_path / "problems.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", str(tmp_path))])
    return tmp_path


def judge(here, name, body):
    """A module of that name with a function `judge`, beside the problems; and a recipe that names it."""
    (here / f"{name}.py").write_text(f"def judge(problem, completion):\n    {body}\n")
    recipe = f"task = '{name}:judge'\ndata = 'problems.jsonl'\nlams = [0, 1]\nseeds = [0]\n"
    settings = "[training]\nepochs = 0.5\n[decoding]\nsamples = 2\nmax_new_tokens = 8\n"
    (here / "own.toml").write_text(recipe + "model = 'tiny'\n" + settings)


def test_a_file_and_a_function_are_a_study(here, capsys):
    judge(here, "door_checks", "return completion.text.strip() == '#### ' + problem.answer")
    assert main(["run", "own.toml"]) == 0
    printed = capsys.readouterr()
    assert "report:" in printed.out
    assert "The model is 'tiny', a toy that was taught the generated tasks; name yours." in printed.err
    assert len(list((here / "runs" / "own").rglob("result.json"))) == 3


def test_a_path_in_a_recipe_starts_from_the_recipe_and_one_of_the_command_from_here(
    here, monkeypatch, capsys
):
    judge(here, "door_beside", "return completion.text.strip() == '#### ' + problem.answer")
    shutil.copytree(EMBEDDED_MODELS["tiny"], here / "base")
    recipe = (here / "own.toml").read_text().replace("'tiny'", "'base'")
    (here / "own.toml").write_text(recipe)
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "door_beside.py").write_text("raise RuntimeError('of another folder')")
    assert main(["run", "../own.toml", "--dry-run"]) == 0
    assert "model ../base in" in capsys.readouterr().out
    (elsewhere / "problems.jsonl").write_text("")
    assert main(["run", str(here / "own.toml"), "--dry-run", "--data", "problems.jsonl"]) == 2
    assert main(["run", str(here / "own.toml"), "--dry-run"]) == 0


@pytest.mark.slow
def test_a_data_set_with_columns_of_other_names_is_a_study(here):
    """A folder stands for a name on the hub, which no test can reach: the package loads both alike."""
    judge(here, "door_columns", "return completion.text.strip() == '#### ' + problem.answer")
    rows = [json.loads(line) for line in (here / "problems.jsonl").read_text().splitlines()]
    (here / "sums").mkdir()
    for split, some in (("train", rows[:20]), ("test", rows[20:])):
        renamed = [
            {"q": row["prompt"], "answer": row["demonstration"], "n": int(row["answer"])} for row in some
        ]
        (here / "sums" / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in renamed))
    columns = "[columns]\nprompt = 'q'\ndemonstration = 'answer'\nanswer = 'n'\n"
    recipe = (here / "own.toml").read_text().replace("problems.jsonl", "sums")
    (here / "own.toml").write_text(recipe.replace("[training]", columns + "[training]"))
    command = [sys.executable, "-m", "erce.cli.main", "run", "own.toml"]
    for words in (["--dry-run"], []):
        environment = os.environ | {"HF_HOME": str(here / "cache")}
        subprocess.run([*command, *words], check=True, capture_output=True, env=environment)
    written = list(read_rows(here / "runs" / "own" / "problems.jsonl"))
    fields = ("prompt", "demonstration", "answer")
    assert {tuple(row[field] for field in fields) for row in written} == {tuple(row.values()) for row in rows}
    assert {row["problem"] for row in written if row["split"] == "test"} == {f"test-{n}" for n in range(1, 9)}


def test_any_recipe_runs_on_a_task_that_the_command_names(here, capsys):
    judge(here, "door_named", "return completion.text.strip() == '#### ' + problem.answer")
    (here / "own.toml").write_text((here / "own.toml").read_text().replace("door_named:judge", "mini-sums"))
    words = ["--task", "door_named:judge", "--data", "problems.jsonl", "--set", "lams=[0]"]
    assert main(["run", "own.toml", *words]) == 0
    assert '"task": "door_named:judge"' in (here / "runs" / "own" / "study.json").read_text()


def test_a_task_that_refuses_its_own_demonstrations_is_refused_before_anything_is_written(here, capsys):
    judge(here, "door_refusal", "return '13' in completion.text")
    for words in ([], ["--dry-run"], ["--model", "nobody/nothing"]):  # before a model is fetched
        assert main(["run", "own.toml", *words]) == 2
        printed = capsys.readouterr().err
        assert re.search(
            r"its verifier refuses \d+ of \d+ demonstrations, the first that of problem 'line-\d+'", printed
        )
        assert "prompt: 'Work out" in printed
    assert not (here / "runs").exists()


def test_a_verifier_that_breaks_ends_the_run_and_is_no_wrong_answer(here, capsys):
    judge(here, "door_accident", "raise KeyError(problem.id)")
    assert main(["run", "own.toml"]) != 0
    assert "raised KeyError" in capsys.readouterr().err
    assert list((here / "runs").rglob("verdicts.jsonl")) == []


def _runs_again(here, capsys, *words):
    sys.modules.pop("door_twice", None)  # as in another process
    assert main(["run", "own.toml", *words]) == 0
    return capsys.readouterr().err


def test_a_changed_verifier_verifies_a_finished_study_again_and_the_report_alone_says_so(here, capsys):
    judge(here, "door_twice", "return completion.text.strip() == '#### ' + problem.answer")
    _runs_again(here, capsys, "--set", "lams=[0]")
    judge(here, "door_twice", "return bool(completion.text)")
    assert main(["report", "runs/own"]) == 0
    outdated = "`erce run` with the study's recipe verifies door_twice:judge's completions again."
    assert outdated in " ".join(capsys.readouterr().out.split())
    judge(here, "door_twice", "return False")
    sys.modules.pop("door_twice", None)
    assert main(["run", "own.toml", "--set", "lams=[0]"]) == 2
    assert "its verifier refuses all 28 demonstrations" in capsys.readouterr().err
    judge(here, "door_twice", "return bool(completion.text)")
    next((here / "runs").rglob("*-base-*/result.json")).unlink()  # as a kill after its verdicts leaves it
    printed = _runs_again(here, capsys, "--set", "lams=[0]")
    assert "The verifier has changed: 2 cells (door_twice-judge-base, " in printed
    assert main(["report", "runs/own"]) == 0
    assert "has changed" not in capsys.readouterr().out


PROGRAMS = tiny_recipe(task="mini-code", lams=(0.0,), training=TINY)


@pytest.mark.slow
def test_programs_are_verified_in_the_sandbox(tmp_path):
    root = run(PROGRAMS, out=tmp_path / "code").root
    assert main(["records", str(root), str(tmp_path / "rows.jsonl")]) == 0
    rows = list(read_rows(tmp_path / "rows.jsonl"))
    assert len(rows) == 2 * (2 + 4) * 3  # cells; validation and test; greedy and two samples
    assert any(row["accepted"] for row in rows)


@pytest.mark.slow
def test_the_warning_of_a_lesser_tier_stays_in_every_result(tmp_path, monkeypatch):
    from erce.verify.program import _remembered
    from erce.verify.sandbox import pool

    monkeypatch.setenv("ERCE_SANDBOX", "seccomp")
    pool._shared.clear()
    _remembered.cache_clear()
    try:
        study = run(replace(PROGRAMS, n_train=8, n_test=2), out=tmp_path / "code")
    finally:
        pool._shared.clear()
        _remembered.cache_clear()
    for path in study.root.rglob("verdicts.jsonl"):
        assert all("tier 'seccomp'" in row.get("warning", "") for row in read_rows(path) if row["extracted"])
    assert all("tier 'seccomp'" in result["warnings"][0] for result in study.results.values())
    assert "could read every file" in report(study.root).read_text(encoding="utf-8")


def test_a_path_in_a_recipe_that_is_not_beside_it_starts_from_here(here, monkeypatch, capsys):
    """As it did before, so that a finished study is the same under its recipe."""
    judge(here, "door_from_here", "return completion.text.strip() == '#### ' + problem.answer")
    (here / "recipes").mkdir()
    (here / "own.toml").rename(here / "recipes" / "own.toml")
    assert main(["run", "recipes/own.toml", "--dry-run"]) == 0


def test_a_verifier_that_is_edited_while_a_study_runs_verifies_its_cells_again(here, monkeypatch, capsys):
    judge(here, "door_edited", "return completion.text.strip() == '#### ' + problem.answer")

    def edit_and_sample(*args, **settings):
        (here / "door_edited.py").write_text(
            "def judge(problem, completion):\n    return bool(completion.text)\n"
        )
        return sample(*args, **settings)

    sample = erce.study.cell.sample
    monkeypatch.setattr(erce.study.cell, "sample", edit_and_sample)
    assert main(["run", "own.toml", "--set", "lams=[0]"]) == 0
    sys.modules.pop("door_edited")  # as in another process
    capsys.readouterr()
    assert main(["report", "runs/own"]) == 0
    assert "the file of door_edited:judge has changed since" in " ".join(capsys.readouterr().out.split())
    assert main(["run", "own.toml", "--set", "lams=[0]"]) == 0
    assert "The verifier has changed: 2 cells (" in capsys.readouterr().err


def test_another_study_of_the_same_process_reads_its_data_and_its_model_anew(here):
    judge(here, "door_anew", "return completion.text.strip() == '#### ' + problem.answer")
    shutil.copytree(EMBEDDED_MODELS["tiny"], here / "base")
    words = ["run", "own.toml", "--set", "lams=[0]", "--model", "./base"]
    assert main([*words, "--out", "a"]) == 0
    (here / "problems.jsonl").write_text((here / "problems.jsonl").read_text().replace("Work out", "Add"))
    weights = load_file(here / "base" / "model.safetensors")
    save_file({name: 0 * weight for name, weight in weights.items()}, here / "base" / "model.safetensors")
    assert main([*words, "--out", "b"]) == 0
    for folder, word in (("a", "Work"), ("b", "Add")):
        assert {row["prompt"].split()[0] for row in read_rows(here / folder / "problems.jsonl")} == {word}
    completions = read_rows(next((here / "b").rglob("*-base-*/completions.jsonl")))
    assert len({row["text"] for row in completions if row["decoding"] == "greedy"}) == 1  # of equal logits
