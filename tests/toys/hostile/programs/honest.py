"""Honest programs that use memory, threads, files and much of the library, which no protection may fail."""

from toys.hostile.corpus import Family

honest = Family("honest", "pass")

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

        def together(n):
            seen, gate = [], threading.Barrier(n)

            def meet(i):
                gate.wait()
                seen.append(i)

            workers = [threading.Thread(target=meet, args=(i,)) for i in range(n)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            return sorted(seen)
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
        import os
        import tempfile

        def double(n):
            with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
                file.write(f"{n}\\n" * 2)
                file.seek(0)
                total = sum(int(line) for line in file)
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "a"), "wb") as file:
                    file.write(bytes(1000))
                return total + os.path.getsize(os.path.join(folder, "a")) - 1000
        """,
        tiers=("namespaces",),
    ),
    honest(
        "library_own_alarm",
        """
        import signal

        class Late(Exception):
            pass

        def ring(*_):
            raise Late

        def double(n):
            signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                while True:
                    pass
            except Late:
                return n + n
        """,
        "assert double(4) == 8",
    ),
]
