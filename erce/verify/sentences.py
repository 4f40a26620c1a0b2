r"""What a sentence states as an answer, and what the sentences behind an answer make of it.

Texts come from `western`, so that their lower case has the same length; patterns of words are in lower case.
"""

import re
from typing import NamedTuple

from erce.verify.phrases import HEDGES

MAX_FOLLOWING_CHARACTERS = 2000  # behind an answer that may take it back


class Answer(NamedTuple):
    """What a completion gives as its answer, in its own words.

    `sentence` is the whole sentence that states the answer, "" for a box. `note` says which text stands
    beside its box, or which later sentence took it back. With `is_none` the words hold no answer.
    """

    text: str
    sentence: str = ""
    note: str = ""
    is_none: bool = False


def first_sentence(text: str) -> tuple[str, str]:
    """Return the answer at the start of a text without what cannot change it, and its whole sentence."""
    whole, text = text, _DECORATION.sub("", text, count=1)
    delimited = _DELIMITED.match(text)
    start = delimited.end() if delimited else 0
    sentence = _SENTENCE_END.split(text[start:].partition("\n")[0], maxsplit=1)[0]
    lowered = sentence.lower()
    harmless = _HARMLESS.search(lowered, 0 if delimited else 1)  # behind something
    changes = harmless and _CHANGES.search(lowered, harmless.start())
    kept = sentence[: harmless.start()] if harmless and not changes else sentence
    answer = text[:start]
    if answer.startswith("**") or not kept.strip(" .:;,*_"):
        answer = unwrapped(answer)
    return unwrapped(answer + kept), whole[: len(whole) - len(text) + start + len(sentence)]


def unwrapped(answer: str) -> str:
    """Remove emphasis, maths delimiters, emoji and a full stop that are around the whole answer."""
    answer = answer.strip() if answer.isascii() else _TRAILING_EMOJI.sub("", answer.strip())
    answer = answer.strip("*_`").strip().removesuffix(".")
    delimited = _DELIMITED.fullmatch(answer)
    return next(group for group in delimited.groups() if group is not None).strip() if delimited else answer


def settled(text: str, end: int, answer: Answer) -> Answer:
    """Return the answer that stands after the sentences behind it, which begin at `end`, are read.

    Each confirms it, takes it back, states another one, or says nothing about it; the last one that does not
    say nothing decides. Questions about it take it back; conditions ("if x were 2, …") say nothing.
    """
    following = text[end : end + MAX_FOLLOWING_CHARACTERS]
    if not _LETTER_OR_QUESTION.search(following):
        return answer
    all_lowered = following.lower()
    is_whole = answer.text.removeprefix("-").isdecimal()
    if beside := _HEDGE_BESIDE.match(all_lowered) or (is_whole and _OR_WHOLE.match(all_lowered)):
        hedge = following[: beside.end()]
        return answer._replace(text=answer.text + hedge, sentence=answer.sentence + hedge)
    signs = [sign for sign in _SIGNS if sign in all_lowered]
    taken_back, standing = "", answer
    for match in SENTENCE_AND_END.finditer(following) if signs else ():
        lowered = all_lowered[match.start() : match.end()].strip()
        has_sign = any(map(lowered.__contains__, signs))
        is_neutral = has_sign and (_CONDITION.search(lowered) or OFFER.search(lowered))
        if is_neutral and not _RECONSIDERS.match(lowered):
            continue
        sentence = match.group().strip()
        is_denied = has_sign and _denies(sentence, lowered, standing.text)
        value = _value_in(sentence, lowered, bool(taken_back) or is_denied) if has_sign else ""
        if value and HEDGES.search(value.lower()):
            taken_back = sentence if standing.text in value else taken_back
        elif value:
            if not _is_same(value, standing.text):
                standing = Answer(value, value, f"a later sentence: {sentence}")
            taken_back = ""
        elif is_denied:
            taken_back = following[: match.end()].rstrip(" .!\n")
        elif taken_back and _CONFIRMS.search(lowered):
            taken_back = ""
    if not taken_back:
        return standing
    note = f"taken back: {' '.join(taken_back.split())[-80:]}"
    return Answer(f"{standing.text}{taken_back}", note=note, is_none=True)


def _denies(sentence: str, lowered: str, answer: str) -> bool:
    """Return whether a sentence takes an answer back: "that is wrong", "not 7", "7 is wrong"."""
    name = rf"(?<![\w.−-]){re.escape(answer)}(?!\w|\.[0-9])[$)*\s]*+"
    named = answer in sentence and re.search(name, sentence)
    if named and (_NOT_BEFORE.search(lowered[: named.start()]) or IS_WRONG.match(lowered, named.end())):
        return True
    return _DENIES.search(lowered) is not None


def _value_in(sentence: str, lowered: str, is_denied: bool) -> str:
    """Return the value that a sentence states in the place of an answer, "" if it states none."""
    if "?" in sentence:
        return ""
    statement = _LATER_STATEMENT.search(lowered) or (is_denied and _IT_IS.search(lowered))
    instead = _INSTEAD.search(lowered) if "instead" in lowered else None
    value = first_sentence(sentence[statement.end() :])[0] if statement else ""
    value = sentence[slice(*instead.span(1))] if instead else value
    return value if _IS_VALUE.match(value) else ""


def _is_same(value: str, answer: str) -> bool:
    """Return whether a later statement repeats the answer: at its start, or as the end of a chain."""
    value, answer = (re.sub(r"[$*\s]|\\[()\[\],;! ]", "", one) for one in (value, answer))
    goes_on = re.match(r"[0-9.,/^+*-]*[0-9]|[-+*/^]", value[len(answer) :])
    return (value.startswith(answer) and not goes_on) or value.endswith(f"={answer}")


SENTENCE_AND_END = re.compile(r"[^.!?\n]*+(?:[.!?](?!\s|$)[^.!?\n]*+)*+(?:[.!?]+\s*|\n\s*|$)")
_LETTER_OR_QUESTION = re.compile(r"[^\W\d_]|\?")
_DELIMITED = re.compile(
    r"\s*+(?:\$\$([^$]++)\$\$|\$((?:[^$\\]|\\.)++)\$(?![0-9])|\\\(((?s:.+?))\\\)|\\\[((?s:.+?))\\\]|\*\*([^*]++)\*\*)"
)
# What may stand before an answer: space, emphasis that does not come in pairs, emoji, the bullet of a line,
# and connectives before a value, as in "total = 5", not in "simply connected".
_EMOJI = r"[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]"
_DECORATION = re.compile(
    rf"(?i)^(?:\n[ \t]*+[-–]\s|[\s:=`#]|\*\*(?=\s)|{_EMOJI}|(?:(?:so|thus|hence|then|therefore|"
    r"(?:in\s+)?total|altogether|simply|just|indeed|clearly|exactly|equal\s+to|given\s+by)\b[\s:=,]*+)++"
    r"(?![-–—]\s)(?=\*{0,2}[-−+$\\(\[.0-9]|[a-z]\b(?!\s+[a-z])))*+"
)
_TRAILING_EMOJI = re.compile(rf"(?:{_EMOJI}|\s)++\Z")
_SENTENCE_END = re.compile(r"\.(?=[\s*_]|$)|!(?=[*_\s]*(?:$|[A-Z]|[^\x00-\x7f]))|\s(?:(?<=\?\s)|\s*+I hope)")
_REASON = (
    r"\(?(?:which|so|because|since|as|where|hence|thus|therefore|in\s+(?:total|all)|altogether|total|rounded|"
    r"given\s+that|and\s+(?:that|this)\s+is\s+(?:the|our|my)|for\s+(?:all|any|every|each)|i\s+hope)\b"
)
_HARMLESS = re.compile(rf",\s*(?:not\s+(?=[-$\\(]*[0-9])|{_REASON})|(?<![^\s)])\s*{_REASON}")
_CHANGES = re.compile(  # after a harmless word
    r"\b(?:should\s+be|wait|rather|actually|instead|or|otherwise|minus|plus|doubt|cannot|impossible|wrong)\b|n't|"
    r"\btotal\s+[-$*]*[0-9]"
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
IS_WRONG = re.compile(_IS_WRONG_TEXT)  # behind a number
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|discard|disregard|reject)|n't(?:\s+be)?)\s+[$(\\*]*(?:[a-z]\s*=\s*)?\Z"
)
_NUMERAL_START = (
    r"[$(\\]*(?:[-−]?[0-9]|[dt]?frac|sqrt|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b)"
)
_HEDGE_BESIDE = re.compile(
    rf"{_CLOSING}(?:\?|,?\s*or[\s}}]+(?:(?:maybe|perhaps|possibly)\s+)?{_NUMERAL_START}[^.\n]{{0,40}}|"
    rf"\(?(?:wrong|incorrect)\b|(?:,?\s+which\s+)?{_IS_WRONG_TEXT})",
)
# 7 (or 8); but 0.5 (or 50%) and 90 (or 1.5 hours) are the same in another form.
_OR_WHOLE = re.compile(rf"{_CLOSING}\(or\s+(?:(?:maybe|perhaps|possibly)\s+)?[$\\(]*[-−]?[0-9]+[$\\)]*\)")
# The sentences behind an answer: conditions are neutral; the others state, deny, reconsider or confirm.
_CONDITION = re.compile(
    r"\A\W*(?:otherwise|suppose|supposing|assuming|had|unless|when)\b|\bif\b|"
    r"\A\W*(?:s?he|they)\s+could\s+have\s+[a-z](?!.*answer)"
)
_LATER_STATEMENT = re.compile(
    r"\b(?:it|that|this|answer|result|box|number|value|total)\s+(?:\w+\s+)?(?:should|must|ought\s+to)\s+"
    r"(?:\w+\s+)?(?:be|have\s+been|read|equal)\b:?"
    r"|\banswers?\s+(?:is|was|would\s+be|becomes|equals)\b(?:\s+(?:actually|really|now)\b)?:?"
    r"|\A\W*(?:(?:the|my)\s+)?(?:final\s+|correct\s+)?answers?[*\s]*:|\bcorrection\s*:(?=\W*[0-9])|"
    r"\bi\s+meant?\b|\bmake\s+(?:it|that)\b|答案(?:应该)?是|[应應][该該]是|正(?:しい答え|解)は",
)
_IT_IS = re.compile(r"\b(?:it|that)(?:\s+is|'s)\s+(?:actually\s+|really\s+)?(?=[-$\\(]*[0-9])")
_INSTEAD = re.compile(r"([-$\\(]*[0-9][^\s,;]*)[^.,;0-9]{0,20}\binstead\b")
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
    r"|\bno\s+(?:real\s+|valid\s+|integer\s+|such\s+)?solutions?\b(?:\s+exists?)?(?:\s+after\s+all)?\W*\Z"
    r"|\bi\s+(?:have\s+)?(?:made\s+an?\s+\w*\s?(?:mistake|error|slip)|forgot|misread|misse?d|miscounted|overlooked)"
    r"|\b(?:never\s+mind|scratch\s+that|disregard|start\s+over|not\s+sure|unsure|redo|recompute|recalculate|"
    r"try\s+again)\b"
    r"|\bis\s+(?:that|this|it)\s+(?:right|correct|true)\b[^.]*\?|(?<![没沒不])[错錯]|不[对對]|訂正|間違(?!い[はが]?(?:な|あり))",
)
_CONFIRMS = re.compile(
    r"(?<!not )\b(?:(?:is|are|was|looks|seems)\s+(?:indeed\s+|also\s+|still\s+)?"
    r"(?:correct|right|fine|true|valid|consistent)|"
    r"checks\s+out|works|matches|agrees?|holds|confirmed|verified|as\s+(?:required|expected|desired))\b"
    r"|\A\W*(?:yes|correct|right|good|great)\b|✓|正确",
)
# One of these is in each sentence that the patterns above find; a text without any is passed over at once.
_SIGN_LIST = (
    "answer|should|must|ought|correction|i mean|make it|make that|instead|wrong|incorrect|false|discard|"
    "error|mistake|reject|not |n't|impossible|contradict|no |no.|no:|forgot|misread|miss|overlook|mind|"
    "scratch|disregard|sure|redo|recomp|recalc|try again|start over|is it|is that|is this|wait|hmm|hang on|"
    "hold on|oops|sorry|actually|second thought|答案|应该|應該|正しい|正解|错|錯|不对|不對|訂正|間違"
)
_SIGNS = _SIGN_LIST.split("|")
OFFER = re.compile(
    r"(?:需要|要不要)我|"
    r"\b(?:shall\s+i|should\s+i|would\s+you|do\s+you|can\s+i|may\s+i|let\s+me\s+know|feel\s+free|want\s+me\s+to|happy\s+to|"
    r"see\s+(?:also\s+)?(?:the\s+)?(?:step|part|problem|section|page|chapter|example)s?)\b",
)
