"""Many completions → one Verdict each, in parallel processes that never outlive this one."""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from typing import Any

from erce.errors import InputError, RunError, sendable
from erce.types import Verdict

PAIRS_PER_TURN = 64  # that a process takes at a time


def verify_many(
    verify: Callable[..., Verdict], pairs: Iterable[tuple[Any, ...]], *, workers: int | None = None
) -> list[Verdict]:
    """Return `verify(*pair)` for each pair, in order; the verdicts do not depend on `workers`.

    `verify` is a verifier of erce or your own: `verify_math` takes pairs of answer and completion,
    `verify_program` pairs of problem and completion; `functools.partial` adds settings. `workers` processes
    share the pairs (None: one for each core; 1: this process alone). They start fresh, not as copies of this
    one, so a script calls this function below `if __name__ == "__main__":`. An exception in `verify` is
    raised here. InputError if `verify` cannot be sent to them (a lambda), RunError if a process is killed.

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
    try:  # before any process starts, since the executor's own error would not name `verify`
        pickle.dumps(verify)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{verify!r} cannot be sent to other processes ({error}); "
            "define it at the top of a module, or use workers=1"
        ) from error
    context = get_context("spawn")
    stop = context.Event()
    executor = ProcessPoolExecutor(workers, context, _start, (stop,))
    try:
        return list(executor.map(partial(_verdict, verify), pairs, chunksize=PAIRS_PER_TURN))
    except BrokenProcessPool as error:
        raise RunError(
            "a process of verify_many was killed, or ended while it started and said why above. A script "
            'must call verify_many below `if __name__ == "__main__":`; workers=1 needs no other process'
        ) from error
    finally:
        stop.set()  # after an exception the processes end with the pair that they verify
        executor.shutdown(cancel_futures=True)


_stop: Event | None = None  # in a process of verify_many: whether the other pairs are not wanted


def _start(stop: Event) -> None:
    """Prepare a process: Ctrl-C is for the process that started it, and both end together."""
    global _stop  # noqa: PLW0603  an executor's initializer has no other way to hand an event over
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _verdict(verify: Callable[..., Verdict], pair: tuple[Any, ...]) -> Verdict:
    if _stop is not None and _stop.is_set():
        return Verdict(False, "error")  # which nobody reads
    try:
        return verify(*pair)
    except Exception as error:  # whatever it is, the process that asked raises it
        raise sendable(error, f"{type(error).__name__}: {error}") from None
