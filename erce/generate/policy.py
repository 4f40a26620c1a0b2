"""A cell of a recipe → the policy that draws its completions: transformers here, or a server."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from erce.generate.decoding import GenerationSettings
from erce.generate.server import Server, generate_from_server, load_adapter, unload_adapter
from erce.recipe import Recipe, Serving
from erce.types import Completion, Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy


class Policy(Protocol):
    """What draws completions: `decoding.samples` a problem, in the order of `problems`."""

    def __call__(
        self, problems: Sequence[Problem], *, decoding: GenerationSettings, seed: int
    ) -> Sequence[Completion]: ...


@contextmanager
def policy(recipe: Recipe, base: "BasePolicy", adapter: Path | None) -> Iterator[Policy]:
    """The base model under the adapter in a folder, None for as it came; `base` is it and its tokenizer.

    On a server an adapter has a name of its own, see `served_name`, and is gone again afterwards.
    """
    model, tokenizer = base
    if recipe.server is None:
        from erce.generate.transformers import generate
        from erce.hf.models import adapted

        with adapted(model, adapter) as own:
            yield partial(generate, own, tokenizer)
    else:
        with _served(served_base(recipe, recipe.server), adapter) as server:
            yield partial(generate_from_server, server, tokenizer)


def served_base(recipe: Recipe, serving: Serving) -> Server:
    """The base model on the recipe's server; a ValueError where the variable with its key is not set."""
    variable = serving.api_key_variable
    if variable is not None and variable not in os.environ:
        raise ValueError(f"[server] api_key_variable = {variable!r} is not set; export {variable}=… first")
    key = "" if variable is None else os.environ[variable]
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise ValueError(
            f"[server] the key in {variable!r} has characters that no key has, such as a line's end"
        )
    return Server(
        url=serving.url.rstrip("/"),
        model=serving.model or recipe.model,
        kind=serving.kind,
        api_key=key,
        top_logprobs=serving.top_logprobs,
        entropy_within=serving.entropy_within,
        concurrency=serving.concurrency,
        timeout=serving.timeout,
    )


def served_name(adapter: Path) -> str:
    """What a server calls an adapter: its cell's folder and 8 hexadecimal digits of where that lies.

    So two studies of one recipe share no adapter, and a killed one finds what it left there.

    >>> served_name(Path("/runs/mini/cells/sums-lam1-seed0-3fa9c1d2/adapter"))
    'sums-lam1-seed0-3fa9c1d2-b49ea395'
    """
    place = hashlib.sha256(os.fsencode(adapter.resolve())).hexdigest()
    return f"{adapter.parent.name}-{place[:8]}"


def check_server(recipe: Recipe) -> None:
    """None, where the recipe has no server or its server answers and serves the base model."""
    if recipe.server is None:
        return
    base = served_base(recipe, recipe.server)
    names = served_names(base)
    if base.model not in names:
        raise ValueError(
            f"{base.url} serves no {base.model!r} but {', '.join(names) or 'nothing'}; name the one to draw "
            "from with [server] model"
        )


def served_names(server: Server) -> list[str]:
    """The names of all models and adapters that the server answers for, asked once, without patience."""
    parts, headers = urlsplit(server.url), {"Accept": "application/json"}
    if server.api_key:
        headers["Authorization"] = f"Bearer {server.api_key}"
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=min(server.timeout, 30.0))
    try:
        connection.request("GET", parts.path.rstrip("/") + "/models", headers=headers)
        reply = connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise ValueError(f"status {reply.status}")
        answer: dict[str, list[dict[str, str]]] = json.loads(text)
        return sorted(each["id"] for each in answer["data"])
    except (OSError, HTTPException, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(
            f"no list of models at {server.url}/models ({type(error).__name__}: {error!s:.80}); see that the "
            "server runs there and takes the key"
        ) from error
    finally:
        connection.close()


@contextmanager
def _served(base: Server, adapter: Path | None) -> Iterator[Server]:
    if adapter is None:
        yield base
        return
    own = replace(base, model=served_name(adapter))
    with suppress(ValueError):  # there is mostly none; of any other fault, loading says the same
        unload_adapter(own)  # left there by a run that was killed, and maybe of other weights
    load_adapter(own, adapter.resolve())
    try:
        yield own
    except BaseException:
        with suppress(ValueError):  # what went wrong before is what must be said
            unload_adapter(replace(own, attempts=1))
        raise
    unload_adapter(own)
