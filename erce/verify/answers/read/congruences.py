r"""Tokens of x \equiv 1, 4 \pmod 5, of 3 \pmod 7 alone, or of "n is odd" → congruences."""

import re

from erce.verify.answers.limits import UnparsedError
from erce.verify.answers.read.brackets import split
from erce.verify.answers.read.lexer import Token
from erce.verify.answers.read.relations import RELATIONS
from erce.verify.answers.read.scalar import parse_tokens
from erce.verify.answers.tree import Tree, with_both_signs
from erce.verify.answers.values import Congruence, Listing

_MODULI = frozenset({"pmod", "mod", "bmod"})
_AROUND_MODULUS = frozenset("{}()")


def parse_congruences(tokens: list[Token]) -> Congruence | Listing | None:
    """Return the residue classes that the tokens list before one modulus; None without one at the end."""
    at = next((at for at, token in enumerate(tokens) if _states_modulus(token)), 0)
    sides, signs = split(tokens[:at], lambda token: token.text in RELATIONS)
    if not at or [sign.text for sign in signs] not in ([], ["equiv"]):
        return None
    if not signs and tokens[at].text == "bmod":  # 17 mod 5 is the number 2
        return None
    modulus = [token for token in tokens[at + 1 :] if token.text not in _AROUND_MODULUS]
    if any(_states_modulus(token) or token.text in RELATIONS or token.text == "," for token in modulus):
        return None  # several congruences
    residues = sides[-1]
    if residues and residues[-1].is_sign("(", ","):  # x ≡ 3 (mod 7)
        residues = residues[:-1]
    left = parse_tokens(sides[0]) if signs else None
    parts, _ = split(residues, lambda token: token.text == "," or token.kind == "and")
    trees = [tree for part in parts if part for tree in with_both_signs(parse_tokens(part))]
    return _listed(left, trees, parse_tokens(modulus))


def parse_parity(tokens: list[Token]) -> Congruence | None:
    r"""Return n ≡ 1 (mod 2) for "n is odd" and "all odd n", n ≡ 0 (mod 2) for even; None for other words.

    A function that is odd is another matter.
    """
    if len(tokens) > MAX_PARITY_TOKENS:
        return None
    letters = [token for token in tokens if token.kind == "letter"]
    words = " ".join(token.text for token in tokens if token.kind == "word").casefold()
    if len(letters) != 1 or any(token.kind not in ("letter", "word") for token in tokens):
        return None
    patterns = {tokens[0]: _IS_ODD, tokens[-1]: _ALL_ODD}
    stated = patterns[letters[0]].fullmatch(words) if letters[0] in patterns else None
    if stated is None or letters[0].text in "fghFGH":
        return None
    return Congruence(("sym", letters[0].text), ("num", int(stated[1] == "odd")), ("num", 2))


MAX_PARITY_TOKENS = 6
_IS_ODD = re.compile("(?:is )?(?:an )?(odd|even)(?: integer| number)?")
_ALL_ODD = re.compile("(?:(?:all|every|any) )?(?:the )?(odd|even)(?: integers?| numbers?)?")


def _states_modulus(token: Token) -> bool:
    return token.text in _MODULI and token.kind in ("command", "word", "letter")


def _listed(left: Tree | None, residues: list[Tree], modulus: Tree) -> Congruence | Listing:
    classes = tuple(Congruence(left, residue, modulus) for residue in residues)
    if not classes:
        raise UnparsedError("a congruence without a residue")
    return classes[0] if len(classes) == 1 else Listing(classes, "or")
