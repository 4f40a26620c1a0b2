"""An answer and a seed → other writings of the same answer, and noise.

A mutation returns None if it does not apply; that it keeps the value holds for the answers of a data set,
not for every string.
"""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random

Mutation = Callable[[str, Random], str | None]


def rewritten(answer: str, seed: int, *, depth: int = 1) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each mutation in `SAME` that applies, after `depth - 1` random ones."""
    draw = Random(f"{seed} {answer}")
    for name, mutation in SAME.items():
        text, names = answer, [name]
        for extra in draw.choices(list(CHAINED), k=depth - 1):
            changed = SAME[extra](text, draw)
            if changed is not None:
                text, names = changed, [extra, *names]
        changed = mutation(text, draw)
        if changed is not None and changed != answer:
            yield " + ".join(names), changed


def noise(answer: str, draw: Random) -> str:
    """Return the answer with a few characters or tokens lost, doubled, moved or inserted."""
    text = answer
    for _ in range(draw.randint(1, 4)):
        at = draw.randint(0, len(text))
        kind = draw.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + draw.randint(1, 3) :]
        elif kind == 1:
            text = text[:at] + draw.choice(TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[max(0, at - 5) : at] + text[at:]
        else:
            text = text[at:] + text[:at]
    return text


_VISIBLE = r"""
0 9 -1 x i e ( ) [ ] { } | , ; : . = < > + - * / ^ _ ! ' $ % & # ~ " \ ½ ² √ π − ∞ ∪ ° é 中
\frac \sqrt \sqrt[3] \left( \right) \left. \{ \} \text{ \text{and} \boxed{ \begin{pmatrix} \end{pmatrix}
\\ \, \! \cup \in \pm \le \infty \pi \overline{ \log_ \sin \binom \lfloor \rfloor ^\circ \% \$ \cdot
\sum_{k=1}^ \int \ldots \setminus \over \mathbb{R} \ne ** 10^9 ^{ _{ sqrt( and or 1,000 0.5 ####
"""
TOKENS = (*_VISIBLE.split(), " ", "\n", "\0", "\ud800")

_SCALAR = re.compile(
    r"(?:[0-9a-z.()+* /{}-]|\\(?:frac|sqrt|pi|cdot|left|right)(?![a-z])|\^\{[^{}]*\}|\^[0-9])+"
)
_ODD_NUMBER = re.compile(r"(?<![0-9.])0[0-9]|[0-9]\.(?![0-9])|\.[0-9]+\.")
_WORD = re.compile(r"(?<!\\)\b[a-z]{3,}")
INTEGER = re.compile(r"-?[0-9]+")


def is_scalar(answer: str) -> bool:
    """Return whether the answer is a plain expression: no list, relation, unit, words or convention."""
    whole = _SCALAR.fullmatch(answer) and any(character.isalnum() for character in answer)
    return bool(whole) and not _WORD.search(answer) and not _ODD_NUMBER.search(answer)


def _fractions(answer: str, draw: Random) -> str | None:
    return re.sub(r"\\[dt]?frac", lambda _: draw.choice(["\\dfrac", "\\tfrac", "\\frac"]), answer)


def _short_fractions(answer: str, draw: Random) -> str | None:
    return re.sub(r"\\frac\{([0-9])\}\{([0-9])\}", draw.choice([r"\\frac\1\2", r"\\frac \1{\2}"]), answer)


def _wrapped(answer: str, draw: Random) -> str | None:
    before, after = draw.choice(WRAPPERS).split("…")
    return before + answer + after if not re.search(r"[$%]|\\\(", answer) else None


WRAPPERS = (
    *("$…$", "\\(…\\)", "\\[…\\]", "$$…$$", "\\boxed{…}", "{…}", "**…**"),
    *("\\displaystyle …", "….", "\n…\n", "\\, …\\,", "$…$.", "… "),
)


def _digit_groups(answer: str, draw: Random) -> str | None:
    if re.search(r"[,_.{]|\b0[0-9]", answer):  # 1{,}000 stands in no braces
        return None
    mark = draw.choice([",", "{,}", ",\\!", "\\,"])
    return re.sub(r"[0-9]{4,}", lambda m: f"{int(m.group()):,}".replace(",", mark), answer)


def _unicode(answer: str, draw: Random) -> str | None:
    text = answer if "\\text" in answer else answer.replace("-", "−")
    for command, character in UNICODE.items():
        text = re.sub(re.escape(command) + r"(?![a-z])", character, text)
    return re.sub(r"\\sqrt\{([0-9])\}(?![0-9])", r"√\1", text)


UNICODE = {r"\pi": "π", r"\infty": "∞", r"\cup": "∪", r"\le": "≤", r"\ge": "≥", r"^\circ": "°"}


def _times_one(answer: str, draw: Random) -> str | None:
    form = draw.choice(
        ["({})", "({})+0", "1\\cdot({})", "\\frac{{2({})}}{{2}}", "({})^1", "-(-({}))", "\\left({}\\right)"]
    )
    return form.format(answer) if is_scalar(answer) else None


def _number_forms(answer: str, draw: Random) -> str | None:
    if not INTEGER.fullmatch(answer):
        return None
    n = int(answer)
    forms = [
        f"{n}.0",
        rf"\frac{{{3 * n}}}{{3}}",
        f"x={n}",
        rf"{n}\text{{ cm}}",
        rf"{n}^\circ",
        rf"\text{{{n}}}",
    ]
    forms += [f"{n - 7}+7", f"\\frac{{{n}}}{{1}}", f"{n} units", f"x = {n}"]
    return draw.choice(forms if n < 0 else [*forms, f"+{n}", f"\\${n}", f"\\sqrt{{{n * n}}}"])


def _fraction_forms(answer: str, draw: Random) -> str | None:
    match = re.fullmatch(r"(-?)\\frac\{([0-9]{1,9})\}\{([0-9]{1,9})\}", answer)
    if match is None or int(match.group(3)) == 0:
        return None
    sign, n, d = match.group(1), int(match.group(2)), int(match.group(3))
    forms = [f"{sign}{n}/{d}", f"\\frac{{{sign}{n}}}{{{d}}}", f"{sign}({n}/{d})", f"{sign}{n} \\div {d}"]
    if n > d and n % d:
        forms.append(f"{sign}{n // d}\\frac{{{n % d}}}{{{d}}}")
    if 10**6 % d == 0:
        forms.append(f"{sign}{float(Fraction(n, d)):.6f}")
    return draw.choice(forms)


CHAINED: dict[str, Mutation] = {
    "kinds of fraction": _fractions,
    "short fractions": _short_fractions,
}
SAME: dict[str, Mutation] = {
    **CHAINED,
    "wrapper": _wrapped,
    "digit groups": _digit_groups,
    "unicode": _unicode,
    "times one": _times_one,
    "forms of a number": _number_forms,
    "forms of a fraction": _fraction_forms,
}
