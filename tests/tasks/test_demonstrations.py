"""A task whose demonstrations fail its own verifier is refused; those that come with erce are not."""

import json
from dataclasses import replace

import pytest

from erce.errors import InputError, VerifierError
from erce.tasks import TASKS, check_demonstrations, load_task
from erce.types import Problem, Verdict

pytestmark = pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")

NUMBERS = [
    Problem(id=f"p{answer}", prompt=f"Say {answer}.", demonstration=f"#### {answer}", answer=answer)
    for answer in ("1", "2", "3")
]
SUMS = load_task("mini-sums")


@pytest.mark.parametrize("name", TASKS)
def test_every_demonstration_passes_its_own_verifier(name, data_of):
    pools = TASKS[name].pools(data_of(name))
    check_demonstrations(TASKS[name], (*pools.train[:20], *pools.test[:20]))


def test_the_first_demonstration_that_fails_is_shown():
    wrong = [replace(problem, demonstration=f"{'so ' * 1000}#### 7") for problem in NUMBERS[1:]]
    with pytest.raises(ValueError, match="refuses the demonstration of problem 'p2'"):
        check_demonstrations(SUMS, [*NUMBERS[::2], wrong[0]])
    with pytest.raises(
        ValueError, match=r"refuses 2 of 3 demonstrations, the first that of .*'p2'"
    ) as caught:
        check_demonstrations(SUMS, [NUMBERS[0], *wrong])
    message = str(caught.value)
    for shown in ("'mini-sums'", "different", "'Say 2.'", "'so so", "answer: '2'", "read as: '7'"):
        assert shown in message
    assert "p3" not in message
    assert len(message) < 600


def test_a_verifier_that_refuses_every_demonstration_is_itself_the_likelier_fault():
    task = replace(SUMS, verify=lambda problem, completion: Verdict(False, "different"))
    with pytest.raises(
        InputError, match=r"refuses all 3 demonstrations, .*'p1' \(different\); correct the verifier"
    ):
        check_demonstrations(task, NUMBERS)


def test_a_demonstration_that_times_out_is_the_last_that_is_tried():
    tried = []

    def verify(problem, completion):
        tried.append(problem.id)
        return Verdict(False, "timeout")

    with pytest.raises(InputError, match=r"refuses the demonstration of problem 'p1' \(timeout\)"):
        check_demonstrations(replace(SUMS, verify=verify), NUMBERS)
    assert tried == ["p1"]


def test_a_test_that_cannot_be_run_is_a_fault_of_the_task():
    task = replace(SUMS, verify=lambda *_: Verdict(False, "error", detail="a test is not Python"))
    with pytest.raises(ValueError, match=r"verifier fails on problem 'p1'.*error: a test is not Python"):
        check_demonstrations(task, NUMBERS)


def test_a_verifier_that_raises_is_named_with_its_line_its_problem_and_the_completion():
    def verify(problem, completion):
        raise ZeroDivisionError("mine")

    sentence = (
        r"^the function that verifies task 'mini-sums' raised ZeroDivisionError: mine "
        r"\(test_demonstrations\.py, line \d+\) for the completion '#### 1' of problem 'p1'; correct it"
    )
    with pytest.raises(VerifierError, match=sentence):
        check_demonstrations(replace(SUMS, verify=verify), NUMBERS)


@pytest.mark.parametrize(
    ("verify", "message"),
    [
        (
            lambda problem, _: Verdict(float(problem.answer) > 0, "exact"),
            r"raised ValueError: .* of problem 'p1'",
        ),
        (lambda *_: Verdict(False, "different"), "refuses the demonstration of problem 'p1'"),
        (SUMS.verify, "task 'mini-sums' cannot verify problem 'p1'"),
    ],
)
def test_whatever_a_verifier_makes_of_a_problem_without_an_answer_the_sentence_says_that_it_has_none(
    verify, message
):
    task = replace(SUMS, verify=verify, verify_flexible=None)
    with pytest.raises(InputError, match=f"{message}, which has no answer and no tests"):
        check_demonstrations(task, [replace(NUMBERS[0], answer="")])


def test_the_line_is_the_functions_own_and_not_that_of_a_library_which_it_calls():
    task = replace(SUMS, verify=lambda problem, completion: json.loads("["))
    with pytest.raises(VerifierError, match=r"raised JSONDecodeError: .*\(test_demonstrations\.py, line"):
        check_demonstrations(task, NUMBERS)


def test_a_verifier_gets_the_demonstration_and_then_nothing_as_a_finished_completion():
    seen = []

    def verify(problem, completion):
        seen.append((problem.id, completion.problem, completion.text, completion.finished))
        return Verdict(bool(completion.text), "exact")

    check_demonstrations(replace(SUMS, verify=verify), NUMBERS[:1])
    assert seen == [("p1", "p1", "#### 1", True), ("p1", "p1", "", True)]


def test_problems_whose_programs_could_cheat_are_named_if_the_recipe_refuses_them():
    def problem(name, program, test):
        return Problem(id=name, prompt=name, demonstration=program, tests=(test,))

    lists = [problem(f"plain-{n}", "def f(x): return [x]", f"assert f({n}) == [{n}]") for n in range(2)]
    code = "class Stack:\n    def top(self): return 3"
    objects = [problem(f"stack-{n}", code, "assert Stack().top() == 3") for n in range(12)]
    task = TASKS["mini-code"]
    check_demonstrations(task, [*lists, *objects])
    check_demonstrations(task, lists, refuse_unproven=True)
    with pytest.raises(InputError, match=r"stack-0, .*stack-9 and 2 more pass only in one interpreter"):
        check_demonstrations(task, [*lists, *objects], refuse_unproven=True)
