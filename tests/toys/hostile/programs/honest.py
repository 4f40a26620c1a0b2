"""Honest programs that use the language in full, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

PROGRAMS = [
    honest("honest_double", "def double(n):\n    return n + n\n"),
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
        "honest_large_answer",
        "def numbers(n):\n    return [[i, str(i)] for i in range(n)]\n",
        "assert numbers(50000)[-1] == [49999, '49999']",
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
        "honest_three_hundred_megabytes",
        """
        def double(n):
            room = bytearray(300 << 20)
            room[::4096] = b"x" * len(room[::4096])
            return n + n + room[1]
        """,
    ),
    honest(
        "honest_sleeps",
        "import time\n\ndef double(n):\n    time.sleep(0.2)\n    return n * 2\n",
        "assert double(4) == 8",
    ),
]
