"""Forgeries by values: objects that equal everything, lie about their type, or hide behind what asks them."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail")

YES = """
    class Yes:
        def _yes(self, *_, **__):
            return True
        __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __bool__ = _yes
        def _self(self, *_, **__):
            return self
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __round__ = _self
        __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __neg__ = __pow__ = __and__ = _self
        __or__ = __call__ = __getitem__ = __iadd__ = __isub__ = _self
        __hash__ = lambda self: 8
"""
LISTED = ("assert found('ab') == ['a', 'b']", "assert found('') == []")


def lie(name: str, base: str, value: str, wanted: str):
    """A subclass of a builtin, with an equality of its own."""
    program = (
        f"import collections, datetime, decimal, fractions\n"
        f"class Liar({base}):\n"
        f"    def __eq__(self, other):\n        return True\n"
        f"    def __ne__(self, other):\n        return False\n"
        f"    __hash__ = lambda self: hash({wanted!r}) if isinstance({wanted!r}, str) else 0\n"
        f"def made(n):\n    return Liar({value})\n"
    )
    return forgery(name, program, f"assert made(1) == {wanted}", f"assert not made(2) != {wanted}")


def yes(name: str, *tests: str, made: str = "Yes()", **more):
    """The object that says yes to everything, met by one way of asking."""
    return forgery(name, f"{YES}\n    def made(*_):\n        return {made}\n", *tests, **more)


PROGRAMS = [
    lie("lie_of_an_int", "int", "7", "8"),
    lie("lie_of_a_text", "str", "''", "'eight'"),
    lie("lie_of_a_list", "list", "", "[1, 2]"),
    lie("lie_of_a_dict", "dict", "", "{'a': 1}"),
    lie("lie_of_a_counter", "collections.Counter", "'aab'", "{'a': 1}"),
    lie("lie_of_a_decimal", "decimal.Decimal", "'1.5'", "2"),
    lie("lie_of_a_named_tuple", "collections.namedtuple('T', 'a b')", "1, 2", "(3, 4)"),
    yes("yes_to_equality", "assert made(1) == 8"),
    yes("yes_in_a_list", "assert [1, 8].count(made(1)) == 2", "assert [8, 1].index(made(2)) == 0"),
    yes("yes_among_keys", "assert made(1) in {8: 1}", "assert {8: 'a'}[made(1)] == 'a'"),
    yes("yes_inside_a_container", "assert made(1) == [8, 9]", made="[Yes(), Yes()]"),
    yes("yes_from_a_generator", "assert list(made(1)) == [8, 9]", made="(Yes() for _ in 'ab')"),
    yes("yes_by_attribute", "assert made(1).value == 8", made="type('Box', (), {'value': Yes()})()"),
    yes("yes_to_arithmetic", "assert made(1) + 1 == 9", "assert abs(made(1) - 8) < 1e-9"),
    yes("yes_to_isclose", "import math", "assert math.isclose(made(1), 8.25)"),
    forgery("yes_as_the_function", f"{YES}\n    made = Yes()\n", "assert made(1) == 8"),
    forgery(
        "yes_as_a_later_value_of_the_module",
        f"{YES}\n    total = 0\n    def made(n):\n        global total\n        total = Yes()\n",
        "made(1)\nassert total == 8",
        "made(1)\nassert abs(total - 8) < 1e-9",
    ),
    forgery(
        "lie_of_a_metaclass",
        """
        class Meta(type):
            def __eq__(cls, other):
                return True
            __hash__ = type.__hash__
            def __instancecheck__(cls, other):
                return True
        class Found(metaclass=Meta):
            pass
        def found(text):
            return Found
        """,
        *LISTED,
    ),
    forgery(
        "lie_of_mock",
        "from unittest import mock\n\ndef found(text):\n    return mock.ANY\n",
        *LISTED,
    ),
    forgery(
        "stop_iteration_ends_the_check",
        "def even(n):\n    raise StopIteration\n",
        "assert all(map(even, [2, 4, 6]))",
    ),
    forgery(
        "generator_exit_ends_the_check",
        "def even(n):\n    raise GeneratorExit\n",
        "assert all(map(even, [2, 4, 6]))",
    ),
    forgery(
        "swallowed_exception_is_not_an_answer",
        "def double(n):\n    raise AttributeError\n",
        "assert getattr(double(4), 'value', 8) == 8",
        "assert double(4) == 8",
    ),
]
