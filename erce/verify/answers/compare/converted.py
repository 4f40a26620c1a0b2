"""A value → the same value in the type of another: a column as a vector, 11:21 as a ratio, x > 3 as a ray."""

from erce.verify.answers.compare.real_sets import interval_of
from erce.verify.answers.values import Answer, Bracketed, Clock, Inequality, Matrix, Ratio, Scalar

VECTORS = {("(", ")"), ("⟨", "⟩")}  # the brackets around a vector


def converted(one: Answer, other: Answer) -> Answer | None:
    """Return `one` in the type of `other`, None if it has no such form."""
    if isinstance(other, Ratio):
        return _as_ratio(one) if isinstance(one, Clock) and not one.half else None
    if not isinstance(other, Bracketed):
        return None
    if isinstance(one, Matrix):
        column = not one.bars and {len(row) for row in one.rows} == {1}
        vector = column and (other.opening, other.closing) in VECTORS
        return Bracketed(other.opening, tuple(row[0] for row in one.rows), other.closing) if vector else None
    return interval_of(one) if isinstance(one, Inequality) else None


def _as_ratio(clock: Clock) -> Ratio:
    return Ratio((Scalar(("num", clock.hours)), Scalar(("num", clock.minutes))))
