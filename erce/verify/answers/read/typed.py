"""Answer as written → its typed value: a number, a set, an interval, a matrix, an equation, words …"""

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from erce.verify.answers.limits import MAX_ITEMS, TooLargeError, UnparsedError
from erce.verify.answers.read.brackets import depth_change, enclosed, split, split_at_sign
from erce.verify.answers.read.builders import (
    parse_builder,
    parse_family,
    with_integers,
    with_membership_signs,
    without_quantifier,
)
from erce.verify.answers.read.choices import parse_choice, parse_parts
from erce.verify.answers.read.congruences import parse_congruences, parse_parity
from erce.verify.answers.read.lexer import Token, goes_on, tokenize
from erce.verify.answers.read.listings import counted_things, listing, with_commas
from erce.verify.answers.read.matrices import parse_matrix, without_transpose
from erce.verify.answers.read.numerals import (
    join_digit_groups,
    numeral_in_base,
    scientific_number,
    with_power_of_ten,
)
from erce.verify.answers.read.relations import RELATIONS, parse_relation
from erce.verify.answers.read.scalar import parse_tokens
from erce.verify.answers.read.surface import compact
from erce.verify.answers.read.units import split_quantity, with_commas_between_quantities
from erce.verify.answers.read.vocabulary import CONJUNCTIONS, SHORT_UNITS
from erce.verify.answers.read.words import ALL_BUT, introduces, leading_words, ray, reals_without, words_value
from erce.verify.answers.tree import Tree, contains
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Clock,
    Listing,
    Named,
    Ratio,
    Record,
    Scalar,
    SetOperation,
    Words,
)

MAX_NESTING = 6  # sets of tuples of sets …
MAX_CACHED_CHARACTERS = 200


def parse_answer(text: str) -> Answer:
    r"""Return the typed value of a cleaned answer.

    `UnparsedError` if the text is no answer of a known type, `TooLargeError` beyond a limit.

    >>> parse_answer(r"(2, 5]").closing
    ']'
    >>> parse_answer("x = 5").name
    'x'
    """
    return _parse_cached(text) if len(text) <= MAX_CACHED_CHARACTERS else _parse_text(text)


@lru_cache(maxsize=2048)
def _parse_cached(text: str) -> Answer:
    return _parse_text(text)


_CLOCK = re.compile(
    r"([0-9]{1,2}):([0-9]{2})(?:\s?([ap])\.?\s?m)?\.?|([0-9]{1,2})\s?([ap])\.?\s?m\.?", re.IGNORECASE
)
_QUANTIFIERS = frozenset({"all", "for all", "any", "for any", "every", "all real", "for all real"})
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_APPROXIMATELY = ("about", "approximately", "or approximately", "or about", "which is approximately")
_FOR_WORDS = {"out of": Token("sign", "/"), **dict.fromkeys(_APPROXIMATELY, Token("command", "approx"))}
_TRAILING = frozenset({".", ",", ";", ":", "\\\\"})


def _parse_text(text: str) -> Answer:
    if ":" in text or text[:1].isdigit():
        clock = _CLOCK.fullmatch(compact(text)[:16])
        if clock:
            hours, minutes, half, whole_hours, its_half = clock.groups()
            return Clock(int(hours or whole_hours), int(minutes or 0), (half or its_half or "").casefold())
        if _DATE.fullmatch(compact(text)):
            return Words(compact(text))
    scientific = scientific_number(text)
    if scientific:
        return Scalar(scientific)
    tokens = tokenize(with_power_of_ten(text))
    if goes_on([token.text for token in tokens]):
        raise UnparsedError("a list that goes on")
    while tokens and tokens[-1].kind == "sign" and tokens[-1].text in _TRAILING:
        tokens.pop()
    words, rest = leading_words(tokens)
    if rest and introduces(words):
        tokens = rest[1:] if rest[0].is_sign(":", "=") else rest
    elif words in ("negative", "minus") and rest:
        tokens = [Token("sign", "-"), *rest]
    elif _say_nothing(words, rest):
        tokens = rest
    elif rest and rest[0].kind == "letter":
        tokens = with_integers(words, rest) or tokens
    tokens = [_FOR_WORDS.get(token.text, token) if token.kind == "word" else token for token in tokens]
    tokens = _with_plain_intervals(_with_words(without_quantifier(tokens)))
    return (
        parse_parts(tokens, lambda part: parse(part, 1))
        or parse_choice(tokens, lambda rest: parse(rest, 0))
        or parse(tokens, 0)
    )


def _say_nothing(words: str, rest: list[Token]) -> bool:
    """Return whether words say no more than what follows: "for all" before x > 2, "diverges to" before ∞."""
    if words.endswith("diverges to"):
        return {token.text for token in rest} <= {"+", "-", "infty"}
    return words in _QUANTIFIERS and any(token.text in RELATIONS for token in rest)


def _with_words(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with "or" for the \lor between two relations; p \lor q stays as it is."""
    if not any(token.text in CONJUNCTIONS for token in tokens):
        return tokens
    words = CONJUNCTIONS if any(token.text in RELATIONS for token in tokens) else {}
    return [Token("and", words[token.text]) if token.text in words else token for token in tokens]


def _with_plain_intervals(tokens: list[Token]) -> list[Token]:
    """Return the tokens with (a, b) for ]a, b[: a bracket that is turned away leaves its end out."""
    texts = [
        "",
        *(token.text for token in tokens if token.kind == "sign" or token.text in _SET_OPERATIONS),
        "",
    ]
    if not any(
        (text == "]" and before in _BEFORE_SET) or (before == "[" and text in _BEFORE_SET)
        for before, text in pairwise(texts)
    ):
        return tokens
    turned: list[Token] = []
    is_open = False
    for token in tokens:
        away = token.is_sign("[" if is_open else "]")
        turned.append(token._replace(text=")" if is_open else "(") if away else token)
        is_open ^= token.is_sign("[", "]", "(", ")")
    return turned


_SET_OPERATIONS = frozenset({"cup", "cap", "setminus"})
_BEFORE_SET = _SET_OPERATIONS | {""}


def parse(tokens: list[Token], nesting: int) -> Answer:
    """Return the typed value of these tokens, which are inside `nesting` others."""
    if nesting > MAX_NESTING:
        raise TooLargeError(f"more than {MAX_NESTING} levels of sets and tuples")
    if not tokens:
        raise UnparsedError("nothing where an answer should stand")
    if tokens[0].kind == "number" and len(tokens) == 1:
        return Scalar(parse_tokens(tokens))
    if "word" in (tokens[0].kind, tokens[-1].kind) and (parity := parse_parity(tokens)):
        return parity
    if tokens[0].kind == "word":
        if all(token.kind == "word" or token.text in _IN_WORDS for token in tokens) or _is_lettered(tokens):
            text = " ".join(token.text for token in tokens).casefold()
            return words_value(_BETWEEN_WORDS.sub(" ", text).strip())
        if all(token.kind in ("word", "and") or token.text == "-" for token in tokens):
            number = words_value(" ".join(token.text for token in tokens if token.text != "-").casefold())
            if isinstance(number, Scalar):
                return number  # one hundred and five
        described = _after_words(tokens, nesting)
        if described:
            return described
    tokens = join_digit_groups(tokens)
    return parse_congruences(tokens) or _several(tokens, nesting) or _single(tokens, nesting)


def _is_lettered(tokens: list[Token]) -> bool:
    """Return whether the tokens are words with letters: "store B", "no such n exists"; kg x is a product."""
    return {token.kind for token in tokens} == {"word", "letter"} and tokens[0].text not in SHORT_UNITS


_IN_WORDS = frozenset(".,-'")
_BETWEEN_WORDS = re.compile(r"[\s.,'-]+")


def _after_words(tokens: list[Token], nesting: int) -> Answer | None:
    """Read a set in words ("all real numbers except 3", "reals greater than 3"); None for other words."""
    words, rest = leading_words(tokens)
    if not rest:
        return None
    if ALL_BUT.fullmatch(words):
        return reals_without(parse(rest, nesting + 1))
    return ray(words, parse_tokens(rest)) if "real" in words else None


def _several(tokens: list[Token], nesting: int) -> Answer | None:
    """Return a list if the tokens have separators outside all brackets, else None."""
    tokens, joined = with_commas(with_membership_signs(with_commas_between_quantities(tokens)))
    if joined == "alternatives":
        parts, _ = split(tokens, lambda token: token.kind == "and")
        return Listing(tuple(parse(part, nesting + 1) for part in parts), "or")
    for sign in (";", ","):
        parts = split_at_sign(tokens, sign)
        if len(parts) > 1:
            if len(parts) > MAX_ITEMS:
                raise TooLargeError(f"a list of more than {MAX_ITEMS}")
            families = parse_family(parts, joined, lambda part: parse(part, nesting + 1))
            if families and len(families) == 1:
                return families[0]
            items = tuple(families or (parse(part, nesting + 1) for part in parts))
            return counted_things(items, parts) or listing(items, joined or sign)
    return None


def _single(tokens: list[Token], nesting: int) -> Answer:
    """Return one answer: a relation, an operation on sets, a bracket, a matrix, a ratio or an expression."""
    parts, signs = split(tokens, lambda token: token.text in RELATIONS and token.kind in ("sign", "command"))
    if signs:
        return parse_relation(parts, [sign.text for sign in signs], lambda side: parse(side, nesting + 1))
    if any(token.kind == "begin" for token in tokens) and not (enclosed(tokens) and tokens[0].text == "{"):
        return parse_matrix(tokens, lambda cell: parse(cell, nesting + 1))
    if _is_named_point(tokens):
        return Named(tokens[0].text, parse(tokens[1:], nesting + 1))
    if tokens[0].text == "emptyset" and len(tokens) == 1:
        return Listing((), "{")
    return (
        _set_operation(tokens, nesting)
        or _bracketed(tokens, nesting)
        or _ratio(tokens, nesting)
        or _quotient(tokens)
        or numeral_in_base(tokens)
        or _scaled(tokens, nesting)
        or _scalar(tokens)
    )


def _quotient(tokens: list[Token]) -> Bracketed | None:
    """Return 5 R 3 as quotient and remainder, else None."""
    tokens = [token for token in tokens if token.text not in ("{", "}")] if len(tokens) < 6 else []
    if [token.kind for token in tokens[::2]] != ["number"] * 2 or tokens[1].text not in _REMAINDERS:
        return None
    return Bracketed("R", tuple(Scalar(parse_tokens([token])) for token in tokens[::2]), "R")


_REMAINDERS = frozenset({"R", "r", "remainder", "rem", "with remainder", "with a remainder of"})


def _is_named_point(tokens: list[Token]) -> bool:
    """Return whether the tokens write a point as A(1, 2); F(1, 2) may be a value, N(0, 1) a distribution."""
    letter, bracket = tokens[0], tokens[1:]
    return (
        letter.kind == "letter"
        and letter.text.isupper()
        and letter.text not in "FGTNU"
        and enclosed(bracket)
        and bracket[0].text == "("
        and len(split_at_sign(bracket[1:-1], ",")) > 1
    )


def _scaled(tokens: list[Token], nesting: int) -> Bracketed | None:
    r"""Return the tuple that a number before it scales, as in \frac{1}{3}(1, 2, 2); f(1, 2) is none."""
    if not tokens[-1].is_sign(")", "⟩") or not any(token.text == "," for token in tokens):
        return None
    opening = {")": "(", "⟩": "⟨"}[tokens[-1].text]
    at = next((at for at, token in enumerate(tokens) if token.is_sign(opening) and enclosed(tokens[at:])), 0)
    point = _bracketed(tokens[at:], nesting) if at else None
    factor = tokens[: at - tokens[at - 1].is_sign("*", "×")]
    if not isinstance(point, Bracketed) or not _may_scale(factor):
        return None
    scale = ("num", -1) if len(factor) == 1 and factor[0].is_sign("-") else parse_tokens(factor)
    if contains(scale, "pm"):
        raise UnparsedError("a tuple with ±")
    entries = [item.tree for item in point.items if isinstance(item, Scalar)]
    if len(entries) < len(point.items):
        raise UnparsedError("a multiple of a tuple whose entries are no expressions")
    return replace(point, items=tuple(Scalar(("mul", (scale, entry))) for entry in entries))


def _may_scale(factor: list[Token]) -> bool:
    r"""Return whether the tokens before a bracket are a number: not f, \gcd, or the (2) of a cycle."""
    if not factor or enclosed(factor):
        return False
    function = factor[-1].kind == "command" and factor[-1].text != "pi"
    return not function and not any(token.kind == "letter" for token in factor)


def _ratio(tokens: list[Token], nesting: int) -> Ratio | None:
    parts = split_at_sign(tokens, ":")
    if len(parts) == 1:  # 3 to 4
        parts, _ = split(tokens, lambda token: token.kind == "word" and token.text == "to")
    return Ratio(tuple(parse(part, nesting + 1) for part in parts)) if len(parts) > 1 else None


def _set_operation(tokens: list[Token], nesting: int) -> Answer | None:
    """Return unions, intersections and differences outside all brackets, from left to right, else None."""
    parts: list[list[Token]] = [[]]
    operations: list[str] = []
    depth = 0
    for at, token in enumerate(tokens):
        depth += depth_change(token)
        minus = token.text == "-" and tokens[at + 1 : at + 2] and tokens[at + 1].text == "\\{"
        if depth == 0 and (minus or (token.kind == "command" and token.text in _SET_OPERATIONS)):
            operations.append("setminus" if minus else token.text)
            parts.append([])
        else:
            parts[-1].append(token)
    if not operations:
        return None
    if len(operations) > 30:
        raise TooLargeError("a union of more than 30 sets")
    first, *others = (parse(part, nesting + 1) for part in parts)
    for operation, other in zip(operations, others, strict=True):
        first = SetOperation(operation, first, other)
    return first


_GROUPING = frozenset({("(", ")"), ("[", "]"), ("{", "}")})


def _bracketed(tokens: list[Token], nesting: int) -> Answer | None:
    """Return a set, a tuple, an interval, or the one answer in brackets; None for part of an expression."""
    if tokens[0].text in ("(", "[", "⟨"):
        row = without_transpose(tokens)  # a point is a column
        if row is not tokens:
            column = _bracketed(row, nesting)
            return replace(column, opening="(", closing=")") if isinstance(column, Bracketed) else None
    if not enclosed(tokens):
        return None
    opening, closing, inner = tokens[0].text, tokens[-1].text, tokens[1:-1]
    if opening == "\\{" and closing == "\\}":
        return _set(inner, nesting)
    parts = split_at_sign(inner, ",")
    if len(parts) == 1:
        parts = split_at_sign(inner, ";")
    if len(parts) > MAX_ITEMS:
        raise TooLargeError(f"a tuple of more than {MAX_ITEMS}")
    if (opening, closing) == ("{", "}") and len(parts) > 1 and join_digit_groups(inner) == inner:
        return _set(inner, nesting)
    if len(parts) > 1 and opening != "{":
        return Bracketed(opening, tuple(parse(part, nesting + 1) for part in parts), closing)
    # Brackets deeper than answers nest can only belong to an expression.
    grouping = (opening, closing) in _GROUPING and nesting < MAX_NESTING
    return parse(inner, nesting + 1) if grouping else None


def _set(inner: list[Token], nesting: int) -> Answer:
    r"""Return the set in \{ \}: its members, or the head and conditions of \{x : x > 2\}."""
    if not inner:
        return Listing((), "{")
    builder = parse_builder(inner, lambda part: parse(part, nesting + 1))
    if builder:
        return builder
    members = _several(inner, nesting)
    if isinstance(members, Record | Listing):
        return Listing(members.items, "{")
    return Listing((parse(inner, nesting + 1),), "{")


def _scalar(tokens: list[Token]) -> Scalar:
    quantity = split_quantity(tokens)
    tree: Tree = parse_tokens(quantity.number)
    if quantity.scale != 1:
        tree = ("mul", (tree, ("num", quantity.scale)))
    return Scalar(tree, quantity.unit, quantity.percent, quantity.sense)
