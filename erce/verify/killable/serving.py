"""Requests, a line of JSON each on standard input → replies on standard output: the inside of a process.

`erce.verify.killable.process` starts such processes and kills them.
"""

import json
import signal
import sys
from collections.abc import Callable

GRACE_SECONDS = 2  # of processor time beyond the limit, before a check that nobody stopped ends the process


def serve(answer: Callable[..., object]) -> None:
    """Say "ready", then reply to each request with `answer(*operands)` until standard input closes.

    The last entry of a request is its limit in seconds. Past that limit the process ends itself, in case the
    process that should kill it is gone.
    """
    _reply("ready")
    for line in sys.stdin:
        *operands, seconds = json.loads(line)
        # This timer's signal ends the process. Math-Verify uses the ordinary alarm itself.
        signal.setitimer(signal.ITIMER_PROF, seconds + GRACE_SECONDS)
        _reply(answer(*operands))
        signal.setitimer(signal.ITIMER_PROF, 0)


def _reply(reply: object) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
