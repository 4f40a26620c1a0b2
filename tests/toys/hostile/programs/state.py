"""Probes of what one job leaves to the next: each runs twice, and is right where it finds nothing."""

from toys.hostile.corpus import Family, probe

state = Family("escape", "pass")

PROGRAMS = [
    probe(
        state,
        "state_in_modules",
        """
        import builtins, os, sys, json
        reached = any(hasattr(place, "kept") for place in (builtins, os, sys, json))
        builtins.kept = os.kept = sys.kept = json.kept = True
        os.environ["KEPT"] = "1"
        os.umask(0)
        sys.setrecursionlimit(99)
        """,
        repeat=2,
    ),
    probe(
        state,
        "state_in_the_kernel",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        key = 0x5eed
        reached = libc.shmget(key, 4096, 0) >= 0 or libc.msgget(key, 0) >= 0 or libc.semget(key, 1, 0) >= 0
        libc.shmget(0x5eed, 4096, 0o1666)
        libc.msgget(0x5eed, 0o1666)
        libc.semget(0x5eed, 1, 0o1666)
        """,
        repeat=2,
    ),
    probe(
        state,
        "state_in_the_generator",
        """
        import random, time
        first = random.random()
        reached = first != random.Random(0).random() or hash("kept") != hash("ke" + "pt")
        random.seed(time.time())
        """,
        repeat=2,
    ),
]
