"""Notations of one meaning → the one of them that the lexer reads: 10C3 in five ways, dy/dx, \vec{i}."""

import re
from collections.abc import Callable


def rewritten(text: str) -> str:
    r"""Return the text with each notation of `_REWRITES` replaced.

    >>> rewritten(r"\frac{dy}{dx}"), rewritten("_{10}C_3")
    ("y'", '\\binom{10}{3}')
    """
    for needle, pattern, replacement in _REWRITES:
        if needle in text:
            text = pattern.sub(replacement, text)
    return text


def _counted(choice: re.Match[str]) -> str:
    above, arranged, below = choice.group(1), choice.group(2) == "P", choice.group(3)
    if above is None:
        above, below = (choice[4], choice[5]) if choice[4] else (choice[6], choice[7])
    return rf"\frac{{{above}!}}{{({above}-{below})!}}" if arranged else rf"\binom{{{above}}}{{{below}}}"


def _with_primes(derivative: re.Match[str]) -> str:
    return (derivative[1] or derivative[3]) + "'" * int(derivative[2] or 1)


def _without_commands(upright: re.Match[str]) -> str:
    return _SPACE_IN_UNIT.sub(" ", _POWER_OF_UNIT.sub(r"^\1", upright.group()))


def _ohms(unit: re.Match[str]) -> str:
    prefix = {"k": "kilo", "M": "mega", "": ""}[unit[1] or unit[2] or unit[3] or ""]
    return rf"\text{{ {prefix}ohms}}"


def _axis(vector: re.Match[str]) -> str:
    return f" {vector[1] or vector[2] or vector[3]} "


# Ten choose three as _{10}C_3, {}_{10}C_{3}, ^{10}C_3 C(10, 3) and C_{10}^3; _{10}P_3 counts arrangements.
_CHOICES = re.compile(
    r"(?<![A-Za-z0-9)}])(?:\{\})?[_^]\{?([0-9]{1,4}|[a-z])\}? ?([CP]) ?_\{?([0-9]{1,4}|[a-z])\}?"
    r"|(?<![A-Za-z\\_^{])C\(([0-9]{1,4}|n), ?([0-9]{1,4}|[kr])\)"
    r"|(?<![A-Za-z\\_^{])C_\{?([0-9]{1,4})\}?\^\{?([0-9]{1,4})\}?"
)
_PLAIN_CHOICES = re.compile(
    r"(?<![\w.^}\\])([0-9]{1,4})C([0-9]{1,4})(?![\w.])"
)  # 10C3, but not the numeral 10C3_{16}
_DEGREES = re.compile(r"(?<=[0-9]) ?\\text ?\{ ?degrees? ?\}(?= ?[)}])")  # of \cos(13\text{ degrees})
_UPRIGHT_D = re.compile(r"\\(?:mathrm|text|rm) ?\{d\}|\{\\rm d\}")
# dy/dx, \frac{d^2y}{dx^2}: y', y''.
_DERIVATIVE = re.compile(
    r"(?<![A-Za-z\\])d([a-z])/dx(?![A-Za-z])"
    r"|\\[dt]?frac\s?\{d(?:\^\{?([2-9])\}?)? ?([a-z])(?:\(x\))?\}\{dx(?:\^\{?\2\}?)?\}"
)
# \frac{\partial f}{\partial x}: f_x.
_PARTIAL = re.compile(r"\\[dt]?frac\s?\{\s?\\partial ?([A-Za-z])\s?\}\s?\{\s?\\partial ?([a-z])\s?\}")
# The blackboard letters of E[X] and P(A).
_EXPECTED = re.compile(r"\\mathbb ?\{? ?([EP]) ?\}?(?= ?(?:\\left ?)?[\[(])")
_UNION = re.compile(r"(?<=[\])]) U (?=[\[(])")
_DOLLARS = re.compile(r"\A([^$]*+)(?<!\\)\$(?=\s?[0-9.][^$]*+\Z)")  # the one sign of $18
_BOLD = re.compile(r"\\(?:mathbf|boldsymbol|bm) ([A-Za-z])(?![A-Za-z])")
# The ~, \, and {-1} of \mathrm{~km\,h^{-1}}; \text{N}\cdot\text{m}; \frac{\text{m}}{\text{s}}.
_UPRIGHT = re.compile(r"\\(?:text|mathrm|textrm|mbox)\s*+\{(?:[^{}^]|\^(?:\{-?[123]\})?)*+\}")
_POWER_OF_UNIT = re.compile(r"(?<=[A-Za-z])\^\{(-?[123])\}")
_SPACE_IN_UNIT = re.compile(r"(?:~|\\[,;: ]|\\cdot(?![A-Za-z]))\s*+(?=[A-Za-z])")
_UNIT = r"\\(?:text|mathrm)\{\s*((?:[NJWVCAsm]|k?g|[ck]m|mol|Pa)%s)\}"
_PRODUCT_OF_UNITS = re.compile(
    rf"([0-9]\}}?(?:\s|~|\\[,;: ])*){_UNIT % ''}\s*(?:\\cdot|\\[,;: ])\s*{_UNIT % '(?:/[smA])?'}"
)
# Ohms after a number: \mathrm{k\Omega}, \text{ M}\Omega, and after a space at the end 12\ \Omega.
_SPACES = r"(?:\s|~|\\[,;: ])"
_OHMS = re.compile(
    rf"(?<=[0-9}}])(?:{_SPACES}*+\\(?:text|mathrm)\{{{_SPACES}*+([kM]?)\\Omega\s*\}}"
    rf"|{_SPACES}*+\\(?:text|mathrm)\{{\s*([kM])\s*\}}\s*\\Omega(?![A-Za-z])"
    rf"|\s*+(?:~|\\[,;: ])\s*+([kM]?)\\Omega\s*\Z)(?!\s*(?:\\cdot|\\[,;: ]|[/^]|\\text|\\mathrm))"
)
# Microfarads, micrometers, microseconds: \mu\text{F}, \mathrm{\mu m}.
_MICRO = re.compile(
    rf"\\mu\s*\\(?:text|mathrm)\{{\s*([Fms])\s*\}}|\\(?:text|mathrm)\{{{_SPACES}*+\\mu\s*([Fms])\s*\}}"
)
_UNIT_FRACTION = re.compile(
    r"\\[dt]?frac\{\\(?:text|mathrm)\{ ?([A-Za-z]{1,10}) ?\}\}"
    r"\{\\(?:text|mathrm)\{ ?([A-Za-z]{1,10}) ?\}(\^[23]|\^\{[23]\})?\}"
)
# The unit vectors i, j and k, whose accent tells nothing: \hat{i}, \vec{\mathbf{k}}, \hat\imath.
_AXIS = r"\s*+(\\[ij]math|[ijk])(?![A-Za-z])\s*+"
_UNIT_VECTOR = re.compile(
    r"\\(?:hat|widehat|vec|overrightarrow)(?![A-Za-z])\s*+"
    rf"(?:\{{{_AXIS}\}}|\{{\s*+\\(?:mathbf|boldsymbol|bm|mathrm)\{{{_AXIS}\}}\s*+\}}|{_AXIS})"
)
_ARROW = re.compile(r"\\vec(?:\s*+\{\s*+([A-Za-z])\s*+\}|\s++([A-Za-z])(?![A-Za-z]))")

# What a text must hold for a pattern to match, the pattern, and what replaces it; in this order.
_REWRITES: tuple[tuple[str, re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    ("C", _CHOICES, _counted),
    ("P", _CHOICES, _counted),
    ("C", _PLAIN_CHOICES, r"\\binom{\1}{\2}"),
    ("degree", _DEGREES, r"^\\circ"),
    ("d}", _UPRIGHT_D, "d"),
    ("dx", _DERIVATIVE, _with_primes),
    ("partial", _PARTIAL, r"\1_{\2}"),
    ("mathbb", _EXPECTED, r"\1"),
    (" U ", _UNION, r"\\cup "),
    (" out of ", re.compile("(?<=[0-9]) out of (?=[0-9])"), "/"),
    (" of a", re.compile("(?<=[0-9}]) of an? (?=[a-z]{3})"), " of "),
    ("$", _DOLLARS, r"\1\\$"),
    ("times", _BOLD, r"\\mathbf{\1}"),
    ("{:}", re.compile(r"(?:\\text)?\{:\}"), ":"),
    ("frac{\\", _UNIT_FRACTION, r"\\text{ \1/\2}\3"),
    ("^{", _UPRIGHT, _without_commands),
    ("{~", _UPRIGHT, _without_commands),
    ("\\mathrm{", _UPRIGHT, _without_commands),
    ("Omega", _OHMS, _ohms),
    ("mu", _MICRO, r"\\text{ micro\1\2}"),
    ("}", _PRODUCT_OF_UNITS, r"\1\\text{ \2 \3}"),
    ("hat", _UNIT_VECTOR, _axis),
    ("vec", _UNIT_VECTOR, _axis),
    ("vec", _ARROW, lambda vector: rf"\mathbf{{{vector[1] or vector[2]}}}"),
)
