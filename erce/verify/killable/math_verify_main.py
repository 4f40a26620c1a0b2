"""A reference and a text, a line of JSON → Math-Verify's verdict: the process that Math-Verify runs in.

`erce.verify.killable.math_verify` starts and stops it.
"""

import json
import signal
import sys
from importlib import import_module

GRACE = 2  # seconds of processor time after which a check that nobody stopped ends the process


def main() -> None:
    """Answers requests from the standard input until it closes."""
    import_module("math_verify")  # before the first request, whose time is limited
    _say("ready")
    for line in sys.stdin:
        answer, text, seconds = json.loads(line)
        # Its default action ends the process. Math-Verify uses the ordinary alarm itself.
        signal.setitimer(signal.ITIMER_PROF, seconds + GRACE)
        _say(_verdict(answer, text))
        signal.setitimer(signal.ITIMER_PROF, 0)


def _verdict(answer: str, text: str) -> bool | str:
    peer = import_module("math_verify")
    try:
        gold = peer.parse(f"${answer}$", extraction_config=[peer.LatexExtractionConfig()])
        return bool(peer.verify(gold, peer.parse(text)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"it raised {type(error).__name__}"


def _say(reply: object) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
