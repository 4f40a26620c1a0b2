"""Generated sums: "17-5+12+3", with its working written out in one of several valid orders.

A demonstration combines two of the signed terms at a time, in a random order, until one number is left:

    12+17=29
    29+3=32
    32-5=27
    #### 27

Any order of working is correct, and the verifier reads only the number after `####`. In the answer-only task
the demonstration is the last line alone, so only one output is accepted (the paper's negative control).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from erce.tasks.gsm8k import verify_answer
from erce.types import Pools, Problem, Task
from erce.verify.number import same_number

LIMIT = 50  # intermediate results and answers lie in 0 … LIMIT - 1
LARGEST = 25  # terms lie in 1 … LARGEST - 1
TERM_COUNT = 4
POOL_SIZE = 4000  # problems; the pools of both tasks hold the same expressions

Places = Callable[[int], Sequence[int]]  # how many terms → the places of the two that are combined

STEPS = "Work out {} step by step."
ANSWER_ONLY = "Work out {}. Answer only."


def expression(rng: random.Random) -> tuple[int, ...]:
    """Draw signed terms whose sum, like every term, lies in range; the first is positive."""
    while True:
        terms = (
            rng.randrange(1, LARGEST),
            *(rng.choice((-1, 1)) * rng.randrange(1, LARGEST) for _ in range(TERM_COUNT - 1)),
        )
        if 0 <= sum(terms) < LIMIT:
            return terms


def written(terms: tuple[int, ...]) -> str:
    """Write the expression as the prompt shows it.

    >>> written((17, -5, 12, 3))
    '17-5+12+3'
    """
    return "".join(f"{term:+d}" for term in terms).removeprefix("+")


def working(terms: tuple[int, ...], rng: random.Random, *, slip: float = 0.0) -> str:
    """Write a solution with its steps in a random order; each step is wrong with probability `slip`.

    A wrong number is carried on, so the answer is wrong too. Demonstrations have slip 0; the text that the
    embedded base model is pretrained on has some slips.
    """
    return work_out(list(terms), rng, slip, lambda count: rng.sample(range(count), 2))


def work_out(terms: list[int], rng: random.Random, slip: float, places: Places) -> str:
    """Write the steps that combine the two terms at `places` until one is left, all in range."""
    while True:
        lines = _steps(terms, rng, slip, places)
        if lines is not None:
            return "\n".join(lines)


def _steps(terms: list[int], rng: random.Random, slip: float, places: Places) -> list[str] | None:
    """Return the lines of one attempt, or None if a result leaves the range."""
    lines = []
    while len(terms) > 1:
        i, j = places(len(terms))
        first, second = terms[i], terms[j]
        if first < 0:
            first, second = second, first
        result = first + second
        if first < 0 or not 0 <= result < LIMIT:
            return None
        if rng.random() < slip:
            result = slipped(result, rng)
        lines.append(f"{first}{second:+d}={result}")
        terms = [term for k, term in enumerate(terms) if k not in (i, j)] + [result]
    return [*lines, f"#### {terms[0]}"]


def slipped(result: int, rng: random.Random) -> int:
    """Draw a wrong number in range: off by one or two, or by a forgotten carry."""
    while True:
        wrong = result + rng.choice((-10, -2, -1, 1, 2, 10))
        if 0 <= wrong < LIMIT:
            return wrong


@cache
def random_sums() -> tuple[tuple[tuple[int, ...], str], ...]:
    """Draw 2 × `POOL_SIZE` distinct expressions, each with its working; the first half is to train on."""
    rng, sums = random.Random("erce mini-sums"), dict[tuple[int, ...], str]()
    while len(sums) < 2 * POOL_SIZE:
        terms = expression(rng)
        demonstration = working(terms, rng)
        sums.setdefault(terms, demonstration)
    return tuple(sums.items())


def _pools(template: str, *, steps: bool) -> Pools:
    problems = [
        Problem(
            id=f"sum-{number}",
            prompt=template.format(written(terms)),
            demonstration=demonstration if steps else f"#### {sum(terms)}",
            answer=str(sum(terms)),
        )
        for number, (terms, demonstration) in enumerate(random_sums())
    ]
    return Pools(train=tuple(problems[:POOL_SIZE]), test=tuple(problems[POOL_SIZE:]))


MINI_SUMS = Task(
    name="mini-sums",
    pools=lambda data: _pools(STEPS, steps=True),
    verify=verify_answer,
    verify_flexible=partial(verify_answer, strict=False),
    equal=same_number,
    n_train=1000,
    n_validation=200,
    n_test=400,
    max_new_tokens=40,
    max_length=128,
    about="generated sums, worked out step by step in any order",
)
MINI_SUMS_ANSWER_ONLY = replace(
    MINI_SUMS,
    name="mini-sums-answer-only",
    pools=lambda data: _pools(ANSWER_ONLY, steps=False),
    max_new_tokens=8,
    about="the same sums, answered with the number alone: a control",
)
