"""A lock file → a virtual environment of one tool, and commands that run in it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOCKS = Path(__file__).parent
ROOT = LOCKS.parents[1]
CACHE = ROOT / ".integrations"
COMMAND_SECONDS = 1200
ALONE = {  # no hub, GPU or telemetry, and one thread: nearly the same figures on every machine
    "CUDA_VISIBLE_DEVICES": "",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": "",
    "DO_NOT_TRACK": "1",
    "AXOLOTL_DO_NOT_TRACK": "1",
}


class NotInstalledError(Exception):
    """A tool that pip could not install; the text is pip's last error."""


class BrokenError(Exception):
    """A tool's command that failed; the text is the command, its log and its last line."""


@dataclass(frozen=True)
class Environment:
    """A tool's folder in the cache: `venv`, the output of commands in `runs`, and the lock it was made of."""

    name: str
    with_erce: bool = False  # whether the tool's own process imports erce
    empty: tuple[str, ...] = ()  # modules that the tool imports, but only a GPU's build of torch can load
    listed: Mapping[str, str] = field(default_factory=dict)  # name → version by which it asks for itself

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def versions(self) -> dict[str, str]:
        """Package → version, as the lock file has them."""
        pins = [line.partition("==") for line in self.lock.read_text(encoding="utf-8").splitlines()]
        return {name.replace("_", "-").lower(): version for name, _, version in pins if version}

    def install(self) -> None:
        """Install what the lock file lists, unless that is done, and this checkout's erce."""
        done = self.folder / self.lock.name
        self.runs.mkdir(parents=True, exist_ok=True)
        if not done.is_file() or done.read_text(encoding="utf-8") != self.lock.read_text(encoding="utf-8"):
            self._call("install", sys.executable, "-m", "venv", "--clear", self.folder / "venv")
            self._call("install", *self._pip, "-r", self.lock)
            self._mend()
            done.write_text(self.lock.read_text(encoding="utf-8"), encoding="utf-8")
        if self.with_erce:
            self._call("install", *self._pip, ROOT)

    def _mend(self) -> None:
        """Write what the tool's packages miss: empty modules, and the name that it looks itself up by."""
        [packages] = self.folder.glob("venv/lib/python*/site-packages")
        for module in self.empty:
            (packages / f"{module}.py").touch()
        for name, version in self.listed.items():
            (folder := packages / f"{name}-{version}.dist-info").mkdir()
            text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            (folder / "METADATA").write_text(text, encoding="utf-8")

    @property
    def _pip(self) -> tuple[str | Path, ...]:
        return self.folder / "venv" / "bin" / "pip", "install", "-q", "--no-deps"

    def run(self, log: str, command: str, *arguments: str | Path, **variables: str) -> str:
        """Return what a command of the environment printed, which `runs/LOG.log` keeps."""
        return self._call(log, self.folder / "venv" / "bin" / command, *arguments, **variables)

    def erce(self, *arguments: str | Path) -> None:
        """Run erce's command line from this checkout, under this Python, with the tool's commands at hand."""
        self._call(f"erce-{arguments[0]}", *self._erce, *arguments, **self._surroundings)

    def begun_erce(self, *arguments: str | Path) -> "subprocess.Popen[bytes]":
        """Begin what `erce` runs to its end, and return the process."""
        surroundings = os.environ | ALONE | self._surroundings
        with (self.runs / f"erce-{arguments[0]}.log").open("wb") as file:
            return subprocess.Popen(
                [*self._erce, *arguments],
                cwd=self.runs,
                env=surroundings,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def _erce(self) -> tuple[str, ...]:
        return sys.executable, "-m", "erce.cli.main"

    @property
    def _surroundings(self) -> dict[str, str]:
        commands = f"{self.folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": commands, "PYTHONPATH": str(ROOT)}

    def _call(self, log: str, *command: str | Path, **variables: str) -> str:
        installs = log == "install"
        path = self.runs / f"{log}.log"
        surroundings = os.environ | ({} if installs else ALONE | variables)
        with path.open("w", encoding="utf-8") as file:
            try:
                code = subprocess.run(
                    command,
                    cwd=self.runs,
                    env=surroundings,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    timeout=COMMAND_SECONDS,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -1
        output = path.read_text(encoding="utf-8", errors="replace")
        if code:
            error = NotInstalledError if installs else BrokenError
            raise error(f"{Path(command[0]).name} ended with {code}: {last_error(output)} ({path})")
        return output


def last_error(output: str) -> str:
    """Return the last line that names an error, else the last line, in at most 200 characters.

    >>> last_error("ERROR: no versions\\nhint: …\\n")
    'ERROR: no versions'
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.partition(":")[0].lower()]
    return (errors or lines or ["no output"])[-1][:200]
