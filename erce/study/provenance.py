"""What drew and judged a cell's completions → cell.json, with a key of everything that decides them.

Two cells with one key have the same completions: the study's settings, the adapter's weights, the prompts as
tokens and the decoding are all in the key. The recipe's `temperatures` are not, since they may grow: each is
in the name of its decoding. Who judged stands beside the key, since verdicts can be made again.
"""

import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import erce.verify
from erce.catalog import is_own
from erce.errors import InputError
from erce.files import read_json, write_json
from erce.generate.decoding import GenerationSettings
from erce.hf.prompt import prompt_ids
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, further_temperatures
from erce.study.folder import CELL
from erce.types import Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

TASK_FILE = "task_file"  # in cell.json
FULL_SOFTMAX = {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}  # the only sampling of `erce.generate`


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
    key, earlier = _digest(origin), read_origin(folder)
    # Under the same key, decodings that the recipe no longer asks for stay, and so does who judged.
    kept = earlier if earlier.get("key") == key else {}
    origin["decoding"] = _in_order(kept.get("decoding", {}) | resolved)
    drawn_by = "transformers" if recipe.server is None else recipe.server.kind
    write_json(folder / CELL, kept | origin | {"drawn_by": drawn_by, "key": key})
    return key


def check_origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    policy: "BasePolicy",
    evaluated: Mapping[str, Sequence[Problem]],
) -> None:
    """Raise an InputError if another policy than this one drew the completions that are there."""
    origin, earlier = _origin(folder, recipe, cell, policy, evaluated), read_origin(folder)
    changed = [name for name in origin if name in earlier and earlier[name] != origin[name]]
    if changed:
        raise InputError(
            f"{folder}: its completions were drawn by another policy (other {', '.join(changed)}) than those "
            "that are missing would be; delete completions.jsonl, and the next run draws all of them"
        )


def write_verifier(folder: Path, verify: Callable[..., Any], *, task: str) -> None:
    """Add to cell.json who judges: the verifier's version and, of a user's task, its file."""
    judges = {"verifier": verifier_version(verify), TASK_FILE: task_file_digest(task)}
    write_json(folder / CELL, read_origin(folder) | judges)


def task_file_digest(name: str) -> str | None:
    """Return 16 hex digits of the file in which a user's task "module:NAME" is; None if it is not there.

    The file is looked for where Python would, and not imported, so that a report runs nobody's code.
    """
    relative = Path(*name.partition(":")[0].split(".")).with_suffix(".py")
    paths = (Path(folder) / relative for folder in ("", *sys.path)) if is_own(name) else ()
    file = next((path for path in paths if path.is_file()), None)
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def read_origin(folder: Path) -> dict[str, Any]:
    """Return what cell.json holds; nothing for a cell from before there was one."""
    return read_json(folder / CELL) if (folder / CELL).is_file() else {}


def weights_digest(adapter: Path) -> str:
    """Return 16 hex digits of an adapter's weights; the other files may differ between equal trainings."""
    digest = hashlib.sha256()
    for path in sorted(adapter.glob("adapter_model*")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def verifier_version(verify: Callable[..., Any]) -> str:
    """Return erce's version and 16 hex digits of the sources: erce's verifiers and the files `verify` is in.

    Two versions are equal where the same code judges; the packages beneath have theirs in result.json.
    """
    root = Path(erce.verify.__path__[0])
    sources = [path.read_bytes() for path in sorted(root.rglob("*.py"))]
    sources += [path.read_bytes() for path in _source_files(verify)]
    return f"{version('erce')}+{_digest([hashlib.sha256(source).hexdigest() for source in sources])}"


def _source_files(function: Callable[..., Any]) -> list[Path]:
    """Return the file that a function is in; of a partial, that of every function it is made of."""
    if isinstance(function, partial):
        parts = (function.func, *filter(callable, (*function.args, *function.keywords.values())))
        return [path for part in parts for path in _source_files(part)]
    path = inspect.getsourcefile(function if inspect.isroutine(function) else type(function))
    return [Path(path)] if path else []


def _origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    policy: "BasePolicy",
    evaluated: Mapping[str, Sequence[Problem]],
) -> dict[str, Any]:
    """Return everything that decides a cell's completions, except the decoding."""
    return {
        "study": hashlib.sha256(recipe.identity_json.encode()).hexdigest()[:16],
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
            split: _digest([prompt_ids(policy.tokenizer, problem.prompt) for problem in problems])
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
    return dict(
        sorted(
            decodings.items(),
            key=lambda named: (named[0] not in (GREEDY, SAMPLED), named[1]["temperature"]),
        )
    )


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
