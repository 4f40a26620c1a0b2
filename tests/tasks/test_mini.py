"""The generated tasks: what is demonstrated is right, what the base model read is sometimes wrong."""

import random
import re

import pytest

from benchmarks.when import style
from erce.errors import InputError
from erce.tasks import load_task
from erce.tasks.mini_code import FAMILIES, MINI_CODE, problem
from erce.tasks.mini_styles import MINI_STYLES, shortcut, worked
from erce.tasks.mini_sums import LIMIT, MINI_SUMS, MINI_SUMS_ANSWER_ONLY, expression, working

MINI = ("mini-sums", "mini-sums-answer-only", "mini-styles", "mini-code")


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


def test_both_styles_are_right_and_stay_in_range():
    rng = random.Random(0)
    for shown in MINI_STYLES.pools(None).train[:300]:
        assert MINI_STYLES.verify(shown, shown.demonstration).accepted
        text = shown.prompt.removeprefix("Work out ").removesuffix(".")
        terms = tuple(int(term) for term in re.findall(r"[+-]?\d+", text))
        assert [style(write(terms, rng)) for write in (worked, shortcut)] == ["worked", "shortcut"]
        *steps, last = worked(terms, rng).split("\n")
        results = [int(step.partition("=")[2]) for step in steps]
        assert last == f"#### {results[-1]}" == f"#### {shown.answer}"
        assert all(0 <= result < LIMIT for result in results)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_shortcuts_is_the_stated_one_and_grows_by_adding(share):
    few, many = (load_task(f"mini-styles:{s}").pools(None).train for s in (share, min(1, share + 0.1)))
    shortcuts = [[style(problem.demonstration) == "shortcut" for problem in pool] for pool in (few, many)]
    assert abs(sum(shortcuts[0]) / len(few) - share) < 0.03
    assert all(after or not before for before, after in zip(*shortcuts, strict=True))


@pytest.mark.parametrize("share", ["2", "-0.1", "half", "nan", ""])
def test_a_share_that_is_none_is_refused_by_its_value(share):
    with pytest.raises(InputError, match=f"mini-styles:{share}"):
        load_task(f"mini-styles:{share}")


def test_a_wrong_number_in_either_style_is_carried_to_the_answer():
    rng = random.Random(0)
    texts = [write((17, -5, 12, 3), rng, slip=1.0) for write in (worked, shortcut) for _ in range(50)]
    assert all(int(text.rpartition("#### ")[2]) == int(text.split("=")[-1].split("\n")[0]) for text in texts)
    assert all("#### 27" not in text for text in texts[50:])
