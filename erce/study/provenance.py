"""What sampled a cell's completions → cell.json; the base model's files → base.json; a change is refused.

cell.json has a key of everything that decides the completions: two cells with one key have the same ones.
The study's settings, the adapter's weights, the prompts as tokens and the decoding are in the key. The
recipe's `temperatures` are not, since they may grow: each is in the name of its decoding. The verifier stands
beside the key, since verdicts can be made again.

A gain compares cells, so all cells must start from one base model: the same weights, configuration, tokenizer
and chat template. A model of the hub is known by its commit.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from erce.catalog import is_gguf, is_hub_name, model_folder
from erce.errors import DamagedError, InputError
from erce.files import read_json, write_json
from erce.generate.decoding import GenerationSettings
from erce.hf.prompt import prompt_ids
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, further_temperatures
from erce.study.folder import BASE, CELL
from erce.types import Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

FULL_SOFTMAX = {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}  # the only sampling of `erce.generate`
FILES = {  # part → the files of a model's folder that make it
    "weights": ("*.safetensors", "*.bin", "*.gguf"),
    "configuration": ("config.json",),
    "tokenizer": ("tokenizer*", "vocab*", "merges*", "special_tokens_map.json", "added_tokens.json"),
    "chat template": ("chat_template*",),
}
WHOLE_BYTES = 16 * 2**20  # of larger files, such as adapters, only blocks are read
BLOCK_BYTES, BLOCKS = 2**16, 16


def write_origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    policy: "BasePolicy",
    evaluated: Mapping[str, Sequence[Problem]],
    decodings: Mapping[str, GenerationSettings],
) -> str:
    """Write cell.json and return the key of the cell's completions, 16 hex digits.

    A base model is known by its name, and by the hub's commit where there is one; an adapter by its weights.
    The dtype is that of transformers; a server's is not known.
    """
    origin = _origin(folder, recipe, cell, policy, evaluated)
    resolved, further = _resolved(decodings, policy.tokenizer), further_temperatures(recipe, cell)
    origin["decoding"] = {name: settings for name, settings in resolved.items() if name not in further}
    key, earlier = digest_of(origin), read_origin(folder)
    # Under the same key, decodings that the recipe no longer asks for stay, and so does the verifier.
    kept = earlier if earlier.get("key") == key else {}
    origin["decoding"] = _in_order(kept.get("decoding", {}) | resolved)
    backend = "transformers" if recipe.server is None else recipe.server.kind
    write_json(folder / CELL, kept | origin | {"drawn_by": backend, "key": key})
    return key


def check_origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    policy: "BasePolicy",
    evaluated: Mapping[str, Sequence[Problem]],
) -> None:
    """Raise an InputError if the completions that are there are of another policy than this one."""
    origin, earlier = _origin(folder, recipe, cell, policy, evaluated), read_origin(folder)
    changed = [name for name in origin if name in earlier and earlier[name] != origin[name]]
    if changed:
        raise InputError(
            f"{folder}: its completions were sampled by another policy (other {', '.join(changed)}) than "
            "those that are missing would be; delete completions.jsonl, and the next run samples all of them"
        )


def read_origin(folder: Path) -> dict[str, Any]:
    """Return what cell.json holds; nothing for a cell from before there was one."""
    return read_json(folder / CELL) if (folder / CELL).is_file() else {}


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


def weights_digest(adapter: Path) -> str:
    """Return 16 hex digits of an adapter's weights; the other files may differ between equal trainings."""
    digest = hashlib.sha256()
    for path in sorted(adapter.glob("adapter_model*")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    policy: "BasePolicy",
    evaluated: Mapping[str, Sequence[Problem]],
) -> dict[str, Any]:
    """Return everything that decides a cell's completions, except the decoding."""
    return {
        "study": hashlib.sha256(recipe.identity_json.encode()).hexdigest()[:16],  # as `digest_of`, old names
        "task": cell.task,
        "lam": cell.lam,
        "objective": None if cell.lam is None else cell.objective,
        "penalty": recipe.penalty,
        "order": recipe.order,
        "seed": cell.seed,
        "model": recipe.model,
        "revision": getattr(policy.model.config, "_commit_hash", None),
        "dtype": None if recipe.server else str(policy.model.dtype).removeprefix("torch."),
        "adapter": None if cell.lam is None else weights_digest(folder / "adapter"),
        "prompts": {
            split: digest_of([prompt_ids(policy.tokenizer, problem.prompt) for problem in problems])
            for split, problems in evaluated.items()
        },
    }


def _resolved(decodings: Mapping[str, GenerationSettings], tokenizer: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "temperature": settings.temperature,
            **FULL_SOFTMAX,
            "samples": settings.samples,
            "max_new_tokens": settings.max_new_tokens,
            "stop": [tokenizer.eos_token, *settings.stop],
        }
        for name, settings in decodings.items()
    }


def _in_order(decodings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Sort into greedy, sampled, then by rising temperature, however many were added later."""
    main = (GREEDY, SAMPLED)
    return dict(sorted(decodings.items(), key=lambda named: (named[0] not in main, named[1]["temperature"])))


def digest_of(content: Any) -> str:
    """Return 16 hex digits of plain values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


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
        from erce.hf.models import gguf_file

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
