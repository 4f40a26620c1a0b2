"""Math-Verify's verdicts come from a process that may raise, hang or die, and never from this one."""

import sys

from erce.verify import math_verify as peer

PACKAGE = """
import os

class LatexExtractionConfig: pass

def parse(text, **settings):
    if "raise" in text:
        raise ValueError
    if "die" in text:
        os._exit(1)
    while "hang" in text:
        pass
    return text.strip("$")

def verify(gold, answer):
    return gold == answer
"""


def test_every_end_of_a_check_is_a_verdict_and_the_next_check_is_fine(tmp_path, monkeypatch):
    (tmp_path / "math_verify.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(peer, "SECONDS", 0.2)
    texts = ("2", "3", "raise", "hang", "2", "die", "2")
    verdicts = [peer.math_verify("2", text, bare=True) for text in texts]
    assert [(verdict.accepted, verdict.reason) for verdict in verdicts] == [
        (True, "structural"),
        (False, "different"),
        (False, "error"),
        (False, "timeout"),
        (True, "structural"),
        (False, "error"),
        (True, "structural"),
    ]
    peer._running.pop()[0].kill()
    assert "math_verify" not in sys.modules
