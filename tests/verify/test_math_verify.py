"""The benchmarks ask Math-Verify in a process that may raise, hang or die, and never in their own."""

import sys

from benchmarks import math_verify_process as peer

PACKAGE = """
import os

def parse(text):
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


def test_every_end_of_a_check_is_told_and_the_next_check_is_fine(tmp_path, monkeypatch):
    (tmp_path / "math_verify.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def ask(text):
        monkeypatch.setattr(peer, "SECONDS", 0.2 if text == "hang" else 60)
        try:
            return peer.accepts("2", text)
        except (TimeoutError, RuntimeError) as error:
            return str(error)

    told = [ask(text) for text in ("2", "3", "raise", "hang", "2", "die", "2")]
    peer.stop()
    assert told == [True, False, "it raised ValueError", "over 0.2 s", True, "its process ended", True]
    assert "math_verify" not in sys.modules
