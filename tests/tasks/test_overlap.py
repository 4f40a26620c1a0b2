"""Which pairs of problems are near-duplicates, and which only look alike."""

import pytest

from erce.tasks import near_duplicates
from erce.types import Problem

WORDS = "Ada keeps bees behind the old mill and sells honey in jars at the market every other Sunday of May."


def ask(prompt: str, answer: str = "7", **more) -> Problem:
    return Problem(id=prompt[:30], prompt=prompt, demonstration="", answer=answer, **more)


@pytest.mark.parametrize(
    ("trained", "tested", "same"),
    [
        ("What is 3+4?", "what is  3 + 4", True),
        ("What is $3+4$?", "What is \\(3+4\\)?", True),
        ("What is in (1, 2]?", "What is in [1, 2]?", False),
        ("What is 3!?", "What is 3?", False),
        ("What is (n + 1)! / n!", "What is (n + 1) / n", False),
        ("What is n!!", "What is n!", False),
        ("Write it backwards!", "  write it  backwards.", True),
        ("Is 3 ≤ x?", "Is 3 ≥ x?", False),
        ("What is “one”?", 'What is "one"', True),
        ("What is 3+4?", "What is 3-4?", False),
        ("What is 3.5?", "What is 35?", False),
        ("What is 1,000?", "What is 1000?", True),
        ("What is f'(2)?", "What is f(2)?", False),
        ("Don't say it.", "Dont say it", False),
        ("Where is (1,2)?", "Where is (12)?", False),
        ("法国的首都是哪里？", "法国的首都是哪里", True),
        ("Un caf\u00e9?", "Un cafe\u0301?", True),
        (f"{WORDS} How many are 12 jars?", f"{WORDS} How many jars are 12?", True),
        (f"{WORDS} How many are 12 jars?", f"{WORDS} How many are 13 jars?", False),
        (f"{WORDS} How many are 12 jars?", "How many are 12 jars? Ada sells honey.", False),
    ],
)
def test_prompts_with_one_answer(trained, tested, same):
    assert bool(near_duplicates([ask(trained)], [ask(tested)])) is same


def test_one_wording_with_another_answer_is_another_problem():
    first, second = ask(f"{WORDS} What is left of 12?", "5"), ask(f"{WORDS} What was left of 12?", "8")
    assert near_duplicates([first], [second]) == []


def test_a_pair_names_its_two_problems():
    [pair] = near_duplicates(
        [ask("Nothing like it."), ask(f"{WORDS} Now 3?")], [ask("Nor this."), ask(f"{WORDS} Then 3?")]
    )
    assert pair.trained.prompt.endswith("Now 3?")
    assert pair.tested.prompt.endswith("Then 3?")


def test_prompts_that_a_log_does_not_hold_are_not_one_text():
    assert near_duplicates([ask("", "2"), ask("…", "3")], [ask("", "2")]) == []


TESTS = tuple(f"assert double({n}) == {2 * n}" for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("trained", "tested", "same"),
    [
        (TESTS, TESTS, True),
        (TESTS[:2], TESTS, True),
        (("assert  Double( 1 )==2", *TESTS[1:]), TESTS, True),
        (TESTS[:1], TESTS, False),
        (("assert double(4) == 8", *TESTS[1:]), TESTS, False),
    ],
)
def test_programs_with_the_same_tests_are_one_problem_whatever_the_text(trained, tested, same):
    pair = [ask("Double it.", "", tests=trained)], [ask("Write a function: twice x.", "", tests=tested)]
    assert bool(near_duplicates(*pair)) is same


def test_what_every_prompt_says_counts_for_nothing():
    ending = "Work step by step, write down each step on a line of its own, and end with the answer."
    trained = [ask(f"Say {word}. {ending}") for word in WORDS.split()]
    assert near_duplicates(trained, [ask(f"Sing loudly. {ending}")]) == []


def test_what_half_of_the_prompts_say_counts():
    trained = [ask(f"{WORDS} How many are {number} jars?") for number in range(15)]
    trained += [ask(f"Say {word}.") for word in WORDS.split()[:15]]
    [pair] = near_duplicates(trained, [ask(f"{WORDS} How many jars are 3?")])
    assert pair.trained is trained[3]
