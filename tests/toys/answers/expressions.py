"""A seed → random expressions of any depth, and pairs of answers that may be the same rewritten."""

from random import Random

_LEAVES = r"x y n 2 3 7 0.5 \pi e i 999 100 10^6 1/7 \frac{1}{3} 0 -1 \infty \theta 30^\circ \pm{}2"
_FUNCTIONS = "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp ln log_2 log_x"
_FORMS = (
    r"({}+{}) ({}-{}) {}\cdot({}) \frac{{{}}}{{{}}} ({})/({}) ({})^{{{}}} \sqrt{{{}}} \sqrt[{}]{{{}}} ({})! "
    r"\binom{{{}}}{{{}}} \lfloor({})\rfloor |{}| -({}) \max({},{}) \log_{{{}}}({}) \sum_{{k=1}}^{{{}}}({}+k)"
)
_SHAPES = r"{} ({},1) \{{{},x\}} {}=y x<{} [0,{}) 1<x\le({}) {},2 x={} {}:3 {}\%"
_SAME = r"{}+0 0+{} \frac{{2({})}}{{2}} -(-({})) ({}) ({})\cdot(1) ({})^1"


def grown(draw: Random, depth: int) -> str:
    """Return an expression of `depth` levels."""
    if depth == 0:
        return draw.choice(_LEAVES.split())
    if draw.random() < 0.25:
        return f"\\{draw.choice(_FUNCTIONS.split())}({grown(draw, depth - 1)})"
    form = draw.choice(_FORMS.split())
    return form.format(*(grown(draw, depth - 1) for _ in range(form.replace("{{", "").count("{}"))))


def grown_pair(draw: Random) -> tuple[str, str, bool]:
    """Return two answers of one shape, and whether the second is the first rewritten."""
    same = draw.random() < 0.7
    expression = grown(draw, draw.randint(0, 5))
    other = draw.choice(_SAME.split()).format(expression) if same else grown(draw, draw.randint(0, 3))
    shape = draw.choice(_SHAPES.split())
    return shape.format(expression), shape.format(other), same
