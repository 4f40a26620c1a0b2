"""Abuse of time, processes, memory, disk and output, which must end at a limit and leave nothing behind."""

from toys.hostile.corpus import Family

abuse = Family("abuse", "fail")

PROGRAMS = [
    abuse(
        "loop_in_every_thread",
        """
        import threading

        def spin():
            while True:
                hash(b"x" * 100000)

        def double(n):
            for _ in range(16):
                threading.Thread(target=spin).start()
            spin()
        """,
        slow=True,
    ),
    abuse(
        "threads_without_end",
        """
        import threading
        import time

        def double(n):
            while True:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        """,
        slow=True,
    ),
    abuse(
        "dies_of_recursion_in_c",
        """
        import sys

        sys.setrecursionlimit(2 ** 31 - 1)

        class Deep:
            def __repr__(self):
                return repr(self)

        def double(n):
            return repr(Deep())
        """,
        slow=True,
    ),
    abuse(
        "stops_itself",
        "import os, signal\n\ndef double(n):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    return 0\n",
        slow=True,
    ),
    abuse(
        "closes_everything_at_import",
        "import os\n\nos.closerange(0, 4096)\n\ndef double(n):\n    return 0\n",
    ),
    abuse(
        "disk_by_a_sum_of_files",
        """
        import os

        def double(n):
            written = 0
            for folder in ("/tmp", "/dev/shm", "/var/tmp", "."):
                for i in range(20):
                    try:
                        number = os.open(f"{folder}/part{i}", os.O_CREAT | os.O_RDWR, 0o600)
                        for _ in range(15):
                            written += os.write(number, b"x" * (1 << 20)) >> 20
                    except OSError:
                        pass
            return n * 2 if written <= 64 else 0
        """,
        "assert double(4) == 8",
        expect="pass",
    ),
    abuse(
        "output_without_end",
        "def double(n):\n    while True:\n        print('x' * 100000)\n",
        slow=True,
    ),
    abuse(
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
    abuse(
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
    abuse(
        "bomb_of_depth",
        "def double(n):\n    v = 8\n    for _ in range(200000):\n        v = [v]\n    return v\n",
    ),
    abuse("bomb_of_length", "def double(n):\n    return 'x' * (300 << 20)\n", slow=True),
    abuse(
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
    abuse(
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
