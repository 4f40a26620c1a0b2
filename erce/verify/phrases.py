"""Numbers as people write them, and the one that a phrase gives as its answer.

western     full-width characters, and the punctuation of Chinese and Japanese, as ASCII
plain       the text of a number or a phrase without LaTeX and Markdown
numerals    the numbers of a plain text: 1,250.50 · 120 000 · .75 · 2 1/2 · 1e5 · $100k · 3 dozen · 60%
answer_in   the number that "15 boxes of pens" or "p + q = 24 + 37 = 61" gives; one that is hedged is none
"""

import math
import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from erce.verify.answers.limits import MAX_DIGITS
from erce.verify.answers.tokens import as_latex
from erce.verify.answers.units import SCALES, is_unit_word


class Numeral(NamedTuple):
    """A number as it is written, without a percent sign, and its value."""

    text: str
    value: Fraction
    is_percent: bool = False


def western(text: str) -> str:
    """Return the text with full-width characters, and Chinese and Japanese punctuation, as ASCII."""
    return text if text.isascii() else text.translate(_WESTERN)


def plain(text: str) -> str:
    """Return the text of a number or a phrase without LaTeX and Markdown around its numbers.

    >>> plain(r"**\\text{2\\frac{1}{2} days}**"), plain("１２½ m²")
    ('2 1/2 days', '12 1/2 m^2')
    """
    if not text.isascii():
        text = "".join(one if one in _CURRENCY or one.isascii() else as_latex(one) for one in western(text))
        text = text.replace("²", "^2").replace("³", "^3")
    if "\\" in text or "{" in text:
        text = _GROUPING.sub("", _MIXED.sub(" ", text)).replace(",}", ",")
        text = _FRACTION.sub(r"\1\2/\3\4", text)
    return _ARROW.sub("=", _WRAPPING.sub(" ", text)).strip() if _HAS_WRAPPING.search(text) else text.strip()


def numerals(text: str) -> list[re.Match[str]]:
    """Return the numbers of a plain text, from left to right.

    Digits that are no number, as in 1,00, have no `whole`. The digits of x_1 and km^2 belong to a name.

    >>> [numeral.group() for numeral in numerals("$2 million for .5 km^2, or 3 1/2%")]
    ['$2 million', '.5', '3 1/2%']
    """
    return [match for match in _NUMERAL.finditer(text) if not match["index"]]


def numeral_of(match: re.Match[str]) -> Numeral | None:
    """Return the number that one of `numerals` writes; None for a fraction over zero, or too many digits."""
    whole, above, below = match["whole"], match["above"], (match["below"] or "").replace(",", "")
    if len(match.group()) > MAX_DIGITS or (below and not Fraction(below)):
        return None
    digits = whole.replace(",", "").replace(" ", "")
    value = Fraction(int(digits) if digits.isdecimal() else digits)
    if match["exponent"]:
        value *= Fraction(10) ** int(match["exponent"])
    if below:
        value = value + Fraction(above) / Fraction(below) if above else value / Fraction(below)
    if match["scale"] or match["thousand"]:
        value *= math.prod(SCALES[word] for word in _SCALE.findall(match["scale"]))
        value *= 1000 if match["thousand"] else 1
    negative = (match["sign"] + match["minus"]).count("-") == 1
    text = match.group()
    if match["percent"]:
        text = text[: match.start("percent") - match.start()] + match["scale"]
    return Numeral(text.rstrip(), -value if negative else value, bool(match["percent"]))


@lru_cache(maxsize=4096)  # references, and the samples of one problem that agree
def answer_in(phrase: str) -> Numeral | None:
    """Return the number that a phrase gives as its answer; None if it gives none, or hedges it.

    One number is the answer, whatever is counted: "There are 15 red pens". Of several it is the last member
    of a chain (4 * 15 = 60), or the one after "so" or beside "total". What touches the number must not
    change it: an operator, a letter that is not a unit, words such as "not", "than" or "and a half".

    >>> [one and one.text for one in map(answer_in, ("15 boxes of pens", "4*15 = 60", "15 or 16", "6!"))]
    ['15', '60', None, None]
    """
    text = _DETACHED_MINUS.sub("-", plain(phrase))
    found = numerals(text)
    if not found or not all(one["whole"] for one in found) or _SPOILED.search(text.lower()):
        return None
    answer = found[0] if len(found) == 1 else _decisive(text, found)
    return numeral_of(answer) if answer and stands_alone(text, answer) else None


def stated_number(words: str, sentence: str) -> Numeral | None:
    """Return the number in the words of an answer, if they begin with it, else the one in their sentence.

    >>> number = stated_number("3 * 5 pens", "3 * 5 pens, so 15"); number and number.text
    '15'
    """
    if not sentence or words == sentence:
        return answer_in(words)
    is_bare = _BARE.match(words) and not _VERB.search(words)
    return (answer_in(words) if is_bare else None) or answer_in(sentence)


def stands_alone(text: str, numeral: re.Match[str]) -> bool:
    """Return whether nothing beside a number of a plain text makes another value of it."""
    before, end = text[: numeral.start()], numeral.end()
    if _TOUCHES_BEFORE.search(before[-12:]) or _TOUCHES_AFTER.match(text.lower(), end):
        return False
    unit = _JOINED_WORD.match(text, end)
    if unit and not is_unit_word(unit.group()):  # 5x; but 10cm and 3rd
        return False
    return not is_hedged_by(before)


def is_hedged_by(before: str) -> bool:
    """Return whether a word before a number, in its clause, hedges it: "not", "less than", "step"."""
    return bool(before) and _HEDGES_NUMBER.search(last_clause(before).lower()) is not None


def last_clause(text: str) -> str:
    """Return what follows the last mark of punctuation or the last line end."""
    return _CLAUSE_START.split(text.rpartition("\n")[2])[-1]


def _decisive(text: str, found: list[re.Match[str]]) -> re.Match[str] | None:
    """Return which of several numbers a phrase gives: the end of a chain, or the total."""
    last = found[-1]
    gaps = [text[one.end() : other.start()] for one, other in pairwise(found)]
    is_chain = _EQUALS.search(gaps[-1]) and not any(map(_LISTS.search, gaps))
    if is_chain or _TOTAL_BEFORE.search(gaps[-1]) or _TOTAL_AFTER.match(text, last.end()):
        return last
    *_, so = (None, *_SO.finditer(text))
    tail = [one for one in found if so and one.start() >= so.end()]
    if len(tail) < 2:
        return tail[0] if tail else None
    return _decisive(text, tail) if len(tail) < len(found) else None


_WESTERN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | {"。": ". ", "、": ", ", "，": ", ", "：": ": ", "’": "'"}
    | {"İ": "I"}  # the only letter whose lower case is two characters
)
_CURRENCY = "$€£¥₹¢"
_GROUPING = re.compile(r"(?<=[0-9,])\\[,!](?=[0-9]{3}(?![0-9]))|(?<=[0-9])\{(?=,\})")
_MIXED = re.compile(r"(?<=[0-9])\s*+(?=\\[dtc]?frac)")
# \frac{1}{4}, \frac14, \frac1{4}, \frac{1}4; but \frac123 and \frac{1}{4}5 are not fractions.
_FRACTION = re.compile(
    r"\\[dtc]?frac\s*+(?:\{\s*+([0-9]++)\s*+\}|([0-9]))\s*+(?:\{\s*+([0-9]++)\s*+\}|([0-9]))(?![0-9]|[.,][0-9])"
)
_HAS_WRAPPING = re.compile(r"[\\<>*`{}°]|--")
# A calculator's annotation, end tokens of models, emphasis, text, colour, degrees, delimiters, spacing.
_WRAPPING = re.compile(
    r"<<[^<>\n]*+>>|<[|/][^<>]*+>|\\(?:text)?color\s*\{[a-z]*\}|\\tag\{[^{}]*\}|\^?\{?\\circ\b|"
    r"\\[,!;:() \[\]]|\\(?=[$%])|\*\*|[`{}°]|\\(?:text|mathrm|mathbf|textbf|boxed|left|right|q?quad)(?![a-z])"
)
_ARROW = re.compile(r"[=-]{1,9}>|\\(?:Rightarrow|implies|to)\b|^\s*>(?=\s)|<(?=[^<>\s]+>)|(?<=[0-9%])>\Z")
# A sign that does not touch its number, with no operand before it: - 7, x = -(7); not "Cost:- 7".
_DETACHED_MINUS = re.compile(rf"(?:\A|(?<=[=(,])|(?<=:)(?=\s))\s*+-[\s(]++(?=[{_CURRENCY}]?\s?\.?[0-9])")
_NUMERAL = re.compile(
    rf"(?=[-+{_CURRENCY}UEGIR.0-9]|[A-Za-z_^]\^?[0-9])"  # so that most letters are passed over at once
    r"(?:(?<![A-Za-z0-9_.,)\]])"
    rf"(?P<sign>[+-]?)(?:[{_CURRENCY}] ?|(?:USD|EUR|GBP|INR|Rs\.?) ?(?=[0-9.]))?+(?P<minus>-?)"
    r"(?P<whole>(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9,])|[0-9]{1,3}(?: [0-9]{3})++(?![0-9/]| ?/)|[0-9]++)"
    r"(?:\.[0-9]++)?|\.[0-9]++)(?:[eE](?P<exponent>[+-]?[0-9]{1,3}))?(?![.,]?[0-9])"
    r"(?:(?: (?P<above>[0-9]++))? ?/ ?(?P<below>[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?!/)))?"
    r"(?P<thousand>[kK](?![A-Za-z]))?(?P<percent>\s*(?:%|percent\b|per cent\b))?"
    rf"(?P<scale>(?:\s*(?:{'|'.join(SCALES)})(?![A-Za-z克米瓦]))*+)"
    r"|(?P<index>[A-Za-z_^]\^?[0-9]++)|[0-9]++)"
)
_SCALE = re.compile("|".join(SCALES))
_CLAUSE_START = re.compile(r"[.?!:;,]\s")
_NEGATIONS = r"not|never|none|neither|nor|unless|whether|cannot|wrong|incorrect|false|impossible|fails"
_DOUBTS = (
    r"maybe|perhaps|possibly|unlikely|(?:i|i am|i'm|my) guess|unsure|uncertain|"
    r"doubt(?:s|ful)?|suppos(?:e|ing)|assum(?:e|ing)"
)
_CHINESE_HEDGES = "不|没|無|ない|ません|或|(?<!节)约|約|错"  # 节约 is to save
HEDGES = re.compile(rf"\b(?:{_NEGATIONS}|{_DOUBTS}|if)\b|n't|不")  # an answer, in its words or its clause
_HEDGES_NUMBER = re.compile(  # before it, in its clause
    rf"\b(?:{_NEGATIONS}|{_DOUBTS}|probably|likely|either|than|between|least|most|almost|nearly|under|over|below|above|minus|"
    rf"negative|(?:anything|all|nothing)\s+but|(?:could|might|may)\s+be)\b|n't|{_CHINESE_HEDGES}|"
    r"\b(?:(?:step|part|problem|question|example|exercise|no|to the|mod|log|ln)|"
    r"(?:twice|double|triple|half|quarter|third|root)(?: of)?(?: the)?)\s*\(?\Z"
)
_SPOILED = re.compile(
    rf"\A\W*up to\b|\\[a-z][^=]*\Z|[?\[\]<>≤≥≠±~≈]|{_CHINESE_HEDGES}|n't\b|"
    rf"(?<!\w)(?:(?:{_NEGATIONS}|{_DOUBTS}|if|or|approximately|roughly|actually|wait|(?:less|more) than)\b|"
    r"(?:about|around|circa)\s+\W{0,2}[0-9]|(?:and|to)\s*\Z)"
)
_TOUCHES_BEFORE = re.compile(
    r"(?:(?<![-:])-|[\w)\]%]\s*(?:[+*/^]|\\(?:times|cdot|div|pm))|[A-Za-z0-9]\(|[_^]|[0-9]:|\b[Nn]o\.)[\s$(]*\Z"
)
_TOUCHES_AFTER = re.compile(
    r"\+|[$)\s]*(?:(?:[-+/*]|\\(?:times|cdot|div|pm))(?=\s*[\w($.])|[!^_]|:[0-9]|(?:pi|π|squared|cubed|factorial|mod|modulo|plus|minus|times\s+[0-9(]|"
    r"divided|halves|thirds|quarters|tens|(?:four|fif|six|seven|eigh|nin|ten|hundred|thousand)ths|"
    r"and\s+an?\s+(?:half|third|quarter)|hundreds|thousands|millions)(?![a-z]))|\s*\(\s*[0-9]"
)
_JOINED_WORD = re.compile(r"[A-Za-z]+(?:\^?[23])?")
_LISTS = re.compile(r"[,;]|\b(?:and|or)\b|\.\s|\A[^=]*[ $][A-Za-z](?:_\w)?\s*=\s*[$(]*\Z")
_EQUALS = re.compile(r"=[\s$(*]*\Z")
_TOTAL_BEFORE = re.compile(r"\btotal(?:s|ing|ling)?\b[^.;,]{0,20}\Z", re.IGNORECASE)
_TOTAL_AFTER = re.compile(r"[^.;,]{0,30}\b(?:in total|in all|altogether|total|all told)\b", re.IGNORECASE)
_SO = re.compile(r"\b(?:so|thus|hence|therefore)\b", re.IGNORECASE)
_BARE = re.compile(
    r"[^\w\n]*(?:\\?[A-Za-z]\w?\s*=)?(?:[^\w\n]|(?:text|mathbf|d?frac|USD|EUR|Rs)(?![a-z]))*[0-9½⅓⅔¼¾]"
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|equals?|gives?|makes?|means?)\b")
