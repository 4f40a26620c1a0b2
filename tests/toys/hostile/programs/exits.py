"""Forgeries by leaving early, with every sign of success that a harness might believe."""

from toys.hostile.corpus import Family

forgery = Family("forgery", "fail")

PROGRAMS = [
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
    forgery(
        "exit_while_it_is_encoded",
        """
        import os

        class Found(dict):
            def items(self):
                os._exit(0)
            __iter__ = keys = values = __len__ = items

        class Odd:
            def __getattribute__(self, name):
                os._exit(0)

        def double(n):
            return [Found(a=1), Odd()]
        """,
    ),
]
