"""Generated problems on tiny Python functions: a sentence, an assert as a hint, several programs that pass.

    Write f(x): x times 3, plus 5. For example f(2) == 11

    def f(x):
        return x * 3 + 5

The demonstration is one of a family's programs at random; any program that passes the three asserts is
accepted.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from erce.types import Pools, Problem, Task
from erce.verify.program import verify_program

POOL_SIZE = 500  # problems
CONSTANTS = range(2, 12)


@dataclass(frozen=True)
class Family:
    """A kind of function: a sentence, and ways to write it; `{a}` and `{b}` are constants."""

    arguments: str
    sentence: str
    programs: tuple[str, ...]  # function bodies

    def source(self, body: str) -> str:
        """Write the function `f` with this body, and return its text."""
        return f"def f({self.arguments}):\n    {body}"


# A family's arguments, its sentence, and its programs, with "; " for the end of a line. All programs of a
# family do the same, so the first one decides what is right.
_TABLE = """
x | x times {a}, plus {b}
    | return x * {a} + {b} | return {b} + x * {a} | return {b} + {a} * x | y = x * {a}; return y + {b}
x | x plus {a}, times {b}
    | return (x + {a}) * {b} | return {b} * (x + {a}) | return x * {b} + {a} * {b}
    | y = x + {a}; return y * {b}
x | x squared, minus {a}
    | return x * x - {a} | return x ** 2 - {a} | y = x * x; return y - {a} | return -{a} + x * x
x | whether {a} divides x plus {b}
    | return (x + {b}) % {a} == 0 | return not (x + {b}) % {a} | y = x + {b}; return y % {a} == 0
x, y | the larger of x times {a} and y plus {b}
    | return max(x * {a}, y + {b}) | return max(y + {b}, x * {a}) | return max({a} * x, {b} + y)
x, y | the smaller of x plus {a} and y plus {b}
    | return min(x + {a}, y + {b}) | return min(y + {b}, x + {a}) | return min({a} + x, {b} + y)
x, y | {a} times x, minus {b} times y
    | return {a} * x - {b} * y | return x * {a} - y * {b} | return -{b} * y + {a} * x
xs | the sum of xs times {a}, plus {b}
    | return sum(xs) * {a} + {b} | return {b} + {a} * sum(xs) | y = sum(xs); return y * {a} + {b}
xs | the largest of xs plus {a}, times {b}
    | return (max(xs) + {a}) * {b} | return {b} * (max(xs) + {a}) | y = max(xs); return (y + {a}) * {b}
xs | how many of xs are over {a}, plus {b}
    | return len([x for x in xs if x > {a}]) + {b} | return {b} + sum(x > {a} for x in xs)
    | return sum(1 for x in xs if x > {a}) + {b}
xs | each of xs times {a}, plus {b}
    | return [x * {a} + {b} for x in xs] | return [{b} + x * {a} for x in xs]
    | return [{a} * x + {b} for x in xs]
xs | those of xs that are under {a} or over {b}
    | return [x for x in xs if x < {a} or x > {b}] | return [x for x in xs if x > {b} or x < {a}]
    | return [x for x in xs if not {a} <= x <= {b}]
"""
_INPUTS: dict[str, Callable[[random.Random], tuple[Any, ...]]] = {
    "x": lambda rng: (rng.randrange(1, 20),),
    "x, y": lambda rng: (rng.randrange(1, 50), rng.randrange(1, 50)),
    "xs": lambda rng: ([rng.randrange(1, 20) for _ in range(rng.randrange(3, 6))],),
}
FAMILIES = tuple(
    Family(arguments, sentence, tuple(body.replace("; ", "\n    ") for body in programs))
    for arguments, sentence, *programs in (
        row.split(" | ") for row in _TABLE.strip().replace("\n    ", " ").splitlines()
    )
)


def program(family: Family, a: int, b: int, rng: random.Random, *, slip: float = 0.0) -> str:
    """Draw one of the family's programs; with probability `slip`, a constant or an operator is wrong."""
    body = rng.choice(family.programs).format(a=a, b=b)
    if rng.random() < slip:
        wrong = [
            rng.choice(family.programs).format(a=rng.randrange(2, 10), b=b),
            rng.choice(family.programs).format(a=b, b=a),
            body.translate(str.maketrans("+-*<>", "-+++<")),
        ]
        body = rng.choice(wrong)
    return family.source(body)


def problem(family: Family, a: int, b: int, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """Draw three tests; return the prompt, whose hint is the first of them, and the tests."""
    names: dict[str, Any] = {}
    exec(family.source(family.programs[0].format(a=a, b=b)), names)  # of the table above, no model's text
    tests: dict[str, None] = {}  # in order, without repetition
    while len(tests) < 3:
        inputs = _INPUTS[family.arguments](rng)
        tests[f"assert f({', '.join(map(repr, inputs))}) == {names['f'](*inputs)!r}"] = None
    hint = next(iter(tests)).removeprefix("assert ")
    sentence = family.sentence.format(a=a, b=b)
    return f"Write f({family.arguments}): {sentence}. For example {hint}", tuple(tests)


def _pools(data: str | None) -> Pools:
    """Draw problems with distinct sentences, half of them for tests."""
    rng = random.Random("erce mini-code")
    points = {
        family.sentence.format(a=a, b=b): (family, a, b)
        for family in FAMILIES
        for a in CONSTANTS
        for b in CONSTANTS
    }
    problems = []
    for number, (family, a, b) in enumerate(rng.sample(list(points.values()), 2 * POOL_SIZE)):
        prompt, tests = problem(family, a, b, rng)
        demonstration = program(family, a, b, rng)
        problems.append(
            Problem(
                id=f"code-{number}",
                prompt=prompt,
                demonstration=demonstration,
                tests=tests,
                entry_points=("f",),
            )
        )
    return Pools(train=tuple(problems[:POOL_SIZE]), test=tuple(problems[POOL_SIZE:]))


MINI_CODE = Task(
    name="mini-code",
    pools=_pools,
    verify=verify_program,
    n_train=400,
    n_validation=100,
    n_test=200,
    max_new_tokens=64,
    max_length=256,
    about="generated functions of one line, verified by their tests",
)
