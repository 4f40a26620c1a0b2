"""A cell's files ⇄ digests in result.json: what changed later, or is torn, is noticed and made again."""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from erce.errors import DamagedError
from erce.files import read_json
from erce.hf.adapter import WEIGHTS, check_adapter
from erce.study.folder import CELL, RESULT
from erce.study.samples import COMPLETIONS, VERDICTS, read_completions, read_samples
from erce.study.training import ADAPTER, TRAINING

DIGESTS = "digests"  # in result.json: file → digest
POLICY = f"{ADAPTER}/{WEIGHTS}"  # stands for the adapter's configuration too
READERS: dict[str, Callable[[Path], object]] = {  # of a cell's files, in the order in which they are made
    POLICY: lambda folder: check_adapter(folder / ADAPTER),
    TRAINING: lambda folder: read_json(folder / TRAINING, "log"),
    COMPLETIONS: read_completions,
    CELL: lambda folder: read_json(folder / CELL, "key"),
    VERDICTS: read_samples,
    RESULT: lambda folder: read_json(folder / RESULT),
}
WHOLE_BYTES = 16 * 2**20  # of larger files, such as adapters, only blocks are read
BLOCK_BYTES, BLOCKS = 2**16, 16


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file that a cell's result rests on."""
    weights = sorted((folder / ADAPTER).glob("adapter_model*"))
    paths = [*weights, *(folder / name for name in (TRAINING, COMPLETIONS, VERDICTS))]
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths if path.is_file()}


def changed_files(folder: Path, result: Mapping[str, Any]) -> list[str]:
    """Return the files that are not those of the result, from training to verdicts.

    Weights that are not there do not count: they may be kept elsewhere, or deleted once all is drawn.
    """
    changed = []
    for name, digest in result.get(DIGESTS, {}).items():
        path = folder / name
        is_changed = file_digest(path) != digest if path.is_file() else _is_needed(name)
        if is_changed:
            changed.append(name)
    return changed


def make_again(folders: Iterable[Path]) -> list[str]:
    """Delete what changed, or is torn, and what was made from it; return a sentence for each such file."""
    sentences = []
    for folder in folders:
        if changed := _changed_or_torn(folder):
            _delete_from(folder, changed[0])
            sentences += [f"{folder.name}/{name} is not as its run left it; made again." for name in changed]
    return sentences


def _changed_or_torn(folder: Path) -> list[str]:
    """Return the files that cannot stay, in the order in which they are made.

    Every file of an unfinished cell is read; of a finished one those without a digest.
    """
    there = [name for name in READERS if (folder / name).is_file()]
    if RESULT not in there or _is_torn(folder, RESULT):
        return [name for name in there if _is_torn(folder, name)]
    result = read_json(folder / RESULT)
    if DIGESTS not in result:
        return []
    changed = {*changed_files(folder, result)}
    changed |= {name for name in {CELL, *there} & {CELL, POLICY} if _is_torn(folder, name)}
    return [name for name in READERS if name in changed]


def _is_torn(folder: Path, name: str) -> bool:
    try:
        READERS[name](folder)
    except DamagedError:
        return True
    return False


def file_digest(path: Path) -> str:
    """Return 16 hex digits of a file: of all its bytes, or of evenly spaced blocks of a large one."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        if size <= WHOLE_BYTES:
            digest.update(file.read())
        else:
            for block in range(BLOCKS):
                file.seek(block * (size - BLOCK_BYTES) // (BLOCKS - 1))
                digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()[:16]


def _is_needed(name: str) -> bool:
    return not name.startswith(f"{ADAPTER}/")


def _delete_from(folder: Path, name: str) -> None:
    """Delete a file and every file made after it, result.json first; an adapter without its log goes too."""
    names = list(READERS)
    for later in reversed(names[names.index(name) :]):
        (folder / later).unlink(missing_ok=True)
    if not (folder / TRAINING).is_file():
        shutil.rmtree(folder / ADAPTER, ignore_errors=True)
