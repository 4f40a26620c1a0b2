"""Abuse of memory, and values that grow when they are sent, decoded, compared or shown."""

from toys.hostile.corpus import Family

hungry = Family("abuse", "fail", ("memory", "time"))
bomb = Family("abuse", "fail", ("supervisor memory", "memory", "time"))

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
    hungry("memory_at_once", "def double(n):\n    return len(b'x' * (40 << 30)) and n * 2\n"),
    hungry(
        "memory_by_mapping",
        """
        import mmap

        def double(n):
            kept = []
            for _ in range(60):
                kept.append(mmap.mmap(-1, 64 << 20))
                kept[-1].write(b"x" * (64 << 20))
            return n * 2
        """,
        "assert double(4) == 8",
        slow=True,
    ),
    hungry(
        "memory_without_a_name",
        """
        import os

        def double(n):
            number = os.memfd_create("kept")
            for _ in range(90):
                os.write(number, b"x" * (10 << 20))
            return n * 2
        """,
        "assert double(4) == 8",
    ),
    hungry(
        "memory_in_shared_files",
        """
        import os

        def double(n):
            for folder in ("/dev/shm", "/run", "/var/tmp"):
                number = os.open(f"{folder}/kept", os.O_CREAT | os.O_RDWR, 0o600)
                for _ in range(60):
                    os.write(number, b"x" * (10 << 20))
            return n * 2
        """,
        "assert double(4) == 8",
    ),
    hungry(
        "memory_of_children",
        """
        import os
        import time

        def double(n):
            for _ in range(4):
                if os.fork() == 0:
                    kept = bytearray(b"x" * (600 << 20))
                    time.sleep(1)
                    os._exit(0)
            time.sleep(0.5)
            return n * 2
        """,
        "assert double(4) == 8",
    ),
    hungry(
        "memory_of_system_v",
        """
        import ctypes

        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p

        def double(n):
            made = 0
            for _ in range(24):
                segment = libc.shmget(0, 64 << 20, 0o1600)
                if segment < 0:
                    break
                address = libc.shmat(segment, None, 0)
                ctypes.memset(address, 1, 64 << 20)
                made += 1
            return n * 2 if made == 24 else 0
        """,
        "assert double(4) == 8",
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
    hungry(
        "memory_caught_and_tried_again",
        """
        def double(n):
            kept = []
            for _ in range(300):
                try:
                    kept.append("x" * (50 << 20))
                except MemoryError:
                    pass
            return 0
        """,
        slow=True,
    ),
    hungry("memory_of_a_literal", "double = [0] * (10 ** 10)\n"),
    hungry("memory_of_the_source", "double = '''" + "x" * 20_000_000 + "'''\n"),
    bomb(
        "bomb_of_depth",
        "def double(n):\n    v = 8\n    for _ in range(200000):\n        v = [v]\n    return v\n",
    ),
    bomb("bomb_of_itself", "def double(n):\n    v = []\n    v.append(v)\n    return v\n"),
    bomb("bomb_of_a_dict_in_itself", "def double(n):\n    v = {}\n    v[8] = v\n    return v\n"),
    bomb("bomb_of_length", "def double(n):\n    return 'x' * (300 << 20)\n", slow=True),
    bomb("bomb_of_items", "def double(n):\n    return [0] * 30000000\n", slow=True),
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
    bomb("bomb_of_digits", "def double(n):\n    return 1 << (1 << 31)\n", slow=True),
    bomb(
        "bomb_of_a_decimal",
        "from decimal import Decimal\n\ndef double(n):\n    return Decimal('1e999999999')\n",
        "assert int(double(4)) == 8",
    ),
    bomb(
        "bomb_of_a_decimal_sum",
        "from decimal import Decimal\n\ndef double(n):\n    return Decimal('1e999999')\n",
        "assert double(4) + 1 == 8 or double(4) ** 3 == 8",
        "assert hash(double(4)) == 8",
    ),
    bomb(
        "bomb_of_a_range", "def double(n):\n    return range(10 ** 15)\n", "assert sorted(double(4)) == [8]"
    ),
    bomb(
        "bomb_of_a_range_as_a_list",
        "def double(n):\n    return range(10 ** 9)\n",
        "assert list(double(4)) == [8]",
    ),
    bomb(
        "bomb_of_a_product",
        "def double(n):\n    return 10 ** 9\n",
        "assert 'x' * double(4) == 'x' * 8",
        "assert [0] * double(4) == [0] * 8",
    ),
    bomb(
        "bomb_of_a_power",
        "def double(n):\n    return 10 ** 7\n",
        "assert 7 ** double(4) == 7 ** 8",
        slow=True,
    ),
    bomb(
        "bomb_of_collisions",
        "def double(n):\n    return [i * ((1 << 61) - 1) for i in range(60000)]\n",
        "assert set(double(4)) == {8}",
        slow=True,
    ),
    bomb(
        "bomb_of_colliding_keys",
        "def double(n):\n    return {i * ((1 << 61) - 1): i for i in range(60000)}\n",
        slow=True,
    ),
    bomb(
        "bomb_of_an_iterator",
        "from itertools import repeat\n\ndef double(n):\n    return repeat('x' * 100000)\n",
        "assert list(double(4)) == [8]",
        slow=True,
    ),
    bomb(
        "bomb_of_a_message",
        "def double(n):\n    raise ValueError('x' * (300 << 20))\n",
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
    bomb(
        "bomb_of_a_representation",
        """
        class Shown:
            def __repr__(self):
                return "x" * (300 << 20)
            __str__ = __repr__

        def double(n):
            return Shown()
        """,
        "assert str(double(4)) == '8'",
        slow=True,
    ),
    bomb(
        "bomb_of_a_false_length",
        """
        class Long(list):
            def __len__(self):
                return 1 << 62
            def __length_hint__(self):
                return 1 << 62

        class Hinted:
            def __length_hint__(self):
                return 1 << 50
            def __iter__(self):
                return iter([8])

        def double(n):
            return [Long(), Hinted()]
        """,
    ),
    bomb(
        "bomb_of_a_pattern_for_the_test",
        "def double(n):\n    return 'a' * 60\n",
        "import re\nassert re.match(r'(a|a)*b', double(4))",
        slow=True,
    ),
    bomb(
        "bomb_of_a_format",
        "def double(n):\n    return '%999999999d'\n",
        "assert double(4) % 8 == '8'",
    ),
]
