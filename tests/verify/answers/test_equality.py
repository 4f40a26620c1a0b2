"""Two expressions have the same value exactly, if they are rational; close is not enough."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from toys.answers.expressions import parsed

from erce.verify.answers.limits import Budget, TooLargeError, UnparsedError
from erce.verify.answers.tree import Evaluator, proportion, same_value, sample_points

SAME = [
    (r"\sqrt{xy}", r"\sqrt{x}\sqrt{y}"),
    ("x^2+2x+1", "(x+1)^2"),
    (r"\sin^2 x+\cos^2 x", "1"),
    (r"\log_2 8", "3"),
    (r"e^{i\pi}", "-1"),
    (r"\sqrt{2}^2-2", "0"),
    ("(-8)^{1/3}", "-2"),
    (r"\cos 60^\circ", r"\frac12"),
    (r"\frac{n!}{(n-1)!}", "n"),
    (r"\binom{2026}{1013}", r"\frac{2026!}{1013!\,1013!}"),
    (r"\frac13", "0.33333333"),
    (r"9\pi", "28.274333882308138"),
    ("0", "-0"),
    (r"\infty", r"+\infty"),
]
DIFFERENT = [
    (r"\sqrt{x^2}", "x"),
    ("x^2", "2x"),
    ("2^{-99}", "2^{-98}"),
    ("0.0000001", "0.0000002"),
    ("12345678901234567890", "12345678901234567891"),
    (r"10^{100}+\pi", "10^{100}+e"),
    ("e^{-1000}", "e^{-1001}"),
    ("e^{x}", "e^{x}+10^{-300}"),
    (r"\arctan 1", r"\frac{\pi}{4}+10^{-200}"),
    (r"\sqrt{10^{20}+1}", "10^{10}"),
    (r"\frac13", "0.333332"),
    (r"\sqrt{xy}", r"\sqrt{x}+\sqrt{y}"),
    (r"\pi", "3.14"),
    (r"\infty", r"-\infty"),
]
TOO_LARGE = [
    "9^{9^9}",
    r"\binom{10^9}{10^8}",
    r"\pi^{10^{6}}" * 10 + r"^{10}",
    "e^{10^{9}}",
    r"\sin 10^{9}",
    "+".join(f"x_{{{index}}}" for index in range(13)),
]
WITHOUT_VALUE = [
    r"\frac{5}{0}",
    "0^0",
    r"\ln 0",
    "(1/2)!",
]


def same(left: str, right: str) -> bool:
    return same_value(parsed(left), parsed(right), Budget())


@pytest.mark.parametrize(("left", "right"), SAME)
def test_equal_expressions_are_the_same_either_way_round(left, right):
    assert same(left, right)
    assert same(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_what_is_only_close_is_different_either_way_round(left, right):
    assert not same(left, right)
    assert not same(right, left)


@pytest.mark.parametrize("text", TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_more_arithmetic_than_a_check_may_do_is_too_large(text):
    with pytest.raises(TooLargeError):
        same(text, "2")


@pytest.mark.parametrize("text", WITHOUT_VALUE)
def test_what_has_no_value_is_unparsed(text):
    with pytest.raises(UnparsedError):
        same(text, "2")


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("2x-4", "x-2", 1),
        ("2-x", "x-2", -1),
        ("x-2", "x-3", 0),
        ("x-2", "y-2", 0),
        ("1", "1", 0),
        ("x", "ix", 0),
    ],
)
def test_proportional_expressions_differ_by_a_real_constant(left, right, sign):
    assert proportion(parsed(left), parsed(right), Budget()) == sign


def test_rational_values_are_exact_and_others_are_not():
    evaluator = Evaluator({"x": Fraction(1, 3)}, Budget())
    assert evaluator.value(parsed("x^2+1")) == Fraction(10, 9)
    assert type(evaluator.value(parsed("3x"))) is int
    assert type(evaluator.value(parsed(r"\sqrt{x}"))) not in (int, Fraction)


def test_the_points_are_the_same_in_every_process():
    assert sample_points(3, whole=False) is sample_points(3, whole=False)
    assert sample_points(1, whole=True)[0] != sample_points(2, whole=True)[0][:1]
    statement = "from erce.verify.answers.tree import sample_points as p; print(p(2, whole=False))"
    told = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(sample_points(2, whole=False))


def test_threads_get_the_verdicts_that_one_thread_gets():
    pairs = [pair for pair in SAME + DIFFERENT if "\\" in pair[0]] * 8
    alone = [same(*pair) for pair in pairs]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda pair: same(*pair), pairs)) == alone
    finally:
        sys.setswitchinterval(before)


def test_mpmath_is_loaded_only_where_a_value_is_not_rational():
    statement = (
        "import sys; from erce.verify import equivalent as e; "
        "e('1/2', '0.5'); print('mpmath' in sys.modules, end=' '); "
        "e('2', 'sqrt(3)'); print('mpmath' in sys.modules, 'sympy' in sys.modules, 'numpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True", "False", "False"]
