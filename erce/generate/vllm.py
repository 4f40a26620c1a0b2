"""[server] start = true → vLLM runs on this machine for as long as a study's cells do, and no longer.

vLLM is never imported: its command `vllm serve` is started, asked by HTTP, and ended.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from erce.catalog import is_here
from erce.errors import DamagedError, InputError, ServerError
from erce.files import read_json, write_json
from erce.generate.server import Served, Server, served_names
from erce.recipe import Recipe

PROCESS, LOG = "vllm.json", "vllm.log"  # which process the server is, and what it prints
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # that vLLM takes as its highest
SHARE_OF_MEMORY = 0.5  # of a GPU, where the processes that ask it have the base model, too
POLL_SECONDS = 0.2
STOP_SECONDS = 30.0  # to end by itself, before it is killed
LOG_LINES = 3  # that the error shows where it does not come up

# The server gets SIGTERM when the process that started it dies, however that happens (Linux).
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class StartedServer(Served):
    """The backend of a recipe with `[server] start = true`, whose server listens to this machine alone.

    `recipe` has its address: a free port, where the recipe names none.
    """

    @classmethod
    def of(cls, recipe: Recipe) -> "StartedServer":
        """Return the backend of a recipe, in which a process that runs cells finds the address."""
        assert recipe.server is not None
        if recipe.server.url:
            return cls(recipe)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        return cls(replace(recipe, server=replace(recipe.server, url=url)))

    @property
    def after_training(self) -> bool:
        return self.serving.gpus is None

    def check(self) -> None:
        """Refuse a machine without the command vllm, and a rank that it cannot load."""
        self.base()
        self._command()

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        """Run the block with the server up; it is ended afterwards, and at the latest by the next run.

        InputError: something else answers at its address. ServerError: it ended, or did not answer within
        `[server] timeout` seconds; the error has the last lines of its log, which stays in the folder.
        """
        end_leftover(folder)
        base = self.base()
        with suppress(ServerError):
            served_names(base)
            raise InputError(
                f"{base.url} answers already, and [server] start = true would start another server there; "
                "leave start out to use it, or leave url out for a free port"
            )
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOG).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", _DIE_WITH_PARENT, str(os.getpid()), *self._command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(base),
                start_new_session=True,
            )
        try:
            write_json(folder / PROCESS, {"process": process.pid, "started": _start_of(process.pid)})
            self._wait(base, process, folder / LOG)
            super().check()
            yield
        finally:
            _end(process.pid, lambda: process.poll() is not None)
            (folder / PROCESS).unlink(missing_ok=True)

    def _command(self) -> list[str]:
        from erce.hf.models import dtype_here, pretrained_name

        recipe, serving = self.recipe, self.serving
        if (vllm := shutil.which("vllm")) is None:
            raise InputError(
                "[server] start = true needs the command vllm; install vLLM, or leave start out and start a "
                "server yourself"
            )
        if (rank := recipe.training.rank) > LORA_RANKS[-1]:
            raise InputError(
                f"[training] rank = {rank} is above {LORA_RANKS[-1]}, the highest that vLLM loads; lower it, "
                "or leave [server] out"
            )
        address = urlsplit(serving.url)
        options = {
            "host": address.hostname,
            "port": address.port,
            "served-model-name": serving.model or recipe.model,
            "dtype": dtype_here(recipe.dtype, recipe.model),  # vLLM's own "auto" is bfloat16 on a CPU, too
            "max-lora-rank": next(highest for highest in LORA_RANKS if highest >= rank),
        }
        if serving.gpus is None:
            options["gpu-memory-utilization"] = SHARE_OF_MEMORY
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        model = str(Path(pretrained_name(recipe.model)).resolve()) if is_here(recipe.model) else recipe.model
        return [vllm, "serve", model, "--enable-lora", *words, *serving.args]

    def _environment(self, base: Server) -> dict[str, str]:
        variables = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"}
        if base.api_key:
            variables["VLLM_API_KEY"] = base.api_key
        if self.serving.gpus is not None:
            variables["CUDA_VISIBLE_DEVICES"] = self.serving.gpus
        return os.environ | variables

    def _wait(self, base: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
        deadline = time.monotonic() + base.timeout
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(ServerError):
                served_names(base)
                return
            time.sleep(POLL_SECONDS)
        code = process.poll()
        what = (
            f"gave no answer within {base.timeout:g} s" if code is None else f"ended with exit status {code}"
        )
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
        last = " | ".join([line for line in lines if line][-LOG_LINES:]) or "it printed nothing"
        raise ServerError(
            f"vllm {what}: {last[-500:]}; see {log}, and give other [server] args, or a longer timeout"
        )


def end_leftover(folder: Path) -> None:
    """End the server that a killed run has left, if the process in vllm.json is still that one."""
    try:
        left = read_json(folder / PROCESS, "process", "started")
    except DamagedError:
        return
    if left["started"] and left["started"] == _start_of(left["process"]):
        _end(left["process"], lambda: _start_of(left["process"]) != left["started"])
    (folder / PROCESS).unlink(missing_ok=True)


def _start_of(process: int) -> str:
    """Return when a process started, in ticks since the machine did; "" without one, or without /proc.

    A number that another process has got since then has another start.
    """
    try:
        state, *fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]


def _end(group: int, has_ended: Callable[[], bool]) -> None:
    """End a process and all of its session: with SIGTERM first, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(group, number)
        deadline = time.monotonic() + STOP_SECONDS
        while not has_ended() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS / 10)
