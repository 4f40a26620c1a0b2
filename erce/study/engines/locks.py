"""Locks on a study (one driver) and on its cells (one process each); a cell's folder, packed to be sent.

The locks are the operating system's (flock), so they end with the process that holds them, however it ends.
"""

import errno
import io
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from erce.errors import InputError, RunError
from erce.files import wait_for_disk
from erce.study.folder import LOCKS

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # nothing else can be written either
UNLOCKABLE = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}  # no more locks, or none on this file system
POLL_SECONDS = 0.05
ORPHAN_WAIT_SECONDS = 60.0  # that a cell waits for a process of a killed driver to end
HALF, OLD = ".half", ".old"  # suffixes: a folder that is arriving, and the folder that it replaces


@contextmanager
def study_lock(root: Path) -> Iterator[None]:
    """Hold the study's folder while the study runs.

    A second driver gets an InputError before it changes the folder, on another machine too if the file system
    shares flock; a mount that keeps locks to itself does not tell. A folder that cannot be written, at once
    or later, is a RunError.
    """
    taken = InputError(
        f"another erce is running the study in {root}; wait for it, or choose another folder with --out"
    )
    try:
        with _locked(root / LOCKS / "driver", timeout=0, taken=taken):
            restore(root / "cells", scratch=root / LOCKS)
            yield
    except OSError as error:
        ours = str(error.filename or "").startswith(str(root))
        if error.errno not in UNWRITABLE and not (ours and error.errno == errno.EACCES):
            raise
        raise RunError(
            f"{root} cannot be written ({error.strerror}); what is done is kept, and the same command goes "
            "on once it can"
        ) from error


@contextmanager
def cell_lock(root: Path, name: str) -> Iterator[None]:
    """Hold a cell's folder while a process works in it; wait for a process that a killed driver left."""
    taken = RunError(
        f"another process has worked on {name} for {ORPHAN_WAIT_SECONDS:g} s; end it, and run again"
    )
    with _locked(root / LOCKS / name, timeout=ORPHAN_WAIT_SECONDS, taken=taken):
        yield


@contextmanager
def _locked(path: Path, *, timeout: float, taken: Exception) -> Iterator[None]:
    """Hold a file's lock; raise `taken` if it is not free within `timeout` seconds.

    A RunError where the file system has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{path}.lock", timeout=timeout, poll_interval=POLL_SECONDS, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise taken from None
    except OSError as error:
        if error.errno not in UNLOCKABLE:
            raise
        raise RunError(
            f"{path}.lock cannot be locked ({error.strerror}); mount its file system with locks, or choose a "
            "folder on another with --out"
        ) from error
    try:
        yield
    finally:
        lock.release()


def pack(folder: Path) -> bytes:
    """Return the folder as a tar; b"" if there is no folder."""
    if not folder.is_dir():
        return b""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", dereference=True) as tar:
        tar.add(folder, arcname=".")
    return content.getvalue()


def unpack(content: bytes, folder: Path, *, scratch: Path) -> None:
    """Replace the folder by the packed one; `scratch` is a folder on the same disk.

    After a kill, `restore` leaves the folder either as it was or as it arrived.
    """
    if not content:
        return
    half, old = scratch / f"{folder.name}{HALF}", scratch / f"{folder.name}{OLD}"
    for leftover in (half, old):
        shutil.rmtree(leftover, ignore_errors=True)
    half.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        tar.extractall(half, filter="data")
    wait_for_disk(half)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        folder.replace(old)
    half.replace(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore(folders: Path, *, scratch: Path) -> None:
    """Put back, or remove, what a killed `unpack` has left in `scratch`."""
    for old in scratch.glob(f"*{OLD}"):
        folder = folders / old.name.removesuffix(OLD)
        if not folder.exists():
            old.replace(folder)
    for leftover in (*scratch.glob(f"*{OLD}"), *scratch.glob(f"*{HALF}")):
        shutil.rmtree(leftover)
