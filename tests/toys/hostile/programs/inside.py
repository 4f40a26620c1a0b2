"""Forgeries from inside the interpreter: patches, its own memory, leaving early with signs of success."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail")
SECRET = ("assert secret(4) == 918273645546",)

PROGRAMS = [
    forgery(
        "patched_builtins",
        """
        import builtins

        def double(n):
            return 0

        class Never(Exception):
            pass

        builtins.AssertionError = Never
        builtins.all = builtins.any = builtins.isinstance = lambda *_: True
        builtins.len = builtins.abs = builtins.hash = lambda *_: 0
        builtins.exec = builtins.compile = builtins.eval = lambda *_, **__: None
        builtins.set = builtins.sorted = builtins.list = lambda *_, **__: []
        real = builtins.__import__
        builtins.__import__ = lambda name, *rest, **more: real("math")
        """,
    ),
    forgery(
        "patched_code_of_the_harness",
        """
        import gc
        import types

        def good(*_, **__):
            return 8

        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType) and not thing.__code__.co_freevars:
                words = ("verify", "sandbox", "<test", "<string>")
                if any(word in thing.__code__.co_filename for word in words):
                    thing.__code__ = good.__code__

        def double(n):
            return 0
        """,
    ),
    forgery(
        "own_memory_holds_the_answer",
        """
        import ctypes
        import os
        import re

        def pages(start):
            # write(2) refuses an address that is not mapped, so it can look before the interpreter leaps.
            libc = ctypes.CDLL(None)
            out, into = os.pipe()
            for step in (4096, -4096):
                page, gaps = start & ~4095, 0
                for _ in range(4000):
                    if libc.write(into, ctypes.c_void_p(page), 4096) == 4096:
                        yield os.read(out, 4096)
                        gaps = 0
                    else:
                        gaps += 1
                        if gaps > 64:
                            break
                    page += step

        def secret(n):
            pattern = re.compile(rb"ret\\(4\\) == (\\d{12})")
            for anchor in (id(pattern), id(secret), id([]), id({}), id(object()), id("x" * 5000)):
                before = b""
                for page in pages(anchor):
                    found = pattern.search(before[-64:] + page)
                    if found:
                        return int(found[1])
                    before = page
            return 0
        """,
        *SECRET,
    ),
    forgery(
        "exit_after_the_module",
        """
        import atexit
        import os
        import sys

        class Last:
            def __del__(self):
                os._exit(0)

        def double(n):
            return 0

        atexit.register(os._exit, 0)
        sys.excepthook = sys.unraisablehook = lambda *_: os._exit(0)
        kept = Last()
        del kept
        """,
    ),
    forgery(
        "exit_by_a_thread",
        """
        import os
        import threading
        import time

        threading.Timer(0.05, os._exit, (0,)).start()

        def double(n):
            time.sleep(0.3)
            return 0
        """,
    ),
]
