"""What the sandbox is asked and what it answers, as plain values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from erce.types import Verdict

TIERS = ("namespaces", "landlock", "seccomp", "none")
MODES = ("strict", "paper")


@dataclass(frozen=True)
class Limits:
    """What a program may use. `memory` is beyond that of a bare interpreter; `file` is a file's size.

    `cpu` is processor time of all threads, so that a busy machine changes no verdict; what comparing costs is
    held to the same budget. `wall` is a backstop for programs that wait: half of it nearly without computing
    (under 0.05 s) ends a job as well.
    """

    cpu: float = 2.0  # seconds
    wall: float = 10.0  # seconds
    memory: int = 1 << 30  # bytes
    file: int = 16 << 20  # bytes

    def __post_init__(self) -> None:
        for name in ("cpu", "wall", "memory", "file"):
            if getattr(self, name) <= 0:
                raise ValueError(
                    f"a limit must be over zero, and {name} is {getattr(self, name)!r}: raise it"
                )


@dataclass(frozen=True)
class Job:
    """One program and its tests; None for `limits` means the sandbox's own."""

    program: str
    tests: Sequence[str]
    setup: Sequence[str] = ()
    entry_points: Sequence[str] | None = None
    mode: str = "strict"
    limits: Limits | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.program, str):
            raise ValueError(f"a program must be a str, not {type(self.program).__name__}: decode it first")
        for name in ("tests", "setup", "entry_points"):
            texts = getattr(self, name)
            if texts is None and name == "entry_points":
                continue
            if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
                raise ValueError(f"{name} must be a list of str, not {texts!r:.80}: put it in a list")
            kept = tuple(texts)
            if not all(isinstance(text, str) for text in kept):
                raise ValueError(f"{name} must be a list of str, not {kept!r:.80}: decode what is in it")
            object.__setattr__(self, name, kept)
        if self.mode not in MODES:
            raise ValueError(f"no mode {self.mode!r}: there are {' and '.join(MODES)}")


@dataclass(frozen=True)
class Outcome:
    """A verdict and what the program used of the processor, in seconds."""

    verdict: Verdict
    cpu: float


class SandboxUnavailable(RuntimeError):  # noqa: N818 (a state of the machine, not a mistake)
    """No tier that may be used works here; the message says what each said, and the ways on."""
