"""A recipe and an adapter → the policy that samples completions: transformers here, or a server."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from erce.errors import InputError, ServerError
from erce.generate.decoding import GenerationSettings
from erce.generate.server import Server, generate_from_server, get, load_adapter, unload_adapter
from erce.recipe import Recipe, Serving
from erce.types import Completion, Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

LIST_TIMEOUT_SECONDS = 30.0  # without a byte of the list of models


class Policy(Protocol):
    """A callable that samples `decoding.samples` completions per problem, in the order of `problems`."""

    def __call__(
        self, problems: Sequence[Problem], *, decoding: GenerationSettings, seed: int
    ) -> Sequence[Completion]: ...


@contextmanager
def policy(recipe: Recipe, base: "BasePolicy", adapter: Path | None) -> Iterator[Policy]:
    """Yield the base model under the adapter in a folder, or as it came where `adapter` is None.

    On a server the adapter is loaded as `served_name`, and unloaded afterwards.
    """
    model, tokenizer = base
    if recipe.server is None:
        from erce.generate.transformers import generate
        from erce.hf.models import adapted

        with adapted(model, adapter) as adapted_model:
            yield partial(generate, adapted_model, tokenizer)
    else:
        with _served(served_base(recipe, recipe.server), adapter) as server:
            yield partial(generate_from_server, server, tokenizer)


def served_base(recipe: Recipe, serving: Serving) -> Server:
    """Return the base model on the recipe's server; InputError where the variable with its key is not set."""
    variable = serving.api_key_variable
    if variable is not None and variable not in os.environ:
        raise InputError(f"[server] api_key_variable = {variable!r} is not set; export {variable}=… first")
    key = "" if variable is None else os.environ[variable]
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise InputError(
            f"[server] the key in {variable!r} has characters that no key has, such as a line's end"
        )
    settings: dict[str, Any] = asdict(serving)
    settings |= {"url": serving.url.rstrip("/"), "model": serving.model or recipe.model}
    return Server(**settings, api_key=key)


def served_name(adapter: Path) -> str:
    """Return an adapter's name on a server: its cell's folder and 8 hexadecimal digits of the folder's path.

    So two studies of one recipe share no adapter, and a study that was killed finds the one that it left.

    >>> served_name(Path("/runs/mini/cells/sums-lam1-seed0-3fa9c1d2/adapter"))
    'sums-lam1-seed0-3fa9c1d2-b49ea395'
    """
    digest = hashlib.sha256(os.fsencode(adapter.resolve())).hexdigest()
    return f"{adapter.parent.name}-{digest[:8]}"


def check_server(recipe: Recipe) -> None:
    """Refuse a recipe whose server does not serve the base model; ServerError if it does not answer."""
    if recipe.server is None:
        return
    base = served_base(recipe, recipe.server)
    names = served_names(base)
    if base.model not in names:
        raise InputError(
            f"{base.url} serves no {base.model!r} but {', '.join(names) or 'nothing'}; name the model to "
            "sample from with [server] model"
        )


def served_names(server: Server) -> list[str]:
    """Return the names of all models and adapters that the server serves."""
    asked = replace(server, timeout=min(server.timeout, LIST_TIMEOUT_SECONDS))
    try:
        answer: dict[str, list[dict[str, str]]] = get(asked, "/models")
        return sorted(model["id"] for model in answer["data"])
    except (ServerError, TypeError, KeyError) as error:
        raise ServerError(
            f"no list of models at {server.url}/models ({error!s:.80}); check that the server runs there and "
            "accepts the key"
        ) from error


@contextmanager
def _served(base: Server, adapter: Path | None) -> Iterator[Server]:
    """Yield the base model's server, or the same with the adapter loaded, which is unloaded afterwards."""
    if adapter is None:
        yield base
        return
    server = replace(base, model=served_name(adapter))
    with suppress(ServerError):  # only where a killed run has left one of the name, perhaps of other weights
        unload_adapter(server)
    load_adapter(server, adapter.resolve())
    try:
        yield server
    except BaseException:
        with suppress(ServerError):  # the first error is the one to report
            unload_adapter(replace(server, attempts=1))
        raise
    unload_adapter(server)
