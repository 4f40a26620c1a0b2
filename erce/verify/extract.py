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

from erce.errors import InputError
from erce.types import Completion
from erce.verify.boxes import BOX, answer_of, balanced, joined_boxes
from erce.verify.phrases import HEDGES, is_hedged_by, last_clause, numerals, plain, stands_alone, western
from erce.verify.sentences import (
    IS_WRONG,
    OFFER,
    SENTENCE_AND_END,
    Answer,
    first_sentence,
    settled,
    unwrapped,
)

MAX_ANSWER_CHARACTERS = 400  # that are read after the words that announce an answer
MAX_BESIDE_CHARACTERS = 60  # that are read before an answer
TRACES = (  # what reasoning models put around their thoughts
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
_WORDS_OF_TRACES = ("think", "thought", "reasoning")  # one of them is in each mark
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
    folded = text.casefold()
    if traces is TRACES and not [word for word in _WORDS_OF_TRACES if word in folded]:
        return text
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
    """
    text = western(strip_traces(text_of(completion), traces))
    boxes = list(BOX.finditer(text))
    marked = marked_line(text, marker) if marker else None
    if marked and boxes and marked.start <= boxes[-1].start() < marked.stop:
        marked = None  # the box on that line is read
    box = joined_boxes(text, boxes)
    if boxes and not box and not (marked and marker_first):
        return None
    statement = _last_statement(text, statements) if statements and not boxes else None
    above = boxes[-1] if boxes else statement
    if marked and (marker_first or above is None or marked.start >= above.start()):
        return _stated(text, marked.start, marked.start)
    if box:
        return answer_of(text, box)
    if statement is None:
        return last_number(text) if number and is_finished(completion) else None
    tagged = statement.groupdict().get("tagged")
    return _stated(text, *statement.span()) if tagged is None else Answer(unwrapped(tagged), tagged)


def _last_statement(text: str, statements: re.Pattern[str]) -> re.Match[str] | None:
    """Return the last statement of an answer, if possible one without "if" before it; None without any."""
    if "answer" not in text.casefold() and "答" not in text:  # which each statement has
        return None
    found = list(statements.finditer(text))
    certain = (
        one for one in reversed(found) if not _IF_BEFORE.search(text, max(0, one.start() - 60), one.start())
    )
    return next(certain, found[-1] if found else None)


def marked_line(text: str, marker: str = "####") -> slice | None:
    """Return where the line after the last `marker` stands; None without one.

    Headings with text below them are not such lines ("#### Step 3: add up").
    """
    end = len(text)
    while (at := text.rfind(marker, 0, end)) >= 0:
        section = text[at + len(marker) : end]
        line, _, below = section.lstrip().partition("\n")
        if not ((below.strip() or end < len(text)) and _HEADING.match(line)):
            start = at + len(marker)
            return slice(start, start + len(section) - len(section.lstrip()) + len(line))
        end = at
    return None


def last_number(text: str) -> Answer | None:
    """Return the last number of a text; None without one, or where its sentence hedges it.

    Offers of help are passed over, as are the numbers of steps, list items and copyright lines. Hedged is the
    number of a question, an example or a refusal, one after "not" or "than" in its clause, or after a sign
    like <, one that "or", "and", "to" or a comma joins to another, and one that the text takes back or leaves
    open ("3 +"). A number inside a larger expression stands for that expression.
    """
    sentences = list(SENTENCE_AND_END.finditer(_ANNOTATION.sub("", text)))
    for sentence in reversed(sentences):
        body = _LABEL.sub(lambda label: " " * len(label.group()), sentence.group())
        folded = body.casefold()
        if OFFER.search(folded):
            continue
        if _REFUSAL.search(folded):
            return None
        if _DIGIT.search(body):
            answer = None if "?" in body or _EXAMPLE.search(folded) else _number_of(body)
            return answer and settled(sentence.string, sentence.end(), answer)
    return None


def _number_of(sentence: str) -> Answer | None:
    """Return the last number of a sentence, or the side of a formula that it is in; None if it is hedged."""
    *_, formula = (None, *_FORMULA.finditer(sentence))
    *_, digit = _DIGIT.finditer(sentence)
    if formula and formula.start() < digit.start() < formula.end():
        side = re.split(r"(?<![<>!])=|\\approx", next(filter(None, formula.groups())))[-1]
        side = balanced(side, 0)
        if not side.strip():  # $3 + 4 =$
            return None
        before = sentence[: formula.end() - len(formula.group().rpartition(side)[2]) - len(side)]
        after, written = sentence[formula.end() :], side.strip(" .,;:")
        is_hedged = is_hedged_by(before)
    else:
        sentence = plain(sentence.rstrip().rstrip("!"))
        *_, last = (None, *numerals(sentence))
        if last is None or not last["whole"]:
            return None
        before, after, written = sentence[: last.start()], sentence[last.end() :], last.group().strip()
        is_hedged = not stands_alone(sentence, last)
    is_joined = _OTHER_NUMBER.search(before[-MAX_BESIDE_CHARACTERS:])
    is_hedged = is_hedged or is_joined or IS_WRONG.search(after.lower()) or _UNFINISHED.fullmatch(after)
    return None if is_hedged else Answer(written)


def _stated(text: str, announced: int, start: int) -> Answer:
    """Return the answer at `start`, announced by what begins at `announced`, with what hedges it."""
    written = text[start : start + MAX_ANSWER_CHARACTERS]
    answer, sentence = first_sentence(written)
    clause = last_clause(text[max(0, announced - MAX_BESIDE_CHARACTERS) : announced])
    before = f"{clause}{text[announced:start]} " if HEDGES.search(clause.lower()) else ""
    end = start + len(sentence)
    rest = text[end : start + MAX_ANSWER_CHARACTERS].partition("\n")[0]
    if rest and _DIGIT.search(_LABEL.sub("", rest)):
        sentence += rest
    return settled(text, end, Answer(before + answer, before + sentence))


_IF_BEFORE = re.compile(r"\b[Ii]f\b[^.?!\n]*\Z")
FINAL_ANSWER_IS = re.compile(r"final\s++answer\s++is\b(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?", re.IGNORECASE)
STATEMENT = re.compile(
    rf"<answer>(?P<tagged>.{{0,{MAX_ANSWER_CHARACTERS}}}?)</answer>"
    r"|^[^\w\n]{0,12}(?:the\s|my\s)?(?:(?:final|correct)\s)?answers?[^\w\n]{0,8}$"
    r"|\banswers?(?:\*\*|__|[`})])?\s{0,3}(?::(?:-\s)?|=(?!=))(?:(?:\*\*|__|[`})])(?=\s|$))?"
    r"|\banswers?\s++(?:(?:to|for|of)\s[^.:?!\n]{1,80}?\s)?"
    r"(?:is|are|was|would\s+be|will\s+be|should\s+be|must\s+be|equals|comes\s+out\s+(?:to\s+be|to|as))\b"
    r"(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?|答案(?:[是为為]|(?=:))|答え[はが]?",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
# Step 3: add; **3. Add up**; **All eggs**. But **18 eggs**, "x = 18", "none", "Wrong, I give up" are answers.
_HEADING = re.compile(
    r"(?:(?=[^\W\d_])|(?:[*_`]|(?!\w)[\u2300-\U0001faff]\s*)*+(?=(?:step|day|part)\b|[^\W\d_]{2}\D*\Z|"
    r"(?:[0-9]{1,2}|\(?[a-z])(?:\\?[.)]|\ufe0f?\u20e3)\s+\W*[^\W\d_]))"
    r"(?!.*\b(?:not?|none|never|wrong|incorrect|unknown|unclear|cannot|impossible|give up)\b)"
    r"(?!(?:[a-z ]{1,40}[:=≈]|(?:the )?(?:final )?answer(?: is)?|USD|EUR|GBP|INR|Rs\.?)[^\w\n]*"
    r"[0-9][0-9.,/%]*(?: [a-z]+s)?(?: left| in total| in all| altogether| total)?[^\w\n]*$)",
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
_EXAMPLE = re.compile(r"\bfor (?:example|instance)\b|\be\.g\.")
_UNFINISHED = re.compile(r"\s*[-−+*×·÷/=]\s*")  # of a text that breaks off
_ANNOTATION = re.compile(r"<<[^<>\n]*+>>")  # a calculator's, in GSM8K's demonstrations
_DIGIT = re.compile("[0-9½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_FORMULA = re.compile(
    r"\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.){1,400}+)\$(?![0-9])|\\[(\[]((?:[^\\\n]|\\[^()\[\]])++)\\[)\]]"
)
# The bullet or number of a list item, the number of a step or a copyright line.
_LABEL = re.compile(
    r"^\s*(?:[-–](?=\s)|[0-9]{1,2}[.)](?=\s)|\([0-9]{1,2}\)(?=\s))|(?:©|copyright|\(c\))[^0-9\n]{0,20}[0-9]{4}|"
    r"\b(?:step|part|problem|question|exercise|example|section|chapter|figure|table|equation)s?\s+\(?[0-9]+\)?",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:(?:can|could|did|do|was|am)(?:\s?not|n't)|unable\s+to|failed\s+to)\s+(?:\w+\s+)?"
    r"(?:solve|finish|answer|determine|find|complete|compute|calculate|know|give|work\s+out|be\s+sure)|"
    r"\b(?:i\s+guess|my\s+guess|not\s+(?:\w+\s+)?sure|unsure|uncertain|no\s+idea|a\s+guess)\b|"
    r"不是|不等于|では(?:ありません|ない)|じゃない",
)
