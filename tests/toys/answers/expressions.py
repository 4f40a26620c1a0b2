"""A seed → random expressions of any depth, and pairs of answers that may be the same rewritten."""

from random import Random

_LEAVES = [r"x", r"y", r"n", r"2", r"3", r"7", r"0.5", r"\pi", r"e", r"i", r"999", r"100", r"10^6", r"1/7", r"\frac{1}{3}", r"0", r"-1", r"\infty", r"\theta", r"x_1", r"30^\circ", r"\pm{}2", r"0.\overline{3}"]
_FUNCTIONS = ["sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "ln", "log_2", "log_x"]
_FORMS = [r"({}+{})", r"({}-{})", r"{}\cdot({})", r"\frac{{{}}}{{{}}}", r"({})/({})", r"({})^{{{}}}", r"\sqrt{{{}}}", r"\sqrt[{}]{{{}}}", r"({})!", r"\binom{{{}}}{{{}}}", r"\lfloor({})\rfloor", r"|{}|", r"-({})", r"\max({},{})", r"\log_{{{}}}({})", r"\sum_{{k=1}}^{{{}}}({}+k)"]
_SHAPES = [r"{}", r"({},1)", r"\{{{},x\}}", r"{}=y", r"x<{}", r"[0,{})", r"1<x\le({})", r"{},2", r"x={}", r"{}:3", r"{}\%"]
_SAME = [r"{}+0", r"0+{}", r"\frac{{2({})}}{{2}}", r"-(-({}))", r"({})", r"({})\cdot(1)", r"({})^1"]


def grown(draw: Random, depth: int) -> str:
    """Return an expression of `depth` levels."""
    if depth == 0:
        return draw.choice(_LEAVES)
    kind = draw.randrange(len(_FORMS) + 6)
    if kind >= len(_FORMS):
        return f"\\{draw.choice(_FUNCTIONS)}({grown(draw, depth - 1)})"
    form = _FORMS[kind]
    return form.format(*(grown(draw, depth - 1) for _ in range(form.replace("{{", "").count("{}"))))


def grown_pair(draw: Random) -> tuple[str, str, bool]:
    """Return two answers of one shape, and whether the second is the first rewritten."""
    same = draw.random() < 0.7
    expression = grown(draw, draw.randint(0, 5))
    other = draw.choice(_SAME).format(expression) if same else grown(draw, draw.randint(0, 3))
    shape = draw.choice(_SHAPES)
    return shape.format(expression), shape.format(other), same
