"""What a user hands to the sandbox and gets back, as plain values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from erce.errors import InputError, RunError
from erce.types import Verdict

TIERS = ("namespaces", "landlock", "seccomp", "none")
MODES = ("strict", "unproven", "paper", "script")
WALL_TIMES_CPU = 60  # wall time for each second of processor time, so that a load of 50 changes no verdict
IDLE_SECONDS = 5.0


@dataclass(frozen=True)
class Limits:
    """The limits on one program.

    `cpu` is processor time of all threads, so that a busy machine changes no verdict; comparing the results
    has an equal budget of its own. A program that computes for less than 0.05 s in 5 s (or in half of `wall`,
    if that is shorter) waits, and is stopped. `wall` itself is a last guard. `memory` comes on top of what a
    bare interpreter takes; `file` bounds the size of each file.
    """

    cpu: float = 2.0  # seconds
    wall: float = 120.0  # seconds
    memory: int = 1 << 30  # bytes
    file: int = 16 << 20  # bytes

    @property
    def idle(self) -> float:
        """The seconds that a program may wait without computing."""
        return min(IDLE_SECONDS, self.wall / 2)

    def __post_init__(self) -> None:
        for name in ("cpu", "wall", "memory", "file"):
            limit = getattr(self, name)
            if limit <= 0:
                raise InputError(f"{name} = {limit!r} must be above 0: give a larger limit")
            if name in ("memory", "file") and not isinstance(limit, int):
                raise InputError(f"{name} counts bytes, and {limit!r} is no int: round it")


@dataclass(frozen=True)
class Job:
    """One program with its tests, or in mode "script" with its standard input.

    `limits` None takes those of the sandbox. `erce.verify.sandbox` says what the modes are.
    """

    program: str
    tests: Sequence[str] = ()
    setup: Sequence[str] = ()
    entry_points: Sequence[str] | None = None
    mode: str = "strict"
    limits: Limits | None = None
    given: str = ""  # the standard input of a script

    def __post_init__(self) -> None:
        if not isinstance(self.program, str):
            raise InputError(f"a program must be a str, not {type(self.program).__name__}: decode it first")
        for name in ("tests", "setup", "entry_points"):
            texts = getattr(self, name)
            if texts is None and name == "entry_points":
                continue
            if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
                raise InputError(f"{name} must be a list of str, not {texts!r:.80}: put it in a list")
            kept = tuple(texts)
            if not all(isinstance(text, str) for text in kept):
                raise InputError(f"{name} must be a list of str, not {kept!r:.80}: decode its items")
            object.__setattr__(self, name, kept)
        if self.mode not in MODES:
            raise InputError(f"no mode {self.mode!r}; give {' or '.join(MODES)}")


@dataclass(frozen=True)
class Outcome:
    """A verdict, the processor time of the program in seconds, and what a script printed."""

    verdict: Verdict
    cpu: float
    printed: str = ""


class SandboxUnavailable(RunError):  # noqa: N818 (a state of the machine, not a mistake)
    """A machine on which no permitted tier works; the message says why, and what helps."""
