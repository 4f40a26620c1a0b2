"""Honest programs that use the language in full, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

PROGRAMS = [
    honest("honest_double", "def double(n):\n    return n + n\n"),
    honest("honest_lambda", "double = lambda n: n + n\n"),
    honest(
        "honest_main_guard",
        """
        def double(n):
            return 2 * n

        if __name__ == "__main__":
            print(double(int(input("a number: "))))
        """,
    ),
    honest(
        "honest_prints_a_lot",
        """
        import sys

        def double(n):
            for i in range(3000):
                print("step", i, "of", n, "." * 100)
            sys.stderr.write("done\\n" * 5000)
            sys.stdout.flush()
            return n * 2
        """,
    ),
    honest(
        "honest_record_with_attributes",
        """
        from dataclasses import dataclass, field

        @dataclass(order=True)
        class Account:
            owner: str
            balance: int = 0
            log: list = field(default_factory=list)

            def deposit(self, amount):
                self.balance += amount
                self.log.append(("in", amount))
                return self.balance

        def open_account(owner, amount):
            account = Account(owner)
            account.deposit(amount)
            return account
        """,
        "a = open_account('Ada', 40)\nassert a.owner == 'Ada' and a.balance == 40",
        "a = open_account('Bob', 1)\nassert a.deposit(9) == 10\nassert a.log == [('in', 1), ('in', 9)]",
        mode="unproven",
    ),
    honest(
        "honest_class_is_the_entry_point",
        """
        class Stack:
            def __init__(self, items=()):
                self.items = list(items)

            def push(self, item):
                self.items.append(item)

            def pop(self):
                return self.items.pop()

            def __len__(self):
                return len(self.items)
        """,
        "s = Stack([1])\ns.push(5)\nassert len(s) == 2\nassert s.pop() == 5\nassert s.items == [1]",
        mode="unproven",
    ),
    honest(
        "honest_slots_and_properties",
        """
        class Celsius:
            __slots__ = ("degrees",)

            def __init__(self, degrees):
                self.degrees = degrees

            @property
            def fahrenheit(self):
                return self.degrees * 9 / 5 + 32

        def convert(degrees):
            return Celsius(degrees)
        """,
        "assert convert(100).fahrenheit == 212.0",
        "assert convert(-40).fahrenheit == convert(-40).degrees",
        mode="unproven",
    ),
    honest(
        "honest_named_tuple",
        """
        from typing import NamedTuple

        class Span(NamedTuple):
            low: int
            high: int = 9

        def span(values):
            return Span(min(values), max(values))
        """,
        "assert span([3, 1, 2]) == (1, 3)",
        "assert tuple(span([4])) == (4, 4)",
    ),
    honest(
        "honest_generator",
        """
        def countdown(n):
            while n:
                yield n
                n -= 1
        """,
        "assert list(countdown(3)) == [3, 2, 1]",
        "assert sum(countdown(100)) == 5050",
        "g = countdown(2)\nassert next(g) == 2 and next(g) == 1\nassert next(g, 'end') == 'end'",
    ),
    honest(
        "honest_endless_generator",
        """
        def primes():
            found = []
            n = 2
            while True:
                if all(n % p for p in found):
                    found.append(n)
                    yield n
                n += 1
        """,
        "import itertools\nassert list(itertools.islice(primes(), 6)) == [2, 3, 5, 7, 11, 13]",
        "for p in primes():\n    if p > 20:\n        break\nassert p == 23",
        mode="unproven",
    ),
    honest(
        "honest_own_iterator",
        """
        class Evens:
            def __init__(self, stop):
                self.now, self.stop = 0, stop

            def __iter__(self):
                return self

            def __next__(self):
                if self.now >= self.stop:
                    raise StopIteration
                self.now += 2
                return self.now - 2

        def evens(stop):
            return Evens(stop)
        """,
        "assert [v for v in evens(7)] == [0, 2, 4, 6]",
        "assert 4 in list(evens(7))",
    ),
    honest(
        "honest_lazy_objects",
        """
        def squares(values):
            return map(lambda v: v * v, values)

        def pairs(a, b):
            return zip(a, b)
        """,
        "assert list(squares([1, 2, 3])) == [1, 4, 9]",
        "assert dict(pairs('ab', [1, 2])) == {'a': 1, 'b': 2}",
    ),
    honest(
        "honest_closure",
        """
        def adder(a):
            def add(b, *, times=1):
                return (a + b) * times
            return add
        """,
        "assert adder(3)(4) == 7",
        "assert adder(1)(2, times=10) == 30",
        "assert list(map(adder(5), [1, 2])) == [6, 7]",
        mode="unproven",
    ),
    honest(
        "honest_keyword_arguments",
        """
        def area(width, /, height=2, *rest, unit="m", **more):
            return f"{width * height + sum(rest)}{unit}{len(more)}"
        """,
        "assert area(3) == '6m0'",
        "assert area(3, 4, 5, 6, unit='ft', a=1, b=2) == '23ft2'",
    ),
    honest(
        "honest_state_between_calls",
        """
        _count = 0

        def visit(name, seen=[]):
            global _count
            _count += 1
            seen.append(name)
            return _count, len(set(seen))
        """,
        "assert visit('a') == (1, 1)",
        "assert visit('a') == (2, 1)",
        "assert visit('b') == (3, 2)",
    ),
    honest(
        "honest_named_like_a_builtin",
        """
        def sum(values):
            total = 0
            for value in values:
                total += value
            return total

        def max(a, b):
            return a if a > b else b
        """,
        "assert sum([1, 2, 3]) == 6",
        "assert max(3, 9) == 9",
        entry_points=("sum", "max"),
    ),
    honest(
        "honest_raises_what_is_asked",
        """
        def root(n):
            if n < 0:
                raise ValueError(f"no real root of {n}")
            return n ** 0.5
        """,
        "assert root(9) == 3.0",
        "try:\n    root(-1)\nexcept ValueError:\n    raised = True\nassert raised",
    ),
    honest(
        "honest_deep_recursion",
        """
        import sys

        sys.setrecursionlimit(30000)

        def depth(n):
            return 0 if n == 0 else 1 + depth(n - 1)
        """,
        "assert depth(9000) == 9000",
    ),
    honest(
        "honest_exact_integers",
        """
        def power(a, b):
            return a ** b

        def digits(n):
            return len(str(n))
        """,
        "assert power(2, 5000) == 1 << 5000",
        "assert power(-3, 201) % 1000 == (-(3 ** 201)) % 1000",
        "assert digits(10 ** 4000) == 4001",
    ),
    honest(
        "honest_edges_of_float",
        """
        def quotient(a, b):
            if b == 0:
                return float("nan") if a == 0 else float("inf") * a
            return a / b
        """,
        "import math",
        "assert math.isnan(quotient(0, 0))",
        "assert quotient(1.0, 0) == math.inf and quotient(-1.0, 0) == -math.inf",
        "assert math.copysign(1, quotient(0.0, -4.0)) == -1.0",
        "assert quotient(5e-324, 1) == 5e-324 and abs(quotient(1, 3) - 0.333333) < 1e-5",
    ),
    honest(
        "honest_text_of_every_sort",
        """
        def twice(text):
            return text + text
        """,
        "assert twice('\\ud83d') == '\\ud83d\\ud83d'",
        "assert twice('a\\x00b') == 'a\\x00ba\\x00b'",
        "assert twice('žluť 😀') == 'žluť 😀žluť 😀'",
        "assert len(twice('x' * 500000)) == 1000000",
    ),
    honest(
        "honest_bytes",
        """
        def flip(blob):
            return type(blob)(reversed(blob))

        def view(blob):
            return bytes(memoryview(blob)[1:])
        """,
        "assert flip(b'\\x00\\xff') == b'\\xff\\x00'",
        "assert flip(bytearray(b'ab')) == bytearray(b'ba')",
        "assert view(b'abc') == b'bc'",
    ),
    honest(
        "honest_nested_containers",
        """
        def group(words):
            found = {}
            for word in words:
                found.setdefault((len(word), word[0]), set()).add(word)
            return {key: frozenset(value) for key, value in found.items()}
        """,
        "assert group(['ab', 'ac', 'b']) == {(2, 'a'): {'ab', 'ac'}, (1, 'b'): {'b'}}",
        "assert list(group(['b', 'ab'])) == [(1, 'b'), (2, 'a')]",
    ),
    honest(
        "honest_large_answer",
        "def numbers(n):\n    return [[i, str(i)] for i in range(n)]\n",
        "assert numbers(50000)[-1] == [49999, '49999']",
    ),
    honest(
        "honest_sorts_in_place",
        """
        def arrange(values):
            values.sort()
            return values
        """,
        "assert arrange([3, 1, 2]) == [1, 2, 3]",
    ),
    honest(
        "honest_changes_its_argument",
        """
        def arrange(values):
            values.sort()

        def note(book, name):
            book[name] = book.get(name, 0) + 1
        """,
        "v = [3, 1, 2]\narrange(v)\nassert v == [1, 2, 3]",
        "b = {}\nnote(b, 'a')\nnote(b, 'a')\nassert b == {'a': 2}",
    ),
    honest(
        "honest_matches_patterns",
        """
        def describe(shape):
            match shape:
                case {"kind": "circle", "r": r}:
                    return f"circle {r}"
                case [x, y, *_] if (s := x + y) > 3:
                    return f"point {s}"
                case str() | bytes():
                    return "text"
            return "other"
        """,
        "assert describe({'kind': 'circle', 'r': 2}) == 'circle 2'",
        "assert describe([2, 3, 4]) == 'point 5' and describe('a') == 'text' and describe(7) == 'other'",
    ),
    honest(
        "honest_annotations_and_other_alphabets",
        """
        from __future__ import annotations

        def größe(liste: list[int | None]) -> dict[str, NotDefinedAnywhere]:
            return {"größe": len(liste)}
        """,
        "assert größe([1, None]) == {'größe': 2}",
    ),
    honest(
        "honest_three_hundred_megabytes",
        """
        def double(n):
            room = bytearray(300 << 20)
            room[::4096] = b"x" * len(room[::4096])
            return n + n + room[1]
        """,
    ),
    honest(
        "honest_works_for_a_while",
        """
        def double(n):
            total = 0
            for i in range(600000):
                total += i & 1
            return n * 2 + total - 300000
        """,
        "assert double(4) == 8",
    ),
    honest(
        "honest_sleeps",
        "import time\n\ndef double(n):\n    time.sleep(0.2)\n    return n * 2\n",
        "assert double(4) == 8",
    ),
]
