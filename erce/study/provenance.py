"""What made the files of a study, as cell.json, base.json and digests record it; `freshness` compares.

cell.json has a key of everything that decides a cell's completions: two cells with one key have the same
ones. The study's settings, the adapter's weights, the prompts as tokens and the decoding are in the key. The
recipe's `temperatures` are not, since they may grow: each is in the name of its decoding. The verifier stands
beside the key, since verdicts can be made again. result.json holds a digest of every file that it rests on.

base.json says what the base model is. A gain compares cells, so all cells must start from the same weights,
configuration, tokenizer and chat template. A model of the hub is known by its commit.
"""

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import erce.verify
from erce.catalog import is_gguf, is_hub_name, is_user_defined, model_folder
from erce.errors import DamagedError
from erce.files import read_json, short_hash, write_json
from erce.hf.prompt import prompt_ids
from erce.recipe import GREEDY, SAMPLED, Recipe
from erce.study.folder import ADAPTER, BASE, CELL, TRAINING, read_record
from erce.study.samples import COMPLETIONS, VERDICTS, place_of_decoding
from erce.study.schedule import CellSampling
from erce.types import Problem

if TYPE_CHECKING:
    from erce.generate.backend import Backend
    from erce.hf.models import BasePolicy

FULL_SOFTMAX = {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}  # the only sampling of `erce.generate`
DIGESTS = "digests"  # in result.json: file → digest
TASK_FILE, CHECKS = "task_file", "checks"  # in cell.json
DEMONSTRATIONS = "demonstrations"  # in the training.json of a cell that learns own samples: their digest
BASE_FILES = {  # part → the files of a model's folder that make it
    "weights": ("*.safetensors", "*.bin", "*.gguf"),
    "configuration": ("config.json",),
    "tokenizer": ("tokenizer*", "vocab*", "merges*", "special_tokens_map.json", "added_tokens.json"),
    "chat template": ("chat_template*",),
}
WHOLE_BYTES = 16 * 2**20  # of larger files, such as adapters, only blocks are read
BLOCK_BYTES, BLOCKS = 2**16, 16
_LOADED = WeakKeyDictionary[Any, tuple[Any, str]]()  # module → its spec and its file's digest then


def origin_of(
    recipe: Recipe, sampling: CellSampling, *, base: "BasePolicy", adapter: Path | None, backend: "Backend"
) -> dict[str, Any]:
    """Return what the completions of a cell that is sampled now come from.

    A base model is known by its name, and by the hub's commit where there is one; an adapter by its weights.
    The dtype is that of transformers; a server's is not known.
    """
    cell, dtype = sampling.cell, str(base.model.dtype).removeprefix("torch.")
    return {
        "study": short_hash(recipe.identity_json.encode()),
        "task": cell.task,
        "lam": cell.lam,
        "method": cell.method if cell.is_trained else None,
        "penalty": recipe.penalty,
        "order": recipe.order,
        "seed": cell.seed,
        "model": recipe.model,
        "revision": getattr(base.model.config, "_commit_hash", None),
        "dtype": dtype if backend.in_cell_process else None,
        "adapter": None if adapter is None else weights_digest(adapter),
        "prompts": {
            split: digest_of([prompt_ids(base.tokenizer, problem.prompt) for problem in problems])
            for split, problems in sampling.problems.items()
        },
    }


def write_origin(
    folder: Path, origin: Mapping[str, Any], sampling: CellSampling, *, ends: list[str], backend: str
) -> str:
    """Write cell.json and return the key of the cell's completions, 16 hex digits.

    `origin` is what `origin_of` returns, `ends` the model's end tokens, `backend` the name of what samples.
    """
    earlier = read_record(folder)
    resolved = {
        name: {
            "temperature": settings.temperature,
            **FULL_SOFTMAX,
            "samples": settings.samples,
            "max_new_tokens": settings.max_new_tokens,
            "stop": [*ends, *settings.stop],
        }
        for name, settings in sampling.decodings.items()
    }
    main = {name: settings for name, settings in resolved.items() if name in (GREEDY, SAMPLED)}
    key = digest_of({**origin, "decoding": main})
    # Under the same key, decodings that the recipe no longer asks for stay, and so does the verifier.
    kept = earlier if earlier.get("key") == key else {}
    every = kept.get("decoding", {}) | resolved
    in_order = {name: every[name] for name in sorted(every, key=place_of_decoding)}
    write_json(folder / CELL, {**kept, **origin, "decoding": in_order, "drawn_by": backend, "key": key})
    return key


def digest_of(content: Any) -> str:
    """Return 16 hex digits of plain values."""
    return short_hash(json.dumps(content, sort_keys=True).encode())


def demonstrations_digest(problems: Sequence[Problem]) -> str:
    """Return 16 hex digits of what a training learned from: every prompt with its demonstration, in order."""
    return digest_of([[problem.prompt, problem.demonstration] for problem in problems])


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
    content = b""
    for path in sorted(adapter.glob("adapter_model*")):
        with path.open("rb") as file:
            content += hashlib.file_digest(file, "sha256").digest()
    return short_hash(content)


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file that a cell's result rests on."""
    weights = sorted((folder / ADAPTER).glob("adapter_model*"))
    paths = [*weights, *(folder / name for name in (TRAINING, COMPLETIONS, VERDICTS))]
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths if path.is_file()}


def kept_base_model(root: Path) -> Mapping[str, str]:
    """Return what base.json holds; an empty dict where that file is missing or torn."""
    try:
        return read_json(root / BASE) if (root / BASE).is_file() else {}
    except DamagedError:
        return {}


def keep_base_model(root: Path, base: Mapping[str, str]) -> None:
    """Write base.json, if it does not hold this base model already."""
    if base and base != kept_base_model(root):
        write_json(root / BASE, dict(base))


def base_model(model: str) -> dict[str, str]:
    """Return part → digest of a base model on this machine, or the commit of one in the hub's cache."""
    if is_gguf(model):
        from erce.hf.models import gguf_file

        file = gguf_file(model)
        return {} if file is None else {"weights": file_digest(file)}
    folder = model_folder(model)
    if folder.is_dir():
        digests = {part: _digest_of_files(folder, patterns) for part, patterns in BASE_FILES.items()}
        return {part: digest for part, digest in digests.items() if digest}
    if not is_hub_name(model):
        return {}
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(model, "config.json")
    return {"commit": Path(path).parent.name} if isinstance(path, str) else {}


def _digest_of_files(folder: Path, patterns: tuple[str, ...]) -> str:
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    lines = [f"{path.name} {file_digest(path)}\n" for path in paths]
    return short_hash("".join(lines).encode()) if lines else ""


def write_verifier(folder: Path, verify: Callable[..., Any], *, task: str) -> None:
    """Add to cell.json the verifier's version and first paragraph, and the digest of a user's file."""
    written = (verify.__doc__ or "") if inspect.isroutine(verify) else ""
    checks = " ".join(written.partition("\n\n")[0].split())
    digest, file = verifier_version(verify, task=task), _task_file(task)
    of_file = None if file is None else _source(file.resolve())[:16]
    verifier = {"verifier": digest, CHECKS: checks, TASK_FILE: of_file}
    write_json(folder / CELL, read_record(folder) | verifier)


def task_file_digest(name: str) -> str | None:
    """Return 16 hex digits of the file in which a user's task "module:NAME" is; None if it is not there."""
    file = _task_file(name)
    return None if file is None else _digest(file)[:16]


def _task_file(name: str) -> Path | None:
    """Return the path of that file, which is not imported, so that a report runs nobody's code."""
    relative = Path(*name.partition(":")[0].split(".")).with_suffix(".py")
    paths = (Path(folder) / relative for folder in ("", *sys.path)) if is_user_defined(name) else ()
    return next((path for path in paths if path.is_file()), None)


def verifier_version(verify: Callable[..., Any], *, task: str) -> str:
    """Return erce's version, and 16 hex digits of the files that decide a verdict.

    They are those of `erce.verify`, and of a user the file that `task` names and the one of the function
    under its decorators. Other modules of a user, and packages, do not count.
    """
    own = {path.resolve() for path in (*_files_of(verify), _task_file(task)) if path is not None}
    ours = {path.resolve() for path in Path(erce.verify.__path__[0]).rglob("*.py")} - own
    return f"{version('erce')}+{digest_of(sorted([*map(_source, own), *map(_digest, ours)]))}"


def _source(path: Path) -> str:
    """Return a file's digest; of a module that this process has loaded, the one that it was first asked for.

    A file that is edited while a study runs is not what the study's process verifies with.
    """
    modules = [module for module in [*sys.modules.values()] if isinstance(module, ModuleType)]
    named = [module for module in modules if Path(vars(module).get("__file__") or "").name == path.name]
    loaded = next((module for module in named if Path(str(module.__file__)).resolve() == path), None)
    if loaded is None:
        return _digest(path)
    spec, digest = _LOADED.get(loaded, (None, ""))
    if not digest or spec is not loaded.__spec__:  # reloading a module renews its spec
        digest = _digest(path)
        _LOADED[loaded] = loaded.__spec__, digest
    return digest


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _files_of(function: Callable[..., Any]) -> frozenset[Path]:
    """Return the file that a function is in; of a partial, that of every function it is made of."""
    function = inspect.unwrap(function)
    if isinstance(function, partial):
        parts = (function.func, *filter(callable, (*function.args, *function.keywords.values())))
        return frozenset().union(*map(_files_of, parts))
    path = inspect.getsourcefile(function if inspect.isroutine(function) else type(function))
    return frozenset({Path(path)} if path else ())
