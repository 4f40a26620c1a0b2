"""A set of real numbers, in any notation → its intervals from left to right, ready to compare."""

from dataclasses import dataclass, replace
from itertools import pairwise, product

from erce.verify.answers.compare.evaluate import Evaluator, Value
from erce.verify.answers.compare.same_value import ROUNDING, same_value
from erce.verify.answers.compare.solved import solved, variable_of
from erce.verify.answers.limits import Budget, TooLargeError
from erce.verify.answers.tree import (
    INFINITY,
    NEGATIVE_INFINITY,
    Tree,
    contains,
    infinite_sign,
    symbols,
    with_both_signs,
)
from erce.verify.answers.values import (
    MIRRORED_SIGN,
    Answer,
    Bracketed,
    Inequality,
    Listing,
    Named,
    Scalar,
    SetOperation,
)

MAX_SPANS = 60


@dataclass(frozen=True, slots=True)
class End:
    """One end of an interval as an expression and as a number; a `closed` end belongs to the interval."""

    tree: Tree
    value: Value
    closed: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers from one end to another; a single number if both ends are the same."""

    low: End
    high: End


def real_set(answer: Answer, budget: Budget) -> tuple[Span, ...] | None:
    r"""Return the intervals of a set of numbers from left to right, touching ones joined, else None.

    Sets of numbers are intervals, sets in braces, ℝ, inequalities, lists of inequalities with "or", and
    unions, intersections and differences of these; no symbol may occur but the bounded one.
    """
    if isinstance(answer, SetOperation):
        left, right = real_set(answer.left, budget), real_set(answer.right, budget)
        return _combined(answer.operation, left, right)
    if isinstance(answer, Bracketed):
        return _interval(answer, budget) or None  # (3, -4) is a point
    if isinstance(answer, Inequality):
        return _solutions(answer, budget)
    if isinstance(answer, Listing):
        return _from_list(answer, budget)
    return _REAL_NUMBERS.get(answer.tree) if isinstance(answer, Scalar) else None


def is_written_as_set(answer: Answer) -> bool:
    """Return whether an answer is an inequality, several, or an operation on sets."""
    if isinstance(answer, Listing):
        return answer.joined != "{" and any(isinstance(item, Inequality) for item in answer.items)
    return isinstance(answer, SetOperation | Inequality) or _is_reals(answer)


def same_sets(left: tuple[Span, ...], right: tuple[Span, ...], budget: Budget) -> bool:
    """Return whether the intervals are the same, one by one."""
    return len(left) == len(right) and all(
        _same_ends(one.low, other.low, budget) and _same_ends(one.high, other.high, budget)
        for one, other in zip(left, right, strict=True)
    )


def interval_of(relation: Inequality) -> Bracketed | None:
    r"""Return the interval of the name that an inequality bounds; None for ≠, for |x| and without a name.

    -2 ≤ x < 7 is [-2, 7), and x > 3 is (3, ∞).
    """
    sides, signs = relation.sides, relation.signs
    if not relation.name or "≠" in signs or relation.name.startswith("|"):
        return None
    if len(signs) == 2:
        if signs[0] in "≥>":
            sides, signs = sides[::-1], tuple(MIRRORED_SIGN[sign] for sign in signs[::-1])
        low, high = sides[0], sides[2]
        opening, closing = "[" if signs[0] == "≤" else "(", "]" if signs[1] == "≤" else ")"
    elif signs[0] in "<≤":
        low, high = NEGATIVE_INFINITY, sides[1]
        opening, closing = "(", "]" if signs[0] == "≤" else ")"
    else:
        low, high = sides[1], INFINITY
        opening, closing = "[" if signs[0] == "≥" else "(", ")"
    return Bracketed(opening, (Scalar(low), Scalar(high)), closing)


def complement(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return the numbers in none of these intervals, which are in order and do not touch."""
    if not spans:
        return REALS
    gaps = [Span(REALS[0].low, _flipped(spans[0].low))]
    gaps += [Span(_flipped(one.high), _flipped(other.low)) for one, other in pairwise(spans)]
    gaps.append(Span(_flipped(spans[-1].high), REALS[0].high))
    return tuple(gap for gap in gaps if not _is_empty(gap))


_FAR = 10**400  # stands for ∞ when ends are sorted
REALS = (Span(End(NEGATIVE_INFINITY, -_FAR, closed=False), End(INFINITY, _FAR, closed=False)),)

_ZERO = End(("num", 0), 0, closed=True)
_POSITIVE = (Span(replace(_ZERO, closed=False), REALS[0].high),)
_NEGATIVE = (Span(REALS[0].low, replace(_ZERO, closed=False)),)
_REAL_NUMBERS: dict[Tree, tuple[Span, ...]] = {
    ("sym", "mathbb:R"): REALS,
    ("sym", "mathbb:R^+"): _POSITIVE,
    ("sym", "mathbb:R^-"): _NEGATIVE,
    ("sym", "mathbb:R_≥0"): (Span(_ZERO, REALS[0].high),),
    ("sym", "mathbb:R_≤0"): (Span(REALS[0].low, _ZERO),),
    ("sym", "mathbb:R^*"): (*_NEGATIVE, *_POSITIVE),
}


def _same_ends(one: End, other: End, budget: Budget) -> bool:
    return one.closed == other.closed and same_value(one.tree, other.tree, budget)


def _flipped(end: End) -> End:
    return End(end.tree, end.value, not end.closed)


def _end(tree: Tree, budget: Budget, *, closed: bool) -> End | None:
    sign = infinite_sign(tree)
    if sign:
        return None if closed else End(tree, sign * _FAR, closed=False)
    if symbols(tree) or contains(tree, "pm"):
        return None
    evaluator = Evaluator({}, budget)
    value = evaluator.inexact(evaluator.value(tree))
    if abs(value.imag) > abs(value) * ROUNDING or abs(value) >= _FAR:
        return None
    return End(tree, value.real, closed)


def _interval(answer: Bracketed, budget: Budget) -> tuple[Span, ...] | None:
    if answer.opening not in ("(", "[") or answer.closing not in (")", "]"):
        return None
    match answer.items:
        case (Scalar(low), Scalar(high)):
            start = _end(low, budget, closed=answer.opening == "[")
            end = _end(high, budget, closed=answer.closing == "]")
            return None if start is None or end is None else _joined([Span(start, end)])
    return None


def _solutions(answer: Inequality, budget: Budget) -> tuple[Span, ...] | None:
    """Return the values that an inequality leaves its name."""
    if answer.signs == ("≠",) and answer.name:
        excluded = _in_braces((Scalar(answer.sides[1]),), budget)
        return None if excluded is None else complement(excluded)
    if answer.name in ("|z|", "|w|"):
        return None
    if answer.name.startswith("|"):
        return _with_absolute_value(answer, budget)
    interval = interval_of(answer)
    spans = None if interval is None else _interval(interval, budget)
    if spans is not None:
        return spans
    both: tuple[Span, ...] = REALS
    for at, sign in enumerate(answer.signs):  # -7 < x - 4 < 7
        solutions = solved(Inequality(answer.sides[at : at + 2], (sign,)), budget)
        values = None if solutions is None else real_set(solutions, budget)
        if values is None:
            return None
        both = common(both, values)
    return both


def _with_absolute_value(answer: Inequality, budget: Budget) -> tuple[Span, ...] | None:
    """Return the numbers whose absolute value satisfies one inequality: |x| < 3 is (-3, 3)."""
    if len(answer.signs) != 1:
        return None
    edge, sign = answer.sides[1], answer.signs[0]
    # |x| > 3 is the complement of the closed interval |x| ≤ 3, and |x| ≥ 3 of the open one.
    inside = _end(("neg", edge), budget, closed=sign in "≤>"), _end(edge, budget, closed=sign in "≤>")
    if inside[0] is None or inside[1] is None:
        return None
    spans = _joined([Span(inside[0], inside[1])])
    return spans if sign in "<≤" else complement(spans)


def _from_list(answer: Listing, budget: Budget) -> tuple[Span, ...] | None:
    """Return a set in braces, or the numbers that satisfy a list of inequalities of one name."""
    if answer.joined == "{":
        return _in_braces(answer.items, budget)
    if all(isinstance(item, Bracketed) for item in answer.items):
        return _apart(answer, budget)
    sets = [_of_one_name(item, budget) for item in answer.items]
    if len(set(map(_name_of, answer.items))) != 1 or not any(map(_is_inequality, answer.items)):
        return None
    if answer.joined == "or":
        return united(sets)
    both = sets[0]
    for other in sets[1:]:
        both = None if both is None or other is None else common(both, other)
    # "x > 1, x > 2" are two answers; "x < -2, x > 2" has no common solution: the union is meant.
    if answer.joined != "and":
        both = None if both in sets else both or united(sets)
    return both


def _apart(answer: Listing, budget: Budget) -> tuple[Span, ...] | None:
    """Return the union of the intervals in a list, if they do not touch and cannot all be points."""
    spans = united([real_set(item, budget) for item in answer.items])
    ends = (item.opening + item.closing for item in answer.items if isinstance(item, Bracketed))
    if spans is None or len(spans) < len(answer.items):
        return None
    far = any(abs(span.low.value) == _FAR or abs(span.high.value) == _FAR for span in spans)
    return spans if far or set(ends) != {"()"} else None


def _of_one_name(item: Answer, budget: Budget) -> tuple[Span, ...] | None:
    """Return the numbers that x > 2 or x = 5 leaves its name."""
    if isinstance(item, Named) and isinstance(item.value, Scalar):
        return _in_braces((item.value,), budget)
    return real_set(item, budget) if _is_inequality(item) else None


def _is_inequality(item: Answer) -> bool:
    return isinstance(item, Inequality)


def _name_of(item: Answer) -> str:
    if isinstance(item, Inequality):
        return item.name or variable_of(item)
    return item.name if isinstance(item, Named) else ""


def _in_braces(items: tuple[Answer, ...], budget: Budget) -> tuple[Span, ...] | None:
    trees = [tree for item in items if isinstance(item, Scalar) for tree in with_both_signs(item.tree)]
    ends = [_end(tree, budget, closed=True) for tree in trees]
    if not all(isinstance(item, Scalar) for item in items):
        return None
    if any(end is None for end in ends):
        return None
    return _joined([Span(end, end) for end in ends if end is not None])


def _is_empty(span: Span) -> bool:
    gap = span.high.value - span.low.value
    if _is_zero(gap, span.high.value):
        return not (span.low.closed and span.high.closed)
    return gap < 0


def _is_zero(difference: Value, scale: Value) -> bool:
    return abs(difference) <= ROUNDING * max(1, abs(scale)) if abs(scale) < _FAR else difference == 0


def _joined(spans: list[Span]) -> tuple[Span, ...]:
    """Return the spans in order, overlapping and touching ones joined."""
    if len(spans) > MAX_SPANS:
        raise TooLargeError(f"a set of more than {MAX_SPANS} intervals")
    joined: list[Span] = []
    for span in sorted(filter(lambda span: not _is_empty(span), spans), key=_order):
        if joined and _touches(joined[-1], span):
            joined[-1] = Span(joined[-1].low, _later(joined[-1].high, span.high))
        else:
            joined.append(span)
    return tuple(joined)


def _order(span: Span) -> tuple[Value, bool]:
    return span.low.value, not span.low.closed


def _touches(left: Span, right: Span) -> bool:
    gap = right.low.value - left.high.value
    if _is_zero(gap, left.high.value):
        return left.high.closed or right.low.closed
    return gap < 0


def _later(one: End, other: End) -> End:
    gap = other.value - one.value
    if _is_zero(gap, one.value):
        return one if one.closed else other
    return other if gap > 0 else one


def common(left: tuple[Span, ...], right: tuple[Span, ...]) -> tuple[Span, ...]:
    """Return the intersection: the later beginning and the earlier end of every pair."""
    if len(left) * len(right) > MAX_SPANS**2:
        raise TooLargeError("an intersection of too many intervals")
    return _joined([_overlap(one, other) for one, other in product(left, right)])


def _overlap(one: Span, other: Span) -> Span:
    # Of equal ends `_later` takes the closed one; an intersection needs the open one, hence the flips.
    low = _flipped(_later(_flipped(one.low), _flipped(other.low)))
    earlier = one.high if other.high == _later(one.high, other.high) else other.high
    if _is_zero(one.high.value - other.high.value, one.high.value):
        earlier = one.high if not one.high.closed else other.high
    return Span(low, earlier)


def united(sets: list[tuple[Span, ...] | None]) -> tuple[Span, ...] | None:
    """Return the union; None if one of the sets is None."""
    known = [spans for spans in sets if spans is not None]
    return _joined([span for spans in known for span in spans]) if len(known) == len(sets) else None


def _combined(
    operation: str, left: tuple[Span, ...] | None, right: tuple[Span, ...] | None
) -> tuple[Span, ...] | None:
    if left is None or right is None:
        return None
    if operation == "cup":
        return united([left, right])
    return common(left, right if operation == "cap" else complement(right))


def _is_reals(answer: Answer) -> bool:
    return isinstance(answer, Scalar) and answer.tree[0] == "sym" and answer.tree[1].startswith("mathbb:R")
