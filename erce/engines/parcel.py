"""A cell's folder ⇄ bytes that travel between machines; what arrives appears whole or not at all."""

import io
import shutil
import tarfile
from pathlib import Path


def pack(folder: Path) -> bytes:
    """Every file under the folder, as a tar without times and owners; empty where there is no folder."""
    if not folder.is_dir():
        return b""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            member.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(member, file)
    return content.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """The folder as it was packed, in place of what is there."""
    if not content:
        return
    half = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        tar.extractall(half, filter="data")
    if folder.exists():
        shutil.rmtree(folder)
    half.replace(folder)
