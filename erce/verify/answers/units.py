"""Words and signs after a number → its unit in one spelling; whether two units may be one quantity's.

About thirty units are known, no nouns: of "42 marbles" only the reference may say "marbles".
"""

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from erce.verify.answers.limits import UnparsedError

# Each unit: its dimension, its size within the dimension, its spellings.
_UNITS = """
mm length 0.001 millimeter millimeters millimetre millimetres
cm length 0.01 centimeter centimeters centimetre centimetres
m length 1 meter meters metre metres
km length 1000 kilometer kilometers kilometre kilometres
inch length 0.0254 inches in
foot length 0.3048 feet ft
yard length 0.9144 yards yd yds
mile length 1609.344 miles mi
g mass 1 gram grams
kg mass 1000 kilogram kilograms kilo kilos
pound mass 453.59237 pounds lb lbs
ounce mass 28.349523125 ounces oz
ton ton 1 tons
ml volume 0.001 milliliter milliliters millilitre millilitres
liter volume 1 l liters litre litres
pint pint 1 pints pt
quart pint 2 quarts qt
gallon pint 8 gallons gal
cup cup 1 cups
second time 1 s seconds sec secs
minute time 60 minutes min mins
hour time 3600 h hours hr hrs
day time 86400 days
week time 604800 weeks
month month 1 months
year month 12 years yr yrs
degree degree 1 degrees deg
celsius celsius 1
fahrenheit fahrenheit 1
radian radian 1 radians rad
cent dollar 0.01 cents
dollar dollar 1 dollars usd
euro euro 1 euros eur
yuan yuan 1 yen
rupee rupee 1 rupees
unit unit 1 units
"""
_ROWS = [line.split() for line in _UNITS.strip().splitlines()]
UNITS = {spelling: row[0] for row in _ROWS for spelling in (row[0], *row[3:])}
_SIZES = {row[0]: (row[1], Fraction(row[2])) for row in _ROWS}
_SPEEDS = {"mph": ("mile", "hour"), "kmph": ("km", "hour"), "kph": ("km", "hour")}
_SQUARES = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS = {"squared": 2, "cubed": 3, "²": 2, "³": 3}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
# 3rd, dollars an hour, dollars each; a percentage is no unit where its sign has been read.
_SILENT = frozenset({"th", "st", "nd", "rd", "an", "a", "each", "percent"})
CURRENCIES = {"\\$": "dollar", "€": "euro", "£": "sterling", "¥": "yuan", "₹": "rupee"}
# Plain runs of letters that are units and not products ("10cm"); a single letter may be a variable.
SHORT_UNITS = frozenset(word for word in UNITS if 2 <= len(word) <= 3) | {"sq", "cu", "mph", "kph", "per"}

_WORD = re.compile(r"[a-z]+|[²³]|\^(?:-?[0-9]|\{-?[0-9]\})|/")
_CAPITAL = re.compile(r"\b[A-KM-Z]\b")  # M may be a million or metres
_BETWEEN = re.compile(r"[\s.,'()*~-]++")


def unit_words(text: str) -> tuple[list[str], int]:
    """Return the words of a unit, and the factor of words such as "million" among them.

    `UnparsedError` if the text holds anything else.

    >>> unit_words("million square miles")
    (['million', 'square', 'miles'], 1000000)
    """
    if _CAPITAL.search(text):
        raise UnparsedError(f"{text.strip()[:40]!r} after a number")
    text = text.casefold()
    words = _WORD.findall(text)
    unread = _BETWEEN.sub("", _WORD.sub("", text))
    scale = 1
    for word in words:
        scale *= _SCALES.get(word, 1)
    unfinished = bool(words) and words[-1] in ("per", "/", *_SQUARES)
    known = all(_is_known(word, before) for before, word in pairwise(["", *words]))
    if unread or unfinished or scale > 10**15 or not known:
        raise UnparsedError(f"{text.strip()[:40]!r} after a number")
    return words, scale


def unit_of(words: list[str]) -> str:
    """Return the unit in one spelling and order ("miles per hour" is "hour^-1 mile"), "" for none.

    >>> unit_of(["square", "inches"]), unit_of(["m", "/", "s", "^2"])
    ('inch^2', 'm second^-2')
    """
    powers = Counter[str]()
    sign, square, last = 1, 1, ""
    for word in words:
        if word in ("per", "/", "a", "an"):
            sign = -1
        elif word in _SQUARES:
            square = _SQUARES[word]
        elif word in _SPEEDS:
            above, below = _SPEEDS[word]
            powers[above] += 1
            powers[below] -= 1
        elif last and (word[0] == "^" or word in _POWERS):
            powers[last] *= _POWERS[word] if word in _POWERS else int(word[1:].strip("{}"))
        elif word in UNITS:
            last = UNITS[word]
            powers[last] += sign * square
            square = 1
    if powers["celsius"] or powers["fahrenheit"]:
        del powers["degree"]
    if powers["unit"] in (0, 1):  # "15 units" states no unit, "15 square units" an area
        del powers["unit"]
    return " ".join(unit if power == 1 else f"{unit}^{power}" for unit, power in sorted(powers.items()))


class UnitSize(NamedTuple):
    """The dimension of a unit with its power, and the unit's size in the dimension's basic unit."""

    dimension: str
    power: int
    factor: Fraction


def size_of(unit: str) -> UnitSize | None:
    """Return the size of a unit; None for none, and for one of several parts.

    >>> size_of("km^2"), size_of("hour^-1 mile")
    (UnitSize(dimension='length', power=2, factor=Fraction(1000000, 1)), None)
    """
    name, _, power = unit.partition("^")
    if name not in _SIZES or " " in unit:
        return None
    dimension, factor = _SIZES[name]
    return UnitSize(dimension, int(power or 1), factor ** int(power or 1))


def units_agree(gold: str, answer: str, convention: str) -> bool:
    """Return whether the units are one; `convention` is that of `Conventions`.

    Under "conflict" a missing unit agrees with any, and square units with those of any length.

    >>> units_agree("unit^2", "cm^2", "conflict"), units_agree("unit^2", "cm^3", "conflict")
    (True, False)
    """
    if convention == "ignore" or gold == answer or {gold, answer} in _TEMPERATURES:
        return True
    return convention == "conflict" and (not (gold and answer) or _are_powers_of_length(gold, answer))


_TEMPERATURES = ({"degree", "celsius"}, {"degree", "fahrenheit"})


def _are_powers_of_length(gold: str, answer: str) -> bool:
    first, second = size_of(gold), size_of(answer)
    if first is None or second is None or first.power != second.power:
        return False
    return {first.dimension, second.dimension} == {"unit", "length"}


def _is_known(word: str, before: str) -> bool:
    if word in _POWERS or word[0] == "^":
        return before in UNITS
    return (
        word in UNITS
        or word in _SPEEDS
        or word in _SQUARES
        or word in _SCALES
        or word in _SILENT
        or word in ("per", "/")
    )
