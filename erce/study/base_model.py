"""A base model → digests of its files, kept in a study's base.json; a changed base model is refused.

A gain compares cells, so that all cells must start from one base model: the same weights, configuration,
tokenizer and chat template. A model of the hub is known by its commit. The dtype is in each cell's cell.json.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from erce.catalog import is_gguf, model_folder
from erce.errors import DamagedError, InputError
from erce.files import read_json, write_json
from erce.recipe import Recipe
from erce.study.digests import file_digest
from erce.study.folder import BASE, CELL
from erce.study.hub import is_hub_name

FILES = {  # part → the files of a model's folder that make it
    "weights": ("*.safetensors", "*.bin", "*.gguf"),
    "configuration": ("config.json",),
    "tokenizer": ("tokenizer*", "vocab*", "merges*", "special_tokens_map.json", "added_tokens.json"),
    "chat template": ("chat_template*",),
}


def checked_base_model(root: Path, recipe: Recipe, *, cells_run_here: bool) -> dict[str, str]:
    """Return what the base model is, to be kept; InputError if the study was begun with another one.

    `cells_run_here`: whether the cells run on this machine, whose devices then decide the dtype "auto". What
    cannot be known, such as a hub's commit that was not downloaded, is not compared.
    """
    present, earlier, dtype = base_model(recipe), kept_base_model(root), _dtype_of_a_cell(root)
    if dtype and cells_run_here and recipe.server is None:
        from erce.hf.models import dtype_here

        earlier = {**earlier, "dtype": dtype}
        present["dtype"] = dtype_here(recipe.dtype, recipe.model)
    changed = [name for name in present.keys() & earlier.keys() if present[name] != earlier[name]]
    if changed:
        shown = {"commit", "dtype"}
        parts = [
            f"{name} ({earlier[name]}, not {present[name]})" if name in shown else name
            for name in sorted(changed)
        ]
        raise InputError(
            f"{root} was begun with another base model under the name {recipe.model!r}: it differs in "
            f"{', '.join(parts)}; put the first one back, or choose another folder with --out"
        )
    return {name: part for name, part in {**earlier, **present}.items() if name != "dtype"}


def kept_base_model(root: Path) -> Mapping[str, str]:
    """Return what base.json holds; nothing where it is missing, as in an older study, or torn."""
    try:
        return read_json(root / BASE) if (root / BASE).is_file() else {}
    except DamagedError:
        return {}


def keep_base_model(root: Path, base: Mapping[str, str]) -> None:
    """Write base.json, if it does not hold this base model already."""
    if base and base != kept_base_model(root):
        write_json(root / BASE, dict(base))


def _dtype_of_a_cell(root: Path) -> str | None:
    """Return the dtype of the first cell that says in which it was sampled."""
    for path in sorted(root.glob(f"cells/*/{CELL}")):
        with suppress(DamagedError):
            if dtype := read_json(path).get("dtype"):
                return dtype
    return None


def base_model(recipe: Recipe) -> dict[str, str]:
    """Return part → digest of a base model on this machine, or the commit of one in the hub's cache."""
    if is_gguf(recipe.model):
        from erce.hf.gguf import gguf_file

        file = gguf_file(recipe.model)
        return {} if file is None else {"weights": file_digest(file)}
    folder = model_folder(recipe.model)
    if folder.is_dir():
        digests = {part: _digest_of(folder, patterns) for part, patterns in FILES.items()}
        return {part: digest for part, digest in digests.items() if digest}
    if not is_hub_name(recipe.model):
        return {}
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(recipe.model, "config.json")
    return {"commit": Path(path).parent.name} if isinstance(path, str) else {}


def _digest_of(folder: Path, patterns: tuple[str, ...]) -> str:
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    lines = [f"{path.name} {file_digest(path)}\n" for path in paths]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16] if lines else ""
