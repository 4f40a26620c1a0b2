r"""Answer as written → plain LaTeX (`clean`) → tokens (`tokenize`) → parts outside brackets (`split`).

Wrappers such as `\text`, sizes and spacing leave no token. What a command means stands in the tables.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from erce.verify.answers.limits import MAX_CHARACTERS, MAX_TOKENS, TooLargeError, UnparsedError
from erce.verify.answers.units import SHORT_UNITS

OPENING = frozenset({"(", "[", "{", "\\{", "⟨"})
CLOSING = frozenset({")", "]", "}", "\\}", "⟩"})
_SCIENTIFIC = re.compile(r"\A(-?[0-9]{1,40}(?:\.[0-9]{1,40})?)[eE]([+-]?[0-9]{1,3})(?=[\s\\~]|\Z)")
# A label, a colour and the number of an equation do not change the value.
_ORNAMENTS = re.compile(
    r"\A\s*(?:\\text\s*\{)?\s*(?:final )?answer(?: is)?\s*:\s*\}?|"
    r"\\(?:text)?color\s*\{[a-z]+\}|\\tag\*?\s*\{[^{}]*\}",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3})++(?![0-9/]| ?/|,)")
_BRACED_THOUSANDS = re.compile(r"(?<=[a-z^}\]])\{-?[0-9]{1,3}(?:,[0-9]{3})++(?=[^{},0-9]*\})")  # \sqrt{1,234}
_DOLLARS = re.compile(r"\A([^$]*+)(?<!\\)\$(?=\s?[0-9.][^$]*+\Z)")  # the one sign of $18
_EMPHASIS = re.compile(r"\A(\*\*?)([^*]++)\1\Z")
# Each character and the command that it stands for.
_COMMAND_TABLE = """
× times ÷ div √ sqrt π pi ∞ infty ∪ cup ∩ cap ∖ setminus ∅ emptyset ∈ in ± pm ∓ mp ≈ approx ∠ angle → to
… ldots θ theta α alpha β beta γ gamma δ delta ε epsilon φ phi ϕ phi λ lambda ω omega σ sigma μ mu µ mu
ρ rho τ tau ψ psi Δ Delta Ω Omega £ pounds € euro ¥ textyen ₹ rupee
"""
_COMMANDS = _COMMAND_TABLE.split()
_CHARACTERS = {
    **{character: f"\\{name} " for character, name in zip(_COMMANDS[::2], _COMMANDS[1::2], strict=True)},
    **dict.fromkeys("−–—‐‑﹣－", "-"),
    **dict.fromkeys("·∙⋅∗", "*"),
    **dict.fromkeys("’′‘", "'"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("\u00a0\u2002\u2003\u3000", " "),
    **dict.fromkeys("\u2009\u202f", "\\,"),
    **{character: f"\\mathbb{{{letter}}}" for character, letter in zip("ℝℤℚℕ", "RZQN", strict=True)},
    **{"¢": "\\text{ cents}", "º": "°", "⁄": "/"},
}
_KEPT = frozenset("≤≥≠°")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]++")
PERCENT = frozenset({"percent", "percentage", "pct", "per cent", "%", "\\%"})
_TOKEN = re.compile(
    r"""
      (?P<repeating>[0-9]*+\.[0-9]*+\\(?:overline|bar|dot)\s?\{?[0-9]++\}?)
    | (?P<grouped>[0-9]{1,3}(?:
        (?:\s?\{\s?,\s?\}(?:\s?\\!)*+\s?|(?:(?:\s|\\[ ,])*+,(?:\s?\\!)++|(?:\\!)++,)\s?|\\[!,])
        [0-9]{3})+(?![0-9])(?:\.[0-9]++)?+)
    | (?P<number>[0-9]++(?:\.[0-9]++)?+|\.[0-9]++)
    | (?P<space>(?:\s|(?<!~)(?!\A~[0-9$.])~(?!~)|\\[ ,;:>!/]|\{\s*+\}
        |\\[hv]?phantom(?![a-z])\s*+(?:\{[^{}]*+\}|[^\\{\s]))++)
    | (?P<rows>\\\\(?:\[-?[0-9.]++\s?(?:pt|em|ex|mm|cm|in|px)\])?+)
    | (?P<degree>\^\s*+(?:\{\s*+\\(?:circ|degree)\s*+\}|\\circ(?![A-Za-z])))
    | (?P<wrapped>\\(?P<name>[A-Za-z]++)\*?\s*+\{(?P<content>(?:[^{}\\$]|\\%)*+)\})
    | (?P<command>\\[A-Za-z]++)\*?
    | (?P<escaped>\\.)
    | (?P<letters>[A-Za-z]++)
    | (?P<counter>[\u4e00-\u9fff])
    | (?P<sign>\*\*|<=|>=|!=|==|[-+*/^_!(){}\[\]|,;:'=<>≤≥≠°%&.$"])
    """,
    re.VERBOSE | re.DOTALL,
)
_VECTORS = re.compile(
    r"\\(?:vec|overrightarrow|mathbf|boldsymbol|bm|nabla)(?![a-z])(?:.*\\times|(?<=\\times).*)"
)
_LETTER_UNIT = re.compile(r"[mgshlL](?:[/ ][a-z]{1,3})?(?:\^-?[123])?")
_NOT_NUMBER = re.compile(r"(?![-.$\\]*[0-9]).*?(?:[A-Za-z]{2}|[\u4e00-\u9fff])", re.DOTALL)  # not 7 km
_SPELLINGS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "**": "^"}
_GROUPING = re.compile(r"[^0-9.]++")
_REPEATING = re.compile(r"\\[a-z]++\s?\{?")
_NUMERALS: dict[str, tuple[str, Callable[[str], str]]] = {
    "number": ("number", str),
    "counter": ("word", str),  # of Chinese and Japanese: 15 支
    "grouped": ("number", lambda text: _GROUPING.sub("", text)),
    "repeating": ("number", lambda text: _REPEATING.sub("|", text.rstrip("}"))),
}
_FIXED = {"rows": "\\\\", "degree": "°"}


class Token(NamedTuple):
    r"""One piece of an answer.

    `kind` is "number" (digits, at most one point, no separators; `0.1\overline{36}` is `0.1|36`), "letter"
    (one letter), "word" (several: a text, a unit), "and" (also for "or"), "command" (its name), "begin" and
    "end" (the environment's name), or "sign" (an operator or a bracket; `\\` separates rows). `spaced`: a
    space precedes the token.
    """

    kind: str
    text: str
    spaced: bool = False

    def is_sign(self, *texts: str) -> bool:
        return self.kind == "sign" and self.text in texts


END = Token("end of text", "")


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
    """Return whether the first token is a bracket, or begins an environment, that the last token closes."""
    if len(tokens) < 2 or depth_change(tokens[0]) != 1 or depth_change(tokens[-1]) != -1:
        return False
    depth = 0
    for token in tokens[:-1]:
        depth += depth_change(token)
        if depth == 0:
            return False
    return depth == 1


def clean(text: str) -> str:
    r"""Return the text with Unicode mathematics as LaTeX, without Markdown and invisible characters."""
    if len(text) > MAX_CHARACTERS:
        raise TooLargeError(f"{len(text)} characters")
    text = text.strip()
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda run: "^{" + run.group().translate(_SUPERSCRIPTS) + "}", text)
        text = "".join(letter if letter.isascii() else as_latex(letter) for letter in text)
    text = _ORNAMENTS.sub("", text)
    text = _SCIENTIFIC.sub(lambda number: f"{number[1]}*10^{{{int(number[2])}}}", text)
    if "$" in text:
        text = re.sub(r"(?<=[0-9])[kK]\s*\Z", " thousand", text)  # $100k
        text = _DOLLARS.sub(r"\1\\$", text)
    if " " in text:
        text = _THOUSANDS.sub(lambda number: number.group().replace(" ", ""), text)
    text = _BRACED_THOUSANDS.sub(lambda group: group.group().replace(",", ""), text)
    text = _EMPHASIS.sub(r"\2", text).strip("` \n")
    return text[:-1] if text.endswith("\\") and not text.endswith("\\\\") else text


def as_latex(character: str) -> str:
    r"""Return LaTeX or ASCII for a character, \pi for π and a hyphen for a dash; all others as they are."""
    if character in _KEPT or character in _CHARACTERS:
        return _CHARACTERS.get(character, character)
    if unicodedata.category(character) == "Cf":  # invisible
        return ""
    plain = unicodedata.normalize("NFKC", character)
    if "⁄" in plain:  # ½
        return "\\frac{" + plain.replace("⁄", "}{") + "}"
    return plain if "！" <= character <= "～" else character


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _named(table: str) -> dict[str, str]:
    """Return name → meaning of a table whose entries have a meaning and its names."""
    rows = (entry.split() for entry in table.split(";"))
    return {name: meaning for meaning, *names in rows for name in names}


FUNCTIONS = _words("cis sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh ln log exp abs")
TRIGONOMETRIC = _words("cis sin cos tan cot sec csc")
GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma "
    "tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar"
)
ACCENTS = _words("overline vec hat bar tilde mathbb widehat overrightarrow angle triangle measuredangle")
# Commands that end a factor; all others begin one.
INFIX = _words(
    "pm mp cup cap in not setminus approx equiv sim cong to mapsto mod bmod pmod over choose ldots "
    "rfloor rceil implies Rightarrow rightarrow perp parallel land lor wedge vee subset subseteq"
)
# Plain words that stand for a command: sqrt(3), 2pi.
_PLAIN = FUNCTIONS | _words("sqrt pi infty infinity inf oo theta alpha beta lambda asin acos atan")
# Plain runs of letters that are words, and not products of letters.
_SHORT = _words("no on to yes odd all not any one two six ten") | SHORT_UNITS | PERCENT
# Commands that do not change the value.
_DROPPED = _words(
    "displaystyle textstyle scriptstyle limits nolimits large Large LARGE huge Huge small normalsize "
    "big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr left right middle rm bf "
    "it boxed fbox tiny scriptsize footnotesize quad qquad thinspace enspace space hfill therefore"
)
# Commands around words or mathematics that do not change the meaning.
_WRAPPERS = _words(
    "text textbf textit textrm textnormal textsf texttt textup mbox hbox mathrm mathbf mathit mathsf mathtt "
    "mathcal mathnormal boldsymbol bm bold operatorname emph underline mathop mathord"
)
# Commands with an operator's meaning, and other spellings of a command: what is meant, then its names.
_OPERATORS = _named(
    r"* cdot ast; × times; / div; < lt; > gt; ≤ le leq leqslant leqq; ≥ ge geq geqslant geqq; ≠ ne neq; "
    r"| mid vert lvert rvert; : colon; \{ lbrace; \} rbrace; [ lbrack; ] rbrack; ( lparen; ) rparen; "
    r"' prime; ° degree deg; % percent; € euro; £ pounds; ¥ textyen; ₹ rupee; ⟨ langle; ⟩ rangle; "
    r"\\ cr newline"
)
_SYNONYMS = _named(
    "phi varphi; epsilon varepsilon; theta vartheta; frac dfrac tfrac cfrac; binom dbinom tbinom; "
    "ldots dots dotsc cdots dotsb vdots; emptyset varnothing; setminus backslash; i imath; log lg; "
    "infty infinity inf oo; arcsin asin; arccos acos; arctan atan; "
    "not notin; mod pmod bmod; overline bar; vec overrightarrow; hat widehat; to rightarrow longrightarrow; "
    "cup bigcup; cap bigcap"
)


def tokenize(text: str) -> list[Token]:
    r"""Return the tokens of a cleaned answer; `UnparsedError` for a character without meaning.

    >>> [token.text for token in tokenize(r"\dfrac{1}{2}\text{ cm}")]
    ['frac', '{', '1', '}', '{', '2', '}', 'cm']
    """
    tokens: list[Token] = []
    position, spaced, has_rows = 0, False, "\\begin" in text
    if "times" in text and _VECTORS.search(text):
        raise UnparsedError("a product of vectors")
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise UnparsedError(f"the character {text[position]!r}")
        kind, position = match.lastgroup, match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "rows" and not has_rows:
            # The answer was escaped once too often: \\frac{1}{2}.
            if text[position : position + 1].isalpha() or text.startswith(("{", "}"), position):
                position -= 1  # the second backslash begins the command
            continue
        if kind == "wrapped":
            position = _read_wrapped(tokens, match, spaced)
        elif kind == "command":
            position = _read_command(tokens, match.start() + 1, match.group()[1:], spaced)
        elif kind == "letters":
            _read_letters(tokens, match.group(), spaced)
        elif kind in _NUMERALS:
            kind, text_of = _NUMERALS[kind]
            tokens.append(Token(kind, text_of(match.group()), spaced))
        elif sign := _sign(kind, match.group()):
            tokens.append(Token("sign", sign, spaced))
        spaced = False
        if len(tokens) > MAX_TOKENS:
            raise TooLargeError(f"more than {MAX_TOKENS} tokens")
    return tokens


_UPRIGHT = _words("text textrm textnormal mathrm mbox hbox")


def _sign(kind: str, text: str) -> str:
    """Return the sign that the tokenizer's match stands for; "" if the match only delimits."""
    if kind == "sign":
        return "" if text in '$"' else _SPELLINGS.get(text, text)
    if kind in _FIXED:
        return _FIXED[kind]
    if text[1] in "()[]":  # \( and \] delimit mathematics
        return ""
    if text[1] not in "{}$%&|_":
        raise UnparsedError(f"the command {text!r}")
    return text if text[1] in "{}$" else "‖" if text[1] == "|" else text[1]


def _read_wrapped(tokens: list[Token], match: re.Match[str], spaced: bool) -> int:
    r"""Read wrapped words as one token; skip a wrapper around mathematics, as in `\mathbf{5}`."""
    name, content = match["name"], match["content"]
    if name in ("begin", "end"):
        tokens.append(Token(name, content.rstrip("*"), spaced))
        return match.end()
    if name not in _WRAPPERS:
        return _read_command(tokens, match.start("name"), name, spaced)
    words = " ".join(content.replace("~", " ").split()).strip(" .")
    if words == "," or words in PERCENT:
        tokens.append(Token("sign", "%" if words != "," else ",", spaced))
    elif words.casefold().strip(", ") in ("and", "or"):
        tokens.append(Token("and", words, spaced))
    elif words in FUNCTIONS:
        tokens.append(Token("command", words, spaced))
    elif _NOT_NUMBER.match(words) or _is_unit(name, words, tokens):
        tokens.append(_word(words, spaced))
    elif words:
        return match.start("content") - 1
    return match.end()


def _is_unit(wrapper: str, words: str, tokens: list[Token]) -> bool:
    r"""Return whether `words` are a unit at this place, as in `5\text{ m}` and `5\text{ km}/\text{h}`."""
    if wrapper not in _UPRIGHT or not tokens:
        return False
    if tokens[-1].text == "°":
        return words in ("C", "F")
    if not _LETTER_UNIT.fullmatch(words):
        return False
    if tokens[-1].text == "/":
        return any(token.kind == "word" for token in tokens)
    return tokens[-1].kind == "number" or tokens[-1].text in ("}", ")", "pi", "°")


def _read_command(tokens: list[Token], start: int, name: str, spaced: bool) -> int:
    """Read the command that begins at `start`, without its arguments; return where it ends."""
    if name not in FUNCTIONS and name[:-1] in FUNCTIONS:  # \cotx
        name = name[:-1]
    meaning = _SYNONYMS.get(name, name)
    if meaning in _OPERATORS:
        tokens.append(Token("sign", _OPERATORS[meaning], spaced))
    elif meaning not in _DROPPED and meaning not in _WRAPPERS:
        tokens.append(Token("command", meaning, spaced))
    return start + len(name)


def _read_letters(tokens: list[Token], run: str, spaced: bool) -> None:
    """Read a run of letters: a function, a word or a unit, else a product of one-letter symbols."""
    is_word = run.casefold() in _SHORT and not (tokens and tokens[-1].text == "frac")  # \frac km
    if run.casefold() in ("and", "or"):
        tokens.append(Token("and", run, spaced))
    elif run in _PLAIN:
        tokens.append(Token("command", _SYNONYMS.get(run, run), spaced))
    elif is_word or len(run) > 3 or (len(run) == 3 and run.istitle()):
        tokens.append(_word(run, spaced))
    else:
        tokens.append(Token("letter", run[0], spaced))
        tokens.extend(Token("letter", letter) for letter in run[1:])


def _word(words: str, spaced: bool) -> Token:
    if words.casefold() in PERCENT:
        return Token("sign", "%", spaced)
    return Token("word", words.casefold() if len(words) > 1 else words, spaced)
