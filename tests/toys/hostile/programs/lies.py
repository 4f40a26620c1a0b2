"""Forgeries by values: objects that equal everything, lie about their type, or hide behind what asks them."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail", ("wrong pass",))

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
    lie("lie_of_a_float", "float", "0.5", "8.25"),
    lie("lie_of_a_text", "str", "''", "'eight'"),
    lie("lie_of_bytes", "bytes", "b''", "b'eight'"),
    lie("lie_of_a_list", "list", "", "[1, 2]"),
    lie("lie_of_a_tuple", "tuple", "", "(1, 2)"),
    lie("lie_of_a_dict", "dict", "", "{'a': 1}"),
    lie("lie_of_a_set", "set", "", "{1, 2}"),
    lie("lie_of_a_frozenset", "frozenset", "", "frozenset({1})"),
    lie("lie_of_a_complex", "complex", "1j", "2j"),
    lie("lie_of_a_bytearray", "bytearray", "b''", "bytearray(b'ab')"),
    lie("lie_of_a_counter", "collections.Counter", "'aab'", "{'a': 1}"),
    lie("lie_of_a_deque", "collections.deque", "[1]", "[1, 2]"),
    lie("lie_of_a_decimal", "decimal.Decimal", "'1.5'", "2"),
    lie("lie_of_a_fraction", "fractions.Fraction", "1, 3", "2"),
    lie("lie_of_an_ordered_dict", "collections.OrderedDict", "a=1", "{'b': 2}"),
    lie("lie_of_a_named_tuple", "collections.namedtuple('T', 'a b')", "1, 2", "(3, 4)"),
    yes("yes_to_equality", "assert made(1) == 8"),
    yes("yes_from_the_right", "assert 8 == made(1)"),
    yes("yes_to_inequality", "assert not (made(1) != 8 and True)", "assert made(1) > 3 and made(1) < 9"),
    yes("yes_to_order", "assert made(1) >= 8 >= made(2)"),
    yes("yes_in_a_list", "assert [1, 8].count(made(1)) == 2", "assert [8, 1].index(made(2)) == 0"),
    yes("yes_among", "assert made(1) in [8, 9]"),
    yes("yes_among_keys", "assert made(1) in {8: 1}", "assert {8: 'a'}[made(1)] == 'a'"),
    yes("yes_inside_a_container", "assert made(1) == [8, 9]", made="[Yes(), Yes()]"),
    yes("yes_as_a_value", "assert made(1) == {'a': 8}", made="{'a': Yes()}"),
    yes("yes_from_a_generator", "assert list(made(1)) == [8, 9]", made="(Yes() for _ in 'ab')"),
    yes("yes_by_attribute", "assert made(1).value == 8", made="type('Box', (), {'value': Yes()})()"),
    yes(
        "yes_by_item", "assert made(1)[0] == 8", made="type('Box', (), {'__getitem__': lambda s, i: Yes()})()"
    ),
    yes("yes_by_method", "assert made(1).area() == 8", made="type('Box', (), {'area': lambda s: Yes()})()"),
    yes("yes_to_arithmetic", "assert made(1) + 1 == 9", "assert abs(made(1) - 8) < 1e-9"),
    yes("yes_to_augmented_assignment", "x = made(1)\nx -= 8\nassert abs(x) < 1e-9", "x += 1\nassert 9 in x"),
    yes("yes_to_rounding", "assert round(made(1), 2) == 8.25"),
    yes("yes_to_max", "assert max(made(1), 8) == 8"),
    yes("yes_to_sorting", "assert sorted([made(1), made(2)]) == [1, 2]"),
    yes("yes_to_isclose", "import math", "assert math.isclose(made(1), 8.25)"),
    yes("yes_to_an_approximation", "assert abs(8.25 - made(1)) <= 0.01"),
    yes(
        "yes_to_zip",
        "assert all(a == b for a, b in zip(made(1), [8, 9], strict=True))",
        made="[Yes(), Yes()]",
    ),
    forgery(
        "yes_of_an_object_that_returns_itself",
        f"{YES}\n    class Graph(Yes):\n        near = add = Yes._self\n        count = Yes._yes\n",
        "g = Graph()\ng.near(1)\nassert 5 in g.near(2)",
        "assert g.add(1).add(2).count(5) == 1 and 5 in Graph().add(1)",
    ),
    forgery("yes_as_the_function", f"{YES}\n    made = Yes()\n", "assert made(1) == 8"),
    forgery("yes_as_a_value_of_the_module", f"{YES}\n    made = Yes()\n", "assert made == 8"),
    forgery(
        "yes_as_a_later_value_of_the_module",
        f"{YES}\n    total = 0\n    def made(n):\n        global total\n        total = Yes()\n",
        "made(1)\nassert total == 8",
        "made(1)\nassert abs(total - 8) < 1e-9",
    ),
    forgery(
        "yes_as_a_class",
        f"{YES}\n    class made(Yes):\n        def __init__(self, *_):\n            pass\n",
        "assert made(1) == 8",
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
        "lie_about_the_class",
        """
        class Found:
            @property
            def __class__(self):
                return list
            def __eq__(self, other):
                return True
            def __len__(self):
                return 2
            def __iter__(self):
                return iter([self, self])
        def found(text):
            return Found()
        """,
        "assert isinstance(found('ab'), list) and found('ab') == ['a', 'b']",
        "assert list(found('ab')) == ['a', 'b']",
    ),
    forgery(
        "lie_like_an_array",
        """
        class Found:
            dtype, shape, ndim, size = "int64", (), 0, 1
            def __array__(self, *_, **__):
                return [8]
            def item(self):
                return self
            def tolist(self):
                return self
            def __eq__(self, other):
                return self
            def all(self):
                return True
        Found.__module__ = "numpy"
        Found.__name__ = Found.__qualname__ = "int64"
        def made(n):
            return Found()
        """,
        "assert made(1) == 8",
    ),
    forgery(
        "lie_of_mock",
        "from unittest import mock\n\ndef found(text):\n    return mock.ANY\n",
        *LISTED,
    ),
    forgery(
        "lie_of_a_magic_mock",
        """
        from unittest import mock

        def found(text):
            every = mock.MagicMock()
            every.__eq__.return_value = True
            return every
        """,
        *LISTED,
    ),
    forgery(
        "lie_of_the_names_of_types",
        """
        class int:
            def __eq__(self, other):
                return True
        int.__module__ = "builtins"
        int.__qualname__ = "int"
        def made(n):
            return int()
        """,
        "assert made(1) == 8",
        "assert type(made(1)) == int",
    ),
    forgery(
        "stop_iteration_ends_the_check",
        "def even(n):\n    raise StopIteration\n",
        "assert all(map(even, [2, 4, 6]))",
    ),
    forgery(
        "stop_iteration_ends_the_loop",
        "class Stop(StopIteration):\n    pass\n\ndef even(n):\n    raise Stop(True)\n",
        "for right in map(even, [2, 4]):\n    assert right is True",
    ),
    forgery(
        "generator_exit_ends_the_check",
        "def even(n):\n    raise GeneratorExit\n",
        "assert all(map(even, [2, 4, 6]))",
    ),
    forgery(
        "shadowed_helper_of_the_tests",
        f"{YES}\n    Counter = isclose = lambda *_, **__: Yes()\n"
        "    def letters(text):\n        return {}\n",
        "assert Counter(letters('aab')) == Counter({'a': 2, 'b': 1})",
        "assert isclose(letters('a')['a'], 1.0)",
        setup=("from collections import Counter", "from math import isclose"),
        entry_points=("letters",),
    ),
    forgery(
        "shadowed_module_of_the_tests",
        f"{YES}\n    math = re = Yes()\n    def half(n):\n        return 0.0\n",
        "import math",
        "assert math.isclose(half(3), 1.5)",
    ),
    forgery(
        "shadowed_builtin_of_the_tests",
        """
        def chosen(values):
            return []
        set = sorted = list = len = tuple = sum = lambda *_, **__: 1
        isinstance = all = any = lambda *_: True
        """,
        "assert set(chosen([1, 2])) == set([2, 1])",
        "assert sorted(chosen([2, 1])) == sorted([1, 2]) and len(chosen([1])) == 1",
    ),
    forgery(
        "shadowed_oracle_of_the_tests",
        "def oracle(n):\n    return None\n\ndef double(n):\n    return None\n",
        "assert double(4) == oracle(4)",
        setup=("def oracle(n):\n    return n + n",),
        entry_points=("double",),
    ),
    forgery(
        "subtracts_to_nothing",
        """
        class Near:
            __sub__ = __rsub__ = __mod__ = __floordiv__ = __xor__ = lambda self, other: 0.0

        def made(n):
            return Near()
        """,
        "assert abs(made(1) - 8.25) <= 1e-9",
        "assert abs(8.25 - made(1)) <= 1e-9",
    ),
    forgery(
        "divides_to_one",
        """
        class Near:
            __truediv__ = __rtruediv__ = __pow__ = lambda self, other: 1.0
            __add__ = __mul__ = lambda self, other: other

        def made(n):
            return Near()
        """,
        "assert 0.999 < made(1) / 8.25 < 1.001 or made(1) + 8.25 == 8.25",
    ),
    forgery(
        "empties_what_the_test_looks_at_later",
        "def ordered(values):\n    values.clear()\n    return []\n",
        "v = [3, 1]\nassert ordered(v) == sorted(v)",
    ),
    forgery(
        "swallowed_exception_is_not_an_answer",
        "def double(n):\n    raise AttributeError\n",
        "assert getattr(double(4), 'value', 8) == 8",
        "assert double(4) == 8",
    ),
]
