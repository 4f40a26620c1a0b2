"""Cleaned answer that is not read → its tokens, in the form in which two texts are compared."""

from erce.verify.answers.read.lexer import goes_on, tokenize
from erce.verify.answers.read.vocabulary import GREEK, VECTOR_SIGNS

Piece = tuple[str, str]  # the kind and the text of a token


def spelling(text: str) -> list[Piece]:
    r"""Return the kinds and texts of a cleaned answer's tokens, without braces around one of them.

    The variable of a definite integral or a limit has no name.

    >>> spelling(r"\int_{0}^1 x\,dx") == spelling(r"\int_0^{1}tdt")
    True
    """
    tokens = tokenize(text)
    times = "×" if any(token.bold or token.text in VECTOR_SIGNS for token in tokens) else "*"
    written = [(token.kind, times if token.text == "×" else token.text) for token in tokens]
    written = [(kind, text.casefold() if kind == "word" else text) for kind, text in written]
    while written and written[-1][1] in (".", ",", ";") and not goes_on([text for _, text in written]):
        written.pop()
    spelled = list[Piece]()
    for piece in written:
        spelled.append(piece)
        if piece == ("sign", "}") and spelled[-3:-2] == [("sign", "{")]:
            spelled[-3:] = spelled[-2:-1]
    return _with_bound_name(spelled)


def _with_bound_name(spelled: list[Piece]) -> list[Piece]:
    """Return the pieces with # for the variable of the only integral or limit, if it occurs nowhere else."""
    texts = [text for _, text in spelled]
    if texts.count("int") + texts.count("lim") != 1:
        return spelled
    first, last = _scope_of_integral(spelled) if "int" in texts else _scope_of_limit(spelled)
    name = spelled[last if "int" in texts else first] if last else ("", "")
    if not last or name in spelled[:first] or name in spelled[last + 1 :]:
        return spelled
    return [
        ("letter", "#") if piece == name and first <= at <= last else piece
        for at, piece in enumerate(spelled)
    ]


def _scope_of_integral(spelled: list[Piece]) -> tuple[int, int]:
    """Return where the integrand begins, and where the name after its d is; (0, 0) without bounds."""
    first, bounds = spelled.index(("command", "int")) + 1, 0
    while spelled[first : first + 1] in ([("sign", "_")], [("sign", "^")]):
        first, bounds = _end_of_group(spelled, first + 1), bounds + 1
    ends = [
        at + 1
        for at in range(first, len(spelled) - 1)
        if spelled[at] == ("letter", "d") and _is_name(spelled[at + 1])
    ]
    return (first, ends[0]) if bounds == 2 and len(ends) == 1 else (0, 0)


def _scope_of_limit(spelled: list[Piece]) -> tuple[int, int]:
    """Return where the name of a limit's variable is, and the last piece; (0, 0) if no name stands there."""
    at = spelled.index(("command", "lim")) + 3  # lim _ { x to
    stated = [text for _, text in spelled[at - 2 : at]] == ["_", "{"] and spelled[at + 1 : at + 2] == [
        ("command", "to")
    ]
    return (at, len(spelled) - 1) if stated and _is_name(spelled[at]) else (0, 0)


def _end_of_group(spelled: list[Piece], start: int) -> int:
    """Return the index after the group in braces, or the one piece with its sign, that begins at `start`."""
    depth = 0
    for at in range(start, len(spelled)):
        depth += (spelled[at][1] == "{") - (spelled[at][1] == "}")
        if depth == 0 and spelled[at][1] != "-":
            return at + 1
    return len(spelled)


def _is_name(piece: Piece) -> bool:
    return piece[0] == "letter" or piece[1] in GREEK
