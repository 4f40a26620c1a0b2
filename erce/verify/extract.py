r"""Completion → what it gives as its answer: the only reader of free text.

    strip_traces     the text outside a reasoning model's trace
    find_answer      the last box, else what is stated as the answer, else perhaps the last number
    marked_line      the line after the last `####` that is not a heading

A reader returns the answer's own words, up to a word that cannot change them. All others stay ("3, or 4",
"not 73", "73?", "5, but that is wrong"): whoever parses the answer then finds no value, or two that are not
one. A hedge is not an answer. Each takes time linear in the text.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from erce.errors import InputError
from erce.types import Completion
from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.units import is_unit_word, read_unit
from erce.verify.phrases import CLAUSE_START, HEDGES_NUMBER, numerals, plain, stands_alone, western

MAX_ANSWER_CHARACTERS = 400  # that are read after the words that announce an answer
MAX_UNBRACED_CHARACTERS = 200  # of an answer boxed without braces
MAX_BOXES = 50  # that are one answer
MAX_BESIDE_CHARACTERS = 60  # that are read before an answer, and between two boxes that belong together
MAX_FORMULA_CHARACTERS = 200  # of a formula, on each side of the box in it
MAX_FOLLOWING_CHARACTERS = 2000  # behind an answer that may take it back
TRACES = (  # what reasoning models put around their thoughts
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
Traces = Sequence[tuple[str, str]]


def text_of(completion: Completion | str) -> str:
    """Return the completion's text; InputError if it is neither a text nor a completion."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Completion) and isinstance(completion.text, str):
        return completion.text
    raise InputError(
        f"a completion is text (a str or an erce.types.Completion), got {type(completion).__name__}: "
        "decode or convert it first"
    )


def is_finished(completion: Completion | str) -> bool:
    """Return False if the completion was cut off; True for a bare string, or if nothing says."""
    return isinstance(completion, str) or completion.finished is not False


def strip_traces(text: str, traces: Traces = TRACES) -> str:
    """Return the text outside its reasoning traces; "" if a trace does not close.

    `traces` are pairs of an opening and a closing mark, in any case of letters. A closing mark without an
    opening one ends a trace that the prompt began. An opening mark inside a trace says nothing.
    """
    if traces is TRACES and "<" not in text and "[" not in text:
        return text
    folded = text.casefold()
    for opening, end in traces:
        if opening.casefold() not in folded and end.casefold() not in folded:
            continue
        *closed, after = re.split(re.escape(end), text, flags=re.IGNORECASE)
        kept = ""
        for trace in closed:
            before, *opened = re.split(re.escape(opening), trace, maxsplit=1, flags=re.IGNORECASE)
            kept = kept + before if opened else ""
        if re.search(re.escape(opening), after, re.IGNORECASE):
            return ""
        text = kept + after
    return text


class Answer(NamedTuple):
    """What a completion gives as its answer, in its own words.

    `sentence` is the whole sentence that states the answer, "" for a box. `note` says which text stands
    beside its box, or which later sentence took it back. With `is_none` the words hold no answer.
    """

    text: str
    sentence: str = ""
    note: str = ""
    is_none: bool = False


def find_answer(
    completion: Completion | str,
    statements: re.Pattern[str] | None,
    *,
    traces: Traces = TRACES,
    marker: str = "",
    marker_first: bool = False,
    number: bool = False,
) -> Answer | None:
    r"""Return what the last box holds, else what the last of the `statements` announces; None without either.

    The line after the last `marker` is an answer too, and replaces one above it; with `marker_first`, any
    other. A box that never closes is no answer, and nothing replaces it. With `number`, the last number of
    a finished text is the last resort (`last_number`). Reasoning traces are not read (`strip_traces`).

    What touches a box in its formula, and a unit or "million" behind it, belongs to the answer. A sentence is
    cut before a word that cannot change the answer ("which", "so", "in total"); every other word stays. What
    follows may confirm the answer, take it back or state another one, which then is the answer.
    """
    text = western(strip_traces(text_of(completion), traces))
    boxes = list(_BOX.finditer(text))
    marked = marked_line(text, marker) if marker else None
    if marked and boxes and marked.start <= boxes[-1].start() < marked.stop:
        marked = None  # the box on that line is read
    if marked and marker_first:
        return _stated(text, marked.start, marked.start)
    if boxes:
        box = _joined_boxes(text, boxes)
        if box and marked and marked.start > boxes[-1].start():
            return _stated(text, marked.start, marked.start)
        return box and _from_box(text, box)
    statement = _last_statement(text, statements) if statements else None
    if marked and (statement is None or marked.start >= statement.start()):
        return _stated(text, marked.start, marked.start)
    if statement is None:
        return last_number(text) if number and is_finished(completion) else None
    tagged = statement.groupdict().get("tagged")
    return _stated(text, *statement.span()) if tagged is None else Answer(_unwrapped(tagged), tagged)


def _last_statement(text: str, statements: re.Pattern[str]) -> re.Match[str] | None:
    """Return the last statement of an answer, if possible one without "if" before it; None without any."""
    if "answer" not in text.casefold() and "答" not in text:  # which each statement has
        return None
    found = list(statements.finditer(text))
    certain = (
        one for one in reversed(found) if not _IF_BEFORE.search(text, max(0, one.start() - 60), one.start())
    )
    return next(certain, found[-1] if found else None)


# Boxes


def boxed_answer(text: str) -> str | None:
    r"""Return the content of the last `\boxed{…}` or `\fbox{…}`; None without one, or if it does not close.

    Boxes that a comma, "and" or "or" joins are one answer of several values, with the words and names between
    them. A box without a brace, as in `$\boxed 7$`, holds the rest of the formula.

    >>> boxed_answer(r"\boxed{1}. No, $\boxed{2}$."), boxed_answer(r"$x=\boxed{2}$ and $y=\boxed{3}$")
    ('2', 'x=2 and y=3')
    """
    box = _joined_boxes(text, list(_BOX.finditer(text)))
    return box and box.content


def matching_brace(text: str, start: int) -> int:
    r"""Return where the group that opens at `start` closes, -1 if nowhere; `\{` and `\}` are not braces."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        brace = match.group()
        if brace == "{":
            depth += 1
        elif brace == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    return -1


class _Box(NamedTuple):
    start: int
    end: int
    content: str
    several: bool = False


def _box(text: str, opening: re.Match[str]) -> _Box | None:
    """Return the box that `_BOX` found; None if it does not close."""
    if not text.startswith("{", opening.end()):
        unbraced = _UNBRACED.match(text, opening.end())
        return _Box(opening.start(), unbraced.end(), unbraced.group()) if unbraced else None
    closing = matching_brace(text, opening.end())
    return _Box(opening.start(), closing + 1, text[opening.end() + 1 : closing]) if closing >= 0 else None


def _joined_boxes(text: str, openings: list[re.Match[str]]) -> _Box | None:
    """Return the last box, or as one box it and those before it that belong to the same answer."""
    box = _box(text, openings[-1]) if openings else None
    if box is None:
        return None
    first, contents, joined = box, {box.content}, box.content
    for opening in reversed(openings[-MAX_BOXES - 1 : -1]):
        one = _box(text, opening)
        if one is None:
            break
        between = _DELIMITERS.sub(" ", text[one.end : first.start][: MAX_BESIDE_CHARACTERS + 1])
        if not (_JOINT.fullmatch(between) or _OR_BETWEEN.fullmatch(between)):
            break
        joined = f"{one.content}{between}{joined}"
        first = one
        contents.add(one.content)
    if len(contents) == 1:
        return _Box(first.start, box.end, box.content, first is not box)
    name = _NAME_BEFORE.search(text[max(0, first.start - MAX_BESIDE_CHARACTERS) : first.start])
    return _Box(first.start, box.end, f"{name.group() if name else ''}{' '.join(joined.split())}", True)


def _from_box(text: str, box: _Box) -> Answer:
    """Return the answer of a box with what belongs to it in its formula and in the words around it."""
    unit, end = ("", box.end) if box.several else _unit_behind(text, box)
    left, right = ("", "") if box.several else _beside(text, box, end)
    content, note = box.content + unit, ""
    if left or right:
        note = "text beside the box: " + " and ".join(f"`{one.strip()}`" for one in (left, right) if one)
        if re.search("[0-9]{2}", left[-1:] + content[:1] + " " + content[-1:] + right[:1]):
            return Answer(f"{left}{text[box.start : end]}{right}", note=note, is_none=True)
        is_plain = content.replace(".", "").isdigit() and not left[-1:].isalpha()
        content = _balanced(left + (content if is_plain else f"{{{content}}}") + right, len(left))
    negation = _NEGATION_BEFORE.search(text[max(0, box.start - 30) : box.start])
    return _settled(text, end, Answer(f"{negation.group() if negation else ''}{content}", note=note))


def _unit_behind(text: str, box: _Box) -> tuple[str, int]:
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


def _beside(text: str, box: _Box, end: int) -> tuple[str, str]:
    """Return what touches a box on its left and its right in its expression; its unit ends at `end`."""
    start = box.start
    if _WORDS_ALONE.match(box.content):
        return "", ""
    before = text[max(0, start - 3) : start].rstrip()[-2:]
    if before[-1:] in ("=", "$") and before[0] not in "<>!\\" and _CLEAR_AFTER.match(text, end):
        return "", ""
    left = _SEPARATOR.split(text[max(0, start - MAX_FORMULA_CHARACTERS) : start])[-1].lstrip()
    right = _SEPARATOR.split(text[end : end + MAX_FORMULA_CHARACTERS], maxsplit=1)[0].rstrip()
    if _FORMULA_MARK.search(text, box.end, end):
        right = ""  # the unit stands behind the formula
    left = _balanced(left, len(left))
    if _MODULUS.match(right) and _CONGRUENT.search(text[max(0, start - 20) : start]):
        right = ""
    if _is_in_formula(text[max(0, start - MAX_ANSWER_CHARACTERS) : start]):
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


def _balanced(expression: str, at: int) -> str:
    """Return the part of the expression around `at` in which each closing brace has its opening one."""
    start = depth = 0
    for match in _BRACE.finditer(expression):
        depth += (match.group() == "{") - (match.group() == "}")
        if depth < 0:
            if match.start() >= at:
                return expression[start : match.start()]
            start, depth = match.end(), 0
    return expression[start:]


# Sentences


def marked_line(text: str, marker: str = "####") -> slice | None:
    """Return where the line after the last `marker` stands; None without one.

    Headings with text below them are not such lines ("#### Step 3: add up").
    """
    end = len(text)
    while (at := text.rfind(marker, 0, end)) >= 0:
        section = text[at + len(marker) : end]
        line, _, below = section.lstrip().partition("\n")
        if not (_HEADING.match(line) and (below.strip() or end < len(text))):
            start = at + len(marker) + len(section) - len(section.lstrip())
            return slice(start, start + len(line))
        end = at
    return None


def last_number(text: str) -> Answer | None:
    """Return the last number of a text; None without one, or where its sentence hedges it.

    Sentences that offer help are passed over, as are numbers of steps, of list items and of copyright lines.
    Hedged is the number of a question or a refusal, one after "not", "than", "between" or another such word
    in its clause, one after a sign like <, one that "or", "and", "to" or a comma joins to another, and one
    that the text takes back. A number inside a larger expression stands for that expression.
    """
    sentences = list(_SENTENCE_AND_END.finditer(_ANNOTATION.sub("", text)))
    for sentence in reversed(sentences):
        body = _LABEL.sub(lambda label: " " * len(label.group()), sentence.group())
        folded = body.casefold()
        if _OFFER.search(folded):
            continue
        if _REFUSAL.search(folded):
            return None
        if _DIGIT.search(body):
            answer = None if "?" in body else _number_of(body)
            return answer and _settled(sentence.string, sentence.end(), answer)
    return None


def _number_of(sentence: str) -> Answer | None:
    """Return the last number of a sentence, or the side of a formula that it is in; None if it is hedged."""
    *_, formula = (None, *_FORMULA.finditer(sentence))
    *_, digit = _DIGIT.finditer(sentence)
    if formula and formula.start() < digit.start() < formula.end():
        side = re.split(r"(?<![<>!])=|\\approx", next(filter(None, formula.groups())))[-1]
        side = _balanced(side, 0)
        before = sentence[: formula.end() - len(formula.group().rpartition(side)[2]) - len(side)]
        after, written = sentence[formula.end() :], side.strip(" .,;:")
        is_hedged = HEDGES_NUMBER.search(CLAUSE_START.split(before)[-1])
    else:
        sentence = plain(sentence.rstrip().rstrip("!"))
        *_, last = (None, *numerals(sentence))
        if last is None or not last["whole"]:
            return None
        before, after, written = sentence[: last.start()], sentence[last.end() :], last.group().strip()
        is_hedged = not stands_alone(sentence, last)
    is_joined = _OTHER_NUMBER.search(before[-MAX_BESIDE_CHARACTERS:])
    is_hedged = is_hedged or is_joined or (_has_sign(after.casefold()) and _IS_WRONG.search(after))
    return None if is_hedged else Answer(written)


def _stated(text: str, announced: int, start: int) -> Answer:
    """Return the answer at `start`, announced by what begins at `announced`, with what hedges it."""
    written = text[start : start + MAX_ANSWER_CHARACTERS]
    number = _NUMBER_ALONE.match(written)
    answer, sentence = (number[1], number[1]) if number else _first_sentence(written)
    clause = CLAUSE_START.split(text[max(0, announced - MAX_BESIDE_CHARACTERS) : announced])[-1]
    before = f"{clause}{text[announced:start]} " if _HEDGE.search(clause) else ""
    end = start + len(sentence)
    rest = text[end : start + MAX_ANSWER_CHARACTERS].partition("\n")[0]
    if _DIGIT.search(_LABEL.sub("", rest)):
        sentence += rest
    return _settled(text, end, Answer(before + answer, before + sentence))


def _first_sentence(text: str) -> tuple[str, str]:
    """Return the answer at the start of a text without what cannot change it, and its whole sentence."""
    whole, text = text, _DECORATION.sub("", text, count=1)
    delimited = _DELIMITED.match(text)
    start = delimited.end() if delimited else 0
    sentence = _SENTENCE_END.split(text[start:].partition("\n")[0], maxsplit=1)[0]
    kept = _HARMLESS.split(sentence, maxsplit=1)[0]
    if _CHANGES.search(sentence, len(kept)):
        kept = sentence
    answer = text[:start]
    if answer.startswith("**") or not kept.strip(" .:;,*_"):
        answer = _unwrapped(answer)
    return _unwrapped(answer + kept), whole[: len(whole) - len(text) + start + len(sentence)]


def _unwrapped(answer: str) -> str:
    """Remove emphasis, maths delimiters, emoji and a full stop that are around the whole answer."""
    answer = answer.strip() if answer.isascii() else _TRAILING_EMOJI.sub("", answer.strip())
    answer = answer.strip("*_`").strip().removesuffix(".")
    delimited = _DELIMITED.fullmatch(answer)
    return next(group for group in delimited.groups() if group is not None).strip() if delimited else answer


def _settled(text: str, end: int, answer: Answer) -> Answer:
    """Return the answer that stands after the sentences behind it, which begin at `end`, are read.

    Each confirms it, takes it back, states another one, or says nothing about it; the last one that does not
    say nothing decides. Questions about it take it back; conditions ("if x were 2, …") say nothing.
    """
    following = text[end : end + MAX_FOLLOWING_CHARACTERS]
    if beside := _HEDGE_BESIDE.match(following):
        return answer._replace(text=answer.text + beside.group(), sentence=answer.sentence + beside.group())
    if not _LETTER.search(following) or not _has_sign(following.casefold()):
        return answer
    taken_back, standing = "", answer
    for match in _SENTENCE_AND_END.finditer(following):
        sentence = match.group().strip()
        folded = sentence.casefold()  # in which patterns are found faster than without regard to case
        if not _has_sign(folded):
            if taken_back and _CONFIRMS.search(folded):
                taken_back = ""
            continue
        if (_CONDITION.search(folded) or _OFFER.search(folded)) and not _RECONSIDERS.match(folded):
            continue
        is_denied = _DENIES.search(folded) is not None or _denies(sentence, standing.text)
        value = _value_in(sentence, bool(taken_back) or is_denied)
        if value and _HEDGE.search(value):
            taken_back = sentence if standing.text in value else taken_back
        elif value:
            if not _is_same(value, standing.text):
                standing = Answer(value, value, f"a later sentence: {sentence}")
            taken_back = ""
        elif is_denied:
            taken_back = following[: match.end()].rstrip(" .!\n")
        elif taken_back and _CONFIRMS.search(folded):
            taken_back = ""
    if not taken_back:
        return standing
    note = f"taken back: {' '.join(taken_back.split())[-80:]}"
    return Answer(f"{standing.text}{taken_back}", note=note, is_none=True)


def _has_sign(folded: str) -> bool:
    """Return whether a text, in lower case, may have a sentence that is not neutral."""
    return any(map(folded.__contains__, _SIGNS_OF_STATEMENTS))


def _denies(sentence: str, answer: str) -> bool:
    """Return whether a sentence takes an answer back by its name: "not 7", "7 is wrong"."""
    at = sentence.find(answer)
    if at < 0 or sentence[at + len(answer) :][:1].isalnum():
        return False
    return bool(_NOT_BEFORE.search(sentence[:at]) or _IS_WRONG.match(sentence, at + len(answer)))


def _value_in(sentence: str, is_denied: bool) -> str:
    """Return the value that a sentence states in the place of an answer, "" if it states none."""
    statement = _LATER_STATEMENT.search(sentence) or (is_denied and _IT_IS.search(sentence))
    instead = _INSTEAD.search(sentence) if "instead" in sentence else None
    value = _first_sentence(sentence[statement.end() :])[0] if statement else ""
    value = instead[1] if instead else value
    return value if _IS_VALUE.match(value) and "?" not in sentence else ""


def _is_same(value: str, answer: str) -> bool:
    """Return whether a later statement repeats the answer: at its start, or as the end of a chain."""
    value, answer = (re.sub(r"[$*\s]|\\[()\[\],;! ]", "", one) for one in (value, answer))
    goes_on = re.match(r"[0-9.,/^+*-]*[0-9]|[-+*/^]", value[len(answer) :])
    return (value.startswith(answer) and not goes_on) or value.endswith(f"={answer}")


_BOX = re.compile(r"\\(?:boxed|fbox)(?![^\W\d_])\s*+")  # not \boxedwith
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
    r"(?:less|more|fewer|greater|larger|smaller|higher|lower)\s+than|minus|negative)(?:\s+equal\s+to)?[\s$\\(\[*]*\Z"
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
_CLEAR_AFTER = re.compile(r"[.,;]?(?:\$|\n|\s*\\[\])]|\Z)|[.,;]\s")
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
    r"°[CF]?|\\?%|[kK](?![A-Za-z])|\\(?:degree|euro)\b)"
)
_UNIT_WORDS = re.compile(
    r"(?:[$)\]}*\s~]|\\(?:[,;:! )\]]|quad))*(?:\\(?:text|mathrm|mbox|textrm|textbf)\s*\{)?[\s~]*"
    r"([A-Za-z]+(?:\^\{?[23]\}?|[²³])?(?:(?:\s+|\s*/\s*)[A-Za-z]+(?:\^\{?[23]\}?|[²³])?){0,4})"
)
_UNIT_POWER = re.compile(r"\}?\s*\^\s*\{?([23])\}?")  # \text{cm}^2
_UNIT_WORD = re.compile(r"[A-Za-z]+(?:\^\{?[23]\}?|[²³])?")
_AMBIGUOUS_UNIT = re.compile(r"(?:\A|\s)(?:[a-zA-Z]|in|an|second|foot|unit|th|st|nd|rd)\Z")
_NOT_SCALAR = re.compile(
    r",(?![0-9]{3})|[=<>|\[\]]|\\(?:in|le|ge|leq|geq|cup|infty|begin|text|pm)(?![a-z])|^\(|^\s*\\?[A-Za-z]{2,}\s*$"
)
# What may stand between an answer and the words after it.
_CLOSING = r"(?:\\text\s*\{|[$)\]}*_`\\\s])*+"
_WRONG = (
    r"(?:wrong|incorrect|false|mistaken|impossible(?!\s+(?:that|to|because|since))|an?\s+(?:mistake|error)|"
    r"not\s+(?:right|correct|it|true|the|valid|an?\s+(?:valid\s+)?(?:solution|answer|root)))"
)
_IS_WRONG_TEXT = (
    rf"(?:(?:is|was|seems|looks|would\s+be|must\s+be|'s)\s+(?:[a-z]+\s+)?{_WRONG}(?!\s+(?:only|if|for|unless)\b)"
    r"|(?:isn't|wasn't)(?=[.!])"
    r"|(?:isn't|wasn't|can't\s+be|cannot\s+be|couldn't\s+be)\s+(?:right|correct|it|true|the|possible)"
    r"|(?:doesn't|does\s+not)\s+(?:work|fit|hold|match|satisfy|make\s+sense|add\s+up|check\s+out))\b"
)
_IS_WRONG = re.compile(rf"[$)*\s]*{_IS_WRONG_TEXT}", re.IGNORECASE)
_NOT_BEFORE = re.compile(r"(?:\bnot|n't(?:\s+be)?)\s+[$(\\*]*\Z")
_NUMERAL_START = (
    r"[$(\\]*(?:[-−]?[0-9]|[dt]?frac|sqrt|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)"
)
_HEDGE_BESIDE = re.compile(
    rf"{_CLOSING}(?:\?|,?\s*or[\s}}]+(?:maybe\s+|perhaps\s+)?{_NUMERAL_START}[^.\n]{{0,40}}|"
    rf"\(?(?:wrong|incorrect)\b|(?:,?\s+which\s+)?{_IS_WRONG_TEXT})",
    re.IGNORECASE,
)
# The sentences behind an answer: conditions are neutral; the others state, deny, reconsider or confirm.
_CONDITION = re.compile(r"\A\W*(?:otherwise|suppose|supposing|assuming|had|unless|when)\b|\bif\b")
_IF_BEFORE = re.compile(r"\b[Ii]f\b[^.?!\n]*\Z")
_SUBJECT = r"\b(?:it|that|this|answer|result|box|number|value|total)"
_LATER_STATEMENT = re.compile(
    rf"{_SUBJECT}\s+(?:\w+\s+)?(?:should|must|ought\s+to)\s+(?:\w+\s+)?(?:be|have\s+been|read|equal)\b:?"
    r"|\banswers?\s+(?:is|was|would\s+be|becomes|equals)\b(?:\s+(?:therefore|actually|really|then|now|thus)\b)?:?"
    r"|\A\W*(?:(?:the|my)\s+)?(?:final\s+|correct\s+)?answers?[*\s]*:|\bcorrection\s*:(?=\W*[0-9])|"
    r"\bI\s+meant?\b|\bmake\s+(?:it|that)\b|答案(?:应该)?是",
    re.IGNORECASE,
)
_IT_IS = re.compile(r"\b(?:it|that)(?:\s+is|'s)\s+(?:actually\s+|really\s+)?(?=[-$\\(]*[0-9])", re.IGNORECASE)
_INSTEAD = re.compile(r"([-$\\(]*[0-9][^\s,;]*)[^.,;0-9]{0,20}\binstead\b", re.IGNORECASE)
_IS_VALUE = re.compile(
    r"(?:not\s+|probably\s+)?(?:[-−+.$\\(*]*[0-9]|\$|\\[(\[a-z]|\(?[A-Z]\)?(?:[.,;:!]|\Z)|\\?\w\s*=)"
)
_RECONSIDERS = re.compile(
    r"\W*(?:(?:oh|but|no|ah|so)\W+)?(?:wait|hmm+|hang\s+on|hold\s+on|oops|sorry|correction|"
    r"actually|on\s+second\s+thought)\b|no\s*[,.!:]",
)
_DENIES = re.compile(
    rf"\A(?:{_RECONSIDERS.pattern})"
    rf"|\b(?:it|that|this|(?:answer|result|box)(?:\s+of\s+\S+)?)\s*{_IS_WRONG_TEXT}"
    r"|(?<!sake of )(?<!needed )\bcontradict"
    r"|\bno\s+(?:real\s+|valid\s+|integer\s+|such\s+)?solutions?\b(?:\s+exists?)?\W*\Z"
    r"|\bi\s+(?:have\s+)?(?:made\s+an?\s+\w*\s?(?:mistake|error|slip)|forgot|misread|misse?d|miscounted|overlooked)"
    r"|\b(?:never\s+mind|scratch\s+that|disregard|start\s+over|not\s+sure|unsure|redo|recompute|recalculate|"
    r"try\s+again)\b"
    r"|\bis\s+(?:that|this|it)\s+(?:right|correct|true)\b[^.]*\?|答案错|不对",
)
_CONFIRMS = re.compile(
    r"(?<!not )\b(?:(?:is|are|was|looks|seems)\s+(?:indeed\s+|also\s+|still\s+)?"
    r"(?:correct|right|fine|true|valid|consistent)|"
    r"checks\s+out|works|matches|agrees?|holds|confirmed|verified|as\s+(?:required|expected|desired))\b"
    r"|\A\W*(?:yes|correct|right|good|great)\b|✓|正确",
)
# One of these is in each sentence that the patterns above find; a text without any is passed over at once.
_SIGNS = """answer,should,must,ought,correction,i mean,make it,make that,instead,wrong,incorrect,false,
mistake,error,not ,n't,impossible,contradict,no ,no.,no:,forgot,misread,miss,miscount,overlook,mind,scratch,
disregard,sure,redo,recomp,recalc,try again,start over,is it,is that,is this,wait,hmm,hang on,hold on,oops,
sorry,actually,second thought,答案,不对"""
_SIGNS_OF_STATEMENTS = _SIGNS.replace(",\n", ",").replace("\n", " ").split(",")
_SENTENCE_AND_END = re.compile(r"[^.!?\n]*+(?:[.!?](?!\s|$)[^.!?\n]*+)*+(?:[.!?]+\s*|\n\s*|$)")

FINAL_ANSWER_IS = re.compile(r"final\s++answer\s++is\b(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?", re.IGNORECASE)
STATEMENT = re.compile(
    rf"<answer>(?P<tagged>.{{0,{MAX_ANSWER_CHARACTERS}}}?)</answer>"
    r"|^[^\w\n]{0,12}(?:the\s|my\s)?(?:(?:final|correct)\s)?answers?[^\w\n]{0,8}$"
    r"|\banswers?(?:\*\*|__|[`})])?\s{0,3}(?::|=(?!=))(?:(?:\*\*|__|[`})])(?=\s|$))?"
    r"|\banswers?\s++(?:(?:to|for|of)\s[^.:?!\n]{1,80}?\s)?"
    r"(?:is|are|was|would\s+be|will\s+be|should\s+be|must\s+be|equals|comes\s+out\s+(?:to\s+be|to|as))\b"
    r"(?:\s+(?:therefore|thus|then|simply|just|indeed|clearly|exactly|equal\s+to|given\s+by)\b)?"
    r"(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?|答案(?:[是为為]|(?=:))|答え[はが]?",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
# Step 3: add up; 3. Add up. But "answer: 18", "x = 18", "none" and "Wrong, I give up" are answers.
_HEADING = re.compile(
    r"(?=[^\W\d_]|[0-9]{1,2}[.)] +[^\W\d_])"
    r"(?!.*\b(?:not?|none|never|wrong|incorrect|unknown|unclear|cannot|impossible|give up)\b)"
    r"(?!(?:[a-z ]{1,40}[:=≈]|(?:the )?(?:final )?answer(?: is)?|USD|EUR|GBP|INR|Rs\.?)[^\w\n]*"
    r"[0-9][0-9.,/%]*(?: [a-z]+s)?(?: left| in total| in all| altogether| total)?[^\w\n]*$)",
    re.IGNORECASE,
)
# Space, emphasis that does not come in pairs, emoji: what may stand before an answer.
_EMOJI = r"[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]"
_DECORATION = re.compile(rf"^(?:[\s:=`#]|\*\*(?=\s)|{_EMOJI})*+")
_TRAILING_EMOJI = re.compile(rf"(?:{_EMOJI}|\s)++\Z")
_NUMBER_ALONE = re.compile(r"(-?[0-9][0-9,]*+(?:\.[0-9]++)?)(?=\n|\Z)")
_DELIMITED = re.compile(
    r"\s*+(?:\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.)++)\$(?![0-9])|\\\(((?s:.+?))\\\)|\\\[((?s:.+?))\\\]|\*\*([^*]++)\*\*)"
)
_SENTENCE_END = re.compile(r"\.(?=[\s*_]|$)|!(?=[*_\s]*(?:$|[A-Z]|[^\x00-\x7f]))|(?<=\?)\s|\.?\s++I hope")
_HARMLESS = re.compile(
    r",\s*not\s+(?=[-$\\(]*[0-9])|(?:^|,|(?<=\s)|(?<=\)))\s*\(?\b(?:which|so|because|since|as|where|hence|thus|therefore|"
    r"in\s+(?:total|all)|altogether|total|rounded|given\s+that|and\s+(?:that|this)\s+is\s+(?:the|our|my)|"
    r"for\s+(?:all|any|every|each)|I\s+hope)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(  # after a harmless word
    r"\b(?:should\s+be|wait|rather|actually|instead|or|otherwise|minus|plus|doubt|cannot|impossible|wrong)\b|n't",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:not|never|unless|whether|maybe|perhaps|possibly|cannot|wrong|incorrect|impossible|if|doubt\w*|unlikely|"
    r"suppos\w+|assum\w+)\b|n't|不",
    re.IGNORECASE,
)
# Another number, a bound, or an operand of the number; not a Markdown quotation, a list, a tag or an arrow.
_OTHER_NUMBER = re.compile(
    r"(?:[0-9]\S*\s+(?:(?:[a-z]+\s+)?(?:or|to)|and|-|–|—)\s+|"
    r"(\b[A-Za-z]\w*)\s*=[^=]*[0-9]\S*\s+(?:[a-z]+\s+)?or\s+[$(]*\1\s*=\s*|"
    r"(?:\S[ \t]+[<>]|[<>!]=|[≤≥≠]|\\(?:[lg]t|[lg]eq?|neq?)(?![a-z])|(?:[0-9)]\s*|\w\s)[-−–+*×·÷/])\s*)"
    r"[\s$(]*\Z|[0-9],\s+\Z",
    re.IGNORECASE,
)
_ANNOTATION = re.compile(r"<<[^<>\n]*+>>")  # a calculator's, in GSM8K's demonstrations
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile("[0-9½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_FORMULA = re.compile(r"\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.)++)\$(?![0-9])|\\\((.+?)\\\)|\\\[(.+?)\\\]")
# The number of a list item, a step or a copyright line.
_LABEL = re.compile(
    r"^\s*(?:[0-9]{1,2}[.)](?=\s)|\([0-9]{1,2}\)(?=\s))|(?:©|copyright|\(c\))[^0-9\n]{0,20}[0-9]{4}|"
    r"\b(?:step|part|problem|question|exercise|example|section|chapter|figure|table|equation)s?\s+\(?[0-9]+\)?",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:需要|要不要)我|"
    r"\b(?:shall\s+i|should\s+i|would\s+you|do\s+you|can\s+i|may\s+i|let\s+me\s+know|feel\s+free|want\s+me\s+to|happy\s+to|"
    r"see\s+(?:also\s+)?(?:the\s+)?(?:step|part|problem|section|page|chapter|example)s?)\b",
)
_REFUSAL = re.compile(
    r"\b(?:(?:can|could|did|do|was|am)(?:\s?not|n't)|unable\s+to|failed\s+to)\s+(?:\w+\s+)?"
    r"(?:solve|finish|answer|determine|find|complete|compute|calculate|know|give|work\s+out|be\s+sure)|"
    r"\b(?:i\s+guess|my\s+guess|not\s+(?:\w+\s+)?sure|unsure|uncertain|no\s+idea|a\s+guess)\b|"
    r"不是|不等于|では(?:ありません|ない)|じゃない",
)
