"""Cleaned answer → tokens, without wrappers and sizes; tokens → their parts outside all brackets."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from erce.verify.answers.limits import MAX_TOKENS, TooLargeError, UnparsedError
from erce.verify.answers.units import SHORT_UNITS
from erce.verify.answers.vocabulary import (
    DROPPED,
    FUNCTIONS,
    OPERATORS,
    PERCENT,
    PLAIN,
    SHORT_WORDS,
    SYNONYMS,
    WRAPPERS,
)


class Token(NamedTuple):
    r"""One piece of an answer.

    `kind` is "number" (digits, at most one point, no separators), "repeating" (`0.1\overline{36}`, kept as
    `0.1|36`), "letter" (one letter), "word" (several: a text, a unit), "and" (also for "or"), "command" (its
    name), "begin" and "end" (the environment's name), or "sign" (an operator or a bracket; `\\` separates
    rows). `spaced`: a space precedes the token. `plain`: a word that was written without a wrapper.
    """

    kind: str
    text: str
    spaced: bool = False
    plain: bool = False

    def is_sign(self, *texts: str) -> bool:
        return self.kind == "sign" and self.text in texts


END = Token("end of text", "")


def tokenize(text: str) -> list[Token]:
    r"""Return the tokens of a cleaned answer; `UnparsedError` for a character without meaning.

    >>> [token.text for token in tokenize(r"\dfrac{1}{2}\text{ cm}")]
    ['frac', '{', '1', '}', '{', '2', '}', 'cm']
    """
    tokens: list[Token] = []
    position, spaced, size = 0, False, len(text)
    has_rows = "\\begin" in text
    if "times" in text and _VECTORS.search(text):
        raise UnparsedError("a product of vectors")
    token_at = _TOKEN.match
    while position < size:
        match = token_at(text, position)
        if match is None or match.lastgroup is None:
            raise UnparsedError(f"the character {text[position]!r}")
        kind, position = match.lastgroup, match.end()
        if kind == "number":
            tokens.append(Token("number", match.group(), spaced))
        elif kind == "space":
            spaced = True
            continue
        elif kind == "rows" and not has_rows:
            # The answer was escaped once too often: \\frac{1}{2}.
            if text[position : position + 1].isalpha() or text.startswith(("{", "}"), position):
                position -= 1  # the second backslash begins the command
            continue
        else:
            position = _READERS[kind](tokens, match, spaced)
        spaced = False
        if len(tokens) > MAX_TOKENS:
            raise TooLargeError(f"more than {MAX_TOKENS} tokens")
    return tokens


_TOKEN = re.compile(
    r"""
      (?P<repeating>[0-9]*+\.[0-9]*+\\(?:overline|bar|dot)\s?\{?[0-9]++\}?)
    | (?P<grouped>[0-9]{1,3}(?:
        (?:\s?\{\s?,\s?\}(?:\s?\\!)*+\s?|(?:(?:\s|\\[ ,])*+,(?:\s?\\!)++|(?:\\!)++,)\s?|\\[!,])
        [0-9]{3})+(?![0-9])(?:\.[0-9]++)?+)
    | (?P<number>[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)
    | (?P<space>(?:\s|(?<!~)~(?!~)|\\[ ,;:>!/]|\{\s*+\})++)
    | (?P<rows>\\\\(?:\[-?[0-9.]++\s?(?:pt|em|ex|mm|cm|in|px)\])?+)
    | (?P<degree>\^\s*+(?:\{\s*+\\(?:circ|degree)\s*+\}|\\circ(?![A-Za-z])))
    | (?P<prime>\^\s*+(?:\{\s*+(?:\\prime\s*+)++\}|(?:\\prime(?![A-Za-z])\s*+)++))
    | (?P<environment>\\(?:begin|end)\s*+\{[A-Za-z]{1,20}\*?\})
    | (?P<ordinal>\^\s*+\{?\s*+\\(?:text|mathrm|textrm)\s*+\{\s*+(?:th|st|nd|rd)\s*+\}\s*+\}?
        |(?<=[0-9])\^\s*+\{\s*+(?:th|(?<=1\^\{)st|(?<=2\^\{)nd|(?<=3\^\{)rd)\s*+\})
    | (?P<colour>\\(?:text)?color\s*+\{[A-Za-z]*+\})
    | (?P<lone>\{\s*+[-+]\s*+\})
    | (?P<wrapped>\\([A-Za-z]++)\*?\s*+\{((?:[^{}\\$]|\\%)*+)\})
    | (?P<command>\\[A-Za-z]++\*?\s*+\.?)
    | (?P<escaped>\\.)
    | (?P<letters>[A-Za-z]++)
    | (?P<sign>\*\*|<=|>=|!=|==|[-+*/^_!(){}\[\]|,;:'=<>≤≥≠°%&.$"])
    """,
    re.VERBOSE | re.DOTALL,
)
_VECTORS = re.compile(
    r"\\(?:vec|overrightarrow|mathbf|boldsymbol|bm|nabla)(?![a-z])(?:.*\\times|(?<=\\times).*)"
)
_UPRIGHT = frozenset({"text", "textrm", "textnormal", "mathrm", "mbox", "hbox"})
_LETTER_UNIT = re.compile(r"[mgshlL](?:[/ ][a-z]{1,3})?(?:\^-?[123])?")
_LETTER_APART = re.compile(r"[ ~][A-Z]")
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")
_SHORT = SHORT_WORDS | SHORT_UNITS | PERCENT  # plain words, and not products of letters
_PREFIXES = sorted(PLAIN, key=len, reverse=True)
_SPELLINGS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "**": "^"}
_GROUPING = re.compile(r"[^0-9.]++")
_REPEATING = re.compile(r"\\[a-z]++\s?\{?")


def _repeating(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    tokens.append(Token("repeating", _REPEATING.sub("|", match.group().rstrip("}")), spaced))
    return match.end()


def _grouped(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    tokens.append(Token("number", _GROUPING.sub("", match.group()), spaced))
    return match.end()


def _fixed(kind: str, text: str, tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    tokens.append(Token(kind, text, spaced))
    return match.end()


def _primes(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    tokens.extend([Token("sign", "'", spaced)] * match.group().count("prime"))
    return match.end()


def _skip(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    return match.end()


def _lone(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    """Read a sign in braces of its own: {-}7."""
    tokens.append(Token("sign", match.group().strip("{} \t\n"), spaced))
    return match.end()


def _environment(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    command, _, name = match.group().partition("{")
    tokens.append(Token("begin" if "begin" in command else "end", name.rstrip("*}"), spaced))
    return match.end()


def _wrapped(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    r"""Read wrapped words as one token; skip a wrapper around mathematics, as in `\mathbf{5}`."""
    name, content = match.group(_NAME), match.group(_CONTENT)
    if name not in WRAPPERS:
        _named(tokens, name, spaced)
        return match.end(_NAME)
    words = " ".join(content.replace("~", " ").split()).strip(" .")
    if not words:  # \text{ }, \text{.}
        return match.end()
    if words in PERCENT:
        tokens.append(Token("sign", "%", spaced))
    elif words == ",":
        tokens.append(Token("sign", ",", spaced))
    elif words.casefold().strip(", ") in ("and", "or"):
        tokens.append(Token("and", words, spaced))
    elif words in FUNCTIONS:
        tokens.append(Token("command", words, spaced))
    elif (_TWO_LETTERS.search(words) and not words[0].isdigit()) or _is_unit(name, content, words, tokens):
        tokens.append(_word(words, spaced, plain=len(words) == 1))
    else:
        return match.start(_CONTENT) - 1
    return match.end()


def _is_unit(wrapper: str, content: str, words: str, tokens: list[Token]) -> bool:
    r"""Return whether `words` are a unit at this place, as in `5\text{ m}` and `5\text{ km}/\text{h}`."""
    if wrapper not in _UPRIGHT or not tokens:
        return False
    if tokens[-1].text == "°":
        return words in ("C", "F")
    if not _LETTER_UNIT.fullmatch(words) and not _LETTER_APART.match(content):
        return False
    if tokens[-1].text == "/":
        return any(token.kind == "word" for token in tokens)
    return tokens[-1].kind == "number" or tokens[-1].text in ("}", ")", "pi", "°")


def _command(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    name = match.group()[1:].rstrip(". \t\n*")
    if name not in FUNCTIONS and name[:-1] in FUNCTIONS:  # \cotx
        name = name[:-1]
    if name in ("left", "right") and match.group().endswith("."):
        return match.end()
    _named(tokens, name, spaced)
    return match.start() + 1 + len(name)


def _named(tokens: list[Token], name: str, spaced: bool) -> None:
    """Read the command `name` without its arguments."""
    name = SYNONYMS.get(name, name)
    if name in ("lor", "vee"):
        tokens.append(Token("and", "or", spaced))
    elif name in OPERATORS:
        tokens.append(Token("sign", OPERATORS[name], spaced))
    elif name not in DROPPED and name not in WRAPPERS:
        tokens.append(Token("command", name, spaced))


def _escaped(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    character = match.group()[1]
    if character in "()[]":  # \( and \] delimit mathematics
        return match.end()
    if character in "{}$":
        tokens.append(Token("sign", match.group(), spaced))
    elif character in "%&|_":
        tokens.append(Token("sign", "‖" if character == "|" else character, spaced))
    else:
        raise UnparsedError(f"the command {match.group()!r}")
    return match.end()


def _letters(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    """Read a run of letters: a function, a word or a unit, else a product of one-letter symbols."""
    run = match.group()
    if len(run) == 1 or (len(run) == 2 and tokens and tokens[-1].text == "frac"):  # \frac km
        tokens.extend(Token("letter", letter, spaced) for letter in run)
    elif run.casefold() in ("and", "or"):
        tokens.append(Token("and", run, spaced))
    elif run in PLAIN:
        tokens.append(Token("command", PLAIN[run], spaced))
    elif run.casefold() in _SHORT:
        tokens.append(_word(run, spaced, plain=True))
    else:
        prefix = next((prefix for prefix in _PREFIXES if run.startswith(prefix)), "")
        if prefix and len(run) - len(prefix) <= 2 and prefix not in ("inf", "oo", "Pi"):
            tokens.append(Token("command", PLAIN[prefix], spaced))
            tokens.extend(Token("letter", letter) for letter in run[len(prefix) :])
        elif len(run) > 3 or (len(run) == 3 and run.istitle()):
            tokens.append(_word(run, spaced, plain=True))
        else:
            tokens.append(Token("letter", run[0], spaced))
            tokens.extend(Token("letter", letter) for letter in run[1:])
    return match.end()


def _sign(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    sign = match.group()
    if sign not in '$"':
        tokens.append(Token("sign", _SPELLINGS.get(sign, sign), spaced))
    return match.end()


def _word(words: str, spaced: bool, *, plain: bool = False) -> Token:
    folded = words.casefold()
    if folded in PERCENT:
        return Token("sign", "%", spaced)
    return Token("word", words if plain else folded, spaced, plain)


_NAME, _CONTENT = _TOKEN.groupindex["wrapped"] + 1, _TOKEN.groupindex["wrapped"] + 2
_READERS = {
    "repeating": _repeating,
    "grouped": _grouped,
    "rows": partial(_fixed, "sign", "\\\\"),
    "degree": partial(_fixed, "sign", "°"),
    "prime": _primes,
    "environment": _environment,
    "ordinal": _skip,
    "colour": _skip,
    "lone": _lone,
    "wrapped": _wrapped,
    "command": _command,
    "escaped": _escaped,
    "letters": _letters,
    "sign": _sign,
}


OPENING = frozenset({"(", "[", "{", "\\{", "⟨"})
CLOSING = frozenset({")", "]", "}", "\\}", "⟩"})


def depth_change(token: Token) -> int:
    """Return 1 if the token opens a bracket or an environment, -1 if it closes one, else 0."""
    if token.kind == "sign":
        return (token.text in OPENING) - (token.text in CLOSING)
    return (token.kind == "begin") - (token.kind == "end")


def split(tokens: list[Token], separates: Callable[[Token], bool]) -> tuple[list[list[Token]], list[Token]]:
    """Split at the tokens outside all brackets that `separates` chooses; return parts and separators."""
    parts: list[list[Token]] = [[]]
    separators: list[Token] = []
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth == 0 and separates(token):
            separators.append(token)
            parts.append([])
        else:
            parts[-1].append(token)
    return parts, separators


def split_at_sign(tokens: list[Token], sign: str) -> list[list[Token]]:
    """Split at every occurrence of one sign outside all brackets."""
    return split(tokens, lambda token: token.is_sign(sign))[0]


def enclosed(tokens: list[Token]) -> bool:
    """Return whether the first token is a bracket that the last token closes."""
    if len(tokens) < 2 or depth_change(tokens[0]) != 1 or depth_change(tokens[-1]) != -1:
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += depth_change(token)
        if depth == 0:
            return False
    return depth == 1
