"""Which texts are expressions, and where their limits are; the labelled pairs say how they are read."""

import pytest
from toys.answers.expressions import parsed

from erce.verify.answers.limits import TooLargeError, UnparsedError

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
    r"\lfloor x",
    r"\text{five}",
    "11_1",
    "11_b",
    "11_2_3",
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


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_expression_is_unparsed(text):
    with pytest.raises(UnparsedError):
        parsed(text)


@pytest.mark.parametrize("text", BEYOND, ids=range(len(BEYOND)))
def test_what_is_beyond_a_limit_is_too_large(text):
    with pytest.raises(TooLargeError):
        parsed(text)


def test_what_is_within_the_limits_is_read():
    assert parsed("(" * 39 + "x" + ")" * 39) == ("sym", "x")
    assert parsed("9" * 400) == ("num", 10**400 - 1)
