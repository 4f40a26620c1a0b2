"""A cell's folder ⇄ bytes that travel between machines; what arrives appears whole or not at all."""

import io
import shutil
import tarfile
from pathlib import Path

from erce.files import wait_for_disk

HALF, OLD = ".half", ".old"  # suffixes: a folder that is arriving, and the folder that it replaces


def pack(folder: Path) -> bytes:
    """Return every file under the folder as a tar without times and owners; b"" if there is no folder."""
    if not folder.is_dir():
        return b""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            member.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(member, file)
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
