"""The units of two quantities → whether they may be one quantity, under a convention."""

from erce.verify.answers.values import Scalar

# Degrees may be those of a temperature.
_DEGREES = ({"degree", "celsius"}, {"degree", "fahrenheit"})
_LENGTHS = frozenset({"mm", "cm", "dm", "m", "km", "inch", "foot", "yard", "mile"})


def unit_of(scalar: Scalar) -> str:
    """Return the unit of a quantity, "percent" for a percentage, "" without any."""
    return scalar.unit or ("percent" if scalar.percent else "")


def units_agree(gold: str, answer: str, convention: str) -> bool:
    """Return whether the units are one; `convention` is that of `Conventions`.

    Under "conflict" a missing unit agrees with any, and square units with those of any length.

    >>> units_agree("unit^2", "cm^2", "conflict"), units_agree("unit^2", "cm^3", "conflict")
    (True, False)
    """
    if convention == "ignore" or gold == answer or {gold, answer} in _DEGREES:
        return True
    return convention == "conflict" and (not (gold and answer) or _are_powers_of_length(gold, answer))


def _are_powers_of_length(gold: str, answer: str) -> bool:
    (first, _, power), (second, _, other_power) = gold.partition("^"), answer.partition("^")
    return power == other_power and "unit" in (first, second) and {first, second} <= _LENGTHS | {"unit"}
