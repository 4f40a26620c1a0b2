"""GSM8K's files become problems."""

import pytest
from toys.task_files import gsm8k_rows, write_lines

from erce.tasks import TASKS

pytestmark = pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")


@pytest.fixture
def gsm8k(folder):
    return folder / "gsm8k"


def test_the_chain_of_thought_is_demonstrated_without_calculator_annotations(gsm8k):
    first = TASKS["gsm8k"].pools(str(gsm8k)).train[0]
    assert first.id == "gsm8k-train-0"
    assert first.demonstration == "Half is 48/2 = 24 apples.\n#### 24"
    assert first.prompt.startswith("How many is half of 48 apples?\n\nSolve this step by step")
    assert first.prompt.endswith("#### <answer>")


def test_answer_only_demonstrates_the_last_line_of_the_same_problems(gsm8k):
    steps, alone = (TASKS[name].pools(str(gsm8k)) for name in ("gsm8k", "gsm8k-answer-only"))
    assert [problem.demonstration for problem in alone.train] == ["#### 24", "#### 1,000", "#### -5"]
    assert [problem.id for problem in alone.train] == [problem.id for problem in steps.train]
    assert "step by step" not in alone.train[0].prompt


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "line 2: `answer` is missing; correct the row"),
        ("#### three", "line 2: its answer does not end in `#### <number>`"),
    ],
)
def test_a_row_that_is_none_of_gsm8ks_is_an_error_with_file_and_line(gsm8k, answer, message):
    write_lines(gsm8k / "train.jsonl", [gsm8k_rows()[0], {"question": "q", "answer": answer}])
    with pytest.raises(ValueError, match=r"train\.jsonl, " + message):
        TASKS["gsm8k"].pools(str(gsm8k))


def test_a_folder_without_the_files_says_which_is_missing(gsm8k, tmp_path):
    (gsm8k / "test.jsonl").unlink()
    with pytest.raises(ValueError, match=r"no file test\.jsonl; give a folder"):
        TASKS["gsm8k"].pools(str(gsm8k))
    with pytest.raises(ValueError, match=r"no file train\.jsonl"):
        TASKS["gsm8k"].pools(str(tmp_path / "nowhere"))


def test_without_a_folder_the_rows_come_from_the_hub(hub):
    def load(name, config):
        assert (name, config) == ("openai/gsm8k", "main")
        return {"train": gsm8k_rows()[:3], "test": gsm8k_rows()[3:]}

    hub(load)
    pools = TASKS["gsm8k"].pools(None)
    assert [problem.answer for problem in pools.train + pools.test] == ["24", "1,000", "-5", "10"]
