"""Two typed values → whether they are the same answer under some conventions."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from erce.verify.answers.compare import letters
from erce.verify.answers.compare.builders import plain_set, same_family, with_names_of
from erce.verify.answers.compare.constants import same_solutions
from erce.verify.answers.compare.converted import VECTORS, converted
from erce.verify.answers.compare.equations import both_sides, difference, same_equations
from erce.verify.answers.compare.members import (
    adds_names,
    are_of_one_letter,
    are_opposed,
    has_nouns,
    has_other_names,
    has_signs,
    is_set,
    members,
    members_of_both,
    operands,
    place_of_sign,
    values_of_signs,
    without_common_numbers,
)
from erce.verify.answers.compare.real_sets import interval_of, is_written_as_set, real_set, same_sets
from erce.verify.answers.compare.same_value import proportion, same_value
from erce.verify.answers.compare.solved import variable_of
from erce.verify.answers.compare.units import (
    degrees_of_pi,
    in_one_unit,
    is_in_radians,
    totals_of,
    unit_of,
    units_agree,
    with_unit_in_letters,
)
from erce.verify.answers.compare.unreduced import is_unreduced
from erce.verify.answers.conventions import Conventions
from erce.verify.answers.limits import Budget, UnparsedError
from erce.verify.answers.tree import Tree, contains, determinant, integer
from erce.verify.answers.values import (
    MIRRORED_SIGN,
    Answer,
    Bracketed,
    Clock,
    Congruence,
    Equation,
    InBase,
    Inequality,
    LetteredChoice,
    Listing,
    Matrix,
    Named,
    Ratio,
    Record,
    Scalar,
    SetBuilder,
    SetOperation,
    Words,
)


def same_answer(gold: Answer, answer: Answer, conventions: Conventions) -> bool:
    """Return whether the two mean the same.

    Symmetric, except that an answer may leave out names but add none, and under `unreduced=False`.
    `UnparsedError` if either has no value, `TooLargeError` if the comparison takes too much work.
    """
    if not conventions.unreduced and is_unreduced(answer) and not is_unreduced(gold):
        return False
    if adds_names(gold, answer):
        return False
    return _Comparison(conventions).same(gold, answer)


class _Comparison:
    """The comparison of two answers under some conventions, within one budget of work."""

    def __init__(self, conventions: Conventions) -> None:
        self.conventions = conventions
        self.budget = Budget()

    def same(self, gold: Answer, answer: Answer) -> bool:
        if isinstance(gold, Scalar) and isinstance(answer, Scalar):
            return self.scalars(gold, answer)
        gold, answer = plain_set(gold, self.budget), plain_set(answer, self.budget)
        for one, other in ((gold, answer), (answer, gold)):
            decided = self.unwrapped(one, other)
            if decided is not None:
                return decided
        sets = self.sets(gold, answer)
        return self.alike(gold, answer) if sets is None else sets

    def unwrapped(self, one: Answer, other: Answer) -> bool | None:
        """Compare a value that has a name with one that may lack it; return None unless `one` has a name."""
        if isinstance(one, LetteredChoice):
            return self.choices(one, other)
        if isinstance(one, Record) and isinstance(other, Listing | Bracketed | Matrix):
            return self.without_names(one, other)
        return self.with_name(one, other) if isinstance(one, Named) else None

    def with_name(self, one: Named, other: Answer) -> bool:
        """Compare a value that has a name with any other."""
        if " = " in one.name and isinstance(other, Record | Bracketed):
            return self.same(Record(tuple(Named(name, one.value) for name in one.name.split(" = "))), other)
        if isinstance(other, Named):
            return self.named(one, other)
        if isinstance(other, Equation):
            return self.one_equation(one, other)
        if isinstance(other, Record):
            return any(self.without_names(other, values) for values in values_of_signs(one))
        its_name = other.name if isinstance(other, Listing) else ""
        if isinstance(other, Inequality):
            its_name = other.name.strip("|") or variable_of(other)
        return its_name in ("", one.name) and self.same(one.value, other)

    def choices(self, one: LetteredChoice, other: Answer) -> bool:
        """Compare (D) 14 with D, with 14, or with another choice, of which both parts must be the same."""
        if isinstance(other, LetteredChoice):
            return one.letter == other.letter and self.same(one.value, other.value)
        return other == Scalar(("sym", one.letter)) or self.same(one.value, other)

    def without_names(self, one: Record, other: Listing | Bracketed | Matrix) -> bool:
        values = tuple(item.value for item in one.items)
        if isinstance(other, Listing) and has_other_names(other, one):
            return False
        by_name = {item.name: item.value for item in one.items}
        if by_name.keys() <= _COORDINATES:  # (y, x) = (1, 2) is the point (2, 1)
            values = tuple(by_name[name] for name in sorted(by_name))
        if one.in_tuple:
            return self.same(Bracketed("(", values, ")"), other)
        if isinstance(other, Bracketed) and (other.opening, other.closing) not in VECTORS:
            return False  # an interval
        if isinstance(other, Listing) and are_of_one_letter(one):
            return self.lists(Listing(values), other)
        return not isinstance(other, Matrix) and self.in_order(values, other.items)

    def named(self, one: Named, other: Named) -> bool:
        """Compare two values with names; f(x) = x + 1 is f(t) = t + 1, and y = x + 1."""
        values = letters.with_the_same_arguments(one, other) or letters.with_the_same_arguments(other, one)
        if values is None:
            return self.one_equation(one, other)
        first, second = values
        return self.same(first, second) or any(
            self.same(first, value) for value in letters.in_letters_of(one, other, values)
        )

    def one_equation(self, one: Named, other: Named | Equation) -> bool:
        """Return whether two equations are one, as are x = y and y = x, or x = 5 and 2x = 10."""
        sides = [both_sides(equation) for equation in (one, other)]
        return None not in sides and self.equations(*(Equation(side) for side in sides if side is not None))

    def sets(self, gold: Answer, answer: Answer) -> bool | None:
        """Compare two sets of numbers; return None unless both are and either is more than a plain list."""
        if not (is_written_as_set(gold) or is_written_as_set(answer)):
            return None
        if isinstance(gold, Inequality) and isinstance(answer, Inequality) and not _is_absolute(gold, answer):
            return None
        left, right = real_set(gold, self.budget), real_set(answer, self.budget)
        return None if left is None or right is None else same_sets(left, right, self.budget)

    def alike(self, gold: Answer, answer: Answer) -> bool:
        """Compare two values of one type, or of types that may stand for each other."""
        compare = _OF_ONE_KIND.get(type(gold))
        if compare and type(gold) is type(answer):
            return compare(self, gold, answer)
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, InBase) and isinstance(other, Scalar):
                return self.missing_base(one, other)
            if isinstance(one, Matrix) and one.bars and isinstance(other, Scalar):
                value = _determinant(one)
                return value is not None and self.same_value(value, other.tree)
            in_its_type = converted(one, other, self.budget)
            if in_its_type is not None:
                return self.same(in_its_type, other)
        totals = list(product(totals_of(gold), totals_of(answer)))
        return any(self.scalars(*pair) for pair in totals) if totals else self.lists(gold, answer)

    def same_value(self, left: Tree, right: Tree) -> bool:
        return same_value(left, right, self.budget)

    def words(self, gold: Words, answer: Words) -> bool:
        """Return whether the words are the same; "Ann and Bob" may be "Bob and Ann"."""
        first, second = (sorted(words.text.split(" and ")) for words in (gold, answer))
        names = len(first) > 1 and max(len(name.split()) for name in first) < 3
        return gold == answer or (names and first == second and not _LOGICAL & set(gold.text.split()))

    def equal(self, gold: InBase, answer: InBase) -> bool:
        return gold == answer

    def tuples(self, gold: Bracketed, answer: Bracketed) -> bool:
        ends = {(item.opening, item.closing) for item in (gold, answer)}
        return (len(ends) == 1 or ends == VECTORS) and self.in_order(gold.items, answer.items)

    def ratios(self, gold: Ratio, answer: Ratio) -> bool:
        return self.in_order(gold.items, answer.items)

    def equations(self, gold: Equation, answer: Equation) -> bool:
        one_unit = units_agree(gold.unit, answer.unit, self.conventions.units)
        return one_unit and same_equations(gold, answer, self.budget)

    def scalars(self, gold: Scalar, answer: Scalar) -> bool:
        return {gold.sense, answer.sense} != {"+", "-"} and self.quantities(gold, answer)

    def quantities(self, gold: Scalar, answer: Scalar) -> bool:
        agree = units_agree(unit_of(gold), unit_of(answer), self.conventions.units)
        if not agree or degrees_of_pi(gold, answer):
            scaled = in_one_unit(gold, answer)
            return self.same_value(*scaled) if scaled else self.same_angle(gold, answer)
        if contains(gold.tree, "pm") or contains(answer.tree, "pm"):
            return self.lists(gold, answer)
        written = with_unit_in_letters(gold, answer)
        if written:
            return self.same_value(*written)
        if self.same_value(gold.tree, answer.tree):
            # Only "either" accepts 20% for 20.
            one_kind = gold.percent == answer.percent or self.conventions.percent == "either"
            return one_kind and not letters.in_another_order(gold.tree, answer.tree)
        if gold.percent == answer.percent:
            same = same_solutions(gold.tree, answer.tree, self.budget)
            return same or self.same_angle(gold, answer)
        percent, plain = (gold, answer) if gold.percent else (answer, gold)
        return self.same_value(("frac", percent.tree, ("num", 100)), plain.tree)

    def same_angle(self, gold: Scalar, answer: Scalar) -> bool:
        """Return whether one angle is in degrees, and the other is the same one as a multiple of π."""
        for one, other in ((gold, answer), (answer, gold)):
            if one.unit == "degree" and other.unit in ("", "radian") and is_in_radians(other):
                return self.same_value(("mul", (one.tree, ("deg",))), other.tree)
        return False

    def clocks(self, gold: Clock, answer: Clock) -> bool:
        if gold.minutes != answer.minutes:
            return False
        if not units_agree(gold.half, answer.half, self.conventions.units):
            return False
        return gold.hours == answer.hours or _hour_of_day(gold) == _hour_of_day(answer)

    def missing_base(self, numeral: InBase, plain: Scalar) -> bool:
        if self.conventions.require_base or not numeral.digits.lstrip("-").isdigit():
            return False
        return self.same_value(("num", int(numeral.digits)), plain.tree)

    def matrices(self, gold: Matrix, answer: Matrix) -> bool:
        return (
            gold.bars == answer.bars
            and len(gold.rows) == len(answer.rows)
            and all(self.in_order(row, other) for row, other in zip(gold.rows, answer.rows, strict=True))
        )

    def records(self, gold: Record, answer: Record) -> bool:
        values = {item.name: item.value for item in answer.items}
        names = {item.name for item in gold.items}
        if gold.in_tuple and answer.in_tuple and not names & values.keys():  # (x, y) = … and (a, b) = …
            return self.in_order([item.value for item in gold.items], list(values.values()))
        if names != values.keys() and has_nouns(gold, answer):
            return self.in_order([item.value for item in gold.items], list(values.values()))
        return values.keys() == names and all(self.same(item.value, values[item.name]) for item in gold.items)

    def congruences(self, gold: Congruence, answer: Congruence) -> bool:
        """Return whether left sides and moduli are equal, and the residues equal modulo the modulus."""
        if gold.left and answer.left and not self.same_value(gold.left, answer.left):
            return False
        if not self.same_value(gold.modulus, answer.modulus):
            return False
        first, second, modulus = map(integer, (gold.residue, answer.residue, gold.modulus))
        if first is None or second is None or not modulus:
            return self.same_value(gold.residue, answer.residue)
        return (first - second) % modulus == 0

    def inequalities(self, gold: Inequality, answer: Inequality) -> bool:
        if not units_agree(gold.unit, answer.unit, self.conventions.units):
            return False
        left, right = interval_of(gold), interval_of(answer)
        if left is not None and right is not None and gold.name == answer.name:
            return self.same(left, right)
        if (variable := variable_of(gold)) and variable == variable_of(answer):
            sets = real_set(gold, self.budget), real_set(answer, self.budget)
            if sets[0] is not None and sets[1] is not None:
                return same_sets(sets[0], sets[1], self.budget)
        if len(gold.signs) != len(answer.signs):
            return False
        if len(gold.signs) == 1:
            sign = proportion(difference(gold.sides), difference(answer.sides), self.budget)
            return bool(sign) and answer.signs[0] == (
                gold.signs[0] if sign > 0 else MIRRORED_SIGN[gold.signs[0]]
            )
        mirrored = tuple(MIRRORED_SIGN[sign] for sign in answer.signs[::-1])
        return any(
            gold.signs == signs and all(map(self.same_value, gold.sides, sides))
            for signs, sides in ((answer.signs, answer.sides), (mirrored, answer.sides[::-1]))
        )

    def operations(self, gold: SetOperation, answer: SetOperation) -> bool:
        if gold.operation != answer.operation:
            return False
        if gold.operation == "setminus":
            return self.same(gold.left, answer.left) and self.same(gold.right, answer.right)
        return self.in_any_order(operands(gold, gold.operation), operands(answer, answer.operation))

    def builders(self, gold: SetBuilder, answer: SetBuilder) -> bool:
        """Return whether two sets have one head over the same domains under the same conditions."""
        if len(members(gold) or ()) > 1 or len(members(answer) or ()) > 1:
            return self.lists(gold, answer)
        if same_family(gold, answer, self.budget):
            return True
        gold, renamed = with_names_of(gold, gold) or gold, with_names_of(gold, answer) or answer
        domains = dict(renamed.domains)
        return (
            domains.keys() == dict(gold.domains).keys()
            and all(self.same_item(domain, domains[name]) for name, domain in gold.domains)
            and self.same_item(gold.head, renamed.head)
            and self.in_any_order(gold.conditions, renamed.conditions)
        )

    def lists(self, gold: Answer, answer: Answer) -> bool:
        """Compare lists, sets, ± expressions, and a tuple with a bare list that stands for a tuple."""
        if any(isinstance(item, Bracketed) and place_of_sign(item) is None for item in (gold, answer)):
            return self.tuple_as_list(gold, answer)
        left, right = members_of_both(gold, answer)
        if left is None or right is None or len(left) != len(right) or are_opposed(gold, answer):
            return False
        if len(left) == 1 and is_set(gold) != is_set(answer):
            return False
        if len(left) < 2 and not is_set(gold):
            return False
        bare = not (is_set(gold) or is_set(answer))
        if bare and self.conventions.ordered_lists and not has_signs(gold) and not has_signs(answer):
            return self.in_order(left, right)
        return self.in_any_order(left, right)

    def tuple_as_list(self, gold: Answer, answer: Answer) -> bool:
        bracketed, listing = (gold, answer) if isinstance(gold, Bracketed) else (answer, gold)
        if not isinstance(bracketed, Bracketed) or not isinstance(listing, Listing):
            return False
        plain = bracketed.opening == "(" and bracketed.closing == ")" and listing.joined == ","
        numbers = all(isinstance(item, Scalar) for item in listing.items)
        return plain and numbers and self.in_order(bracketed.items, listing.items)

    def in_order(self, gold: Sequence[Answer], answer: Sequence[Answer]) -> bool:
        return len(gold) == len(answer) and all(map(self.same_item, gold, answer))

    def in_any_order(self, gold: Sequence[Answer], answer: Sequence[Answer]) -> bool:
        """Return whether the members are the same, each as often."""
        rest, left = without_common_numbers(gold, answer)
        for member in rest:
            at = next((at for at, other in enumerate(left) if self.same_item(member, other)), None)
            if at is None:
                return False
            del left[at]
        return not left

    def same_item(self, gold: Answer, answer: Answer) -> bool:
        self.budget.spend(2)
        try:
            return self.same(gold, answer)
        except UnparsedError:  # an entry without a value equals no other entry
            return False


_OF_ONE_KIND: dict[type, Callable[[_Comparison, Any, Any], bool]] = {
    Words: _Comparison.words,
    InBase: _Comparison.equal,
    Clock: _Comparison.clocks,
    Bracketed: _Comparison.tuples,
    Matrix: _Comparison.matrices,
    Ratio: _Comparison.ratios,
    Record: _Comparison.records,
    Equation: _Comparison.equations,
    Inequality: _Comparison.inequalities,
    Congruence: _Comparison.congruences,
    SetOperation: _Comparison.operations,
    SetBuilder: _Comparison.builders,
}


_LOGICAL = frozenset({"not", "no", "if", "or", "but", "neither", "nor", "than", "from", "to"})
_COORDINATES = {"x", "y", "z"}


def _hour_of_day(clock: Clock) -> int:
    """Return the hour from 0 to 23: 3 p.m. is 15."""
    return clock.hours % 12 + 12 * (clock.half == "p") if clock.half else clock.hours


def _is_absolute(one: Inequality, other: Inequality) -> bool:
    """Return whether one of them bounds x and the other |x|."""
    return one.name != other.name and one.name.strip("|") == other.name.strip("|")


def _determinant(matrix: Matrix) -> Tree | None:
    """Return the determinant of up to four rows of expressions; None for any other matrix."""
    rows = [[entry.tree for entry in row if isinstance(entry, Scalar)] for row in matrix.rows]
    return determinant(rows) if len(rows) <= 4 and all(len(row) == len(rows) for row in rows) else None
