"""Objects that the program changes in place, and methods that return their own object."""

import pytest

IN_PLACE = """
class Bag:
    def __init__(self, *items): self.items = list(items)
    def __iadd__(self, item):
        self.items.append(getattr(item, "items", item))
        return self
    def __isub__(self, item):
        self.items.remove(item)
        return self
    def __add__(self, item): return Bag(*self.items, item)
    def __str__(self): return str(self.items)
    def __contains__(self, item): return item in self.items
    def __len__(self): return len(self.items)
class Frozen:
    def __init__(self, x): self.x = x
    def __add__(self, other): return Frozen(self.x + other.x)
    def __ixor__(self, other): return NotImplemented
    def __ipow__(self, other): return Frozen(other.x)
class Factor(Frozen):
    def __rmul__(self, other): return Frozen(self.x * other.x)
"""


@pytest.mark.parametrize(
    "test",
    [
        "a = b = Bag(1)\na += 2\nassert a is b and str(b) == '[1, 2]' and 2 in a and len(a) == 2",
        "a = b = Bag(1)\na += Bag(2)\nassert b.items == [1, [2]]",
        "a = b = Bag(1, 2)\na -= 2\nassert b.items == [1] and 2 not in a",
        "a = b = Frozen(1)\na += Frozen(2)\nassert a.x == 3 and b.x == 1",
        "a = b = Frozen(2)\na *= Factor(3)\nassert a.x == 6 and b.x == 2",
        "a = b = Frozen(2)\na **= Frozen(3)\nassert a.x == 3 and b.x == 2",
        "a = Frozen(2)\ntry:\n    a ^= Frozen(3)\n    assert False\nexcept TypeError:\n    assert a.x == 2",
        "a = [Bag(1)]\na[0] += 2\nassert a[0].items == [1, 2]",
    ],
)
def test_an_augmented_assignment_does_what_the_programs_class_defines(ruled, test):
    assert ruled(IN_PLACE, test, entry_points=["Bag", "Factor", "Frozen"]) == ("passed", "")


NEVER_WRONG = """
class Value:
    __iadd__ = __isub__ = __imod__ = __ixor__ = lambda self, other: self
    __abs__ = __float__ = lambda self: 0.0
    __int__ = __len__ = lambda self: 0
    __bool__ = lambda self: False
    __contains__ = lambda self, item: True
def f(x): return Value()
class K:
    value = property(lambda self: self)
    itself = lambda self, *x: self
    count = lambda self, x: 1
    __sub__ = __iadd__ = __isub__ = lambda self, other: self
    __imul__ = lambda self, other: 0.0
    __ipow__ = lambda self, other: K()
    __abs__ = lambda self: 0.0
    __contains__ = lambda self, item: True
"""


@pytest.mark.parametrize(
    "test",
    [
        "x = f(3)\nx -= 9\nassert abs(x) < 1e-6",
        "x = f(3)\nx %= 2\nassert not x",
        "x = f(3)\nx ^= {1, 2}\nassert len(x) == 0",
        "x = f(3)\nx += 1\nassert 5 in x",
        "x = K().itself()\nx -= 9\nassert abs(x) < 1e-6",
        "x = K().value\nx -= 9\nassert abs(x) < 1e-6",
        "x = K()\nx *= 9\nassert x == 0",
        "x = K()\nx **= 9\nassert abs(x) < 1e-6",
        "assert abs(K() - 9) < 1e-6",
    ],
)
def test_an_object_in_the_place_of_a_number_proves_nothing_after_an_assignment(ruled, test):
    assert ruled(NEVER_WRONG, test)[0] == "opaque"
