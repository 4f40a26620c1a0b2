"""MATH's files become problems: what is left out, what is asked, what is answered."""

import pytest
from toys.task_files import completion, math500_rows, math_rows, write_lines

from erce.tasks import TASKS

pytestmark = pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")
MATH = TASKS["math"]


@pytest.fixture
def pools(folder):
    return MATH.pools(str(folder / "math"))


def test_training_solutions_without_an_answer_to_imitate_and_with_figures_are_left_out(pools):
    assert [each.id for each in pools.train] == ["train/algebra/1.json", "train/algebra/2.json"]
    [tested] = pools.test
    assert (tested.id, tested.answer) == ("test/algebra/9", "\\text{a}")
    assert "[asy]" in tested.prompt  # a figure in a test problem stays
    assert "{first letter\\}" in tested.prompt


def test_the_answer_is_what_the_last_box_holds_and_the_solution_is_shown_verbatim(pools):
    first, row = pools.train[0], math_rows()[0]
    assert (first.answer, first.demonstration) == ("1", row["solution"])
    asked = "Solve this step by step, and put the final answer in \\boxed{}."
    assert first.prompt.split("\n\n") == [row["problem"], asked]


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


@pytest.mark.parametrize(("text", "accepted"), [("$\\boxed{1}$", True), ("1", False), ("\\boxed{2}", False)])
def test_a_completion_is_verified_by_its_box(pools, text, accepted):
    assert MATH.verify(pools.train[0], completion(text)).accepted is accepted
