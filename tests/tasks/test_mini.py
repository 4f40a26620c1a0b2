"""The generated tasks: what is demonstrated is right, what the base model read is sometimes wrong."""

import random
import re

import pytest

from erce.tasks import load_task
from erce.tasks.mini_code import FAMILIES, MINI_CODE, problem, program
from erce.tasks.mini_sums import LIMIT, MINI_SUMS, MINI_SUMS_ANSWER_ONLY, expression, working, written

MINI = ("mini-sums", "mini-sums-answer-only", "mini-code")


@pytest.mark.parametrize("name", MINI)
def test_problems_are_the_same_at_every_call_and_never_repeat(name):
    first, second = (load_task(name).pools(None) for _ in range(2))
    assert first == second
    prompts = [each.prompt for each in (*first.train, *first.test)]
    assert len(set(prompts)) == len(prompts)


def test_the_control_asks_for_the_same_sums_and_shows_the_number_alone():
    for with_steps, alone in zip(
        MINI_SUMS.pools(None).test, MINI_SUMS_ANSWER_ONLY.pools(None).test, strict=True
    ):
        assert (with_steps.id, with_steps.answer) == (alone.id, alone.answer)
        assert alone.demonstration == f"#### {alone.answer}"
        assert with_steps.demonstration.count("\n") == 3


def test_every_step_of_a_demonstration_is_right_and_in_range():
    for each in MINI_SUMS.pools(None).train[:500]:
        *steps, last = each.demonstration.split("\n")
        for step in steps:
            first, sign, second, result = re.fullmatch(r"(\d+)([+-])(\d+)=(\d+)", step).groups()
            assert int(first) + int(sign + second) == int(result)
            assert 0 <= int(result) < LIMIT
        assert last == f"#### {each.answer}"


def test_an_expression_can_be_worked_out_in_several_orders():
    rng = random.Random(0)
    ways = [len({working(terms, rng) for _ in range(30)}) for terms in (expression(rng) for _ in range(50))]
    assert sum(count > 1 for count in ways) > 45


def test_a_slip_is_a_wrong_step_and_without_slips_the_answer_is_the_sum():
    rng = random.Random(0)
    steps = wrong = 0
    for _ in range(300):
        terms = expression(rng)
        for first, sign, second, result in re.findall(
            r"(\d+)([+-])(\d+)=(\d+)", working(terms, rng, slip=0.5)
        ):
            steps += 1
            wrong += int(result) != int(first) + int(sign + second)
            assert 0 <= int(result) < LIMIT
        assert working(terms, rng).endswith(f"#### {sum(terms)}")
    assert 0.4 < wrong / steps < 0.6


def test_the_sums_that_are_trained_on_are_not_those_that_are_tested():
    pools = MINI_SUMS.pools(None)
    assert not {each.prompt for each in pools.train} & {each.prompt for each in pools.test}
    assert pools.train[0].prompt.startswith("Work out ")
    assert written((3, -2)) == "3-2"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.sentence)
def test_every_program_of_a_family_passes_the_familys_tests(family):
    """Run here, in our own process, because both programs and tests are our own text."""
    rng = random.Random(0)
    for body in family.programs:
        a, b = rng.randrange(2, 12), rng.randrange(2, 12)
        names: dict[str, object] = {}
        exec(f"def f({family.arguments}):\n    {body.format(a=a, b=b)}", names)
        for test in problem(family, a, b, rng)[1]:
            exec(test, names)


def test_the_hint_of_a_program_is_its_first_test():
    for each in MINI_CODE.pools(None).test[:50]:
        assert each.prompt.endswith(each.tests[0].removeprefix("assert "))
        assert len(set(each.tests)) == 3
        assert each.entry_points == ("f",)


def test_a_slip_gives_other_programs_than_the_familys_own():
    rng = random.Random(0)
    family = FAMILIES[0]
    right = {program(family, 3, 5, rng) for _ in range(50)}
    slipped = {program(family, 3, 5, rng, slip=1.0) for _ in range(50)}
    assert len(right) == len(family.programs)
    assert slipped - right
