"""Numbers → text, rounded by one rule wherever a score is printed: a cell's line and the report agree."""

from decimal import ROUND_HALF_UP, Decimal

MINUS = "−"
NOTHING = "–"


def fixed(value: float | None, digits: int) -> str:
    """Write a number with that many decimals; a tie goes away from zero, as people round.

    >>> fixed(0.51375, 4), fixed(-0.51375, 4), fixed(0.5137499999999999, 4), fixed(None, 4)
    ('0.5138', '−0.5138', '0.5138', '–')
    """
    if value is None:
        return NOTHING
    exact = Decimal(repr(round(value, 12)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)}".replace("-", MINUS)


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share of 1 as a percentage without its sign; "–" for None.

    >>> percent(0.8725), percent(1.0), percent(None)
    ('87.3', '100.0', '–')
    """
    return NOTHING if share is None else fixed(100 * share, digits)
