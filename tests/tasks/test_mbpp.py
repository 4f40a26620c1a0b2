"""MBPP's files become problems: which are tested, what is shown, and which names a candidate answers."""

import json

import pytest
from toys.task_files import full_row, sanitized_row

from erce.tasks import TASKS
from erce.tasks.mbpp import NEAR_DUPLICATES, TESTED

pytestmark = pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")
MBPP, MBPP_FULL = TASKS["mbpp"], TASKS["mbpp-full"]


def ids(problems) -> list[str]:
    return [problem.id for problem in problems]


def pools_of(folder, rows):
    (folder / "mbpp" / "sanitized-mbpp.json").write_text(json.dumps(rows), encoding="utf-8")
    return MBPP.pools(str(folder / "mbpp"))


def test_the_ids_that_its_authors_test_on_are_tested_and_the_others_trained_on(folder):
    pools = MBPP.pools(str(folder / "mbpp"))
    assert ids(pools.test) == ["mbpp-11", "mbpp-510"]
    assert ids(pools.train) == ["mbpp-2", "mbpp-511", "mbpp-602"]


def test_the_full_set_adds_problems_to_train_on_and_is_tested_on_the_same(folder):
    pools = MBPP_FULL.pools(str(folder / "mbpp"))
    assert ids(pools.train) == ["mbpp-1", "mbpp-2", "mbpp-511", "mbpp-602", "mbpp-700"]
    assert pools.test == MBPP.pools(str(folder / "mbpp")).test
    texts = {problem.id: problem.prompt for problem in pools.train}
    assert texts["mbpp-1"].startswith("Write a function to multiply a number by 1.")
    assert texts["mbpp-2"].startswith("Write a function to add 2 to a number.")


def test_problems_that_are_nearly_a_test_problem_are_left_out(folder):
    assert all(near not in TESTED and tested in TESTED for near, tested in NEAR_DUPLICATES.items())
    near, tested = next(iter(NEAR_DUPLICATES.items()))
    pools = pools_of(folder, [sanitized_row(id) for id in (near, tested, 600)])
    assert (ids(pools.train), ids(pools.test)) == (["mbpp-600"], [f"mbpp-{tested}"])


def test_the_first_assert_is_shown_and_a_fenced_function_is_demonstrated(folder):
    problem = MBPP.pools(str(folder / "mbpp")).train[0]
    assert problem.prompt.startswith(
        "Write a function to add 2 to a number.\n\nWrite a complete Python function"
    )
    assert "assert add_2(1) == 3" in problem.prompt
    assert "assert add_2(2) == 4" not in problem.prompt
    assert problem.demonstration == "```python\ndef add_2(x):\n    return x + 2\n```"
    assert problem.tests == ("assert add_2(1) == 3", "assert add_2(2) == 4", "assert add_2(30) == 32")


def test_windows_line_ends_are_made_plain(folder):
    problem = MBPP_FULL.pools(str(folder / "mbpp")).train[0]
    assert problem.demonstration == "```python\ndef times_1(x):\n\treturn x * 1\n```"


@pytest.mark.parametrize(
    ("code", "changes", "entry_points", "setup"),
    [
        ("def f(x): return g(x)\ndef g(x): return x", {}, ("f",), ()),
        (
            "import sys\ndef f(x): return x",
            {"test_list": ["assert f(1) < sys.maxsize"]},
            ("f",),
            ("import sys",),
        ),
        ("import math\ndef f(x): return x", {"test_imports": ["import math"]}, ("f",), ("import math",)),
        (
            "class Node: pass\ndef f(x): return x",
            {"test_setup_code": "root = Node()\r\nroot.a = 1", "test_list": ["assert f(root)"]},
            ("Node", "f"),
            ("root = Node()\nroot.a = 1",),
        ),
        ("def f(x): return x\nx = 3", {"test_list": ["assert [f(x) for x in (1, 2)]"]}, ("f",), ()),
        ("sum = lambda x: x", {"test_list": ["assert sum(2) == 2"]}, ("sum",), ()),
    ],
    ids=["helper", "import", "given import", "set-up", "own variable", "shadowing"],
)
def test_a_candidate_answers_the_names_that_the_reference_defines_and_the_tests_use(
    folder, code, changes, entry_points, setup
):
    row = sanitized_row(600, code=code, **({"test_list": ["assert f(1) == 1"]} | changes))
    problem = pools_of(folder, [row]).train[0]
    assert (problem.entry_points, problem.setup) == (entry_points, setup)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test_list": []}, "`test_list` is empty, so any program would pass"),
        ({"test_list": ["assert ("]}, "its `code` or `test_list` is not Python"),
        ({"code": "def \0"}, "its `code` or `test_list` is not Python"),
        ({"task_id": True}, "`task_id` is True, not a whole number"),
        ({"test_list": ["assert other(1) == 1"]}, "its tests use no name that `code` defines"),
    ],
)
def test_a_row_that_is_none_of_mbpps_is_an_error_with_file_and_row(folder, changes, message):
    with pytest.raises(ValueError, match=r"sanitized-mbpp\.json, row 2: " + message):
        pools_of(folder, [sanitized_row(600), sanitized_row(601) | changes])


def test_the_full_set_needs_both_files(folder):
    (folder / "mbpp" / "mbpp.jsonl").unlink()
    MBPP.pools(str(folder / "mbpp"))
    with pytest.raises(ValueError, match=r"has no file mbpp\.jsonl; give a folder with the original"):
        MBPP_FULL.pools(str(folder / "mbpp"))


def test_without_a_folder_every_split_of_the_hub_is_read_and_divided_by_id(hub):
    def load(name, config):
        assert name == "google-research-datasets/mbpp"
        row = sanitized_row if config == "sanitized" else full_row
        return {"train": [row(601)], "test": [row(11)], "validation": [row(511)], "prompt": [row(2)]}

    hub(load)
    pools = MBPP_FULL.pools(None)
    assert ids(pools.train) == ["mbpp-2", "mbpp-511", "mbpp-601"]
    assert ids(pools.test) == ["mbpp-11"]


def test_a_program_is_verified_by_every_test(folder):
    problem = MBPP.pools(str(folder / "mbpp")).train[0]
    assert MBPP.verify(problem, problem.demonstration).accepted
    assert not MBPP.verify(problem, "```python\ndef add_2(x):\n    return 3\n```").accepted
