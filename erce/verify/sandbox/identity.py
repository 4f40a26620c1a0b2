"""A program → whether it may look at the identity of arguments, which crosses no border."""

import re
from opcode import opmap
from types import CodeType

_IS, _CACHE = opmap["IS_OP"], b"\0"
_FIXED = {opmap[name] for name in ("LOAD_CONST", "LOAD_GLOBAL", "LOAD_NAME")}
_FUNCTIONS = {"id", "is_", "is_not"}
_find_word = re.compile(r"\b(is|id|is_|is_not)\b").search


def looks_at_identity(program: str, code: CodeType) -> bool:
    """Return whether a program compares identities, otherwise than with a constant or a global name.

    With these, as `x is None` and `type(x) is int`, the border changes nothing.

    >>> texts = "x = y is not None", "f = lambda x: type(x) is int", "f = lambda a, b: a is not b", "id(a)"
    >>> [looks_at_identity(text, compile(text, "", "exec")) for text in texts]
    [False, False, True, True]
    """
    return _find_word(program) is not None and _compares_identity(code)


def _compares_identity(code: CodeType) -> bool:
    if not _FUNCTIONS.isdisjoint(code.co_names):
        return True
    operations = code.co_code[::2]
    at = operations.find(_IS)
    while at >= 0:
        if operations[:at].rstrip(_CACHE)[-1] not in _FIXED:
            return True
        at = operations.find(_IS, at + 1)
    return any(type(constant) is CodeType and _compares_identity(constant) for constant in code.co_consts)
