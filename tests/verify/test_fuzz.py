"""No text makes the comparison of answers raise, hang or run code; another writing keeps the verdict."""

import os
import time
from random import Random

import pytest
from toys.answers.hostile import GOLDS, INJECTIONS, bombs, injection
from toys.answers.labelled import GOLDS as ANSWERS
from toys.answers.labelled import PAIRS
from toys.answers.mutations import noise, rewritten

from erce.types import REASONS
from erce.verify import equivalent, verify_math
from erce.verify.number import verify_number

WRITINGS = sorted({pair.answer for pair in PAIRS})
BOMBS = {name: bomb for name, bomb in bombs().items() if bomb.strip()}


def holds(gold: str, answer: str) -> bool:
    """Return what holds of every pair: a known reason either way round."""
    return {equivalent(gold, answer).reason, equivalent(answer, gold).reason} <= set(REASONS)


@pytest.mark.parametrize("depth", [1, 3])
def test_another_writing_is_the_same_answer(depth):
    for answer in ANSWERS:
        for name, text in rewritten(answer, seed=depth, depth=depth):
            assert equivalent(answer, text).accepted, (name, answer, text)
            assert holds(answer, text), (name, answer, text)


def test_noise_breaks_nothing():
    draw = Random(0)
    for answer in (ANSWERS + WRITINGS) * 2:
        text = noise(answer, draw)
        if text.strip():
            assert holds(answer, text), (answer, text)
        completion = noise(f"so \\boxed{{{text}}} or \\boxed{{{answer}}}", draw)
        assert verify_math(answer, completion).reason in REASONS, completion


def test_a_completion_may_break_off_anywhere():
    text = "He pays 20 + $15 =$<<20+15=35>>35, or $x = \\frac{70}{2}$:\n\\[x = \\boxed{35}\\]\n#### $35"
    for end in range(len(text)):
        for verify in (verify_number, verify_math):
            assert verify("35", text[:end], strict=False).reason in REASONS, text[:end]


def judge_all(answer: str) -> list[tuple[bool, str]]:
    """Return the verdicts on one text as an answer, as a gold and as a completion."""
    verdicts = [equivalent(gold, answer) for gold in GOLDS[::2]]
    verdicts += [verify_math(GOLDS[0], text) for text in (answer, f"\\boxed{{{answer}}}")]
    if answer.strip():
        verdicts += [equivalent(answer, gold) for gold in GOLDS[::3]]
    return [(verdict.accepted, verdict.reason) for verdict in verdicts]


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_bombs_are_rejected(every):
    for name, bomb in list(bombs().items())[::every]:
        began = time.process_time()
        verdicts = judge_all(bomb)
        assert time.process_time() - began < 5, name  # 0.05 on an idle machine; what hangs takes minutes
        assert not any(accepted for accepted, _ in verdicts), name


def test_a_bomb_equals_itself():
    for name, bomb in BOMBS.items():
        assert equivalent(bomb, bomb).accepted, name


@pytest.mark.parametrize("template", INJECTIONS)
def test_nothing_in_an_answer_is_executed(template, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(os.environ)
    answer = injection(template, str(tmp_path / "made"))
    assert not any(accepted for accepted, _ in judge_all(answer))
    assert list(tmp_path.iterdir()) == []
    assert set(os.environ) == before
