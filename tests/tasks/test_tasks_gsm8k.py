"""GSM8K's files become problems, and every task's demonstrations pass its own verifier."""

import json
import random
import sys
from types import ModuleType

import pytest

from erce.tasks import TASKS, splits

ROWS = [
    ("How many is half of 48 apples?\n", "Half is 48/2 = <<48/2=24>>24 apples.\n#### 24"),
    ("Is {this} a brace? And 2000 / 2?", "It is.\n2000/2 = <<2000/2=1000>>1000\n#### 1,000"),
    ("A loss of $5?", "The gain is 0-5 = $<<0-5=-5>>-5, < 0.\n#### -5"),
    ("Five and five?", "The mark is ####.\n5+5=<<5+5=10>>10\n#### 10"),
]


@pytest.fixture
def folder(tmp_path):
    lines = [json.dumps({"question": question, "answer": answer}) for question, answer in ROWS]
    (tmp_path / "train.jsonl").write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    (tmp_path / "test.jsonl").write_text(lines[3] + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", TASKS)
def test_every_demonstration_passes_its_own_verifier(name, folder):
    task = TASKS[name]
    pools = task.pools(str(folder) if name.startswith("gsm8k") else None)
    pool = pools.train + pools.test
    for problem in random.Random(0).sample(pool, min(40, len(pool))):
        verdict = task.verify(problem, problem.demonstration)
        assert verdict.accepted, (problem, verdict)


@pytest.mark.parametrize("name", TASKS)
def test_ids_and_prompts_of_a_task_are_distinct(name, folder):
    pools = TASKS[name].pools(str(folder) if name.startswith("gsm8k") else None)
    for wanted in ("id", "prompt"):
        values = [getattr(problem, wanted) for problem in pools.train + pools.test]
        assert len(set(values)) == len(values)


def test_the_chain_of_thought_is_demonstrated_without_calculator_annotations(folder):
    first = TASKS["gsm8k"].pools(str(folder)).train[0]
    assert first.id == "gsm8k-train-0"
    assert first.demonstration == "Half is 48/2 = 24 apples.\n#### 24"
    assert first.prompt.startswith("How many is half of 48 apples?\n\nSolve this step by step")
    assert first.prompt.endswith("#### <answer>")


def test_answer_only_demonstrates_the_last_line_of_the_same_problems(folder):
    steps, alone = (TASKS[name].pools(str(folder)) for name in ("gsm8k", "gsm8k-answer-only"))
    assert [problem.demonstration for problem in alone.train] == ["#### 24", "#### 1,000", "#### -5"]
    assert [problem.id for problem in alone.train] == [problem.id for problem in steps.train]
    assert "step by step" not in alone.train[0].prompt


def test_the_control_draws_the_same_problems(folder):
    sizes = {"n_train": 1, "n_validation": 1, "n_test": 1}
    steps, alone = (splits(TASKS[name], data=str(folder), **sizes) for name in ("gsm8k", "gsm8k-answer-only"))
    assert [problem.id for problem in steps.train] == [problem.id for problem in alone.train]


def test_the_sizes_are_the_papers():
    for name in ("gsm8k", "gsm8k-answer-only"):
        assert (TASKS[name].n_train, TASKS[name].n_test, TASKS[name].max_length) == (1000, 500, 768)
    assert TASKS["gsm8k"].max_new_tokens == 512


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "line 2: not a JSON object"),
        (b'{"question": "\xff"}', "line 2: not a JSON object"),
        (b"[1]", "line 2: not an object with the texts"),
        (b'{"question": "q"}', "line 2: not an object with the texts"),
        (b'{"question": "q", "answer": 3}', "line 2: not an object with the texts"),
        (b'{"question": "q", "answer": "3"}', "line 2: its answer does not end in"),
        (b'{"question": "q", "answer": "#### three"}', "line 2: its answer does not end in"),
        (b'{"question": "q", "answer": "#### "}', "line 2: its answer does not end in"),
    ],
)
def test_a_malformed_row_is_an_error_with_file_and_line(folder, line, message):
    first = (folder / "train.jsonl").read_bytes().splitlines()[0]
    (folder / "train.jsonl").write_bytes(first + b"\n" + line + b"\n")
    with pytest.raises(ValueError, match=r"train\.jsonl, " + message):
        TASKS["gsm8k"].pools(str(folder))


def test_a_folder_without_the_files_says_which_is_missing(folder, tmp_path):
    (folder / "test.jsonl").unlink()
    with pytest.raises(ValueError, match=r"no file test\.jsonl; give a folder"):
        TASKS["gsm8k"].pools(str(folder))
    with pytest.raises(ValueError, match=r"no file train\.jsonl"):
        TASKS["gsm8k"].pools(str(tmp_path / "nowhere"))


def hub(monkeypatch, load):
    """Puts a stand-in for the datasets package in place."""
    module = ModuleType("datasets")
    module.load_dataset = load
    monkeypatch.setitem(sys.modules, "datasets", module)


def test_without_a_folder_the_rows_come_from_the_hub(monkeypatch):
    def load(name, config):
        assert (name, config) == ("openai/gsm8k", "main")
        rows = [{"question": question, "answer": answer} for question, answer in ROWS]
        return {"train": rows[:3], "test": rows[3:]}

    hub(monkeypatch, load)
    pools = TASKS["gsm8k"].pools(None)
    assert [problem.answer for problem in pools.train + pools.test] == ["24", "1,000", "-5", "10"]


def test_no_network_is_a_sentence_with_the_way_out(monkeypatch):
    def load(name, config):
        raise ConnectionError("Couldn't reach 'openai/gsm8k' on the Hub")

    hub(monkeypatch, load)
    with pytest.raises(
        ValueError, match=r"cannot be loaded from the hub \(Couldn't reach.*data = \"folder\""
    ):
        TASKS["gsm8k"].pools(None)


def test_a_missing_extra_is_a_sentence_with_the_way_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ValueError, match=r"erce\[study\].*data = \"folder\""):
        TASKS["gsm8k"].pools(None)
