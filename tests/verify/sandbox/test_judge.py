"""The process that decides: which end of a job counts, and what reaches the program's process."""

import socket
import threading

import pytest

from erce.verify.sandbox import wire
from erce.verify.sandbox.judge import JobEnded, Program, Stub


@pytest.fixture
def channel():
    """A `Program`, and the end of its channel at which its process would be."""
    judge, candidate = socket.socketpair()
    with judge, candidate:
        candidate.settimeout(30)
        yield Program(judge), candidate


def test_the_first_reason_counts(channel):
    program, _ = channel
    for reason, detail in (("failed", "first"), ("opaque", "second")):
        with pytest.raises(JobEnded) as caught:
            program.end(reason, detail)
        assert caught.value.args == program.ended.args == ("failed", "first")


@pytest.mark.parametrize("later", ["f == 1", "f.x", "f(2)", "f(object())"])
@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        ("import os; os._exit(3)", "failed", "the program ended its process (exit status 3)"),
        ("raise SystemExit(5)", "failed", "the program raised SystemExit: 5"),
        ("return print", "opaque", "does not cross"),
    ],
)
def test_what_swallowed_the_end_of_a_job_changes_no_reason(sandbox, body, reason, detail, later):
    test = f"for look in (lambda: [f(1)], lambda: {later}):\n    try: look()\n    except BaseException: pass"
    verdict = sandbox.run(f"def f(x):\n    {body}", [test, "assert f(1) == 1"])
    assert verdict.reason == reason
    assert detail in verdict.detail


def test_only_arguments_and_a_wish_for_the_truth_leave_the_judge(channel):
    program, candidate = channel
    wire.send(candidate, {"ok": [["l", 1], []]})
    assert Stub(program, "f")(2, key=(3,)) == [1]
    assert wire.receive(candidate) == ["f", [2], [["key", ["t", 3]]], False]


def test_calls_of_several_threads_do_not_mix(channel):
    program, candidate = channel
    results = {}
    calls = [
        threading.Thread(target=lambda n=n: results.update({n: Stub(program, "f")(n)})) for n in range(8)
    ]
    for call in calls:
        call.start()
    for _ in calls:
        _, [number], _, _ = wire.receive(candidate)
        wire.send(candidate, {"ok": [number * number, []]})
    for call in calls:
        call.join()
    assert results == {n: n * n for n in range(8)}
