"""A function of one number on an interval → its root, or its least value and where that is."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import fminbound, root_scalar

Curve = Callable[[float], float]


class Least(NamedTuple):
    value: float
    at: float


def root(curve: Curve, low: float, high: float) -> float:
    """Where a curve with different signs at both ends is 0, to about 1e-15.

    >>> round(root(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    return float(root_scalar(curve, bracket=(low, high), method="brentq", xtol=1e-15).root)


def least(curve: Curve, low: float, high: float) -> Least:
    """The least value of a curve that first falls and then rises, and where it is.

    >>> value, at = least(lambda x: (x - 1) ** 2, 0, 3)
    >>> round(value, 9), round(at, 6)
    (0.0, 1.0)
    """
    at = float(np.asarray(fminbound(curve, low, high, xtol=1e-10)))
    return Least(float(curve(at)), at)
