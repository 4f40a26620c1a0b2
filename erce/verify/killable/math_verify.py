"""Math-Verify's verdicts, where that package is installed: a second opinion for lists of disagreements."""

import time
from functools import lru_cache
from importlib.util import find_spec

from erce.types import Completion, Verdict
from erce.verify.killable.process import DIED, TIMEOUT, KillableProcess

LIMIT_SECONDS = 10.0  # Math-Verify's own limits are 5 s for reading and 5 s for comparing


@lru_cache(maxsize=1)
def math_verify_is_installed() -> bool:
    return find_spec("math_verify") is not None


def math_verify(answer: str, completion: Completion | str, *, bare: bool = False) -> Verdict:
    """Return Math-Verify's verdict on a completion or, with `bare`, on an answer alone.

    Math-Verify is called as in its own reward functions. Reasons: "structural" (accepted), "different",
    "timeout", "error" (it raised, or its process ended). OSError if the package is not installed.
    """
    text = completion if isinstance(completion, str) else completion.text
    start = time.perf_counter()
    reply = _PROCESS.ask(answer, f"${text}$" if bare else text, seconds=LIMIT_SECONDS)
    elapsed = time.perf_counter() - start
    if isinstance(reply, bool):
        return Verdict(reply, "structural" if reply else "different", text, elapsed)
    reason = "timeout" if reply == TIMEOUT else "error"
    return Verdict(False, reason, text, elapsed, "its process ended" if reply == DIED else str(reply))


_PROCESS = KillableProcess("erce.verify.killable.math_verify_main")
