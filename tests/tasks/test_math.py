"""MATH's files become problems: what is left out, what is asked, what is answered."""

import pytest
from toys.task_files import math500_rows, math_rows, write_lines

from erce.tasks import TASKS
from erce.tasks import math as math_task
from erce.types import Completion

pytestmark = pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")
MATH = TASKS["math"]


@pytest.fixture
def pools(folder):
    return MATH.pools(str(folder / "math"))


def test_training_solutions_without_an_answer_to_imitate_and_with_figures_are_left_out(pools):
    assert [each.id for each in pools.train] == ["train/algebra/1.json", "train/algebra/2.json"]


def test_a_figure_in_a_test_problem_stays(pools):
    assert [each.id for each in pools.test] == ["test/algebra/9"]
    assert "[asy]" in pools.test[0].prompt


def test_the_answer_is_what_the_last_box_holds_and_the_solution_is_shown_verbatim(pools):
    first = pools.train[0]
    assert first.answer == "1"
    assert first.demonstration == math_rows()[0]["solution"]
    assert pools.test[0].answer == "\\text{a}"


def test_the_prompt_asks_for_steps_and_a_box(pools):
    question, asked = pools.train[0].prompt.split("\n\n")
    assert question == math_rows()[0]["problem"]
    assert asked == "Solve this step by step, and put the final answer in \\boxed{}."
    assert "{first letter\\}" in pools.test[0].prompt


def test_a_training_problem_that_is_nearly_a_test_problem_is_left_out(folder, monkeypatch):
    known = {math_task.digest("Solve $x^2=4$ for positive  $x$."): "test/any"}
    monkeypatch.setattr(math_task, "NEAR_DUPLICATES", known)
    train = MATH.pools(str(folder / "math")).train
    assert [each.id for each in train] == ["train/algebra/1.json"]


def test_rows_without_ids_are_numbered(folder):
    rows = [{key: value for key, value in row.items() if key != "unique_id"} for row in math_rows()]
    write_lines(folder / "math" / "train.jsonl", rows)
    pools = MATH.pools(str(folder / "math"))
    assert [each.id for each in pools.train] == ["math-train-0", "math-train-6"]


@pytest.mark.parametrize(
    ("file", "row", "message"),
    [
        ("train.jsonl", {"problem": "p"}, r"train\.jsonl, line 1: `solution` is missing"),
        ("math500.jsonl", {"problem": "p", "solution": "s", "answer": " "}, "line 1: `answer` is empty"),
    ],
)
def test_a_row_that_is_none_of_maths_is_an_error_with_file_and_line(folder, file, row, message):
    write_lines(folder / "math" / file, [row])
    with pytest.raises(ValueError, match=message):
        MATH.pools(str(folder / "math"))


def test_without_a_folder_seven_subjects_and_the_500_come_from_the_hub(hub):
    asked = []

    def load(name, config):
        asked.append((name, config))
        if name == "HuggingFaceH4/MATH-500":
            return {"test": math500_rows()}
        row = {"problem": f"Say {config}.", "solution": f"$\\boxed{{{config}}}$", "level": "", "type": ""}
        return {"train": [row], "test": [row]}

    hub(load)
    pools = MATH.pools(None)
    assert len(pools.train) == len({each.id for each in pools.train}) == 7
    assert len(pools.test) == 1
    assert [name for name, _ in asked] == ["EleutherAI/hendrycks_math"] * 7 + ["HuggingFaceH4/MATH-500"]


def completion(text: str) -> Completion:
    return Completion(problem="", sample=0, text=text, tokens=1, finished=True, logprob=0.0, entropy=0.0)


@pytest.mark.parametrize("verify", [MATH.verify, MATH.verify_paper], ids=["typed", "paper"])
@pytest.mark.parametrize(("text", "accepted"), [("$\\boxed{1}$", True), ("1", False), ("\\boxed{2}", False)])
def test_a_completion_is_verified_by_its_box(pools, verify, text, accepted):
    assert verify(pools.train[0], completion(text)).accepted is accepted
