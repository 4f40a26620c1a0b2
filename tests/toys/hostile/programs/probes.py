"""Probes of what can be read, of others or of the job before. Right where nothing was reached."""

from toys.hostile.corpus import Family, probe

secret = Family("escape", "pass")

PROGRAMS = [
    probe(secret, "reads_a_secret_file", "reached = 'canary' in open('/tmp/canary/secret.txt').read()"),
    probe(
        secret,
        "lists_a_folder",
        """
        import os
        for path in ("/tmp/canary", "/home", "/boot", "/proc", "/sys"):
            try:
                reached = reached or bool(os.listdir(path))
            except OSError:
                pass
        """,
    ),
    probe(
        secret,
        "sees_a_name_outside",
        "import os\nreached = os.path.exists('/tmp/canary/secret.txt') or os.path.exists('/etc/passwd')",
        tiers=("namespaces",),
    ),
    probe(
        secret,
        "reads_the_environment_of_others",
        """
        import os
        for number in ["self", "thread-self", str(os.getppid()), *map(str, range(1, 300))]:
            try:
                reached = reached or b"CANARY" in open(f"/proc/{number}/environ", "rb").read()
            except OSError:
                pass
        """,
    ),
    probe(
        secret,
        "reads_the_memory_of_others",
        """
        import ctypes, os, platform, struct
        libc = ctypes.CDLL(None)
        number = 270 if platform.machine() == "aarch64" else 310
        room = ctypes.create_string_buffer(64)
        mine = struct.pack("QQ", ctypes.addressof(room), 8)
        theirs = struct.pack("QQ", id(object), 8)
        for target in range(1, 300):
            if target == os.getpid():
                continue
            reached = reached or libc.syscall(number, target, mine, 1, theirs, 1, 0) > 0
            try:
                reached = reached or os.open(f"/proc/{target}/mem", os.O_RDONLY) >= 0
            except OSError:
                pass
        """,
    ),
    probe(
        secret,
        "reads_the_memory_of_the_supervisor_by_fork",
        "import gc\nreached = any(type(o) is dict and 'canary_object' in o for o in gc.get_objects())",
    ),
    probe(
        secret,
        "asks_whose_processes_exist",
        """
        import os
        alive = 0
        for number in range(1, 600):
            try:
                os.getpgid(number)
                alive += number not in (os.getpid(), os.getppid())
            except OSError:
                pass
        reached = alive > 0
        """,
        tiers=("namespaces",),
    ),
    probe(
        secret,
        "reads_a_directory_by_its_handle",
        """
        import os
        for path in ("/", "/tmp", "..", "/proc/self/root", "/proc/1/root"):
            try:
                base = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                secret = os.open("tmp/canary/secret.txt", os.O_RDONLY, dir_fd=base)
                reached = reached or b"canary" in os.read(secret, 99)
            except OSError:
                pass
        """,
    ),
    probe(
        secret,
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
        secret,
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
        secret,
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
