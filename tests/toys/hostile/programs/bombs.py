"""Abuse of memory, and values that grow when they are sent, decoded, compared or shown."""

from toys.hostile.corpus import Family

hungry = Family("abuse", "fail")
bomb = Family("abuse", "fail")

PROGRAMS = [
    hungry(
        "memory_in_pieces",
        """
        def double(n):
            kept = []
            while len(kept) < 400:
                kept.append(bytearray(b"x" * (10 << 20)))
            return n * 2
        """,
        "assert double(4) == 8",
        slow=True,
    ),
    hungry(
        "memory_in_pipes",
        """
        import fcntl
        import os

        def double(n):
            kept = 0
            try:
                for _ in range(2000):
                    out, into = os.pipe()
                    fcntl.fcntl(into, 1031, 1 << 20)
                    os.set_blocking(into, False)
                    kept += os.write(into, b"x" * (1 << 20))
            except OSError:
                pass
            return 0
        """,
    ),
    bomb(
        "bomb_of_depth",
        "def double(n):\n    v = 8\n    for _ in range(200000):\n        v = [v]\n    return v\n",
    ),
    bomb("bomb_of_length", "def double(n):\n    return 'x' * (300 << 20)\n", slow=True),
    bomb(
        "bomb_of_shared_parts",
        """
        def double(n):
            v = ["x" * 10]
            for _ in range(40):
                v = [v, v]
            return v
        """,
        slow=True,
    ),
    bomb(
        "bomb_of_an_exception_that_shows_itself",
        """
        class Shown(Exception):
            def __str__(self):
                return "x" * (300 << 20)
            __repr__ = __str__

        Shown.__name__ = "E" * (1 << 20)

        def double(n):
            raise Shown from Shown()
        """,
    ),
]
