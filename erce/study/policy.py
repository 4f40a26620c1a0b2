"""A recipe and an adapter → the policy that samples completions: transformers in this process, or a server.

The server runs already, or it is vLLM, which is started for the study and stopped after it.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from erce.catalog import is_here
from erce.errors import InputError, ServerError
from erce.generate.decoding import GenerationSettings
from erce.generate.server import Server, generate_from_server, get, load_adapter, unload_adapter
from erce.recipe import Recipe, Serving
from erce.types import Completion, Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

LIST_TIMEOUT_SECONDS = 30.0  # without a byte of the list of models
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # that vLLM takes as its highest
SHARE_OF_MEMORY = "0.5"  # of a GPU; training needs the rest
PAUSE_SECONDS = 0.5  # between two questions whether it answers
STOP_SECONDS = 30.0  # to end by itself, before it is killed

# The server gets SIGTERM when this process dies, however that happens.
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


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


@contextmanager
def running_server(recipe: Recipe, log: Path) -> Iterator[None]:
    """Run the block with the recipe's server at hand; a recipe without a server needs none.

    With `[server] start = true` vLLM is started before the block, with its output in `log`, and stopped after
    it. InputErrors: there is no command `vllm`, something answers at the address already, or the base model
    is not served. A ServerError: no answer, or none within `[server] timeout` seconds of the start.
    """
    if recipe.server is None or not recipe.server.start:
        check_server(recipe)
        yield
        return
    command, environment = vllm_command(recipe, recipe.server), dict(os.environ)
    environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "True"
    if key := served_base(recipe, recipe.server).api_key:
        environment["VLLM_API_KEY"] = key
    _check_free(recipe, recipe.server)  # before the start: two servers at one address would answer in turns
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _DIE_WITH_PARENT, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        _wait(recipe, recipe.server, process, log)
        check_server(recipe)
        yield
    finally:
        _stop(process)


def vllm_command(recipe: Recipe, serving: Serving) -> list[str]:
    """Return the words that start vLLM for a recipe; an InputError where it is not installed."""
    from erce.hf.models import dtype_here, pretrained_name

    if (vllm := shutil.which("vllm")) is None:
        raise InputError(
            "[server] start = true needs the command vllm; install it in this environment, or leave start "
            "out and start the server yourself"
        )
    here, rank = urlsplit(serving.url), recipe.training.rank
    if rank > LORA_RANKS[-1]:
        raise InputError(
            f"[training] rank = {rank} is above {LORA_RANKS[-1]}, the highest that vLLM loads; lower it, or "
            "leave [server] out"
        )
    options = {
        "host": here.hostname,
        "port": here.port,
        "served-model-name": serving.model or recipe.model,
        "dtype": dtype_here(recipe.dtype, recipe.model),  # vLLM's own "auto" is bfloat16 on a CPU, too
        "max-lora-rank": next(highest for highest in LORA_RANKS if highest >= rank),
        "max-logprobs": serving.top_logprobs,
        "gpu-memory-utilization": SHARE_OF_MEMORY,
    }
    named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    model = str(Path(pretrained_name(recipe.model)).resolve()) if is_here(recipe.model) else recipe.model
    return [vllm, "serve", model, "--enable-lora", *named, *serving.arguments]


def _check_free(recipe: Recipe, serving: Serving) -> None:
    with suppress(ServerError):
        served_names(served_base(recipe, serving))
        raise InputError(
            f"{serving.url} answers already, and [server] start = true would start another server there; "
            "leave start out to use it, or give another port"
        )


def _wait(recipe: Recipe, serving: Serving, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Return once the server lists its models; a ServerError if it ends before, or takes too long."""
    base, deadline = served_base(recipe, serving), time.monotonic() + serving.timeout
    while process.poll() is None:
        with suppress(ServerError):
            served_names(base)
            return
        if time.monotonic() > deadline:
            raise ServerError(
                f"vllm gave no answer at {serving.url} within {serving.timeout:g} s; see {log}, or raise "
                "[server] timeout"
            )
        time.sleep(PAUSE_SECONDS)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it printed nothing"]
    raise ServerError(f"vllm ended with exit status {process.returncode} ({lines[-1]:.200}); see {log}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End the server and all that it started; its session is its own."""
    for ending, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, ending)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
