"""Abuse of time, processes, signals, disk and output, which must end at a limit and leave nothing behind."""

from toys.hostile.corpus import Family

abuse = Family("abuse", "fail")
loop = Family("abuse", "fail")
disk = Family("abuse", "any")

PROGRAMS = [
    loop(
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
        reason="timeout",
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
    disk(
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
    loop(
        "output_without_end",
        "def double(n):\n    while True:\n        print('x' * 100000)\n",
        slow=True,
    ),
]
