"""Many completions → as many Verdicts, on as many cores as are given."""

import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from os import cpu_count
from typing import Any

from erce.types import Verdict

SHARE = 64  # pairs that a process takes at a time


def verify_many(
    verify: Callable[..., Verdict], pairs: Iterable[tuple[Any, ...]], *, workers: int | None = None
) -> list[Verdict]:
    """`verify(*pair)` for each pair, in their order; the verdicts do not depend on `workers`.

    `verify` is any of the verifiers, of erce or your own: `verify_math` with pairs of answer and completion,
    `verify_program` with pairs of problem and completion; settings go in with `functools.partial`.
    `workers` processes share the pairs (None: one a core; 1: all in this process). They are fresh processes,
    not copies of this one, so a script calls this below `if __name__ == "__main__":`, and a `verify` that
    cannot be sent to them, such as a lambda, is a ValueError. What `verify` raises is raised here.

    >>> from erce.verify import verify_number
    >>> [verdict.accepted for verdict in verify_many(verify_number, [("2", "#### 2"), ("2", "#### 3")])]
    [True, False]
    """
    pairs = list(pairs)
    if workers is not None and workers < 1:
        raise ValueError(f"workers = {workers}: at least one process is needed")
    workers = min(workers or cpu_count() or 1, -(-len(pairs) // SHARE))
    if workers <= 1:
        return [verify(*pair) for pair in pairs]
    try:
        pickle.dumps(verify)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"{verify!r} cannot be sent to other processes ({error}); "
            "define it at the top of a module, or use workers=1"
        ) from error
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        return list(processes.map(partial(_one, verify), pairs, chunksize=SHARE))


def _one(verify: Callable[..., Verdict], pair: tuple[Any, ...]) -> Verdict:
    return verify(*pair)
