"""Honest programs, which no protection may fail, and wrong or broken ones, which no leniency may pass."""

from toys.hostile.corpus import Family

honest, wrong = Family("honest", "pass"), Family("wrong", "fail")
LIST = ("assert twice([1, 2]) == [2, 4]", "assert twice([]) == []")

PROGRAMS = [
    honest("honest_double", "def double(n):\n    return n + n\n"),
    honest(
        "honest_prints_a_lot",
        """
        import sys

        def double(n):
            for i in range(3000):
                print("step", i, "of", n, "." * 100)
            sys.stderr.write("done\\n" * 5000)
            return n * 2
        """,
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
        "honest_three_hundred_megabytes",
        """
        def double(n):
            room = bytearray(300 << 20)
            room[::4096] = b"x" * len(room[::4096])
            return n + n + room[1]
        """,
    ),
    honest(
        "library_forty_threads",
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor

        def together(n):
            gate = threading.Barrier(n)
            with ThreadPoolExecutor(n) as pool:
                return list(pool.map(lambda i: (gate.wait(), i)[1], range(n)))
        """,
        "assert together(40) == list(range(40))",
    ),
    honest(
        "library_asyncio",
        """
        import asyncio

        async def part(n):
            await asyncio.sleep(0.001)
            return n

        async def both(n):
            return sum(await asyncio.gather(part(n), part(n)))

        def double(n):
            return asyncio.run(both(n))
        """,
    ),
    honest(
        "library_temporary_file",
        """
        import tempfile

        def double(n):
            with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
                file.write(f"{n}\\n" * 2)
                file.seek(0)
                return sum(int(line) for line in file)
        """,
        tiers=("namespaces",),
    ),
    wrong("wrong_off_by_one", "def double(n):\n    return n + n + (n > 20)\n"),
    wrong("wrong_text_of_the_answer", "def double(n):\n    return str(n * 2)\n"),
    wrong("wrong_nearly", "def double(n):\n    return n * 2 + 1e-9\n"),
    wrong("wrong_tuple_for_a_list", "def twice(values):\n    return tuple(v * 2 for v in values)\n", *LIST),
    wrong("wrong_name_is_missing", "def doubled(n):\n    return n * 2\n"),
    wrong(
        "wrong_leaves_it_to_the_builtin",
        "def total(values):\n    return 6\n",
        "assert sum([1, 2, 3]) == 6",
        entry_points=("sum",),
    ),
    wrong("wrong_is_prose", "To double a number, add it to itself.\n"),
    wrong("wrong_is_empty", ""),
    wrong("wrong_null_bytes", "def double(n):\x00\n    return n * 2\n"),
    wrong("wrong_asks_for_input", "factor = int(input())\n\ndef double(n):\n    return n * factor\n"),
    wrong("wrong_expression_of_great_depth", "double = " + "-" * 100000 + "1\n"),
]
