"""Many completions → one Verdict each, in parallel processes."""

import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from os import cpu_count
from typing import Any

from erce.errors import InputError
from erce.types import Verdict

PAIRS_PER_TURN = 64  # that a process takes at a time


def verify_many(
    verify: Callable[..., Verdict], pairs: Iterable[tuple[Any, ...]], *, workers: int | None = None
) -> list[Verdict]:
    """Return `verify(*pair)` for each pair, in order; the verdicts do not depend on `workers`.

    `verify` is a verifier of erce or your own: `verify_math` takes pairs of answer and completion,
    `verify_program` pairs of problem and completion; `functools.partial` adds settings. `workers` processes
    share the pairs (None: one for each core; 1: this process alone). They start fresh, not as copies of this
    one, so a script calls this function below `if __name__ == "__main__":`. InputError if `verify` cannot be
    sent to them (a lambda, for instance). An exception in `verify` is raised here.

    >>> from erce.verify import verify_number
    >>> [verdict.accepted for verdict in verify_many(verify_number, [("2", "#### 2"), ("2", "#### 3")])]
    [True, False]
    """
    pairs = list(pairs)
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers}; give 1 or more")
    workers = min(workers or cpu_count() or 1, -(-len(pairs) // PAIRS_PER_TURN))
    if workers <= 1:
        return [verify(*pair) for pair in pairs]
    try:
        pickle.dumps(verify)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"{verify!r} cannot be sent to other processes ({error}); "
            "define it at the top of a module, or use workers=1"
        ) from error
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        return list(processes.map(partial(_apply, verify), pairs, chunksize=PAIRS_PER_TURN))


def _apply(verify: Callable[..., Verdict], pair: tuple[Any, ...]) -> Verdict:
    return verify(*pair)
