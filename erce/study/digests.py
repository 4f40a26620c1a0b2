"""A finished cell's files ⇄ digests in result.json: a file that changed later is noticed, and made again."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from erce.files import read_json
from erce.study.folder import RESULT
from erce.study.samples import COMPLETIONS, VERDICTS
from erce.study.training import ADAPTER, TRAINING

DIGESTS = "digests"  # in result.json: file → digest
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
    expected = result.get(DIGESTS, {})
    return [
        name
        for name, digest in expected.items()
        if (file_digest(folder / name) != digest if (folder / name).is_file() else _is_needed(name))
    ]


def make_again(folders: Iterable[Path]) -> list[str]:
    """Delete what changed in finished cells, and what was made from it; return a sentence a changed file."""
    sentences = []
    for folder in folders:
        result = read_json(folder / RESULT) if (folder / RESULT).is_file() else {}
        if changed := changed_files(folder, result):
            _delete_from(folder, changed[0])
            sentences += [f"{folder.name}/{name} is not as its run left it; made again." for name in changed]
    return sentences


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
    """Delete the first changed file and every later stage's, the result first."""
    later = [RESULT, VERDICTS]
    if name != VERDICTS:
        later.append(COMPLETIONS)
    if name not in (VERDICTS, COMPLETIONS):
        later.append(TRAINING)
        shutil.rmtree(folder / ADAPTER, ignore_errors=True)
    for file in later:
        (folder / file).unlink(missing_ok=True)
