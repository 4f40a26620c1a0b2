"""Answers made to hang, exhaust or take over a verifier; none is right for any of `GOLDS`."""

GOLDS = (
    *("2", r"\frac{1}{2}", "x+1", r"\sqrt{2}", "(1,2)", r"\{1,2\}"),
    *(r"\begin{pmatrix}1\\2\end{pmatrix}", "x>1"),
)
_LONG, _SHORT = 100_000, 1_900  # characters
_DEEP = 10_000  # brackets


def _nested(opening: str, closing: str, inside: str = "1", *, depth: int) -> str:
    return opening * depth + inside + closing * depth


def _matrix(rows: int, columns: int) -> str:
    row = "&".join(["1"] * columns)
    return "\\begin{pmatrix}" + "\\\\".join([row] * rows) + "\\end{pmatrix}"


LARGE_VALUES = (
    *("9**9**9", "9^{9^{9^{9}}}", "2^3^4^5^6^7^8^9", r"10^{-10^{10}}", r"\frac{1}{10^{10^{10}}}"),
    *(r"(\frac{9}{7})^{(\frac{9}{7})^{9^{9^{9}}}}", "x^{" * 150 + "2" + "}" * 150, "(a+b+c+d+e+f)^{60}"),
    *("(((((2^{1000})^{1000})^{1000})^{1000})^{1000})", r"\pi^{\pi^{\pi^{\pi^{\pi^{\pi}}}}}"),
    *("e^{e^{e^{e^{e^{e}}}}}", "i^{i^{i^{i^{i^{10^{50}}}}}}", "(x+1)^{100000}", "99999999!", "(10^{10})!"),
    *("((((10!)!)!)!)", "3" + "!" * 40, r"(\frac{1}{3}+10^9)!", r"\binom{10^9}{10^8}"),
    *(r"\binom{2^{1000}}{2^{999}}", r"\cdot ".join(["3000!"] * 60), r"\sqrt[10^9]{3^{10^9}}"),
    *("\\sqrt{" * 400 + "3" + "}" * 400, "1e999999999", "1e-999999999", "7" * 50_000, "0." + "7" * 50_000),
    *(r"\frac{1}{" + "7" * 50_000 + "}", r"0.\overline{" + "142857" * 10_000 + "}", r"\sin(10^{10^{6}})"),
    *("\\sin(" * 500 + "x" + ")" * 500, r"\ln(9^{9^{9^{9}}})", "\\ln " * 2_000 + "9"),
    *(r"\lfloor 9^{9^{9}}\pi \rfloor", r"\sum_{k=1}^{10^{9}} \frac{1}{k}", r"\int_0^1 x^{x^{x^x}} dx"),
    *("1" * 3_000 + "_{2}", "11_{" + "9" * 3_000 + "}", "2" + r"\%" * 5_000, r"\pm 1" * 200),
    r"\{" + ",".join([r"1\pm 2\pm 3\pm 4"] * 100) + r"\}",
    r"\{" + ",".join(rf"\{{{n},{n + 1}\}}" for n in range(150)) + r"\}",
    *(sign.join(f"({n},{n + 1})" for n in range(2_000)) for sign in (r"\cup", r"\setminus")),
    *("<".join(map(str, range(3_000))), "=".join(["x+1"] * 3_000), ":".join(map(str, range(1, 3_000)))),
    *(",".join(f"x_{{{n}}}={n}" for n in range(3_000)), "+".join(f"x_{{{n}}}^{{{n}}}" for n in range(300))),
    *("".join(f"(x+{n})" for n in range(200)), "1+\\frac{1}{" * 500 + "2" + "}" * 500),
)
_VISIBLE = r"""
1 x 1+ x* x^ - --1 + ( ) [ ] { } | ! ' 1, (1, , ; . 1. = x= < 1< : 1: _ x_ ^ $ $1 % & # ~ é 中 ² ₂ ½ √ − ∞
\ \\ \frac \frac{1} \frac{1}{2} \frac{ \frac12 \sqrt \sqrt{ \sqrt[3] \left( \right) \left \{ \} \text{
\text{a} \overline{ \begin{pmatrix} \end{pmatrix} \boxed{ \boxed{1} \mathrm{ \! {,} ,\! \% \$ \binom 10^9
1e9 sqrt( ** 0. 1,000, 1\,000
"""
TOKENS = (
    *_VISIBLE.split(),
    *(" ", "\n", "\t", "\0", "\u200b", "\\ ", "1 ", "x ", "\\over ", "\\text{a} ", "\\text{ and }", "a or "),
    *(
        "\\cup ",
        "\\pm ",
        "\\in ",
        "\\infty ",
        "\\cdot ",
        "\\sin ",
        "^\\circ ",
        "cm ",
        "apples ",
        "\\unknown ",
    ),
    *("The final answer is ", "final answer is 1 ", "answer "),
)
BRACKETS = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("\\{", "\\}"), ("|", "|"), ("\\sqrt{", "}"), ("\\frac{1}{", "}")),
    *(("2^{", "}"), ("\\text{", "}"), ("\\boxed{", "}"), ("(1,", ")"), ("\\left(", "\\right)"), ("x_{", "}")),
    *(("\\begin{pmatrix}", "\\end{pmatrix}"), ("f(", ")", "x"), ("\\sin(", ")", "x"), ("(", ")!", "3")),
    *(("(", ")^2", "3"), ("(x+", ")^{3}", "y")),
)
LONG_TEXTS = (
    *(token * (size // len(token)) for size in (_LONG, _SHORT) for token in TOKENS),
    *(_nested(*brackets, depth=depth) for brackets in BRACKETS for depth in (10, 35, 150, _DEEP)),
    *("-" * _DEEP + "1", "f" + "'" * _DEEP, "(" * _DEEP, ")" * _DEEP, "0" * _LONG + "2.5"),
    *(_matrix(200, 200), _matrix(1, 20_000), _matrix(20_000, 1), "\\text{" + "a" * _LONG + "}"),
    *("1" + " " * _LONG + "x", "1" + "." * _LONG + "x", "\\" + "a" * _LONG, "1," * 50_000 + "1"),
    *(",".join(map(str, range(20_000))), " and ".join(map(str, range(15_000))), "a " * 40_000 + "!"),
    *("1,000" * 20_000 + "x", "5" + "\\text{ cm}" * 10_000 + "x", "a1" * 50_000),
)
INJECTIONS = (  # {marker}: a file that would be made
    "().__class__.__base__.__subclasses__()",
    "().__len__()or(open({codes},'w'))",
    "__import__('os').system('touch {marker}')",
    "exec(\"open('{marker}','w')\")",
    r"\pi*open('{marker}','w')",
    'sin(\'__import__("os").system("touch {marker}")\')',
    "(lambda: open('{marker}','w'))()",
    "{{0.__class__.__mro__}}",
    'f\'{{open("{marker}","w")}}\'',
    "os._exit(0)",
    'sympify(\'__import__("os").system("touch {marker}")\')',
    r"\immediate\write18{{touch {marker}}}",
    "$(touch {marker})",
    "cos\nsystem\n(S'touch {marker}'\ntR.",
)


def injection(template: str, marker: str) -> str:
    """Return a text that makes the file `marker` if it is executed."""
    return template.format(marker=marker, codes="+".join(f"chr({ord(c)})" for c in marker))


def bombs() -> dict[str, str]:
    """Return the bombs by name: a number, the beginning and the length of each."""
    texts = (*LARGE_VALUES, *LONG_TEXTS)
    return {f"{at}: {text[:20]!r}, {len(text)} characters": text for at, text in enumerate(texts)}
