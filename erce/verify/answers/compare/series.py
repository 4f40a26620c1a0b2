"""A sum or a product over an index → its value; an infinite sum has one that depends on its terms alone."""

import operator
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import count
from typing import Any, Protocol

from erce.verify.answers.limits import MAX_TERMS, TooLargeError, UndefinedError
from erce.verify.answers.tree import INFINITY, Tree

# An infinite sum stands for this weighted sum of its first terms, so that equal terms make equal sums.
_WEIGHTS = [Fraction(weight, 97) for weight in (101, 89, 113, 73, 131, 61, 151, 53)]
_ZEROS_SKIPPED = 3  # at the beginning: k x^k may begin at 0 or at 1


class SumEvaluator(Protocol):
    """What a sum needs of `evaluate.Evaluator`."""

    values: dict[str, Any]
    endless: int

    def value(self, tree: Tree) -> Any: ...
    def combined(self, left: Any, right: Any, operation: Callable[[Any, Any], Any]) -> Any: ...
    def bounded(self, value: Any) -> Any: ...


def series(evaluator: SumEvaluator, tree: Tree) -> Any:
    """Return the value of a sum or a product."""
    kind, name, first, last, term = tree
    low = evaluator.value(first)
    if type(low) is not int:
        raise UndefinedError("a sum without integer bounds")
    if kind == "sum" and last == INFINITY:
        return _endless(evaluator, _terms(evaluator, name, count(low), term))
    high = evaluator.value(last)
    if type(high) is not int:
        raise UndefinedError("a sum without integer bounds")
    if high - low >= MAX_TERMS:
        raise TooLargeError(f"a sum of over {MAX_TERMS} terms")
    total: Any = 0 if kind == "sum" else 1
    operation = operator.add if kind == "sum" else operator.mul
    for value in _terms(evaluator, name, range(low, high + 1), term):
        total = evaluator.bounded(evaluator.combined(total, value, operation))
    return total


def _terms(evaluator: SumEvaluator, name: str, indices: Iterable[int], term: Tree) -> Iterator[Any]:
    outer = evaluator.values
    for index in indices:
        evaluator.values = {**outer, name: index}
        try:
            value = evaluator.value(term)
        finally:
            evaluator.values = outer
        yield value


def _endless(evaluator: SumEvaluator, terms: Iterator[Any]) -> Any:
    evaluator.endless += 1
    value = next(terms)
    for _ in range(_ZEROS_SKIPPED):
        value = value or next(terms)
    total = evaluator.combined(value, _WEIGHTS[0], operator.mul)
    for weight, following in zip(_WEIGHTS[1:], terms, strict=False):
        share = evaluator.combined(following, weight, operator.mul)
        total = evaluator.bounded(evaluator.combined(total, share, operator.add))
    return total
