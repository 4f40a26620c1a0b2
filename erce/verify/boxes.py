r"""The last box of a text → its content, with what touches it in its formula and the unit behind it."""

import re
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.units import is_unit_word, read_unit
from erce.verify.sentences import Answer, settled

MAX_UNBRACED_CHARACTERS = 200  # of an answer boxed without braces
MAX_BOXES = 50  # that are one answer
MAX_BETWEEN_CHARACTERS = 60  # of two boxes that belong together, and before the first of them
MAX_FORMULA_CHARACTERS = 200  # of a formula, on each side of the box in it
MAX_PARAGRAPH_CHARACTERS = 400  # before a box, in which its formula begins


def boxed_answer(text: str) -> str | None:
    r"""Return the content of the last `\boxed{…}` or `\fbox{…}`; None without one, or if it does not close.

    Boxes that a comma, "and" or "or" joins are one answer of several values, with the words and names between
    them. A box without a brace, as in `$\boxed 7$`, holds the rest of the formula.

    >>> boxed_answer(r"\boxed{1}. No, $\boxed{2}$."), boxed_answer(r"$x=\boxed{2}$ and $y=\boxed{3}$")
    ('2', 'x=2 and y=3')
    """
    box = joined_boxes(text, list(BOX.finditer(text)))
    return box and box.content


def matching_brace(text: str, start: int) -> int:
    r"""Return where the group that opens at `start` closes, -1 if nowhere; `\{` and `\}` are not braces."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        depth += (match.group() == "{") - (match.group() == "}")
        if depth == 0:
            return match.start()
    return -1


class Box(NamedTuple):
    start: int
    end: int
    content: str
    several: bool = False


def _box(text: str, opening: re.Match[str]) -> Box | None:
    """Return the box that `BOX` found; None if it does not close."""
    if not text.startswith("{", opening.end()):
        unbraced = _UNBRACED.match(text, opening.end())
        return Box(opening.start(), unbraced.end(), unbraced.group()) if unbraced else None
    closing = matching_brace(text, opening.end())
    return Box(opening.start(), closing + 1, text[opening.end() + 1 : closing]) if closing >= 0 else None


def joined_boxes(text: str, openings: list[re.Match[str]]) -> Box | None:
    """Return the last box, or as one box it and those before it that belong to the same answer."""
    box = _box(text, openings[-1]) if openings else None
    if box is None or len(openings) == 1:
        return box
    first, contents, joined = box, {box.content}, box.content
    for opening in reversed(openings[-MAX_BOXES - 1 : -1]):
        one = _box(text, opening)
        if one is None:
            break
        between = _DELIMITERS.sub(" ", text[one.end : first.start][: MAX_BETWEEN_CHARACTERS + 1])
        if not (_JOINT.fullmatch(between) or _OR_BETWEEN.fullmatch(between)):
            break
        joined = f"{one.content}{between}{joined}"
        first = one
        contents.add(one.content)
    if len(contents) == 1:
        return Box(first.start, box.end, box.content, first is not box)
    name = _NAME_BEFORE.search(text[max(0, first.start - MAX_BETWEEN_CHARACTERS) : first.start])
    return Box(first.start, box.end, f"{name.group() if name else ''}{' '.join(joined.split())}", True)


def answer_of(text: str, box: Box) -> Answer:
    """Return the answer of a box with what belongs to it in its formula and in the words around it."""
    unit, end = ("", box.end) if box.several else _unit_behind(text, box)
    left, right = ("", "") if box.several else _beside(text, box, end)
    content, note = box.content + unit, ""
    if left or right:
        note = "text beside the box: " + " and ".join(f"`{one.strip()}`" for one in (left, right) if one)
        if re.search("[0-9]{2}", left[-1:] + content[:1] + " " + content[-1:] + right[:1]):
            return Answer(f"{left}{text[box.start : end]}{right}", note=note, is_none=True)
        is_plain = content.replace(".", "").isdigit() and not left[-1:].isalpha()
        content = balanced(left + (content if is_plain else f"{{{content}}}") + right, len(left))
    before = text[max(0, box.start - 30) : box.start].rstrip(" \n$\\([*")
    negation = _NEGATION_BEFORE.search(before) if before[-1:].isalpha() else None
    return settled(text, end, Answer(f"{negation.group()} {content}" if negation else content, "", note))


def _unit_behind(text: str, box: Box) -> tuple[str, int]:
    """Return the unit, percent sign or multiplier right behind a box, and where it ends."""
    if symbol := _UNIT_SIGN.match(text, box.end):
        return symbol[1], symbol.end()
    words = _UNIT_WORDS.match(text, box.end)
    if words is None or _NOT_SCALAR.search(box.content):
        return "", box.end
    found = list(takewhile(lambda word: is_unit_word(word.group()), _UNIT_WORD.finditer(words[1])))
    while found:
        unit = words[1][: found.pop().end()]
        end = words.start(1) + len(unit)
        with suppress(UnparsedError):
            is_ambiguous = _AMBIGUOUS_UNIT.search(unit) and text[end : end + 2].strip()[:1].isalpha()
            if not is_ambiguous and (read_unit(unit) != ("", 1) or unit == "percent"):
                power = _UNIT_POWER.match(text, end)
                written = f"\\text{{ {unit}}}" + (f"^{power[1]}" if power else "")
                return written, power.end() if power else end
    return "", box.end


def _beside(text: str, box: Box, end: int) -> tuple[str, str]:
    """Return what touches a box on its left and its right in its expression; its unit ends at `end`."""
    start = box.start
    if _WORDS_ALONE.match(box.content):
        return "", ""
    before = text[max(0, start - 3) : start].rstrip()[-2:]
    is_last = end > box.end and _FORMULA_MARK.search(text, box.end, end)  # the unit stands behind the formula
    is_clear = before[-1:] in ("=", "$") and before[0] not in "<>!\\"
    if is_clear and (is_last or _CLEAR_AFTER.match(text, end)):
        return "", ""
    line = max(0, start - MAX_FORMULA_CHARACTERS, text.rfind("\n", 0, start), text.rfind(" $", 0, start))
    left = _SEPARATOR.split(text[line:start])[-1].lstrip()
    right = (
        "" if is_last else _SEPARATOR.split(text[end : end + MAX_FORMULA_CHARACTERS], maxsplit=1)[0].rstrip()
    )
    left = balanced(left, len(left))
    if _MODULUS.match(right) and _CONGRUENT.search(text[max(0, start - 20) : start]):
        right = ""
    if _is_in_formula(text[max(0, start - MAX_PARAGRAPH_CHARACTERS) : start]):
        left_touches, right_touches = _OPENED.sub("", left, count=1), _CLOSED.sub("", right, count=1)
    else:
        left_touches, right_touches = _OPERATOR_BEFORE.search(left), _OPERATOR_AFTER.match(right)
    if not (left_touches or right_touches):
        return "", ""
    return left if left_touches or "{" in left else "", right if right_touches or left_touches else ""


def _is_in_formula(before: str) -> bool:
    """Return whether a formula that begins in the last paragraph of a text has not ended there."""
    paragraph = before.rpartition("\n\n")[2].replace("\\$", "").replace("$$", "$")
    opened = (("\\[", "\\]"), ("\\(", "\\)"), ("\\begin", "\\end"))
    return paragraph.count("$") % 2 == 1 or any(paragraph.rfind(a) > paragraph.rfind(b) for a, b in opened)


def balanced(expression: str, at: int) -> str:
    """Return the part of the expression around `at` in which each closing brace has its opening one."""
    start = depth = 0
    for match in _BRACE.finditer(expression):
        depth += (match.group() == "{") - (match.group() == "}")
        if depth < 0:
            if match.start() >= at:
                return expression[start : match.start()]
            start, depth = match.end(), 0
    return expression[start:]


BOX = re.compile(r"\\(?:boxed|fbox)(?![^\W\d_])\s*+")  # not \boxedwith
_UNBRACED = re.compile(rf"[^$\n]{{1,{MAX_UNBRACED_CHARACTERS}}}?(?=\$|\n|\\\)|\\\]|\Z)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DELIMITERS = re.compile(r"\\(?:text|mbox|textrm|textbf|mathrm|q?quad)(?![a-z])|\\[,;! ()\[\]]|[${}~*]")
_NAME = r"\\?[A-Za-z]+(?:_\w)?(?:\([a-z]\))?\s*+="
_NAME_BEFORE = re.compile(rf"{_NAME}\s*+\Z")
_OR_BETWEEN = re.compile(r"[^.?!\n]*?\bor\b(?!\s+rather)[^.?!\n]*")  # with words around it
_JOINT = re.compile(rf"\s*+(?:[,;]?\s*+(?:and|or)\b|[,;])\s*+(?:{_NAME}\s*+)?")
# What takes a box back and stays before it.
_NEGATION_BEFORE = re.compile(
    r"(?:not|Not|n't|never|Never|(?:cannot|can't|could)\s+be|(?:wrong|incorrect)\s+answer\s+is|"
    r"(?:less|more|fewer|greater|larger|smaller|higher|lower)\s+than|minus|negative)(?:\s+equal\s+to)?\Z"
)
_FORMULA_MARK = re.compile(r"(?<!\\)\$|\\[\])]|\\end\{")
# What ends an expression: a delimiter, a sign that gives a name or a next step, punctuation, words.
_SEPARATOR = re.compile(
    r"(?<!\\)\$\$?|\\[\[\]()]|\\(?:begin|end)\{[^{}]*\}(?:\{[^{}]*\})?|\\\\|&|\n|"
    r"(?<![<>])(?<!\s!)=[=>]?|->|≈|→|;|,(?![0-9]{3})|(?<![0-9]):(?![0-9])|[.?](?=\s|\*|\Z)|"
    r"\\(?:approx|implies|[Rr]ightarrow|[Ll]ongrightarrow|to|iff|equiv|in|therefore|because|q?quad|colon|qed\w*|"
    r"(?:black)?square|checkmark|(?:tag|label)\{[^{}]*\}|boxed|fbox|[cl]?dots)(?![a-z])|"
    r"\\(?:text|mbox|textrm|textbf|mathrm|[hv]space|renewcommand\{[^{}]*\})\*?\s*\{[^{}]*\}|"
    r"(?<![\\A-Za-z])(?:[A-Za-z]{3,}|[A-Z][a-z]|is|of|to|so|we|it|be|as)(?![A-Za-z])|[^\x00-\u036f\u2070-\u22ff]"
)
# Brackets, sizes and fonts that a box may stand in.
_OPENED = re.compile(
    r"(?:\\(?:left|big+l?|Big+l?|displaystyle|textstyle|mathbf|boldsymbol|bm|text|textbf|mathrm|bf|underline|"
    r"mbox|(?:text)?color\s*\{[^{}]*\})(?![a-z])\s*[{(\[]?|(?<![A-Za-z0-9}^_\])])[{(\[]|(?<=\s)[{(\[]|"
    r"\\[,;:! {]|[\s*`~]|\\\Z)*\Z"
)
_CLOSED = re.compile(r"(?:\\(?:right|big+r?|Big+r?)(?![a-z])|[)\]}\s*_`~.]|\\[,;:! }])*\Z")
_WORDS_ALONE = re.compile(r"\s*\\(?:text|textbf|mathrm|mbox|textrm)\b")
_CLEAR_AFTER = re.compile(r"[.,;]?(?:\$|\n|\s*\\(?:[\])]|end\{)|\Z)|[.,;]\s")
_CONGRUENT = re.compile(r"(?:\\equiv|≡)[\s&~]*\Z")
_MODULUS = re.compile(r"\s*(?:\\[pb]?mod|\(\s*mod)(?![a-z])")
_OPERATION = r"(?:[-−+*×·÷/^<>≤≥±≠]|\\(?:cdot|times|div|pm|[lg]eq?|[lg]t|neq?)(?![a-z]))"
_OPERATOR_BEFORE = re.compile(
    rf"(?:[\w)}}]\s*{_OPERATION}\s*|[≤≥≠]\s*|\\(?:neq?|[lg]eq?)\s*|(?<!\s)[-−/^<>\w}}])\Z"
)
_OPERATOR_AFTER = re.compile(
    rf"[)\]}}*\s]*{_OPERATION}\s*[\w\\($.]|\^|[)\]}}]*[\w\\](?<![*_])|\s*\\(?:pi|times|cdot)\b|\s*(?:pi|π)\b"
)
_UNIT_SIGN = re.compile(
    r"[$\s}]*(\^\s*\{?\s*\\circ\s*\}?(?:\s*(?:\\(?:text|mathrm)\{)?[CF]\b\}?)?|"
    r"°[CF]?|\\?%|(?:k|(?<!\s)K)(?![A-Za-z])|\\(?:degree|euro)\b)"
)
_UNIT_WORD = re.compile(r"(?:[A-Za-z]+(?:\^\{?[23]\}?|[²³])?|[百千万亿](?![克米瓦]|\s*[0-9]))")  # 千克 is kg
_UNIT_WORDS = re.compile(
    r"(?:[$)\]}*\s~]|\\(?:[,;:! )\]]|quad))*+(?:\\(?:text|mathrm|mbox|textrm|textbf)\s*\{)?[\s~]*"
    rf"({_UNIT_WORD.pattern}(?:(?:\s+|\s*/\s*){_UNIT_WORD.pattern}){{0,4}})"
)
_UNIT_POWER = re.compile(r"\}?\s*\^\s*\{?([23])\}?")  # \text{cm}^2
_AMBIGUOUS_UNIT = re.compile(r"(?:\A|\s)(?:[a-zA-Z]|in|an|second|foot|unit|th|st|nd|rd)\Z")
_NOT_SCALAR = re.compile(
    r",(?![0-9]{3})|[=<>|\[\]]|\\(?:in|le|ge|leq|geq|cup|infty|begin|text|pm)(?![a-z])|^\(|^\s*\\?[A-Za-z]{2,}\s*$"
)
