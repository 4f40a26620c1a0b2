r"""Completion → what it gives as its answer: the only reader of free text.

    strip_traces   the text outside a reasoning model's trace
    extract_answer   the last box, else what is stated as the answer, else perhaps the last number
    marked_line      the line after the last `####` that is not a heading
    extract_program  the program among fences and prose

A reader returns the answer's own words, up to a word that cannot change them. All others stay ("3, or 4",
"not 73", "73?", "5, but that is wrong"): whoever parses the answer then finds no value, or two that are not
one. A hedge is not an answer. Each takes time linear in the text.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from erce.errors import InputError
from erce.types import Completion

MAX_ANSWER_CHARACTERS = 400  # that are read after the words that announce an answer
MAX_UNBRACED_CHARACTERS = 200  # of an answer boxed without braces
MAX_BOXES = 50  # that are one answer
MAX_BESIDE_CHARACTERS = 60  # that are read before an answer, and between two boxes that belong together
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


def extract_answer(text: str, *, strict: bool = True, number: bool = False, marks: bool = True) -> str | None:
    r"""Return what the last box holds, else what follows the last "the final answer is"; None without either.

    Not strict, also what follows "Answer:", "the answer is", a line "Answer", or what `<answer>` holds,
    whichever comes last. With `number`, else the last number of the text (`last_number`).

    With `marks` a `####` line is an answer and replaces one above it. A box that never closes is not, and
    nothing replaces it. Emphasis and maths delimiters around the answer go, and a sentence is cut before a
    word that cannot change the answer ("which", "so", "in total"). Every other word stays, as do those that
    hedge the answer. The text has no reasoning trace (`strip_traces`).

    >>> extract_answer(r"\boxed{3}, no: \boxed{\{1, 2\}}."), extract_answer("The final answer is $5$, so …")
    ('\\{1, 2\\}', '5')
    >>> extract_answer("\\boxed{42}\n#### 41 or 43"), extract_answer("The final answer is 5, or 6.")
    ('41 or 43', '5, or 6')
    >>> [extract_answer(text, strict=False) for text in ("**Answer:** 5", "The answer is not 5.", "#### 5")]
    ['5', 'not 5', '5']
    """
    *_, box = (None, *_BOX.finditer(text))
    if box is not None:
        answer, start = boxed_answer(text), box.start()
        if answer is None:
            return None
    else:
        *_, statement = (None, *(_FINAL_ANSWER_IS if strict else _STATEMENT).finditer(text))
        answer = statement and _stated(text, statement)
        start = statement.start() if statement else 0
    marked = marked_line(text) if marks else None
    if marked is not None and marked.start >= start:
        return _answer_from(text, marked.start, marked.start)
    return last_number(text) if answer is None and number else answer


# Boxes


def boxed_answer(text: str) -> str | None:
    r"""Return the content of the last `\boxed{…}` or `\fbox{…}`; None without one, or if it does not close.

    Boxes that a comma, "and" or "or" joins are one answer of several values, with the words and names between
    them. Words beside a box that take it back ("not \boxed{7}", "\boxed{7}, but that is wrong", "\boxed{7}?")
    stay. A box without a brace, as in `$\boxed 7$`, holds the rest of the formula.

    >>> boxed_answer(r"\boxed{1}. No, $\boxed{2}$."), boxed_answer(r"$x=\boxed{2}$ and $y=\boxed{3}$")
    ('2', 'x=2 and y=3')
    """
    openings = list(_BOX.finditer(text))
    box = _box(text, openings.pop()) if openings else None
    if box is None:
        return None
    first, contents, joined = box, {box.content}, box.content
    for opening in reversed(openings[-MAX_BOXES:]):
        one = _box(text, opening)
        if one is None:
            break
        between = _DELIMITERS.sub(" ", text[one.end : first.start][: MAX_BESIDE_CHARACTERS + 1])
        if not (_JOINT.fullmatch(between) or _OR_BETWEEN.fullmatch(between)):
            break
        joined = f"{one.content}{between}{joined}"
        first = one
        contents.add(one.content)
    before = text[max(0, first.start - MAX_BESIDE_CHARACTERS) : first.start]
    answer = box.content
    if len(contents) > 1:
        name = _NAME_BEFORE.search(before)
        answer = f"{name.group() if name else ''}{' '.join(joined.split())}"
    negation = _NEGATION_BEFORE.search(before[-30:])
    return f"{negation.group() if negation else ''}{answer}{hedge_after(text, box.end)}"


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


def _box(text: str, opening: re.Match[str]) -> _Box | None:
    """Return the box that `_BOX` found; None if it does not close."""
    if not text.startswith("{", opening.end()):
        unbraced = _UNBRACED.match(text, opening.end())
        return _Box(opening.start(), unbraced.end(), unbraced.group()) if unbraced else None
    closing = matching_brace(text, opening.end())
    return _Box(opening.start(), closing + 1, text[opening.end() + 1 : closing]) if closing >= 0 else None


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


def last_number(text: str) -> str | None:
    """Return the last number of a text; None without one, or where its sentence hedges it.

    Hedged is the number of a question, one after "not", "than", "between" or another such word in its
    clause, one after a sign like <, one that "or", "and", "to" or a comma joins to another, and one that the
    text takes back. The last word with a digit must be a number.
    """
    text = _ANNOTATION.sub("", text)
    words = [word for word in _WORD.finditer(text) if _DIGIT.search(word.group())]
    if not words:
        return None
    last = words[-1]
    number = last.group().strip(_AROUND_NUMBERS).rstrip("$").rstrip(_AROUND_NUMBERS)
    before = text[max(0, last.start() - MAX_ANSWER_CHARACTERS) : last.start()]
    sentence = _SENTENCE_END.split(text[last.start() : last.start() + MAX_ANSWER_CHARACTERS], maxsplit=1)[0]
    is_hedged = (
        "?" in sentence.partition("\n")[0]
        or _HEDGE_OF_NUMBER.search(_CLAUSE_START.split(before)[-1])
        or _OTHER_NUMBER.search(before[-MAX_BESIDE_CHARACTERS:])
        or _BOUND.search(before[-MAX_BESIDE_CHARACTERS:])
        or hedge_after(text, last.end())
    )
    return number if _NUMERAL.fullmatch(number) and not is_hedged else None


def _stated(text: str, statement: re.Match[str]) -> str:
    if (tagged := statement.groupdict().get("tagged")) is not None:
        return _unwrapped(tagged)
    return _answer_from(text, *statement.span())


def _answer_from(text: str, announced: int, start: int) -> str:
    """Return the answer at `start`, announced by what begins at `announced`, with what hedges it."""
    answer = _first_sentence(text[start : start + MAX_ANSWER_CHARACTERS])
    clause = _CLAUSE_START.split(text[max(0, announced - MAX_BESIDE_CHARACTERS) : announced])[-1]
    before = f"{clause}{text[announced:start]} " if _HEDGE.search(clause) else ""
    return f"{before}{hedge_after(text, start).strip() or answer}"


def _first_sentence(text: str) -> str:
    """Return the answer at the start of a text, without decoration and without what cannot change it."""
    text = _DECORATION.sub("", text, count=1)
    delimited = _DELIMITED.match(text)
    start = delimited.end() if delimited else 0
    sentence = _SENTENCE_END.split(text[start:].partition("\n")[0], maxsplit=1)[0]
    kept = _HARMLESS.split(sentence, maxsplit=1)[0]
    if _CHANGES.search(sentence, len(kept)):
        kept = sentence
    answer = text[:start]
    if answer.startswith("**") or not kept.strip(" .:;,*_"):
        answer = _unwrapped(answer)
    return _unwrapped(answer + kept)


def _unwrapped(answer: str) -> str:
    """Remove emphasis, maths delimiters and a full stop that are around the whole answer."""
    answer = answer.strip().strip("*_`").strip().removesuffix(".")
    delimited = _DELIMITED.fullmatch(answer)
    return next(group for group in delimited.groups() if group is not None).strip() if delimited else answer


def hedge_after(text: str, end: int) -> str:
    """Return the words after an answer that ends at `end` if they take it back, else "".

    That is a question mark or "or 3" right after it, "is wrong" after it, "that is wrong" in its sentence or
    the next, and a next sentence that begins with "Wait" or the like.
    """
    text = text[end : end + MAX_ANSWER_CHARACTERS]
    if not text:
        return ""
    if beside := _HEDGE_BESIDE.match(text):
        return beside.group()
    two_sentences = "".join(_SENTENCE_AND_END.findall(text)[:2])
    retracted = _RETRACTED.search(two_sentences)
    return two_sentences[: retracted.end()] if retracted else ""


# Programs


def extract_program(text: str, entry_points: Iterable[str] = (), *, traces: Traces = TRACES) -> str:
    """Return the program in a text: of its blocks the last that defines an entry point, else the last.

    Blocks are fences of three or more backticks or tildes that name Python, else fences that name nothing,
    else runs of lines that look like code, from a `def`, `class`, `import` or decorator on. A fence that
    names anything else, such as an output, holds no program. Without block and fence the text is the
    program. A block that is indented as a whole is moved to the margin. A fence that never closes ends with
    the text. There is no program inside a reasoning trace.

    >>> extract_program("Sure:\\n```python3.11\\nx = 1\\n```\\nOutput:\\n```text\\n1\\n```")
    'x = 1'
    >>> extract_program("Here it is.\\ndef f():\\n    return 1\\n\\nThis returns 1.")
    'def f():\\n    return 1'
    """
    text = _BYTE_ORDER_MARK.sub("", strip_traces(text, traces))
    fences, prose = _fences(text)
    kinds = [
        [code for language, code in fences if _PYTHON.fullmatch(language)],
        [code for language, code in fences if not language],
        _runs_of_code(prose),
    ]
    wanted = set(entry_points)
    defining = [
        code for kind in kinds for code in reversed(kind) if wanted & set(_DEFINED_NAME.findall(code))
    ]
    any_block = [kind[-1] for kind in kinds if kind]
    return next(iter(defining + any_block), "" if fences else text)


def has_fence(text: str) -> bool:
    """Return whether a line of the text opens a fenced block."""
    return _FENCE.search(text) is not None


def _fences(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the language and the code of each fenced block, and the text outside all of them.

    A fence closes with at least as many of its characters, so that three backticks inside four are code. A
    block of Markdown or of no language that has blocks itself stands for these.
    """
    blocks: list[tuple[str, str]] = []
    inside: list[str] = []
    outside: list[str] = []
    mark, language = "", ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark and fence and fence["mark"].startswith(mark) and not fence["info"].strip():
            blocks += _blocks_of(language, inside)
            mark, inside = "", []
        elif mark:
            inside.append(line)
        elif fence and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            mark, words = fence["mark"], fence["info"].split()
            language = words[0].strip("{}.").lower() if words else ""
        else:
            outside.append(line)
    return blocks + (_blocks_of(language, inside) if mark else []), "\n".join(outside)


def _blocks_of(language: str, lines: list[str]) -> list[tuple[str, str]]:
    code = _at_the_margin("\n".join(lines))
    inner = _fences(code)[0] if language in ("", "markdown", "md") and _FENCE.search(code) else []
    return inner or [(language, code)]


def _at_the_margin(code: str) -> str:
    """Return the code without the indentation that all of its lines have."""
    return textwrap.dedent(code) if code.lstrip("\n")[:1] in (" ", "\t") else code


def _runs_of_code(text: str) -> list[str]:
    """Return the runs of lines that look like code, each from a line on that defines or imports something.

    A text in which every line looks like code is one run.
    """
    runs: list[list[str]] = []
    is_open, is_code, quotes = False, bool(text.strip()), ""  # quotes: of a string that has not ended
    text = _at_the_margin(text)
    for line in text.split("\n"):
        if not is_open and _DEFINES.match(line):
            runs.append([])
            is_open = True
        elif line.strip() and not quotes and not (_CODE.match(line) or _DEFINES.match(line)):
            is_open = is_code = False
        if is_open:
            runs[-1].append(line)
        for triple in _TRIPLE.findall(line):
            quotes = "" if quotes == triple else quotes or triple
    return [text] if is_code else ["\n".join(run).strip("\n") for run in runs]


_BOX = re.compile(r"\\(?:boxed|fbox)(?![^\W\d_])\s*+")  # not \boxedwith
_UNBRACED = re.compile(rf"[^$\n]{{1,{MAX_UNBRACED_CHARACTERS}}}?(?=\$|\n|\\\)|\\\]|\Z)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_DELIMITERS = re.compile(r"\\(?:text|mbox|textrm|textbf|mathrm|q?quad)(?![a-z])|\\[,;! ()\[\]]|[${}~*]")
_NAME = r"\\?[A-Za-z]+(?:_\w)?(?:\([a-z]\))?\s*+="
_NAME_BEFORE = re.compile(rf"{_NAME}\s*+\Z")
_OR_BETWEEN = re.compile(r"[^.?!\n]*?\bor\b(?!\s+rather)[^.?!\n]*")  # with words around it
_JOINT = re.compile(rf"\s*+(?:[,;]?\s*+(?:and|or)\b|[,;])\s*+(?:{_NAME}\s*+)?")
# What takes a box back, or makes another value of it, and stays before it: -, 1/, x ≠.
_NEGATION_BEFORE = re.compile(
    r"(?:not|Not|n't|never|Never|(?:cannot|can't|could)\s+be|(?:wrong|incorrect)\s+answer\s+is|"
    r"\\(?:neq?|not|times|cdot|div)|\\[dt]?frac(?:\{[^{}]*\})?\{?|"
    r"(?:less|more|fewer|greater|larger|smaller|higher|lower)\s+than)(?:\s+equal\s+to)?[\s$\\(\[*]*\Z|[-−/^]\Z"
)
# What may stand between an answer and the words after it.
_CLOSING = r"[$)\]}*_`\\\s]*+"
_RECONSIDERING = ("wait", "hmm", "hang on", "hold on", "oops", "sorry", "correction", "actually")
_IS_WRONG = (
    r"(?:(?:is|was|seems|looks|'s)\s+(?:[a-z]+\s+)?"
    r"(?:wrong|incorrect|false|mistaken|an?\s+(?:mistake|error)|not\s+(?:right|correct|it|true|the))"
    r"|(?:isn't|wasn't)(?=[.!])|(?:isn't|wasn't)\s+(?:right|correct|it|true|the))\b"
)
_NUMERAL_START = (
    r"[$(\\]*(?:[-−]?[0-9]|[dt]?frac|sqrt|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)"
)
_HEDGE_BESIDE = re.compile(
    rf"\^(?!\{{?\\circ)|\s*\\(?:pi|times|cdot)\b|{_CLOSING}(?:\?|,?\s*or\s+(?:maybe\s+|perhaps\s+)?{_NUMERAL_START}[^.\n]{{0,40}}|{_IS_WRONG})",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    rf"\b(?:that|this|it|which|answer)\s*{_IS_WRONG}|[.!?\n]\s*(?:(?:oh|but|no),?\s)?(?:{'|'.join(_RECONSIDERING)})\b",
    re.IGNORECASE,
)
_SENTENCE_AND_END = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))*+(?:[.!?]+\s*|\n\s*|$)")

_FINAL_ANSWER_IS = re.compile(r"final\s++answer\s++is\b(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?", re.IGNORECASE)
_STATEMENT = re.compile(
    rf"<answer>(?P<tagged>.{{0,{MAX_ANSWER_CHARACTERS}}}?)</answer>"
    r"|^[^\w\n]{0,12}(?:the\s|my\s)?(?:(?:final|correct)\s)?answers?[^\w\n]{0,8}$"
    r"|\banswers?(?:\*\*|__|[`})])?\s{0,3}(?::|=(?!=))(?:(?:\*\*|__|[`})])(?=\s|$))?"
    r"|\banswers?\s++(?:(?:to|for|of)\s[^.:?!\n]{1,80}?\s)?"
    r"(?:is|are|was|would\s+be|will\s+be|should\s+be|must\s+be|equals|comes\s+out\s+(?:to\s+be|to|as))\b"
    r"(?:\s+(?:therefore|thus|then|simply|just|indeed|clearly|exactly|equal\s+to|given\s+by)\b)?"
    r"(?:\*\*(?=[\s:]))?:?(?:\*\*(?=\s|$))?",
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
_DECORATION = re.compile(
    r"^(?:[\s:=`#]|\*\*(?=\s)|[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff])*+"
)
_DELIMITED = re.compile(
    r"\s*+(?:\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.)++)\$(?![0-9])|\\\(((?s:.+?))\\\)|\\\[((?s:.+?))\\\]|\*\*([^*]++)\*\*)"
)
_SENTENCE_END = re.compile(r"\.(?=[\s*_]|$)|(?<=\?)\s|\.?\s++I hope")
_CLAUSE_START = re.compile(r"[.?!:;,]\s|\n")
_HARMLESS = re.compile(
    r"(?:^|,|(?<=\s)|(?<=\)))\s*\(?\b(?:which|so|because|since|as|where|hence|thus|therefore|"
    r"in\s+(?:total|all)|altogether|total|rounded|given\s+that|and\s+(?:that|this)\s+is\s+(?:the|our|my)|"
    r"for\s+(?:all|any|every|each)|I\s+hope)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(  # after a harmless word
    r"\b(?:should\s+be|wait|rather|actually|instead|or|otherwise|minus|plus|doubt|cannot|impossible|wrong)\b|n't",
    re.IGNORECASE,
)
_HEDGES = r"not|never|unless|whether|maybe|perhaps|possibly|cannot|wrong|incorrect|impossible"
_HEDGE = re.compile(rf"\b(?:{_HEDGES}|if|doubt\w*|unlikely|suppos\w+|assum\w+)\b|n't", re.IGNORECASE)
_HEDGE_OF_NUMBER = re.compile(
    rf"\b(?:{_HEDGES}|neither|nor|either|than|between|least|most|almost|nearly|under|over|below|above|minus|"
    r"negative|(?:anything|all|nothing)\s+but|(?:could|might|may)\s+be)\b|n't",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"[0-9]\S*\s+(?:(?:[a-z]+\s+)?(?:or|to)|and|-|–|—)\s+[$(]*\Z|[0-9],\s+\Z", re.IGNORECASE
)
# A bound, or an operand of the number; not a Markdown quotation, a list, a tag or an arrow.
_BOUND = re.compile(
    r"(?:\S[ \t]+[<>]|[<>!]=|[≤≥≠]|\\(?:[lg]t|[lg]eq?|neq?)(?![a-z])|(?:[0-9)]\s*|\w\s)[-−–+*×·÷/])[\s$(]*\Z"
)
_ANNOTATION = re.compile(r"<<[^<>\n]*+>>")  # a calculator's, in GSM8K's demonstrations
_WORD, _DIGIT = re.compile(r"[^\s=]++"), re.compile("[0-9]")
_AROUND_NUMBERS = "*_`()[]{}.,;:!?\"'\\"
_NUMERAL = re.compile(r"[-+−]?[$€£¥₹]?[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?:/[0-9]++)?%?")

_FENCE = re.compile(r"^[ \t>]*+(?P<mark>`{3,}|~{3,})(?P<info>.*)$", re.MULTILINE)
_BYTE_ORDER_MARK = re.compile("^\ufeff", re.MULTILINE)
_PYTHON = re.compile(r"py(?:thon)?[0-9.]*|py3k?")
_DEFINED_NAME = re.compile(
    r"^[ \t]*+(?:(?:async\s++)?def\s++|class\s++|(?=\w++\s*+=[^=]))(\w++)", re.MULTILINE
)
_DEFINES = re.compile(r"(?:def|class|async\s+def|import|from\s+[\w.]+\s+import)\s|@\w")
# A line that goes on with code: indented, a statement, an assignment, a call, a comment, a closing bracket.
_CODE = re.compile(
    r"[ \t#)\]}@]|\"\"\"|'''|(?:def|class|async|import|from|if|elif|else|for|while|try|except|finally|with|"
    r"return|raise|assert|pass|del|global|print|lambda|yield|match|case)\b(?:.*[:(,=\\]|\s*+$|\s++\S++\s*+$)"
    r"|[\w.\[\]\"', ]++(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|[\w.]++\(",
)
_TRIPLE = re.compile(r"\"\"\"|'''")
