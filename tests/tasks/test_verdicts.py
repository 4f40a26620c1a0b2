"""Beside the strict verdict, which decides, stands whether the answer is right in any form."""

from dataclasses import replace

import pytest
from toys.task_files import completion

from erce.errors import VerifierError
from erce.tasks import TASKS
from erce.tasks.user_defined import jsonl_task
from erce.tasks.verdicts import check_demonstrations, verdict
from erce.types import Problem, Verdict

PROBLEM = Problem(id="p", prompt="", demonstration="", answer="18", tests=("assert f(3) == 9",))


@pytest.mark.parametrize(
    "name", ["gsm8k", "gsm8k-answer-only", "math", "mini-sums", "mini-sums-answer-only", "mini-styles"]
)
def test_a_task_with_answers_says_whether_they_are_right_in_any_form(name):
    strict = r"\boxed{18}" if name == "math" else "#### 18"
    for text, expected in (
        (strict, (True, True)),
        ("Answer: 18", (False, True)),
        ("Answer: 17", (False, False)),
    ):
        judged = verdict(TASKS[name], PROBLEM, completion(text))
        assert (judged.accepted, judged.flexible) == expected


def test_a_task_with_programs_does_not_tell():
    assert verdict(TASKS["mbpp"], PROBLEM, completion("def f(x): return x * x")).flexible is None


def test_a_users_function_may_tell_with_its_verdict():
    def judge(problem, completion):
        return Verdict(False, "no answer", flexible=problem.answer in completion.text)

    task = jsonl_task("own", None, judge)
    assert verdict(task, PROBLEM, completion("It is 18")).flexible is True
    assert (
        verdict(jsonl_task("own", None, lambda problem, completion: True), PROBLEM, completion("")).flexible
        is None
    )
    flexible = replace(task, verify_flexible=lambda problem, completion: Verdict(True, "exact"))
    assert verdict(flexible, PROBLEM, completion("none")).flexible is False  # the function's own word counts


def test_the_function_of_any_task_may_return_a_bool():
    task = replace(TASKS["gsm8k"], verify=lambda problem, completion: True, verify_flexible=None)
    assert verdict(task, PROBLEM, completion("17")) == Verdict(True, "exact")


def test_a_verifier_that_accepts_an_empty_completion_is_a_warning():
    problems = [Problem(id="1", prompt="p", demonstration="d", answer="d")]
    task = jsonl_task("lax", None, lambda problem, completion: True)
    with pytest.warns(UserWarning, match="the verifier of task 'lax' accepts an empty completion"):
        check_demonstrations(task, problems)


@pytest.mark.parametrize(
    "verify",
    [
        lambda problem, completion: completion.endswith("d"),
        lambda problem, completion: "d" in completion,
        lambda completion, problem: completion.text == problem.answer,
    ],
)
def test_a_function_that_takes_its_arguments_for_texts_is_told_what_it_gets(verify):
    with pytest.raises(VerifierError, match="it gets a problem and a completion, whose text is completion"):
        verdict(jsonl_task("own", None, verify), PROBLEM, completion("d"))
