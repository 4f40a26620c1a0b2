"""The units of two quantities → whether they may be one quantity, under a convention."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from erce.verify.answers.tree import Tree, nodes, symbols
from erce.verify.answers.values import Answer, Listing, Scalar

# Degrees may be those of a temperature.
_OF_ARC = {"minute": "arcminute", "second": "arcsecond"}
_DEGREES = ({"degree", "celsius"}, {"degree", "fahrenheit"})
_LENGTHS = frozenset({"mm", "cm", "dm", "m", "km", "inch", "foot", "yard", "mile"})
_INVERSES = frozenset({"arcsin", "arccos", "arctan", "arccot"})


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


def degrees_of_pi(one: Scalar, other: Scalar) -> bool:
    """Return whether only one of two quantities is in degrees, and that one is a multiple of π."""
    if (one.unit == "degree") == (other.unit == "degree"):
        return False
    return ("const", "pi") in nodes((one if one.unit == "degree" else other).tree)


def is_in_radians(angle: Scalar) -> bool:
    """Return whether an angle without a unit can only be in radians: a multiple of π, arcsin 1/2."""
    return any(
        node == ("const", "pi") or (node[0] == "call" and node[1] in _INVERSES) for node in nodes(angle.tree)
    )


def in_one_unit(one: Scalar, other: Scalar) -> tuple[Tree, Tree] | None:
    """Return the values of two quantities in one unit, as of 1.5 hours and 90 minutes; None for others."""
    first, second = size_of(one.unit), size_of(other.unit)
    if first is None or second is None or first[0] != second[0]:
        return None
    return ("mul", (one.tree, ("num", first[1]))), ("mul", (other.tree, ("num", second[1])))


def with_unit_in_letters(one: Scalar, other: Scalar) -> tuple[Tree, Tree] | None:
    """Return the trees of 9 m/s with a known unit and of the product 9 m/s of a number and letters.

    None for quantities that both have units or letters.
    """
    if bool(one.unit) == bool(other.unit):
        return None
    if other.unit:
        one, other = other, one
    units = [part.partition("^") for part in one.unit.split()]
    if symbols(one.tree) or not symbols(other.tree):
        return None
    if not all(name in _LETTERS for name, _, _ in units):
        return None
    powers: list[Tree] = [
        ("pow", ("sym", _LETTERS[name]), ("num", int(power or 1))) for name, _, power in units
    ]
    return ("mul", (one.tree, *powers)), other.tree


_NAMES = ("m", "second", "hour", "g", "liter", "newton", "joule", "watt", "volt")
_LETTERS: dict[str, str] = {**dict(zip(_NAMES, "mshgLNJWV", strict=True)), "ohm": "Omega"}


def totals_of(answer: Answer) -> tuple[Scalar, ...]:
    """Return 150 minutes and 2.5 hours for 2 hours, 30 minutes; nothing for any other list.

    The units must be of one dimension, each smaller than the one before. A quantity is its own total.
    """
    if isinstance(answer, Scalar):
        return (answer,)
    if not isinstance(answer, Listing) or len(answer.items) < 2:
        return ()
    parts = [item for item in answer.items if isinstance(item, Scalar)]
    if parts and parts[0].unit == "degree":  # 30 degrees 15 minutes
        parts = [replace(part, unit=_OF_ARC.get(part.unit, part.unit)) for part in parts]
    known = [size for size in (size_of(part.unit) for part in parts) if size is not None]
    dimensions, sizes = [size[0] for size in known], [size[1] for size in known]
    if len(known) < len(answer.items) or any(other != dimensions[0] for other in dimensions):
        return ()
    if sizes != sorted(set(sizes), reverse=True):
        return ()
    terms = tuple(("mul", (part.tree, ("num", size))) for part, size in zip(parts, sizes, strict=True))
    return tuple(Scalar(("frac", ("add", terms), ("num", sizes[at])), parts[at].unit) for at in (-1, 0))


_Size = tuple[dict[str, int], Fraction]  # the dimensions of a unit, and its size in basic units


def size_of(unit: str) -> _Size | None:
    """Return the dimensions of a unit and its size in basic units; None for any other unit.

    >>> size_of("hour^-1 km"), size_of("kg m second^-2") == size_of("newton")
    (({'second': -1, 'm': 1}, Fraction(5, 18)), True)
    """
    dimensions, size = Counter[str](), Fraction(1)
    for part in unit.split():
        name, _, power = part.partition("^")
        if name not in _SIZES:
            return None
        its_dimensions, its_size = _SIZES[name]
        for basic, exponent in its_dimensions.items():
            dimensions[basic] += exponent * int(power or 1)
        size *= its_size ** int(power or 1)
    known = {basic: exponent for basic, exponent in dimensions.items() if exponent}
    return (known, size) if known else None


# Each unit → its dimensions and its size.
_BASIC = ("second", "month", "m", "g", "liter", "pint", "dollar", "mol", "ampere", "kelvin", "degree")
_SIZES: dict[str, _Size] = {name: ({name: 1}, Fraction(1)) for name in _BASIC}
# A unit in those above it, and how many of it some other units are.
_DEFINITIONS = (
    ("second", "microsecond 1e-6 ms 0.001 minute 60 hour 3600 day 86400 week 604800"),
    ("month", "year 12 decade 120 century 1200"),
    ("m", "nm 1e-9 micrometer 1e-6 mm 0.001 cm 0.01 dm 0.1 km 1000"),
    ("m", "inch 0.0254 foot 0.3048 yard 0.9144 mile 1609.344"),
    ("g", "mg 0.001 kg 1000"),
    ("liter", "ml 0.001"),
    ("pint", "quart 2 gallon 8"),
    ("dollar", "cent 0.01"),
    ("mol", "mmol 0.001"),
    ("ampere", "milliampere 0.001"),
    ("degree", "arcminute 1/60 arcsecond 1/3600"),
    ("second^-1", "hz 1 khz 1000 mhz 1e6 ghz 1e9"),
    ("kg m second^-2", "newton 1"),
    ("newton m", "joule 1 kj 1000 kwh 3600000"),
    ("joule second^-1", "watt 1 kilowatt 1000"),
    ("newton m^-2", "pascal 1 kpa 1000"),
    ("ampere second", "coulomb 1"),
    ("joule coulomb^-1", "volt 1"),
    ("volt ampere^-1", "ohm 1 kiloohm 1000 megaohm 1e6"),
    ("coulomb volt^-1", "farad 1 microfarad 1e-6 nanofarad 1e-9 picofarad 1e-12"),
    ("newton ampere^-1 m^-1", "tesla 1"),
)
for _unit, _others in _DEFINITIONS:
    _dimensions, _size = size_of(_unit) or ({}, Fraction(1))
    _words = _others.split()
    _SIZES |= {
        name: (_dimensions, _size * Fraction(factor))
        for name, factor in zip(_words[::2], _words[1::2], strict=True)
    }


def _are_powers_of_length(gold: str, answer: str) -> bool:
    (first, _, power), (second, _, other_power) = gold.partition("^"), answer.partition("^")
    return power == other_power and "unit" in (first, second) and {first, second} <= _LENGTHS | {"unit"}
