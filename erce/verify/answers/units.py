"""Words and signs after a number → its unit in one spelling; whether two units may be one quantity's.

About thirty units are known, no nouns: of "42 marbles" only the reference may say "marbles".
"""

import math
import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from erce.verify.answers.limits import UnparsedError

# Each unit and its other names, whose plural ends in s. No unit is converted into another.
_TABLE = """
mm millimeter millimetre; cm centimeter centimetre; m meter metre; km kilometer kilometre;
inch inches in; foot feet ft; yard yd; mile mi; g gram; kg kilogram kilo; pound lb; ounce oz; ton;
ml milliliter millilitre; liter litre l; pint pt; quart qt; gallon gal; cup;
second s sec; minute min; hour h hr; day; week; month; year yr;
degree deg; celsius; fahrenheit; radian rad; cent; dollar usd; euro eur; yuan yen 元 円; rupee; unit
"""
UNITS = {
    spelling: names.split()[0]
    for names in _TABLE.split(";")
    for name in names.split()
    for spelling in (name, f"{name}s" if len(name) > 1 else name)
}
_LENGTHS = frozenset({"mm", "cm", "m", "km", "inch", "foot", "yard", "mile"})
_SPEEDS = {"mph": ["miles", "per", "hour"], "kmph": ["km", "per", "hour"], "kph": ["km", "per", "hour"]}
_SQUARES = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS = {"squared": 2, "cubed": 3, "²": 2, "³": 3}
_SCALES = """
dozen 12; hundred 1e2; thousand 1e3; million 1e6; billion 1e9; trillion 1e12; 百 1e2; 千 1e3; 万 1e4; 亿 1e8
"""
SCALES = {word: int(float(factor)) for word, factor in map(str.split, _SCALES.split(";"))}
# 3rd, dollars an hour, dollars each; a percentage is not a unit where its sign has been read.
_SILENT = frozenset({"th", "st", "nd", "rd", "an", "a", "each", "percent", *"个個人支只本件张条名位次枚台匹"})
CURRENCIES = {"\\$": "dollar", "€": "euro", "£": "sterling", "¥": "yuan", "₹": "rupee"}
# Plain runs of letters that are units and not products ("10cm"); a single letter may be a variable.
SHORT_UNITS = frozenset(word for word in UNITS if 2 <= len(word) <= 3) | {"sq", "cu", "mph", "kph", "per"}

_KNOWN = frozenset({*UNITS, *_SQUARES, *SCALES, *_SILENT, "per", "/"})
_UNIT_WORDS = _KNOWN | _POWERS.keys() | _SPEEDS.keys()
_POWER = re.compile(r"\^?\{?[23]\}?|[²³]")
_WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]|[²³]|\^(?:-?[0-9]|\{-?[0-9]\})|/")
_CAPITAL = re.compile(r"\b[A-KM-Z]\b")  # M may be a million or metres
_BETWEEN = re.compile(r"[\s.,'()*~-]++")
_TEMPERATURES = ({"degree", "celsius"}, {"degree", "fahrenheit"})


@lru_cache(maxsize=1024)  # a few units are most of those that are written
def read_unit(text: str) -> tuple[str, int]:
    """Return the unit that words state, in one spelling and order, and the factor of words like "million".

    `UnparsedError` if the text holds anything else.

    >>> read_unit("square inches"), read_unit("million miles per hour"), read_unit("m/s^2")
    (('inch^2', 1), ('hour^-1 mile', 1000000), ('m second^-2', 1))
    """
    words = [part for word in _WORD.findall(text.casefold()) for part in _SPEEDS.get(word, [word])]
    unread = _BETWEEN.sub("", _WORD.sub("", text.casefold()))
    scale = math.prod(SCALES.get(word, 1) for word in words)
    unfinished = bool(words) and words[-1] in ("per", "/", *_SQUARES)
    known = all(
        before in UNITS if word in _POWERS or word[0] == "^" else word in _KNOWN
        for before, word in pairwise(["", *words])
    )
    if _CAPITAL.search(text) or unread or unfinished or scale > 10**15 or not known:
        raise UnparsedError(f"{text.strip()[:40]!r} after a number")
    return _unit_of(words), scale


def is_unit_word(word: str) -> bool:
    """Return whether a word may be part of what `read_unit` reads: cm^2, square, per, million."""
    return _POWER.sub("", word.casefold()) in _UNIT_WORDS and not _CAPITAL.search(word)


def _unit_of(words: list[str]) -> str:
    powers = Counter[str]()
    sign, square, last = 1, 1, ""
    for word in words:
        if word in ("per", "/", "a", "an"):
            sign = -1
        elif word in _SQUARES:
            square = _SQUARES[word]
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


def units_agree(gold: str, answer: str) -> bool:
    """Return whether two answers with these units can be one; 18 hours and 18 minutes cannot.

    A missing unit agrees with any, and square units with those of any length.
    """
    missing = not (gold and answer)
    return missing or gold == answer or {gold, answer} in _TEMPERATURES or _are_powers_of_length(gold, answer)


def _are_powers_of_length(gold: str, answer: str) -> bool:
    """Return whether one of them is in units and the other in units of length, to the same power."""
    (unit, _, power), (other, _, its_power) = gold.partition("^"), answer.partition("^")
    return power == its_power and (
        (unit == "unit" and other in _LENGTHS) or (other == "unit" and unit in _LENGTHS)
    )
