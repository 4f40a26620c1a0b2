"""A cell's folder → which of its parts are stale, and why. A run makes these again and skips the others.

    adapter → completions → verdicts → scores

A part is stale if it is missing or incomplete, torn, not as its run left it, or of another verifier, and so
is all that was made from it. An adapter alone may be gone once its completions are whole. Cells that were
trained on own samples whose verdicts have changed since are named, and stay (`trained_on_others`).

What cannot be made again is refused: another base model, or completions of another policy.
"""

import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

from erce.errors import DamagedError, InputError
from erce.files import read_json
from erce.hf.adapter import WEIGHTS, check_adapter
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe
from erce.study.demonstrations import demonstrations, read_counts, read_splits
from erce.study.folder import ADAPTER, CELL, RESULT, TRAINING, Study, cell_folder, read_record, read_result
from erce.study.provenance import (
    DEMONSTRATIONS,
    DIGESTS,
    base_model,
    demonstrations_digest,
    file_digest,
    kept_base_model,
    verifier_version,
    weights_digest,
)
from erce.study.samples import COMPLETIONS, VERDICTS, SampleSet, read_completions, read_samples
from erce.study.schedule import CellSampling, counted_cells, has_decodings
from erce.tasks import load_task

ADAPTER_FILE = f"{ADAPTER}/{WEIGHTS}"  # stands for the adapter's configuration too
CHECKS: dict[str, Callable[[Path], object]] = {  # of a cell's files, in the order in which they are made
    ADAPTER_FILE: lambda folder: check_adapter(folder / ADAPTER),
    TRAINING: lambda folder: read_json(folder / TRAINING, "log"),
    COMPLETIONS: read_completions,
    CELL: lambda folder: read_json(folder / CELL, "key"),
    VERDICTS: read_samples,
    RESULT: lambda folder: read_json(folder / RESULT),
}
FILES = {  # part → its files
    "adapter": (ADAPTER_FILE, TRAINING),
    "completions": (COMPLETIONS, CELL),
    "verdicts": (VERDICTS,),
    "scores": (RESULT,),
}
TRAIN_AGAIN = "To train a cell again, delete its folder and run the recipe again."


class Reason(Enum):
    """Why a part is stale."""

    MISSING = "is missing or incomplete, or was made from what is stale"
    SPOILED = "is not as its run left it"  # changed, or torn
    VERIFIER = "is of another verifier"


def is_done(folder: Path, temperatures: Collection[str]) -> bool:
    """Return whether a cell has its result, with the further `temperatures` that it is sampled at, by name.

    That is what a run asks between cells, after it has dropped what is stale. A damaged file is an
    InputError, so that no run trains over it.
    """
    result = read_result(folder)
    return result is not None and has_decodings(result, temperatures)


def stale_parts(folder: Path, sampling: CellSampling) -> dict[str, Reason]:
    """Return part → why it is stale, in the order in which the parts are made; empty if the cell is done.

    The base model has no adapter. Every file is read, or compared with its digest.
    """
    files, other = {*spoiled_files(folder)}, _of_other_verifier(folder, sampling.cell)
    spoiled = {part: Reason.SPOILED for part in FILES if files & {*FILES[part]}}
    if not spoiled and _is_done(folder, sampling):
        return other
    return _with_derived(other | _missing(folder, sampling, spoiled) | spoiled)


def missing_parts(folder: Path, sampling: CellSampling) -> dict[str, Reason]:
    """Return the parts that are stale by what is missing alone: all of them, after `drop_stale`."""
    return {} if _is_done(folder, sampling) else _with_derived(_missing(folder, sampling))


def _is_done(folder: Path, sampling: CellSampling) -> bool:
    return is_done(folder, sampling.decodings.keys() - {GREEDY, SAMPLED})


def _missing(folder: Path, sampling: CellSampling, spoiled: Collection[str] = ()) -> dict[str, Reason]:
    """Return what is missing or incomplete in an unfinished cell, once the `spoiled` parts are dropped."""
    missing, lacking = {}, _lacking_completions(folder, sampling)
    wanted = (TRAINING, ADAPTER_FILE) if lacking or "completions" in spoiled else (TRAINING,)
    if sampling.cell.is_trained and not all((folder / name).is_file() for name in wanted):
        missing["adapter"] = Reason.MISSING
    if lacking is not None:
        missing["completions"] = lacking
    if not (folder / VERDICTS).is_file():
        missing["verdicts"] = Reason.MISSING
    return missing | {"scores": Reason.MISSING}


def _with_derived(stale: Mapping[str, Reason]) -> dict[str, Reason]:
    """Add every part that is made after the first stale one."""
    first = min(map([*FILES].index, stale))
    return {part: stale.get(part, Reason.MISSING) for part in [*FILES][first:]}


def _lacking_completions(folder: Path, sampling: CellSampling) -> Reason | None:
    """Return why the completions are stale, other than by damage; None if they are whole."""
    if not (folder / CELL).is_file():  # nothing says which policy sampled them
        return Reason.MISSING
    try:
        return Reason.MISSING if missing_completions(folder, sampling) else None
    except DamagedError:
        return Reason.SPOILED


def missing_completions(folder: Path, sampling: CellSampling) -> dict[SampleSet, int]:
    """Return the sets that are not whole in the folder, with their sizes; a new temperature adds sets."""
    there = read_completions(folder)
    return {place: size for place, size in sampling.sizes.items() if len(there.get(place, ())) != size}


def _of_other_verifier(folder: Path, cell: Cell) -> dict[str, Reason]:
    """Return the verdicts as stale if cell.json says that another version of the verifier made them."""
    if not (folder / VERDICTS).is_file() or not (folder / CELL).is_file():
        return {}
    with suppress(DamagedError):
        verifier = read_record(folder).get("verifier")
        if verifier and verifier != verifier_version(load_task(cell.task).verify, task=cell.task):
            return {"verdicts": Reason.VERIFIER, "scores": Reason.MISSING}
    return {}


def spoiled_files(folder: Path) -> list[str]:
    """Return the files that changed after their result was written, or are torn, as they are made.

    Every file of an unfinished cell is read; of a finished one those that have no digest.
    """
    there = [name for name in CHECKS if (folder / name).is_file()]
    if RESULT not in there or _is_torn(folder, RESULT):
        return [name for name in there if _is_torn(folder, name)]
    spoiled = {*changed_files(folder, read_json(folder / RESULT))}
    spoiled |= {name for name in {CELL, *there} & {CELL, ADAPTER_FILE} if _is_torn(folder, name)}
    return [name for name in CHECKS if name in spoiled]


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


def _is_torn(folder: Path, name: str) -> bool:
    try:
        CHECKS[name](folder)
    except DamagedError:
        return True
    return False


def drop_stale(samplings: Mapping[Path, CellSampling]) -> list[str]:
    """Delete what is spoiled or of another verifier, and what was made from it; return sentences on it.

    `samplings` are what the cells sample, by their folders. What is left is fresh, so from then on a part
    that is there is done.
    """
    sentences, verified = [], list[Cell]()
    for folder, sampling in samplings.items():
        if stale_parts(folder, sampling).get("verdicts") is Reason.VERIFIER:
            verified.append(sampling.cell)
            _drop_from(folder, VERDICTS)
        if spoiled := spoiled_files(folder):
            _drop_from(folder, spoiled[0])
            sentences += [f"{folder.name}/{name} {Reason.SPOILED.value}; made again." for name in spoiled]
    if verified:
        sentences.append(f"The verifier has changed: {counted_cells(verified)} verified again.")
    return sentences


def _drop_from(folder: Path, first: str) -> None:
    """Delete a file and those made after it, result.json first: killed in between, what is missing shows."""
    for name in reversed([*CHECKS][[*CHECKS].index(first) :]):
        (folder / name).unlink(missing_ok=True)
    if not (folder / TRAINING).is_file():
        shutil.rmtree(folder / ADAPTER, ignore_errors=True)


def trained_on_others(study: Study) -> str:
    """Return a sentence with the cells that learned from other own samples than are accepted now, or "".

    Damaged samples cannot be compared.
    """
    learners = [cell for cell in study.recipe.cells() if cell.learns_own]
    if not learners or read_counts(study) is None:
        return ""
    others = []
    with suppress(DamagedError, FileNotFoundError):
        problems = read_splits(study.root, study.recipe.task)
        for cell in learners:
            path = study.folder(cell) / TRAINING
            learned = read_json(path).get(DEMONSTRATIONS) if path.is_file() else None
            accepted = demonstrations(study.root, study.recipe, cell, problems)
            if learned not in (None, demonstrations_digest(accepted)):
                others.append(cell)
    learned = f"{counted_cells(others)} learned from own samples whose verdicts have changed since."
    return learned if others else ""


def refuse_other_policy(folder: Path, origin: Mapping[str, Any]) -> None:
    """Raise an InputError if the completions in a cell's folder are of another policy than `origin` says."""
    earlier = read_record(folder)
    changed = [name for name in origin if name in earlier and earlier[name] != origin[name]]
    if changed and (folder / COMPLETIONS).is_file():
        raise InputError(
            f"{folder}: its completions were sampled by another policy (other {', '.join(changed)}) than "
            "those that are missing would be; delete completions.jsonl, and the next run samples all of them"
        )


def refuse_other_adapter(root: Path, recipe: Recipe) -> None:
    """Raise an InputError if the adapter of [own] is not there, or not the one that sampled for the study."""
    adapter = recipe.own_samples.adapter
    if adapter and not (Path(adapter) / "adapter_config.json").is_file():
        raise InputError(f"[own] adapter = {adapter!r} is no folder with an adapter_config.json; correct it")
    for cell in recipe.own_cells if adapter else ():
        sampled_by = read_record(folder := cell_folder(root, recipe, cell)).get("adapter")
        if sampled_by and adapter and sampled_by != weights_digest(Path(adapter)):
            raise InputError(
                f"[own] adapter = {adapter!r} has changed since it sampled for {folder}; name another, or "
                "delete that folder and those of the arms that learned from it"
            )


def refuse_other_limit(samplings: Mapping[Path, CellSampling]) -> None:
    """Raise an InputError if completions of the study were cut off at another limit than is asked for now."""
    for folder, sampling in samplings.items():
        with suppress(DamagedError):
            earlier = read_record(folder).get("decoding", {})
            for name in earlier.keys() & sampling.decodings.keys():
                before, now = earlier[name]["max_new_tokens"], sampling.decodings[name].max_new_tokens
                if before != now:
                    raise InputError(
                        f"{folder} was sampled with max_new_tokens = {before}, and now it is {now}; put that "
                        "back, or choose another folder with --out"
                    )


def checked_base_model(root: Path, recipe: Recipe, *, sampled_here: bool) -> dict[str, str]:
    """Return what the base model is, to be kept; InputError if the study was begun with another one.

    `sampled_here`: whether processes of this machine will sample with it, whose devices then decide the dtype
    "auto". What cannot be known, such as a hub's commit that was not downloaded, is not compared.
    """
    present, earlier, dtype = base_model(recipe.model), kept_base_model(root), _dtype_of_a_cell(root)
    if dtype and sampled_here:
        from erce.hf.models import dtype_here

        earlier = {**earlier, "dtype": dtype}
        present["dtype"] = dtype_here(recipe.dtype, recipe.model)
    changed = [name for name in present.keys() & earlier.keys() if present[name] != earlier[name]]
    if changed:
        parts = [
            f"{name} ({earlier[name]}, not {present[name]})" if name in ("commit", "dtype") else name
            for name in sorted(changed)
        ]
        raise InputError(
            f"{root} was begun with another base model under the name {recipe.model!r}: it differs in "
            f"{', '.join(parts)}; put the first one back, or choose another folder with --out"
        )
    return {name: part for name, part in {**earlier, **present}.items() if name != "dtype"}


def _dtype_of_a_cell(root: Path) -> str | None:
    """Return the dtype of the first cell that says in which it was sampled."""
    for path in sorted(root.glob(f"cells/*/{CELL}")):
        with suppress(DamagedError):
            if dtype := read_json(path).get("dtype"):
                return dtype
    return None
