"""Answer as written → plain ASCII LaTeX."""

import html
import re
import unicodedata

from erce.verify.answers.limits import MAX_CHARACTERS, TooLargeError
from erce.verify.extract import matching_brace


def clean(text: str) -> str:
    r"""Return the text with Unicode mathematics as LaTeX, without Markdown and invisible characters.

    >>> clean("**√2 ≤ x²**")
    '\\sqrt{2} ≤ x^{2}'
    """
    if len(text) > MAX_CHARACTERS:
        raise TooLargeError(f"{len(text)} characters")
    text = text.strip()
    if not text.isascii():
        text = _ascii(text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: _ascii(html.unescape(entity.group())), text)
    text = _SCIENTIFIC.sub(r"\1*10^{\2}", text)
    if " U " in text:
        text = _UNION.sub(r"\\cup ", text)
    if "$" in text:
        text = _DOLLARS.sub(r"\1\\$", text)
    if "^{" in text:
        text = _POWER_IN_TEXT.sub(r"\1\2}", text)
    text = _EMPHASIS.sub(r"\2", _PHANTOM.sub(" ", text))
    text = _unwrapped_whole(text.strip().strip("`").strip())
    if text.endswith("\\") and not text.endswith("\\\\"):
        text = text[:-1]
    return text


_MAX_WRAPPERS = 4
_SCIENTIFIC = re.compile(r"\A(-?[0-9]{1,40}(?:\.[0-9]{1,40})?)[eE]([+-]?[0-9]{1,3})(?=[\s\\~]|\Z)")
_UNION = re.compile(r"(?<=[\])]) U (?=[\[(])")
_DOLLARS = re.compile(r"\A([^$]*+)(?<!\\)\$(?=\s?[0-9.][^$]*+\Z)")  # the one sign of $18
_POWER_IN_TEXT = re.compile(r"(\\(?:text|mathrm)\{[^{}]*+\^)\{(-?[1-3])\}\}")
_EMPHASIS = re.compile(r"\A(\*\*?)([^*]++)\1\Z")
_ENTITY = re.compile("&(?:[A-Za-z]{2,8}|#[0-9]{1,5});")
# A phantom takes space and shows nothing: its content is one group, command or character.
_PHANTOM = re.compile(r"\\[hv]?phantom(?![A-Za-z])\s*+(?:\{[^{}]*+\}|\\[A-Za-z]++|[^\\{}\s])")
# Each character and the command that it stands for.
_COMMAND_TABLE = """
× times ÷ div π pi ∞ infty ∪ cup ∩ cap ∖ setminus ∅ emptyset ∈ in ± pm ∓ mp ≈ approx ≡ equiv ∠ angle
△ triangle ∑ sum ∏ prod ∫ int → to … ldots θ theta α alpha β beta γ gamma δ delta ε epsilon φ phi
ϕ phi λ lambda ω omega σ sigma μ mu µ mu ρ rho τ tau ψ psi Δ Delta Ω Omega ⌊ lfloor ⌋ rfloor ⌈ lceil
⌉ rceil
"""
_COMMANDS = _COMMAND_TABLE.split()
_LETTERS = {
    **dict.fromkeys("−–—‐‑﹣－", "-"),
    **dict.fromkeys("·∙⋅∗", "*"),
    **dict.fromkeys("’′‘", "'"),
    "″": "''",
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("\u00a0\u2002\u2003\u3000", " "),
    **dict.fromkeys("\u2009\u202f", "\\,"),
    **{"£": "\\pounds ", "€": "\\euro ", "¥": "\\textyen ", "₹": "\\rupee "},
    "¢": "\\text{ cents}",
    **{character: f"\\{name} " for character, name in zip(_COMMANDS[::2], _COMMANDS[1::2], strict=True)},
    "ℝ": "\\mathbb{R}",
    "ℤ": "\\mathbb{Z}",
    "ℚ": "\\mathbb{Q}",
    "ℕ": "\\mathbb{N}",
    "º": "°",
    "⁄": "/",
    "²": "^{2}",
    "³": "^{3}",
}
_KEPT = frozenset("≤≥≠°")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]++")
_SUBSCRIPT = re.compile("[₀₁₂₃₄₅₆₇₈₉]++")
_ROOT = re.compile(r"([√∛∜])\s*+([0-9]++|[A-Za-z]|(?=[{(])|)")
_DEGREES = {"√": "", "∛": "[3]", "∜": "[4]"}


def _unwrapped_whole(text: str) -> str:
    r"""Return the text without a box, or braces that hold no list, around all of it."""
    for _ in range(_MAX_WRAPPERS):
        boxed = text.startswith(("\\boxed", "\\fbox"))
        opening = text.find("{") if boxed else 0
        if not text.endswith("}") or matching_brace(text, opening) != len(text) - 1:
            break
        if not boxed and (text[0] != "{" or "," in text):
            break
        text = text[opening + 1 : -1].strip()
    return text


def _ascii(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda run: "^{" + run.group().translate(_SUPERSCRIPTS) + "}", text)
    text = _SUBSCRIPT.sub(lambda run: "_{" + run.group().translate(_SUBSCRIPTS) + "}", text)
    text = _ROOT.sub(lambda root: f"\\sqrt{_DEGREES[root[1]]}" + (f"{{{root[2]}}}" if root[2] else ""), text)
    return "".join(character if character.isascii() else _as_latex(character) for character in text)


def _as_latex(character: str) -> str:
    if character in _KEPT:
        return character
    if character in _LETTERS:
        return _LETTERS[character]
    if unicodedata.category(character) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKC", character)
    if "⁄" in plain:  # ½
        return "\\frac{" + plain.replace("⁄", "}{") + "}"
    return plain if "！" <= character <= "～" else character
