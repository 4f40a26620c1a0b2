"""A cell's folder → its `CellState`; files that changed later or are torn are deleted, to be made again.

result.json holds a digest of every file that it rests on. Nothing else remembers what was done, so a folder
may be copied, and its process killed, at any time.
"""

import shutil
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any

from erce.errors import DamagedError
from erce.files import read_json
from erce.hf.adapter import WEIGHTS, check_adapter
from erce.recipe import Cell, Recipe
from erce.study.folder import CELL, RESULT, cell_folder, is_done
from erce.study.provenance import file_digest
from erce.study.samples import COMPLETIONS, VERDICTS, read_completions, read_samples
from erce.study.sampling import missing_completions
from erce.study.training import ADAPTER, TRAINING
from erce.types import Splits

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


class CellState(IntEnum):
    """How far a cell has come; each state includes those before it."""

    NEW = 0
    TRAINED = 1  # the adapter and its log are there, or it is the base model
    SAMPLED = 2  # every completion that the recipe asks for
    VERIFIED = 3  # a verdict on each of them
    DONE = 4  # the scores


def cell_state(root: Path, recipe: Recipe, cell: Cell, problems: Splits) -> CellState:
    """Return how far the cell has come. DONE is what result.json says alone, see `is_done`."""
    folder = cell_folder(root, recipe, cell)
    is_logged = cell.lam is None or (folder / TRAINING).is_file()
    # From the end backwards: an adapter may be deleted once all its completions are there.
    if is_done(root, recipe, cell):
        return CellState.DONE
    if is_logged and (folder / CELL).is_file() and not missing_completions(folder, recipe, cell, problems):
        return CellState.VERIFIED if (folder / VERDICTS).is_file() else CellState.SAMPLED
    has_policy = cell.lam is None or (is_logged and (folder / POLICY).is_file())
    return CellState.TRAINED if has_policy else CellState.NEW


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file that a cell's result rests on."""
    weights = sorted((folder / ADAPTER).glob("adapter_model*"))
    paths = [*weights, *(folder / name for name in (TRAINING, COMPLETIONS, VERDICTS))]
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths if path.is_file()}


def changed_files(folder: Path, result: Mapping[str, Any]) -> list[str]:
    """Return the files that are not those of the result, from training to verdicts.

    Weights that are not there do not count: they may be kept elsewhere, or deleted once all is sampled.
    """
    return [
        name
        for name, digest in result.get(DIGESTS, {}).items()
        if (
            file_digest(path) != digest if (path := folder / name).is_file() else not name.startswith(ADAPTER)
        )
    ]


def refresh(folders: Iterable[Path]) -> list[str]:
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


def _delete_from(folder: Path, name: str) -> None:
    """Delete a file and every file made after it, result.json first; an adapter without its log goes too."""
    names = list(READERS)
    for later in reversed(names[names.index(name) :]):
        (folder / later).unlink(missing_ok=True)
    if not (folder / TRAINING).is_file():
        shutil.rmtree(folder / ADAPTER, ignore_errors=True)
