"""Many completions → one Verdict each, in parallel processes that never outlive this one."""

import os
import pickle
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from erce.errors import InputError, RunError, sendable
from erce.types import Verdict
from erce.verify.sandbox.kernel.linux import PR_SET_PDEATHSIG, prctl

PAIRS_PER_TURN = 64  # that a process takes at a time
END_SECONDS = 5.0  # for an idle process to end by itself


def verify_many(
    verify: Callable[..., Verdict], pairs: Iterable[tuple[Any, ...]], *, workers: int | None = None
) -> list[Verdict]:
    """Return `verify(*pair)` for each pair, in order; the verdicts do not depend on `workers`.

    `verify` is a verifier of erce or your own: `verify_math` takes pairs of answer and completion,
    `verify_program` pairs of problem and completion; `functools.partial` adds settings. `workers` processes
    share the pairs (None: one for each core; 1: this process alone). They start fresh, not as copies of this
    one, so a script calls this function below `if __name__ == "__main__":`. InputError if `verify` cannot be
    sent to them (a lambda, for instance). An exception in `verify` is raised here. If a process is
    killed, its pairs are judged once more, one at a time; a pair whose process is killed again is an "error".

    >>> from erce.verify import verify_number
    >>> [verdict.accepted for verdict in verify_many(verify_number, [("2", "#### 2"), ("2", "#### 3")])]
    [True, False]
    """
    pairs = list(pairs)
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}; give 1 or more")
    workers = min(workers or os.cpu_count() or 1, -(-len(pairs) // PAIRS_PER_TURN))
    if workers <= 1:
        return [verify(*pair) for pair in pairs]
    try:
        pickle.dumps(verify)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{verify!r} cannot be sent to other processes ({error}); "
            "define it at the top of a module, or use workers=1"
        ) from error
    return _Pool(verify, pairs).verdicts(workers)


@dataclass
class _JudgingProcess:
    """One process, and the pairs that it judges at the moment."""

    process: Any
    connection: Connection
    turn: range = range(0)
    ready: bool = False


class _Pool:
    """Processes that share out the pairs among them."""

    def __init__(self, verify: Callable[..., Verdict], pairs: list[tuple[Any, ...]]) -> None:
        self._verify, self._pairs = verify, pairs
        starts = range(0, len(pairs), PAIRS_PER_TURN)
        self._turns = deque(range(start, min(start + PAIRS_PER_TURN, len(pairs))) for start in starts)
        self._verdicts: dict[int, Verdict] = {}
        self._repeated: set[int] = set()  # pairs whose process was killed
        self._helpers: list[_JudgingProcess] = []

    def verdicts(self, workers: int) -> list[Verdict]:
        try:
            self._helpers = [self._start() for _ in range(workers)]
            while len(self._verdicts) < len(self._pairs):
                for connection in wait([helper.connection for helper in self._helpers]):
                    self._hear(next(helper for helper in self._helpers if helper.connection is connection))
        except BaseException:
            for helper in self._helpers:
                helper.process.kill()
            raise
        finally:
            self._end()
        return [self._verdicts[index] for index in range(len(self._pairs))]

    def _start(self) -> _JudgingProcess:
        ours, theirs = get_context("spawn").Pipe()
        with theirs:
            process = get_context("spawn").Process(target=_serve, args=(theirs, self._verify), daemon=True)
            process.start()
        return _JudgingProcess(process, ours)

    def _hear(self, helper: _JudgingProcess) -> None:
        """Take what a process says, and give it its next turn."""
        try:
            message = helper.connection.recv()
        except (EOFError, OSError):
            self._replace(helper)
            return
        if isinstance(message, BaseException):
            raise message
        helper.ready = True
        self._verdicts |= zip(helper.turn, message, strict=True)
        self._give(helper)

    def _give(self, helper: _JudgingProcess) -> None:
        helper.turn = self._turns.popleft() if self._turns else range(0)
        if helper.turn:
            # If the process was just killed, the next `recv` raises, and `_replace` starts another.
            with suppress(BrokenPipeError, ConnectionResetError):
                helper.connection.send([self._pairs[index] for index in helper.turn])

    def _replace(self, helper: _JudgingProcess) -> None:
        """Start another process for one that was killed, and judge its pairs again, one at a time."""
        helper.process.join(END_SECONDS)
        code = helper.process.exitcode
        end = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
        if not helper.ready:
            raise RunError(
                f"a process of verify_many ended while it started ({end}); its own message is above. A "
                'script must call verify_many below `if __name__ == "__main__":`'
            )
        self._helpers.remove(helper)
        helper.connection.close()
        again = [index for index in helper.turn if index not in self._repeated]
        for index in set(helper.turn) - set(again):
            detail = f"the process that judged pair {index} was killed twice ({end})"
            self._verdicts[index] = Verdict(False, "error", detail=detail)
        if again:
            named = f"pairs {again[0]} to {again[-1]}" if len(again) > 1 else f"pair {again[0]}"
            warnings.warn(f"a process of verify_many ended ({end}); judging again: {named}", stacklevel=5)
        self._repeated |= set(again)
        self._turns.extendleft(range(index, index + 1) for index in reversed(again))
        self._helpers.append(self._start())

    def _end(self) -> None:
        for helper in self._helpers:
            helper.connection.close()
        for helper in self._helpers:
            helper.process.join(END_SECONDS)
            helper.process.kill()
            helper.process.join()


def _serve(connection: Connection, verify: Callable[..., Verdict]) -> None:
    """Judge the pairs that come over the connection, until it is closed or the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    _die_with_parent()
    answer: Any = []
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(answer)
            pairs = connection.recv()
            try:
                answer = [verify(*pair) for pair in pairs]
            except BaseException as error:  # whatever it is, the process that asked raises it
                answer = sendable(error, f"{type(error).__name__}: {error}")


def _die_with_parent() -> None:
    """End this process as soon as the one that started it ends, however it ends."""
    parent = parent_process()
    if parent is None:
        raise AssertionError("only a process of verify_many serves")
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if not parent.is_alive():
            os._exit(1)
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
