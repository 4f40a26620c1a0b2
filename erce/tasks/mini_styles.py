"""Generated sums whose demonstrations come in two styles, both right: worked step by step, or in one step.

    worked         shortcut
    17-5=12        17-5+12+3=27
    12+12=24       #### 27
    24+3=27
    #### 27

The verifier reads the number after `####`, so it accepts both. A stated share of the demonstrations are
shortcuts, which the embedded base models get right about once in twenty times.
"""

import random
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate

from erce.errors import InputError
from erce.tasks.mini_sums import LIMIT, MINI_SUMS, POOL_SIZE, random_sums, slipped, work_out, written
from erce.types import Pools, Problem, Task

PROMPT = "Work out {}."
SHARE = 0.75  # of shortcuts among the demonstrations of the task "mini-styles"


def with_share(text: str) -> Task:
    """Return the task in which each demonstration is a shortcut with probability `text`, "0" to "1".

    The choice depends on the problem alone, so a larger share keeps the shortcuts of a smaller one.
    """
    with suppress(ValueError):
        share = float(text)
        if 0 <= share <= 1:
            name = "mini-styles" if share == SHARE else f"mini-styles:{share:g}"
            about = "generated sums in two styles, worked step by step or in one step"
            return replace(MINI_SUMS, name=name, pools=lambda data: _pools(share), about=about)
    raise InputError(f"mini-styles:{text}: give the share of shortcuts, 0 to 1, as in mini-styles:0.5")


def stays_in_range(terms: tuple[int, ...]) -> bool:
    """Return whether the partial sums that a worked demonstration writes all lie in range.

    >>> stays_in_range((17, -5, 12, 3)), stays_in_range((5, -17, 12, 3))
    (True, False)
    """
    return all(0 <= total < LIMIT for total in accumulate(terms))


def worked(terms: tuple[int, ...], rng: random.Random, *, slip: float = 0.0) -> str:
    """Work from left to right; each step is wrong with probability `slip`, and a wrong number is carried on.

    >>> worked((17, -5, 12, 3), random.Random(0)).splitlines()
    ['17-5=12', '12+12=24', '24+3=27', '#### 27']
    """
    # The total so far stands last and the next term first.
    return work_out([*terms[1:], terms[0]], rng, slip, lambda count: (count - 1, 0))


def shortcut(terms: tuple[int, ...], rng: random.Random, *, slip: float = 0.0) -> str:
    """Write the answer without its working; it is wrong with probability `slip`.

    >>> shortcut((17, -5, 12, 3), random.Random(0)).splitlines()
    ['17-5+12+3=27', '#### 27']
    """
    answer = sum(terms)
    if rng.random() < slip:
        answer = slipped(answer, rng)
    return f"{written(terms)}={answer}\n#### {answer}"


def _pools(share: float) -> Pools:
    """Restyle the sums of mini-sums that stay in range; its test problems are those to train on here."""
    problems = [
        (number < POOL_SIZE, _problem(number, terms, share))
        for number, (terms, _) in enumerate(random_sums())
        if stays_in_range(terms)
    ]
    return Pools(
        train=tuple(problem for to_test, problem in problems if not to_test),
        test=tuple(problem for to_test, problem in problems if to_test),
    )


def _problem(number: int, terms: tuple[int, ...], share: float) -> Problem:
    rng = random.Random(f"style of {number}")
    write = shortcut if rng.random() < share else worked
    return Problem(
        id=f"styles-{number}",
        prompt=PROMPT.format(written(terms)),
        demonstration=write(terms, rng),
        answer=str(sum(terms)),
    )


MINI_STYLES = with_share(str(SHARE))
