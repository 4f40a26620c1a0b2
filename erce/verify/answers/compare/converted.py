"""A value → the same value in the type of another: a column as a vector, 11:21 as a ratio, x > 3 as a ray."""

from erce.verify.answers.compare.real_sets import interval_of
from erce.verify.answers.compare.same_value import same_value
from erce.verify.answers.compare.vectors import vector_of
from erce.verify.answers.limits import Budget
from erce.verify.answers.read.vocabulary import TRIGONOMETRIC
from erce.verify.answers.tree import Tree, nodes, replaced, symbols
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Clock,
    Congruence,
    Equation,
    Inequality,
    Matrix,
    Ratio,
    Scalar,
    SetBuilder,
)

VECTORS = {("(", ")"), ("⟨", "⟩")}  # the brackets around a vector


def converted(one: Answer, other: Answer, budget: Budget) -> Answer | None:
    """Return `one` in the type of `other`, None if it has no such form."""
    if isinstance(one, Scalar):
        if isinstance(other, SetBuilder | Congruence):
            return _as_multiples(one) or _over_the_integers(one, other)
        return _as_vector(one, other, budget)
    same: Answer | None = None
    match one, other:
        case Equation(sides), Scalar() if _is_identity(sides, budget):  # x² − 1 = (x − 1)(x + 1)
            same = Scalar(sides[-1], one.unit)
        case Equation((("call", function, (("sym", _),)), value)), Scalar():  # tan θ = 3/4
            same = Scalar(value) if function in TRIGONOMETRIC and not symbols(value) else None
        case Clock(half=""), Ratio():
            same = _as_ratio(one)
        case Congruence(), SetBuilder():
            same = _as_family(one)
        case Matrix(), Bracketed():
            same = _as_brackets(one, other)
        case Inequality(), Bracketed():
            same = interval_of(one)
    return same


def _is_identity(sides: tuple[Tree, ...], budget: Budget) -> bool:
    """Return whether all sides of an equation are one expression with the same symbols."""
    first, *others = sides
    return bool(symbols(first)) and all(
        symbols(side) == symbols(first) and same_value(first, side, budget) for side in others
    )


def _as_brackets(matrix: Matrix, other: Bracketed) -> Bracketed | None:
    """Return a matrix as rows in brackets if `other` has rows, else a column as a vector."""
    if all(isinstance(item, Bracketed) for item in other.items):  # [[1, 2], [3, 4]]
        return Bracketed("[", tuple(Bracketed("[", row, "]") for row in matrix.rows), "]")
    column = not matrix.bars and {len(row) for row in matrix.rows} == {1}
    vector = column and (other.opening, other.closing) in VECTORS
    return Bracketed(other.opening, tuple(row[0] for row in matrix.rows), other.closing) if vector else None


def _as_vector(scalar: Scalar, other: Answer, budget: Budget) -> Bracketed | None:
    if isinstance(other, Matrix):
        return None if other.bars else vector_of(scalar, len(other.rows), budget)
    if not isinstance(other, Bracketed) or (other.opening, other.closing) not in VECTORS:
        return None
    return vector_of(scalar, len(other.items), budget)


def _as_family(congruence: Congruence) -> SetBuilder:
    r"""Return \{3 + 7 k : k \in \mathbb{Z}\} for x ≡ 3 (mod 7)."""
    step: Tree = ("mul", (congruence.modulus, ("sym", _INDEX)))
    head = Scalar(("add", (congruence.residue, step)))
    return SetBuilder(head, ((_INDEX, Scalar(("sym", "mathbb:Z"))),), ())


def _as_multiples(scalar: Scalar) -> SetBuilder | None:
    r"""Return \{3k + 1 : k \in \mathbb{Z}\} for 3\mathbb{Z} + 1."""
    integers: Tree = ("sym", "mathbb:Z")
    if scalar.tree == integers or integers not in nodes(scalar.tree):
        return None
    head = Scalar(replaced(scalar.tree, integers, ("sym", _INDEX)))
    return SetBuilder(head, ((_INDEX, Scalar(integers)),), ())


def _over_the_integers(scalar: Scalar, other: SetBuilder | Congruence) -> SetBuilder | None:
    r"""Return \{π/4 + kπ : k \in \mathbb{Z}\} for π/4 + kπ, and for 7k + 3 beside a congruence."""
    free = symbols(scalar.tree)
    if len(free) != 1 or not free <= _INDICES:
        return None
    if isinstance(other, SetBuilder) and ("const", "pi") not in nodes(scalar.tree):
        return None
    return SetBuilder(scalar, ((free.pop(), Scalar(("sym", "mathbb:Z"))),), ())


_INDICES = frozenset("knm")
_INDEX = "#k"  # no name in an answer


def _as_ratio(clock: Clock) -> Ratio:
    return Ratio((Scalar(("num", clock.hours)), Scalar(("num", clock.minutes))))
