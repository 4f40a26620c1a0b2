r"""Tokens of \{2k : k \in \mathbb{Z}\} or 2k, k \in \mathbb{Z} → a set: its head, domains and conditions."""

import re
from collections.abc import Callable
from dataclasses import replace

from erce.verify.answers.limits import MAX_ITEMS, UnparsedError
from erce.verify.answers.read.brackets import enclosed, split
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.relations import RELATIONS
from erce.verify.answers.read.variables import name_of, names_of
from erce.verify.answers.tree import names
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Inequality,
    Listing,
    Named,
    Record,
    Scalar,
    SetBuilder,
)

Parse = Callable[[list[Token]], Answer]


def parse_builder(inner: list[Token], parse: Parse) -> SetBuilder | None:
    r"""Return the set whose head and conditions stand between \{ and \}; None for a list of members."""
    signs = [token.text for token in inner if token.kind == "sign"]
    separator = ":" if ":" in signs else "|"
    parts, bars = split(inner, lambda token: token.is_sign(separator))
    if not bars or not parts[0]:
        return None
    head, tail = parts[0], inner[len(parts[0]) + 1 :]
    if not any(token.text in RELATIONS for token in tail):
        return None
    member = _membership(head, parse)
    domains, conditions = _domains_and_conditions(tail, parse)
    if member:
        return SetBuilder(Scalar(("sym", member[0])), (member, *domains), conditions)
    members = _memberships(head, parse)
    if members:
        names_in_head = tuple(Scalar(("sym", name)) for name, _ in members)
        return SetBuilder(Bracketed("(", names_in_head, ")"), (*members, *domains), conditions)
    value = parse(head)
    if isinstance(value, Inequality) and value.name:  # \{x > 0 : x ≠ 1\}
        return SetBuilder(Scalar(("sym", value.name)), domains, (value, *conditions))
    return SetBuilder(value, domains, conditions)


def parse_family(parts: list[list[Token]], joined: str, parse: Parse) -> list[Answer] | None:
    r"""Return the sets that 2k, 2k + 1, k \in \mathbb{Z} or 2k, k = 0, 1, 2 write; None without that end.

    The names of inequalities may also stand first: x \in \mathbb{Z}, 1 < x < 4.
    """
    if len(parts) == 2 and any(token.text == "in" for token in parts[0]):
        parts = parts[::-1]
    parts, listed = _without_listed_index(parts, parse)
    member = listed or (_membership(parts[-1], parse) if len(parts) > 1 else None)
    if member is None:
        return _bounded_family(parts, parse)
    if not (listed or _is_numbers(member[1])):
        return None
    items = [parse(part) for part in (parts if listed else parts[:-1])]
    if all(isinstance(item, Inequality) for item in items):  # 1 < x < 4, x ∈ ℤ
        conditions = (Listing(tuple(items), "or"),) if joined == "or" and len(items) > 1 else tuple(items)
        return [SetBuilder(Scalar(("sym", member[0])), (member,), conditions)]
    families = [_family(item, member) for item in items]
    return None if None in families else [family for family in families if family is not None]


def _without_listed_index(
    parts: list[list[Token]], parse: Parse
) -> tuple[list[list[Token]], tuple[str, Answer] | None]:
    """Return the parts before k = 0, 1, 2 at their end, and k with {0, 1, 2}; else all parts and None."""
    at = next((at for at in range(len(parts) - 1, 0, -1) if len(parts[at]) > 1), len(parts))
    numbers = _written_out([token for part in parts[at:] for token in part[-1:]])
    if len(numbers) < 2 or any(token.kind != "number" for token in numbers):
        return parts, None
    first = parts[at]
    if len(first) != 3 or first[0].text not in _INDICES or not first[1].is_sign("="):
        return parts, None
    return parts[:at], (first[0].text, Listing(tuple(parse([token]) for token in numbers), "{"))


def _written_out(numbers: list[Token]) -> list[Token]:
    """Return 0, 1, 2, 3, 4 for 0, 1, ..., 4."""
    *start, one, other, dots, last = [_COMMA] * 4 + numbers
    if dots.text != "ldots" or not all(token.text.isdigit() for token in (one, other, last)):
        return numbers
    if int(other.text) != int(one.text) + 1 or not 0 < int(last.text) - int(other.text) < MAX_ITEMS:
        return numbers
    rest = range(int(other.text) + 1, int(last.text) + 1)
    return [*start[4:], one, other, *(Token("number", str(value)) for value in rest)]


def with_membership_signs(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with ", k \in \mathbb{Z}" for words such as "where k is an integer"."""
    if not any(_begins_condition(tokens, at) for at in range(1, len(tokens))):
        return tokens
    tokens = _without_last_bracket(tokens)
    written, waiting = tokens[:1], False  # waiting: "for any integer" stands before the next name
    for token in tokens[1:]:
        before = _FOR_INTEGERS.fullmatch(token.text) if token.kind == "word" else None
        after = _ARE_INTEGERS.fullmatch(token.text) if token.kind == "word" else None
        stated = before or after
        name = stated.group(1) if stated else None
        if name:
            written += [*_comma_after(written), Token("letter", name), *_IN_INTEGERS]
        elif after and not before and written[-1].kind == "letter":
            written += _IN_INTEGERS
        elif before or (token.kind == "word" and token.text in _INTRODUCING):
            written += _comma_after(written)
        else:
            written += [token, *_IN_INTEGERS] if waiting and token.kind == "letter" else [token]
        waiting = before is not None and not name
    return written


def with_integers(words: str, rest: list[Token]) -> list[Token] | None:
    r"""Return n \ge 3, n \in \mathbb{Z} for "all integers" before n \ge 3; None for other words or tokens."""
    stated = _ALL_INTEGERS.fullmatch(words)
    if stated is None or len(rest) < 3 or rest[1].text not in _BOUNDS:
        return None
    if rest[1].text == "equiv" and not stated[1]:
        return rest
    return [*rest, _COMMA, rest[0], *_IN_INTEGERS, *(_POSITIVE if stated[1] else [])]


def without_quantifier(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens without "for all real x", "for some constant c" … at their end."""
    tokens = _without_declared_constants(tokens)
    start = next(
        (at for at, token in enumerate(tokens) if token.text.startswith(("for ", "forall", "where"))), 0
    )
    start = start or next((at for at, token in enumerate(tokens) if token.text == "for"), 0)
    stated = " ".join(token.text for token in tokens[start:] if token.text not in ("{", "}"))
    if not start or not _FOR_ALL_REALS.fullmatch(stated):
        return tokens
    return tokens[: start - tokens[start - 1].is_sign(",")]


def _without_declared_constants(tokens: list[Token]) -> list[Token]:
    r"""Return f(x) = cx for f(x) = cx, c \in \mathbb{R}: constants of a function are any real numbers."""
    if len(tokens) < 8 or tokens[-1].text not in ("}", "R"):
        return tokens
    equals = next((at for at, token in enumerate(tokens) if token.is_sign("=")), 0)
    if not _DEFINED.fullmatch(name_of(tokens[:equals])):
        return tokens
    variables = {"x", "t"} if equals == 1 else {tokens[2].text}
    for at in range(equals + 2, len(tokens)):
        if tokens[at].kind != "word" and not tokens[at].is_sign(","):
            continue
        stated = " ".join(token.text for token in tokens[at:] if token.text not in ("{", "}"))
        index = _DECLARED.fullmatch(stated) and _INDICES & {token.text for token in tokens[at:]}
        # kπ without an argument may be over all integers k.
        if index is not None and not (
            index and variables.isdisjoint(token.text for token in tokens[equals:at])
        ):
            return tokens[:at]
    return tokens


_DEFINED = re.compile(r"y|[A-Za-z]\([a-z]\)")
_DECLARED = re.compile(
    "(?:, )?(?:,? ?(?:where|with|for(?: all| any| some| every)?)(?: real)?(?: constants?)? )?"
    "[a-zA-Z](?: , [a-zA-Z])* in mathbb R"
)


def _states_membership(token: Token) -> bool:
    return token.text == "in" or "integer" in token.text


def _lists_index(tokens: list[Token]) -> bool:
    """Return whether the tokens begin as "for k = 0, 1" or "(k = 0, 1" does."""
    return tokens[0].text in ("for", "(") and [token.text for token in tokens[2:5:2]] == ["=", ","]


def _begins_condition(tokens: list[Token], at: int) -> bool:
    """Return whether a token states membership, or begins a bound or the values of an index."""
    token = tokens[at]
    if token.kind != "word" and token.text not in ("in", "("):
        return False
    return _states_membership(token) or _lists_index(tokens[at:]) or _states_bound(tokens[at:])


def _states_bound(tokens: list[Token]) -> bool:
    """Return whether the tokens begin as "for k > 0" does."""
    return (
        tokens[0].kind == "word"
        and tokens[0].text in _INTRODUCING
        and tokens[2:3] != []
        and tokens[2].text in _BOUNDS
    )


def _without_last_bracket(tokens: list[Token]) -> list[Token]:
    r"""Return 2k, k \in \mathbb{Z} for 2k (k \in \mathbb{Z})."""
    for at in range(len(tokens) - 1, 0, -1):
        stated = tokens[at].is_sign("(") and enclosed(tokens[at:])
        if stated and (_lists_index(tokens[at:]) or any(map(_states_membership, tokens[at:]))):
            return [*tokens[:at], *_comma_after(tokens[:at]), *tokens[at + 1 : -1]]
    return tokens


def _comma_after(tokens: list[Token]) -> list[Token]:
    return [] if tokens[-1].is_sign(",") else [_COMMA]


_FOR_ALL_REALS = re.compile(
    "(?:forall|for (?:all|any|every|each))(?: real)?(?: numbers?| values? of| constants?)?"
    "(?: [a-z](?: , [a-z])*)?(?: in mathbb [RNZQ])?"
    "|for (?:some|any) (?:arbitrary |real )*(?:constants?|numbers?)(?: [a-zA-Z](?: , [a-zA-Z])*)?"
    "|where [a-zA-Z] (?:is|denotes) (?:an?|any|some) (?:arbitrary |real )*(?:constant|number)"
)
_COMMA, _BOUNDS = Token("sign", ","), frozenset("<>≤≥≠") | {"equiv"}
_POSITIVE = [Token("sign", "^"), Token("sign", "+")]
_ALL_INTEGERS = re.compile("(?:(?:all|any|every) )?(?:the )?(positive )?integers?")
_IN_INTEGERS = [Token("command", "in"), Token("command", "mathbb"), Token("letter", "Z")]
_FOR_INTEGERS = re.compile("(?:where|for|with) (?:(?:all|any|some|every|an) )?integers?(?: ([a-z]))?")
_ARE_INTEGERS = re.compile("(?:(?:where|for|with) )?(?:([a-z]) )?(?:(?:is|are) )?(?:(?:an|any) )?integers?")
_INTRODUCING = frozenset({"where", "for", "with", "for all", "for any", "for some", "for every", "such that"})
_SETS = frozenset("ZNQRC")
_INDICES = frozenset("jkmn")


def _bounded_family(parts: list[list[Token]], parse: Parse) -> list[Answer] | None:
    r"""Return the set that n = 2^k, k \ge 0 writes; None unless the second part bounds an index of n."""
    index = next((token.text for token in parts[1] if token.text in _INDICES), "") if len(parts) == 2 else ""
    if not index or not any(token.text == index for token in parts[0]):
        return None
    item, bound = map(parse, parts)
    value = item.value if isinstance(item, Named) else item
    if not isinstance(bound, Inequality) or bound.name != index or not isinstance(value, Scalar):
        return None
    if names(value.tree) != {index}:
        return None
    family = SetBuilder(value, (), (bound,))
    return [replace(item, value=family) if isinstance(item, Named) else family]


def _family(item: Answer, member: tuple[str, Answer]) -> Answer | None:
    value = item.value if isinstance(item, Named) else item
    entries = value.items if isinstance(value, Bracketed | Record) else (value,)  # (2t, t), t ∈ ℝ
    entries = (entry.value if isinstance(entry, Named) else entry for entry in entries)
    if not any(isinstance(entry, Scalar) and member[0] in names(entry.tree) for entry in entries):
        return None
    family = SetBuilder(value, (member,), ())
    return replace(item, value=family) if isinstance(item, Named) else family


def _domains_and_conditions(
    tokens: list[Token], parse: Parse
) -> tuple[tuple[tuple[str, Answer], ...], tuple[Answer, ...]]:
    parts, signs = split(tokens, lambda token: token.kind == "and" or token.text in (",", ";"))
    if any("or" in sign.text.casefold() for sign in signs):
        return (), (Listing(tuple(parse(part) for part in parts), "or"),)
    parts, listed = _without_listed_index([[], *parts], parse)
    domains, conditions, waiting = [listed] if listed else [], list[Answer](), list[str]()
    for part in filter(None, parts):
        member = _membership(part, parse)
        members = _memberships(part, parse)
        if members:
            domains += members
        elif member:  # a, b \in \mathbb{Z}
            domains += [(name, member[1]) for name in (*waiting, member[0])]
            waiting = []
        elif name_of(part):
            waiting.append(name_of(part))
        else:
            conditions.append(parse(part))
    if waiting:
        raise UnparsedError(f"the condition {waiting[0]!r}")
    return tuple(domains), tuple(conditions)


def _membership(tokens: list[Token], parse: Parse) -> tuple[str, Answer] | None:
    r"""Return the name and the set of k \in \mathbb{Z}; None for anything else."""
    if tokens and tokens[0].kind == "word" and tokens[0].text in _INTRODUCING:
        tokens = tokens[1:]
    parts, signs = split(tokens, lambda token: token.text in RELATIONS)
    if [sign.text for sign in signs] != ["in"] or not name_of(parts[0]) or not parts[1]:
        return None
    written = [token.text for token in parts[1] if token.text not in ("{", "}")]
    if written[0] == "mathbb" or written[0] in _SETS:
        return name_of(parts[0]), Scalar(("sym", "mathbb:" + "".join(written).removeprefix("mathbb")))
    return name_of(parts[0]), parse(parts[1])


def _memberships(tokens: list[Token], parse: Parse) -> list[tuple[str, Answer]]:
    r"""Return x and y with \mathbb{R} for (x, y) \in \mathbb{R}^2; [] for anything else."""
    parts, signs = split(tokens, lambda token: token.text == "in")
    if [sign.text for sign in signs] != ["in"] or not names_of(parts[0]):
        return []
    variables, power = names_of(parts[0]), [token for token in parts[1] if token.text not in ("{", "}")]
    if len(power) < 3 or [token.text for token in power[-2:]] != ["^", str(len(variables))]:
        raise UnparsedError("several names in a set that is no power")
    first = _membership([Token("letter", variables[0]), *signs, *power[:-2]], parse)
    return [(name, first[1]) for name in variables] if first else []


def _is_numbers(domain: Answer) -> bool:
    return isinstance(domain, Scalar) and domain.tree[0] == "sym" and domain.tree[1].startswith("mathbb:")
