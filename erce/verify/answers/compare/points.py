"""Two expressions → the points at which they are compared: more where functions have steps or pieces."""

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from erce.verify.answers.tree import Tree, contains, nodes, symbols

POINTS = 8  # at which two expressions must agree
POINTS_TRIED = 14
_DISCRETE = frozenset({"fact", "binom", "gcd", "lcm", "sum", "prod"})
_STEPS = frozenset({"floor", "ceil", "gcd", "lcm"})
_PIECES = frozenset({"abs", "max", "min"})
_WHOLE = frozenset("mnkpqN")  # letters of integers beside ⌊ ⌋
_Point = tuple[int | Fraction, ...]


class Points(NamedTuple):
    """Points in the order in which they are tried, and at how many of them two expressions must agree."""

    tried: tuple[_Point, ...]
    wanted: int

    def scaled(self, scale: int | Fraction) -> "Points":
        return Points(tuple(tuple(value * scale for value in point) for point in self.tried), self.wanted)


def kinds_of(tree: Tree) -> set[str]:
    """Return the kinds of all nodes, and the names of calls and constants in the place of these kinds."""
    return {node[1] if node[0] in ("call", "const") else node[0] for node in nodes(tree)}


def points_for(pair: Sequence[Tree], names: Sequence[str], kinds: set[str]) -> Points:
    """Return the points for two expressions whose nodes are of these kinds."""
    discrete = is_discrete(pair, kinds)
    if kinds & _STEPS:
        points = _across_steps(len(names), whole=discrete or _WHOLE.issuperset(names))
        return Points(points, len(points))
    points = sample_points(len(names), discrete=discrete)
    if kinds & _PIECES and not discrete:
        far = _far_points(len(names))
        return Points(far + points, POINTS + len(far))
    return Points(points, POINTS)


def is_discrete(pair: Sequence[Tree], kinds: set[str]) -> bool:
    """Return whether two expressions have values at natural numbers only."""
    return bool(kinds & _DISCRETE) or (
        "pow" in kinds
        and any(
            node[0] == "pow" and contains(node[1], "neg") and symbols(node[2])
            for tree in pair
            for node in nodes(tree)
        )
    )


@lru_cache(maxsize=64)
def sample_points(size: int, *, discrete: bool) -> tuple[tuple[int | Fraction, ...], ...]:
    """Return the points at which expressions are compared, always the same ones.

    They are natural numbers if a factorial, a sum or a power such as (-1)^n needs these. The first points are
    positive, because many expressions have no value elsewhere.
    """
    chosen = random.Random(size)
    if discrete:
        return tuple(tuple(chosen.randint(3, 60) for _ in range(size)) for _ in range(POINTS_TRIED))
    return tuple(
        tuple(
            Fraction(chosen.randint(11, 997), chosen.choice(_PRIMES))
            * (1 if point < 4 else chosen.choice((1, -1)))
            for _ in range(size)
        )
        for point in range(POINTS_TRIED)
    )


_PRIMES = (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157)


@lru_cache(maxsize=64)
def _across_steps(size: int, *, whole: bool) -> tuple[_Point, ...]:
    """Return points between which a step function makes its steps: ⌊n/7⌋ is not ⌊(n + 1)/7⌋."""
    chosen = random.Random(size)
    if size == 1:
        values = [
            *range(1, 27),
            30,
            35,
            36,
            48,
            59,
            60,
            99,
            100,
            101,
            119,
            120,
            199,
            200,
            359,
            999,
            1000,
            2024,
        ]
        points = [(value,) for value in values]
    else:
        points = [tuple(chosen.randint(1, 40) for _ in range(size)) for _ in range(44)]
    if whole:
        return tuple(points)
    between = (tuple(value + Fraction(chosen.randint(-400, 400), 101) for value in point) for point in points)
    return tuple(point for both in zip(points, between, strict=True) for point in both)


@lru_cache(maxsize=64)
def _far_points(size: int) -> tuple[_Point, ...]:
    """Return points far from the others, where max(x, 20) is not 20."""
    chosen = random.Random(size)
    magnitudes = (Fraction(1013, 7), Fraction(10007, 3), Fraction(2, 89), Fraction(211, 9))
    return tuple(
        tuple(chosen.choice(magnitudes) * chosen.choice((1, -1)) for _ in range(size)) for _ in range(6)
    )
