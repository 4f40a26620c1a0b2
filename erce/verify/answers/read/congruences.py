r"""Tokens of x \equiv 1, 4 \pmod 5, or of 3 \pmod 7 alone → congruences."""

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


def _states_modulus(token: Token) -> bool:
    return token.text in _MODULI and token.kind in ("command", "word", "letter")


def _listed(left: Tree | None, residues: list[Tree], modulus: Tree) -> Congruence | Listing:
    classes = tuple(Congruence(left, residue, modulus) for residue in residues)
    if not classes:
        raise UnparsedError("a congruence without a residue")
    return classes[0] if len(classes) == 1 else Listing(classes, "or")
