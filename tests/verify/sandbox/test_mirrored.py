"""Comparison methods of classes: in which of them an instance cannot cheat."""

import ast

import pytest

from erce.verify.sandbox.mirrored import mirrored_comparisons

CLASS = """
class K:
    def __eq__(self, other):
        {}
    @staticmethod
    def row(x):
        return x.row
    @classmethod
    def column(cls, x):
        return x.column
    def method(self, x):
        return x
"""


def is_mirrored(body):
    text = CLASS.format(body.replace("\n", "\n        "))
    return mirrored_comparisons([ast.parse(text)]) == {"K.__eq__"}


@pytest.mark.parametrize(
    "body",
    [
        "return self.x == other.x",
        "return other.x == self.x and self.values() == other.values()",
        "return isinstance(other, K) and (self.x, self.y) == (other.x, other.y)",
        "if other is None or self.loops():\n    return False\nreturn vars(self) == vars(other)",
        "'''Same?'''\nif type(other) != K:\n    return NotImplemented\nreturn str(self) == str(other)",
        "return type(self) is type(other) and self.left == other.left and self.right == other.right",
        "return self.row(self) == self.row(other)",
        "return self.row(self) == other.row(other) and self.column(self) == self.column(other)",
    ],
)
def test_the_same_expression_of_both_sides_is_mirrored(body):
    assert is_mirrored(body)


@pytest.mark.parametrize(
    "body",
    [
        "return other in self.all",
        "return self.x == other.y",
        "return abs(self.x - other.x) <= self.tolerance",
        "return self.x == other.x or self.wild",
        "return self.x == other.x and other.x in self.all",
        "return self.any or self.x == other.x",
        "return self.x >= other.x",
        "return not self.x != other.x",
        "if self.wild:\n    return True\nreturn self.x == other.x",
        "if self.x == 3:\n    return False\nelse:\n    return self.x == self.y",
        "x = other.x\nreturn self.x == x",
        "return self.x == self.x",
        "return other.x == other.x",
        "return isinstance(other, K)",
        "return type(self) == type(other)",
        "return self.__class__ is other.__class__",
        "return self.method(self) == self.method(other)",
        "return (self.x == other.x) == self.x",
        "return self.x == other.x == self.y",
        "return True",
    ],
)
def test_anything_else_is_not(body):
    assert not is_mirrored(body)


def test_all_methods_of_a_name_must_be_mirrored():
    good, bad = (ast.parse(CLASS.format(f"return self.x {op} other.x")) for op in ("==", "<"))
    assert mirrored_comparisons([good, good]) == {"K.__eq__"}
    assert mirrored_comparisons([good, bad]) == frozenset()


def test_an_order_is_mirrored_by_its_own_operator():
    text = "class K:\n    def __lt__(self, other):\n        return self.x < other.x"
    assert mirrored_comparisons([ast.parse(text)]) == {"K.__lt__"}
