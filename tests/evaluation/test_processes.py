"""Two processes share the problems of VerifiedAccuracy, and each knows all of the outcome."""

import json

import pytest
from toys import verified_processes
from toys.launch import launched


@pytest.mark.slow
def test_two_processes_share_the_problems_and_both_know_the_outcome(tmp_path):
    alone = verified_processes.evaluated(tmp_path, fails=False)
    launched(verified_processes.__file__, tmp_path, sharded=False)
    for rank in (0, 1):
        assert json.loads((tmp_path / f"works-{rank}.json").read_text()) == alone
        failed = json.loads((tmp_path / f"fails-{rank}.json").read_text())
        assert "raised ArithmeticError: not a number" in failed["sentence"]
    assert len(alone["rows"]) == 3 * len(verified_processes.ASKED)
