"""Math-Verify's verdict, where that package is installed: a second opinion to list disagreements with.

It parses and simplifies with sympy under a timeout that a thread or a C call outlasts, so it runs in a
process that can be killed.
"""

import time
from functools import lru_cache
from importlib.util import find_spec

from erce.types import Completion, Verdict
from erce.verify.killable.process import DIED, TIMEOUT, Worker

SECONDS = 10.0  # its own limits are 5 s for reading and 5 s for comparing


@lru_cache(maxsize=1)
def math_verify_is_installed() -> bool:
    return find_spec("math_verify") is not None


def math_verify(answer: str, completion: Completion | str, *, bare: bool = False) -> Verdict:
    """Math-Verify's word on a completion, or with `bare` on an answer alone, as its own reward functions ask.

    Reasons: "structural" (accepted), "different", "timeout", "error" (it raised or ended). OSError where the
    package is not installed.
    """
    text = completion if isinstance(completion, str) else completion.text
    start = time.perf_counter()
    reply = _WORKER.ask(answer, f"${text}$" if bare else text, seconds=SECONDS)
    elapsed = time.perf_counter() - start
    if isinstance(reply, bool):
        return Verdict(reply, "structural" if reply else "different", text, elapsed)
    reason = "timeout" if reply == TIMEOUT else "error"
    return Verdict(False, reason, text, elapsed, "its process ended" if reply == DIED else str(reply))


_WORKER = Worker("erce.verify.killable.math_verify_main")
