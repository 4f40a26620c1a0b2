"""The server that a study draws from: one that runs already, or vLLM, which is started for the study."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from erce.errors import InputError, ServerError
from erce.recipe import Recipe, Serving
from erce.study.hub import is_here
from erce.study.policy import check_server, served_base, served_names

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
    _check_free(recipe, recipe.server)
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
