"""Two answers → the verdict of the four steps in the paper's appendix "Answer Equivalence"."""

import re
import time
from fractions import Fraction

from erce.types import Verdict
from erce.verify.answers.expression import parse_tokens
from erce.verify.answers.limits import MAX_CHARACTERS, Budget, TooLargeError, UnparsedError
from erce.verify.answers.tokens import clean, tokenize
from erce.verify.answers.tree import Tree, same_value

TOLERANCE = Fraction(1, 10**6)
_SPACES = re.compile(r"\\[,!;:> ]|~|\\q?quad(?![a-z])|\{,\}(?=[0-9])|\\(?:left|right|displaystyle)(?![a-z])")
_SIGNS = re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\^?\\degree|°|\\?%|\\?\$|[€£¥]|\\pounds(?![a-z])|\\[()\[\]]")
_FRACTIONS = re.compile(r"\\[dtc]frac(?![a-z])")
_WRAPPER = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|mbox|boxed)\s*\{([^{}]*)\}")
# A unit follows the end of a number, a group or π.
_UNITS = re.compile(r"([0-9})]|\\pi)\s*\\(?:text|mbox|mathrm)\s*\{[^{}]*\}(?:\s*\^\s*\{?[0-9]\}?)?$")
_UNIT_WORDS = re.compile(
    r"(?<=[0-9)}\s])\s*(?:square|cubic|sq)?\s*\b(?:cm|mm|km|m|kg|g|ft|in|mph|"
    r"(?:inche|centimeter|meter|kilometer|mile|yard|foot|feet|unit|second|minute|hour|day|week|year|degree|"
    r"dollar|cent|percent|gram|pound|liter|point|way|people|time)s?)\b(?:\s*\^\s*\{?[0-9]\}?)?\s*$"
)
# A space that neither ends a command nor separates two numbers.
_NEEDLESS_SPACE = re.compile(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])|(?<=[0-9])\s+(?=[A-Za-z])")
_COMMA_GROUPS = re.compile(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
_REAL = re.compile(r"(-?)(?:([0-9]+(?:\.[0-9]*)?)|\\frac\{(-?[0-9.]+)\}\{(-?[0-9.]+)\})")


def equivalent_paper(gold: str, answer: str) -> Verdict:
    r"""Accept an answer that passes the paper's steps 2 to 4 against `gold`; step 1 is the extraction.

    2. Normalise both under two conventions, braced LaTeX and plain text: fractions and radicals in one form,
       no units, degrees, percent and currency signs, `\text{…}` unwrapped, no digit-group separators.
       Equal under either convention: "exact".
    3. If both are numbers or fractions of numbers: "numeric" if at most 1e-6 apart, else "different".
    4. Read both as symbolic expressions: "structural" if their difference is 0, else "different"; "unparsed"
       if either is no expression or has no value. In place of the paper's 5 seconds there are limits on
       length, depth and arithmetic ("too large"), so no verdict depends on the machine.

    The faults of the steps are kept: the tolerance is absolute (1e-7 equals 2e-7), an equation is compared by
    what follows its last `=`, words are products of letters, and tuples, sets, intervals, inequalities and
    matrices are mere text. `erce.verify.equivalent` has none of these faults and is therefore the default.
    Never raises on the texts.

    >>> equivalent_paper(r"\frac{1}{2}", "1/2").reason, equivalent_paper("10^{-7}", r"\sqrt{2}").accepted
    ('exact', False)
    """
    start = time.perf_counter()
    accepted, reason, detail = _take_steps(gold, answer)
    return Verdict(accepted, reason, answer, time.perf_counter() - start, detail)


def braced(text: str) -> str:
    r"""Normalise under the first convention: LaTeX with every argument in braces and no needless space."""
    text = _UNITS.sub(r"\1", _strip_signs(text))
    text = _WRAPPER.sub(r"\1", text)
    text = _COMMA_GROUPS.sub(lambda number: number.group().replace(",", ""), _NEEDLESS_SPACE.sub("", text))
    text = re.sub(r"\\(frac|sqrt)\s*([0-9])", r"\\\1{\2}", text)
    text = re.sub(r"(\\frac\{[^{}]*\})([0-9])", r"\1{\2}", text)
    text = re.sub(r"^(-?)([0-9]+)/([0-9]+)$", r"\1\\frac{\2}{\3}", text)
    text = re.sub(r"^([a-zA-Z]{1,2})=(?=[^=]+$)", "", text)
    return re.sub(r"(?<![0-9])\.(?=[0-9])", "0.", text)


def plain(text: str) -> str:
    r"""Normalise under the second convention: plain text in lower case; an equation is its last side."""
    text = _last_side(_strip_signs(text))
    for _ in range(3):
        text = _WRAPPER.sub(r" \1", text)
    text = _UNIT_WORDS.sub("", text.lower())
    text = re.sub(r"\\(frac|sqrt)\s*([0-9])", r"\\\1{\2}", text)
    text = re.sub(r"(\\frac\{[^{}]*\})\s*([0-9])", r"\1{\2}", text)
    for _ in range(20):
        before = text
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", text)
        text = re.sub(r"(\\sqrt|\^|_)\{([^{}]*)\}", r"\1(\2)", text)
        if text == before:
            break
    text = re.sub(r"\\(?=sqrt|pi)|\s+", "", text)
    return text.replace(",", "") if re.fullmatch(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", text) else text


def _take_steps(gold: str, answer: str) -> tuple[bool, str, str]:
    if gold.strip() == answer.strip():
        return True, "exact", ""
    if max(len(gold), len(answer)) > MAX_CHARACTERS:
        return False, "too large", f"more than {MAX_CHARACTERS} characters"
    for convention in (braced, plain):
        forms = convention(gold), convention(answer)
        # Two texts that both normalise to "" are not equal.
        if forms[0] == forms[1] != "":
            return True, "exact", f"both are {forms[0][:80]} ({convention.__name__})"
    sides = _last_side(braced(gold)), _last_side(braced(answer))
    reals = _real(sides[0]), _real(sides[1])
    if reals[0] is not None and reals[1] is not None:
        near = abs(reals[0] - reals[1]) <= TOLERANCE
        return near, "numeric" if near else "different", f"{sides[0][:80]} and {sides[1][:80]} as numbers"
    return _fourth_step(*sides)


def _fourth_step(gold: str, answer: str) -> tuple[bool, str, str]:
    """Compare as the difference simplified to 0 would: exactly, where step 3 has the tolerance."""
    try:
        same = same_value(_exact(gold), _exact(answer), Budget())
    except UnparsedError as error:
        return False, "unparsed", str(error)
    except (TooLargeError, RecursionError) as error:
        return False, "too large", str(error)
    return same, "structural" if same else "different", f"{gold[:80]} and {answer[:80]} as expressions"


def _exact(text: str) -> Tree:
    """Return the tree of an expression with its decimal numbers as fractions."""

    def exact(tree: Tree) -> Tree:
        if tree[:1] == ("dec",):
            return "num", tree[1]
        return tuple(exact(part) if isinstance(part, tuple) else part for part in tree)

    return exact(parse_tokens(tokenize(clean(text))))


def _strip_signs(text: str) -> str:
    """Remove what neither convention keeps: sizes, spacing, signs of units and money, kinds of fraction."""
    text = _SIGNS.sub("", _SPACES.sub("", _FRACTIONS.sub(r"\\frac", text)))
    return text.replace("\u2212", "-").strip().rstrip(".").strip()


def _last_side(text: str) -> str:
    """Return what follows the last `=` outside braces."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == "}") - (text[at] == "{")
        if text[at] == "=" and depth == 0:
            return text[at + 1 :]
    return text


def _real(text: str) -> Fraction | None:
    match = _REAL.fullmatch(text)
    if match is None:
        return None
    sign, number, above, below = match.groups()
    try:
        value = Fraction(number) if number else Fraction(above) / Fraction(below)
    except (ValueError, ZeroDivisionError):
        return None
    return -value if sign else value
