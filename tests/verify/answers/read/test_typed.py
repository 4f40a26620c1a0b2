"""The type of answer that a text is read as, and its contents."""

import pytest

from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.read.lexer import tokenize
from erce.verify.answers.read.numerals import join_digit_groups
from erce.verify.answers.read.surface import clean, compact
from erce.verify.answers.read.typed import parse_answer
from erce.verify.answers.read.units import split_quantity
from erce.verify.answers.read.variables import name_of
from erce.verify.answers.values import (
    Bracketed,
    Clock,
    Equation,
    InBase,
    Inequality,
    Listing,
    Matrix,
    Named,
    Ratio,
    Record,
    Scalar,
    SetBuilder,
    SetOperation,
    Words,
)


def read(text: str):
    return parse_answer(clean(text))


def number(value, unit="", *, percent=False) -> Scalar:
    return Scalar(("num", value), unit, percent)


X = ("sym", "x")
READ = [
    ("5", number(5)),
    ("1,234", number(1234)),
    ("1,234,567.", number(1234567)),
    ("x = 1,234", Named("x", number(1234))),
    (r"\$1,234", number(1234, "dollar")),
    ("6.02e23", Scalar(("dec", 602 * 10**21))),
    ("20%", number(20, percent=True)),
    (r"20\%", number(20, percent=True)),
    ("20 percent", number(20, percent=True)),
    (r"20^\circ", number(20, "degree")),
    (r"20\text{ cm}", number(20, "cm")),
    (r"20\text{ cm}^2", number(20, "cm^2")),
    (r"20\text{ square centimeters}", number(20, "cm^2")),
    (r"20\,\mathrm{m/s}", number(20, "m second^-1")),
    ("20 miles per hour", number(20, "hour^-1 mile")),
    ("20 mph", number(20, "hour^-1 mile")),
    ("20cm", number(20, "cm")),
    ("20 km/h", number(20, "hour^-1 km")),
    (r"20\text{ min}", number(20, "minute")),
    ("20 min", number(20, "minute")),
    (r"20\text{ ways}", number(20)),
    (r"\text{20 apples}", number(20)),
    (r"12^{\text{th}}", number(12)),
    ("3x", Scalar(("mul", (("num", 3), X)))),
    (r"\text{Evelyn}", Words("evelyn")),
    ("Evelyn", Words("evelyn")),
    (r"\text{the ellipse}", Words("ellipse")),
    ("no", Words("no")),
    ("Ian", Words("ian")),
    (r"\text{E}", Scalar(("sym", "E"))),
    ("(E)", Scalar(("sym", "E"))),
    ("4:30 p.m.", Clock(4, 30, "p")),
    (r"\text{10:30 a.m.}", Clock(10, 30, "a")),
    ("10:30", Clock(10, 30, "")),
    ("3:2", Ratio((number(3), number(2)))),
    ("1:2:3", Ratio((number(1), number(2), number(3)))),
    ("1011_2", InBase("1011", 2)),
    ("-413_{5}", InBase("-413", 5)),
    (r"2A_{\text{twelve}}", InBase("2A", 12)),
    ("52_{10}", number(52)),
    ("1, 2", Listing((number(1), number(2)))),
    ("1,2,345", Listing((number(1), number(2), number(345)))),
    ("1,000, 2,000", Listing((number(1000), number(2000)))),
    ("1; 2", Listing((number(1), number(2)), ";")),
    (r"1\text{ and }2", Listing((number(1), number(2)), "and")),
    ("1, 2, or 3", Listing((number(1), number(2), number(3)), "or")),
    ("n = 1, 2", Listing((number(1), number(2)), "and", "n")),
    ("x = 1 or x = 2", Listing((number(1), number(2)), "and", "x")),
    (r"\{1, 2\}", Listing((number(1), number(2)), "{")),
    ("{1, 2}", Listing((number(1), number(2)), "{")),
    (r"\{5\}", Listing((number(5),), "{")),
    (r"\emptyset", Listing((), "{")),
    (r"\{\}", Listing((), "{")),
    (r"\{\emptyset\}", Listing((Listing((), "{"),), "{")),
    ("(1, 2]", Bracketed("(", (number(1), number(2)), "]")),
    (r"\left[1, 2\right)", Bracketed("[", (number(1), number(2)), ")")),
    ("(1; 2; 3)", Bracketed("(", (number(1), number(2), number(3)), ")")),
    (r"\langle 1, 2\rangle", Bracketed("⟨", (number(1), number(2)), "⟩")),
    ("(5)", number(5)),
    ("x = 5", Named("x", number(5))),
    ("5 = x", Named("x", number(5))),
    ("f(x) = x", Named("f(x)", Scalar(X))),
    ("(p, q) = (1, 2)", Record((Named("p", number(1)), Named("q", number(2))), in_tuple=True)),
    ("x = 1, y = 2", Record((Named("x", number(1)), Named("y", number(2))))),
    (r"x \in (1, 2)", Named("x", Bracketed("(", (number(1), number(2)), ")"))),
    ("2x = 5", Equation((("mul", (("num", 2), X)), ("num", 5)))),
    ("2 + 3 = 5", Named("", number(5))),
    (r"\approx 5", number(5)),
    (r"x = 5 \approx 5.1", Named("x", number(5))),
    ("x < 5", Inequality((X, ("num", 5)), ("<",), "x")),
    ("5 > x", Inequality((X, ("num", 5)), ("<",), "x")),
    (r"1 \le x < 5", Inequality((("num", 1), X, ("num", 5)), ("≤", "<"), "x")),
    (r"\{x : x < 5\}", SetBuilder(Scalar(X), (), (Inequality((X, ("num", 5)), ("<",), "x"),))),
    (
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        Matrix(((number(1), number(2)), (number(3), number(4)))),
    ),
    (r"\begin{vmatrix} 1 \end{vmatrix}", Matrix(((number(1),),), bars=True)),
    (r"\begin{array}{cc} 1 & 2 \end{array}", Matrix(((number(1), number(2)),))),
    (r"\begin{cases} x = 1 \\ y = 2 \end{cases}", Record((Named("x", number(1)), Named("y", number(2))))),
    (
        r"\{1\} \cup \{2\}",
        SetOperation("cup", Listing((number(1),), "{"), Listing((number(2),), "{")),
    ),
    (
        r"\mathbb{R} - \{2\}",
        SetOperation("setminus", Scalar(("sym", "mathbb:R")), Listing((number(2),), "{")),
    ),
    (r"\boxed{5}", number(5)),
    (r"**$5$**", number(5)),
    (r"\(5\)", number(5)),
    ("１２", number(12)),
    ("1\u200b2", number(12)),
    ("5\\", number(5)),
]
NOT_READ = [
    "",
    "{",
    ",",
    "(1,,2)",
    "x =",
    "= =",
    "5 or",
    r"5\text{ or more}",
    r"5\text{ if }x > 0",
    r"x \sim y",
    "(1, 2",
    "1, 2)",
    r"1, 2, \ldots, n",
    r"\begin{pmatrix} 1",
    r"\begin{tabular} 1 \end{tabular}",
    r"\begin{pmatrix} 1 \end{pmatrix} + 1",
    r"\begin{pmatrix} 1 \end{pmatrix} + \begin{pmatrix} 1 & 2 \end{pmatrix}",
]
BEYOND = [
    "1, " * 201 + "1",
    "(" + "1, " * 201 + "1)",
    r"\{" * 8 + "1" + r"\}" * 8,
    r"\{1\}\cup " * 31 + r"\{1\}",
    r"\begin{pmatrix}" + "1&" * 201 + r"1\end{pmatrix}",
    r"\begin{pmatrix}1\end{pmatrix}" * 5,
    "x=" * 13 + "1",
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_an_answer_is_read_as_a_value_of_its_kind(text, value):
    assert read(text) == value


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_answer_of_any_kind_is_unparsed(text):
    with pytest.raises(UnparsedError):
        read(text)


@pytest.mark.parametrize("text", BEYOND, ids=range(len(BEYOND)))
def test_long_and_deep_answers_are_too_large(text):
    with pytest.raises(TooLargeError):
        read(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x", "x"),
        ("AB", "AB"),
        ("x_1", "x_1"),
        ("x_{12}", "x_12"),
        ("f'(x)", "f'(x)"),
        ("f^{-1}(x)", "f^-1(x)"),
        ("f(x, y)", "f(x,y)"),
        (r"\angle ABC", "\\angleABC"),
        (r"|AB|", "AB"),
        (r"\theta", "theta"),
        (r"P(\text{red})", "P(red)"),
        (r"\text{area}", "area"),
        ("2x", ""),
        ("x^2", ""),
        ("x + 1", ""),
        ("5", ""),
        ("f(2)", "f(2)"),
        ("x(2)", ""),
        ("", ""),
    ],
)
def test_a_name_is_letters_with_indices_and_calls(text, name):
    assert name_of(tokenize(text)) == name


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1,234", "1234"),
        ("12,345,678.9", "12345678.9"),
        ("1,000, 2,000", "1000 , 2000"),
        ("1,2", "1 , 2"),
        ("1, 234", "1 , 234"),
        ("1234,567", "1234 , 567"),
        ("0,123", "0 , 123"),
        ("(1,234)", "( 1 , 234 )"),
        ("1,23", "1 , 23"),
        (r"\frac{x}{2}, 1", "frac { x } { 2 } , 1"),
        ("f(x) = 1,234", "f ( x ) = 1234"),
    ],
)
def test_commas_separate_thousands_only_where_they_can_separate_nothing_else(text, joined):
    assert " ".join(token.text for token in join_digit_groups(tokenize(text))) == joined


@pytest.mark.parametrize(
    ("text", "unit", "scale"),
    [
        ("5 inches", "inch", 1),
        ("5 million", "", 10**6),
        ("5 million dollars", "dollar", 10**6),
        (r"5\text{ sq. ft}", "foot^2", 1),
        (r"5\text{ cm}^{3}", "cm^3", 1),
        (r"5\text{ miles/hour}", "hour^-1 mile", 1),
        (r"5\text{ apples}", "", 1),
        (r"20^\circ C", "celsius", 1),
        (r"\sin 20^\circ", "", 1),
    ],
)
def test_a_unit_has_one_spelling(text, unit, scale):
    quantity = split_quantity(tokenize(text))
    assert (quantity.unit, quantity.scale) == (unit, scale)


def test_texts_are_compared_without_wrappers_and_needless_space_but_nothing_is_glued_together():
    assert compact(r"\text{no real } x") == compact("no real x")
    assert compact(r"$\left( 1 , 2 \right)$") == compact("(1,2)")
    assert compact("1 5") != compact("15")
    assert compact("2^{10}") != compact("2^{1}0")
    assert compact("R^2") != compact("r^2")
