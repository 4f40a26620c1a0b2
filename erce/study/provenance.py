"""What a cell was drawn with → cell.json: what its rows share, and the key of all that decides them.

Two cells with one key have the same completions: the study's settings, the adapter's weights, the prompts as
tokens and the decoding are all in it. The frontier is not, since it may grow: each of its decodings has its
temperature in its name. Who judged is beside the key, since verdicts can be made again.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import erce
from erce.files import read_json, write_json
from erce.generate.decoding import GenerationSettings
from erce.hf.prompt import prompt_ids
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, frontier, identity
from erce.types import Problem

CELL = "cell.json"
FULL_SOFTMAX = {"top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}  # `erce.generate` knows no other


def write_origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    policy: tuple[Any, Any],
    evaluated: Mapping[str, Sequence[Problem]],
    draws: Mapping[str, GenerationSettings],
) -> str:
    """The key of the cell's completions, 16 hex digits, after cell.json was written with what it is made of.

    `policy` is the model and its tokenizer. A base model is known by its name, and by the hub's commit where
    there is one; an adapter by its weights. The dtype is that of transformers; a server's is not known.
    """
    origin = _origin(folder, recipe, cell, policy, evaluated)
    decoding, further = _resolved(draws, policy[1]), frontier(recipe, cell.task)
    origin["decoding"] = {name: drawn for name, drawn in decoding.items() if name not in further}
    key, earlier = _digest(origin), read_origin(folder)
    # Under the same key, decodings that are no longer asked for stay, and so does who judged.
    kept = earlier if earlier.get("key") == key else {}
    origin["decoding"] = _in_order(kept.get("decoding", {}) | decoding)
    drawn_by = "transformers" if recipe.server is None else recipe.server.kind
    write_json(folder / CELL, kept | origin | {"drawn_by": drawn_by, "key": key})
    return key


def check_origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    *,
    policy: tuple[Any, Any],
    evaluated: Mapping[str, Sequence[Problem]],
) -> None:
    """None, where what cell.json says of the completions that are there holds for those to come."""
    origin, earlier = _origin(folder, recipe, cell, policy, evaluated), read_origin(folder)
    changed = [name for name in origin if name in earlier and earlier[name] != origin[name]]
    if changed:
        raise ValueError(
            f"{folder}: its completions were drawn by another policy (other {', '.join(changed)}) than those "
            "that are missing would be; delete completions.jsonl, and the next run draws all of them"
        )


def write_verifier(folder: Path, verify: Callable[..., Any]) -> None:
    """Adds to cell.json who judges."""
    write_json(folder / CELL, read_origin(folder) | {"verifier": verifier_version(verify)})


def read_origin(folder: Path) -> dict[str, Any]:
    """What cell.json holds; nothing for a cell that was drawn before there was one."""
    return read_json(folder / CELL) if (folder / CELL).is_file() else {}


def weights_digest(adapter: Path) -> str:
    """16 hex digits of an adapter's weights; its other files may differ between two equal trainings."""
    digest = hashlib.sha256()
    for path in sorted(adapter.glob("adapter_model*")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def verifier_version(verify: Callable[..., Any]) -> str:
    """erce's version and 16 hex digits of the sources: of erce's verifiers, and of the file `verify` is in.

    Equal where the same code judges; the versions of the packages beneath stand in result.json.
    """
    function = verify.func if isinstance(verify, partial) else verify
    own = inspect.getsourcefile(function if inspect.isroutine(function) else type(function))
    root = Path(str(erce.__file__)).parent / "verify"
    sources = [path.read_bytes() for path in sorted(root.rglob("*.py"))]
    sources += [Path(own).read_bytes()] if own else []
    return f"{version('erce')}+{_digest([hashlib.sha256(source).hexdigest() for source in sources])}"


def _origin(
    folder: Path,
    recipe: Recipe,
    cell: Cell,
    policy: tuple[Any, Any],
    evaluated: Mapping[str, Sequence[Problem]],
) -> dict[str, Any]:
    """All that decides the completions of a cell but the decoding."""
    model, tokenizer = policy
    return {
        "study": _digest(identity(recipe)),
        "task": cell.task,
        "lam": cell.lam,
        "objective": None if cell.lam is None else cell.objective,
        "penalty": recipe.penalty,
        "order": recipe.order,
        "seed": cell.seed,
        "model": recipe.model,
        "revision": getattr(model.config, "_commit_hash", None),
        "dtype": None if recipe.server else str(model.dtype).removeprefix("torch."),
        "adapter": None if cell.lam is None else weights_digest(folder / "adapter"),
        "prompts": {
            split: _digest([prompt_ids(tokenizer, problem.prompt) for problem in problems])
            for split, problems in evaluated.items()
        },
    }


def _resolved(draws: Mapping[str, GenerationSettings], tokenizer: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "temperature": draw.temperature,
            **FULL_SOFTMAX,
            "samples": draw.samples,
            "max_new_tokens": draw.max_new_tokens,
            "stop": [tokenizer.eos_token, *draw.stop],
        }
        for name, draw in draws.items()
    }


def _in_order(decoding: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Greedy, sampled, then the frontier by rising temperature, however it has grown."""
    return dict(
        sorted(decoding.items(), key=lambda each: (each[0] not in (GREEDY, SAMPLED), each[1]["temperature"]))
    )


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
