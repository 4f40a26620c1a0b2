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

from erce.types import Pools, Problem, Task
from erce.verify.program import verify_program, verify_program_paper

POOL_SIZE = 500  # problems
CONSTANTS = range(2, 12)


@dataclass(frozen=True)
class Family:
    """A kind of function: a sentence, ways to write it, and inputs; `{a}` and `{b}` are constants."""

    arguments: str
    sentence: str
    reference: Callable[[int, int], Callable]
    programs: tuple[str, ...]  # function bodies
    inputs: Callable[[random.Random], tuple]


def _number(rng: random.Random) -> tuple:
    return (rng.randrange(1, 20),)


def _pair(rng: random.Random) -> tuple:
    return (rng.randrange(1, 50), rng.randrange(1, 50))


def _numbers(rng: random.Random) -> tuple:
    return ([rng.randrange(1, 20) for _ in range(rng.randrange(3, 6))],)


FAMILIES = (
    Family(
        "x",
        "x times {a}, plus {b}",
        lambda a, b: lambda x: x * a + b,
        (
            "return x * {a} + {b}",
            "return {b} + x * {a}",
            "return {b} + {a} * x",
            "y = x * {a}\n    return y + {b}",
        ),
        _number,
    ),
    Family(
        "x",
        "x plus {a}, times {b}",
        lambda a, b: lambda x: (x + a) * b,
        (
            "return (x + {a}) * {b}",
            "return {b} * (x + {a})",
            "return x * {b} + {a} * {b}",
            "y = x + {a}\n    return y * {b}",
        ),
        _number,
    ),
    Family(
        "x",
        "x squared, minus {a}",
        lambda a, b: lambda x: x * x - a,
        ("return x * x - {a}", "return x ** 2 - {a}", "y = x * x\n    return y - {a}", "return -{a} + x * x"),
        _number,
    ),
    Family(
        "x",
        "whether {a} divides x plus {b}",
        lambda a, b: lambda x: (x + b) % a == 0,
        ("return (x + {b}) % {a} == 0", "return not (x + {b}) % {a}", "y = x + {b}\n    return y % {a} == 0"),
        _number,
    ),
    Family(
        "x, y",
        "the larger of x times {a} and y plus {b}",
        lambda a, b: lambda x, y: max(x * a, y + b),
        ("return max(x * {a}, y + {b})", "return max(y + {b}, x * {a})", "return max({a} * x, {b} + y)"),
        _pair,
    ),
    Family(
        "x, y",
        "the smaller of x plus {a} and y plus {b}",
        lambda a, b: lambda x, y: min(x + a, y + b),
        ("return min(x + {a}, y + {b})", "return min(y + {b}, x + {a})", "return min({a} + x, {b} + y)"),
        _pair,
    ),
    Family(
        "x, y",
        "{a} times x, minus {b} times y",
        lambda a, b: lambda x, y: a * x - b * y,
        ("return {a} * x - {b} * y", "return x * {a} - y * {b}", "return -{b} * y + {a} * x"),
        _pair,
    ),
    Family(
        "xs",
        "the sum of xs times {a}, plus {b}",
        lambda a, b: lambda xs: sum(xs) * a + b,
        ("return sum(xs) * {a} + {b}", "return {b} + {a} * sum(xs)", "y = sum(xs)\n    return y * {a} + {b}"),
        _numbers,
    ),
    Family(
        "xs",
        "the largest of xs plus {a}, times {b}",
        lambda a, b: lambda xs: (max(xs) + a) * b,
        (
            "return (max(xs) + {a}) * {b}",
            "return {b} * (max(xs) + {a})",
            "y = max(xs)\n    return (y + {a}) * {b}",
        ),
        _numbers,
    ),
    Family(
        "xs",
        "how many of xs are over {a}, plus {b}",
        lambda a, b: lambda xs: sum(x > a for x in xs) + b,
        (
            "return len([x for x in xs if x > {a}]) + {b}",
            "return {b} + sum(x > {a} for x in xs)",
            "return sum(1 for x in xs if x > {a}) + {b}",
        ),
        _numbers,
    ),
    Family(
        "xs",
        "each of xs times {a}, plus {b}",
        lambda a, b: lambda xs: [x * a + b for x in xs],
        (
            "return [x * {a} + {b} for x in xs]",
            "return [{b} + x * {a} for x in xs]",
            "return [{a} * x + {b} for x in xs]",
        ),
        _numbers,
    ),
    Family(
        "xs",
        "those of xs that are under {a} or over {b}",
        lambda a, b: lambda xs: [x for x in xs if x < a or x > b],
        (
            "return [x for x in xs if x < {a} or x > {b}]",
            "return [x for x in xs if x > {b} or x < {a}]",
            "return [x for x in xs if not {a} <= x <= {b}]",
        ),
        _numbers,
    ),
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
    return f"def f({family.arguments}):\n    {body}"


def problem(family: Family, a: int, b: int, rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """Draw three tests; return the prompt, whose hint is the first of them, and the tests."""
    function = family.reference(a, b)
    tests: dict[str, None] = {}  # in order, without repetition
    while len(tests) < 3:
        inputs = family.inputs(rng)
        tests[f"assert f({', '.join(map(repr, inputs))}) == {function(*inputs)!r}"] = None
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
    verify_paper=verify_program_paper,
    n_train=400,
    n_validation=100,
    n_test=200,
    max_new_tokens=64,
    max_length=256,
    about="generated functions of one line, verified by their tests",
)
