"""A study's folder → held by one driver at a time, and each cell by one process.

The locks are the operating system's (flock), so they end with the process that holds them, however it ends.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from erce.study.engines.transfer import restore
from erce.study.folder import LOCKS

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # nothing else can be written either
ORPHAN = 60.0  # seconds that a cell waits for a process whose driver was killed and which has yet to notice


@contextmanager
def study_lock(root: Path) -> Iterator[None]:
    """Held while a study runs; a second driver is refused with a ValueError before it does anything.

    So is one that cannot write in the folder, at once or later.
    """
    try:
        with _locked(root / LOCKS / "driver", timeout=0) as held:
            if not held:
                raise ValueError(
                    f"another erce is running the study in {root}; wait for it, or choose another folder "
                    "with --out"
                )
            restore(root / "cells", scratch=root / LOCKS)
            yield
    except OSError as error:
        ours = str(error.filename or "").startswith(str(root))
        if error.errno not in UNWRITABLE and not (ours and error.errno == errno.EACCES):
            raise
        raise ValueError(
            f"{root} cannot be written ({error.strerror}); what is done is kept, and the same command goes "
            "on once it can"
        ) from error


@contextmanager
def cell_lock(root: Path, name: str) -> Iterator[None]:
    """Held while a process works in a cell's folder; waits for one that a killed driver left behind."""
    with _locked(root / LOCKS / name, timeout=ORPHAN) as held:
        if not held:
            raise ValueError(f"another process has worked on {name} for {ORPHAN:g} s; end it, and run again")
        yield


@contextmanager
def _locked(path: Path, *, timeout: float) -> Iterator[bool]:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=timeout, poll_interval=0.05)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
