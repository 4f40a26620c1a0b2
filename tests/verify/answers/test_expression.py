"""How the text of an expression is read, node by node."""

from fractions import Fraction

import pytest

from erce.verify.answers.expression import parse_scalar
from erce.verify.answers.limits import TooLargeError, UnparsedError

X, Y, ONE, TWO, THREE = ("sym", "x"), ("sym", "y"), ("num", 1), ("num", 2), ("num", 3)
PI = ("const", "pi")

READ = [
    ("1.50", ("dec", Fraction(3, 2))),
    ("3.0", ("dec", 3)),
    (r"1{,}234", ("num", 1234)),
    (r"12\,345\,678.5", ("dec", Fraction(24691357, 2))),
    (r"0.\overline{36}", ("num", Fraction(4, 11))),
    (r"0.1\overline{6}", ("num", Fraction(1, 6))),
    ("x - y", ("add", (X, ("neg", Y)))),
    ("2xy", ("mul", (TWO, X, Y))),
    (r"\pi 2", ("mul", (PI, TWO))),
    ("x/2y", ("frac", ("mul", (X, Y)), TWO)),
    (r"\frac12", ("frac", ONE, TWO)),
    (r"{1 \over 2}", ("frac", ONE, TWO)),
    (r"{3 \choose 2}", ("call", "binom", (THREE, TWO))),
    (r"1\frac12", ("num", Fraction(3, 2))),
    ("1 1/2", ("num", Fraction(3, 2))),
    (r"2\frac{x}{2}", ("mul", (TWO, ("frac", X, TWO)))),
    (r"x\frac12", ("mul", (X, ("frac", ONE, TWO)))),
    ("-x^2", ("neg", ("pow", X, TWO))),
    ("x^{-1}", ("pow", X, ("neg", ONE))),
    ("x^-1", ("pow", X, ("neg", ONE))),
    ("2^10", ("pow", TWO, ("num", 10))),
    ("x^2^3", ("pow", X, ("pow", TWO, THREE))),
    (r"\sqrt2", ("root", TWO, TWO)),
    (r"\sqrt[3]{x}", ("root", X, THREE)),
    ("2pi", ("mul", (TWO, PI))),
    ("e^x", ("pow", ("const", "e"), X)),
    (r"60^\circ", ("mul", (("num", 60), ("deg",)))),
    ("f'", ("sym", "f'")),
    (r"\alpha", ("sym", "alpha")),
    (r"\mathbf{x}", X),
    (r"\overline{AB}", ("sym", "overline:AB")),
    ("|x|", ("call", "abs", (X,))),
    ("3!", ("call", "fact", (THREE,))),
    (r"\sin 2x", ("call", "sin", (("mul", (TWO, X)),))),
    (r"\sin(x)y", ("mul", (("call", "sin", (X,)), Y))),
    (r"\sin x\cos y", ("mul", (("call", "sin", (X,)), ("call", "cos", (Y,))))),
    (r"\sin^2 x", ("pow", ("call", "sin", (X,)), TWO)),
    (r"\cotx", ("call", "cot", (X,))),
    (r"\log x", ("call", "log", (("num", 10), X))),
    (r"\log_2 x", ("call", "log", (TWO, X))),
    (r"\exp(x)", ("pow", ("const", "e"), X)),
    (r"\\frac{1}{2}", ("frac", ONE, TWO)),
    ("x²", ("pow", X, TWO)),
]
NOT_READ = [
    "",
    "5 5",
    "5%5",
    "x +",
    r"\sqrt",
    r"\sqrt{}",
    r"\frac123",
    r"\frac{9}19",
    "x = 1",
    r"\int_0^1 x",
    r"1 + \ldots + n",
    "n!!",
    r"\sin^{-1} x",
    r"\lfloor x \rfloor",
    r"\text{five}",
    "11_2",
    "__import__('os')",
    "\x00",
    "\ud800",
    "٥",
]
BEYOND = [
    "1" * 401,
    "1" * 2001,
    "(" * 41 + "x" + ")" * 41,
    "x^" * 41 + "x",
    r"\sin " * 41 + "x",
    r"\sqrt " * 41 + "x",
    "x+" * 600 + "x",
]


@pytest.mark.parametrize(("text", "tree"), READ)
def test_an_expression_is_read_as_its_tree(text, tree):
    assert parse_scalar(text) == tree


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_expression_is_unparsed(text):
    with pytest.raises(UnparsedError):
        parse_scalar(text)


@pytest.mark.parametrize("text", BEYOND, ids=range(len(BEYOND)))
def test_what_is_beyond_a_limit_is_too_large(text):
    with pytest.raises(TooLargeError):
        parse_scalar(text)


def test_what_is_within_the_limits_is_read():
    assert parse_scalar("(" * 39 + "x" + ")" * 39) == X
    assert parse_scalar("9" * 400) == ("num", 10**400 - 1)
