"""Forgeries from inside the interpreter: patches, frames, the garbage collector, one's own memory."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail", ("wrong pass",))
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
        "patched_equality_of_int",
        """
        import ctypes

        def double(n):
            slots = ctypes.cast(id(int), ctypes.POINTER(ctypes.c_void_p))
            always = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)
            double.kept = always(lambda a, b, op: True)
            for offset in range(20, 40):
                if slots[offset] == ctypes.cast(slots, ctypes.c_void_p).value:
                    continue
                if offset == 25:
                    slots[offset] = ctypes.cast(double.kept, ctypes.c_void_p).value
            return 0
        """,
    ),
    forgery(
        "patched_small_integers",
        """
        import ctypes

        def double(n):
            for value in (8, 42):
                ctypes.memmove(id(value), id(7), 28)
            return 7
        """,
    ),
    forgery(
        "trace_skips_the_lines",
        """
        import sys
        import threading

        def double(n):
            return 0

        def trace(frame, event, arg):
            lines = sorted({line for *_, line in frame.f_code.co_lines() if line})
            if event == "line" and "double" in frame.f_code.co_names and lines[-1] > frame.f_lineno:
                try:
                    frame.f_lineno = lines[-1]
                except ValueError:
                    pass
            return trace

        sys.settrace(trace)
        threading.settrace(trace)
        for frame in sys._current_frames().values():
            while frame:
                frame.f_trace = trace
                frame = frame.f_back
        """,
        "assert double(4) == 8\npass",
    ),
    forgery(
        "frames_hold_the_answer",
        """
        import sys

        def secret(n):
            frame = sys._getframe()
            while frame:
                for scope in (frame.f_locals, frame.f_globals):
                    for value in list(scope.values()):
                        text = str(value)[:100000] if isinstance(value, (str, list, tuple, dict)) else ""
                        if "assert secret" in text:
                            return int(text.split("== ")[1][:12])
                for constant in frame.f_code.co_consts:
                    if type(constant) is int and constant > 10 ** 11:
                        return constant
                frame = frame.f_back
            return 0
        """,
        *SECRET,
    ),
    forgery(
        "collector_holds_the_answer",
        """
        import gc
        import re

        def secret(n):
            pattern = re.compile(r"assert secret\\(4\\) == (\\d{12})")
            for thing in gc.get_objects():
                several = thing if type(thing) in (list, tuple) else ()
                parts = thing.values() if type(thing) is dict else several
                for part in list(parts):
                    if type(part) in (str, bytes):
                        found = pattern.search(part if type(part) is str else part.decode("latin-1"))
                        if found:
                            return int(found[1])
                    if type(part) is int and 9 * 10 ** 11 < part < 10 ** 12:
                        return part
            return 0
        """,
        *SECRET,
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
        "changes_its_mind_while_it_is_read",
        """
        class Shifting(list):
            def __iter__(self):
                return iter([8])
            def __len__(self):
                return 1
            def __getitem__(self, _):
                return 8
            def __reduce_ex__(self, _):
                return (list, ([8],))

        def double(n):
            return Shifting()
        """,
        "assert double(4) == [8]",
    ),
]
