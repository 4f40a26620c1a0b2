"""The errors of wrong input and of failed runs, and helpers that word their sentences."""

import pickle
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

_Error = TypeVar("_Error", bound=BaseException)
NOT_THE_USERS = tuple(
    str(Path(folder)) for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix)
)


class InputError(ValueError):
    """A setting, file or argument that erce cannot use: one sentence with the value and the way out."""


class DamagedError(InputError):
    """A file of a study that is missing, or is not what erce wrote; the sentence says what makes it again."""


class VerifierError(InputError):
    """The error of a user-defined verifier that raised, or returned something else than a verdict."""


class RunError(RuntimeError):
    """A failure during a run that its input does not explain, such as a full disk."""


class DivergedError(RunError):
    """A training whose objective, gradient or logits became NaN or infinite."""


class ServerError(RunError):
    """A completion server that cannot be reached, refuses, or answers what cannot be used."""


class UnfinishedError(RunError):
    """A study that stopped before every cell had a result; what is done is kept."""


class CellsFailedError(UnfinishedError):
    """The error of a study with failed cells; it names them and counts those that were not run."""


class AllAlikeError(UnfinishedError):
    """The error of a first round in which nothing was right, or everything; it shows some completions."""


class ClusterLostError(UnfinishedError):
    """The Ray cluster that ran the cells does not answer any more."""


def sendable(error: _Error, text: str) -> _Error | RunError:
    """Return the error if another process can receive it, else a RunError with this text.

    >>> sendable(KeyError("x"), "KeyError"), sendable(KeyError(lambda: None), "KeyError")
    (KeyError('x'), RunError('KeyError'))
    """
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # pickling runs code of the error's own class, the user's or another library's
        return RunError(text)
    return error


def did_you_mean(
    name: str, known: Iterable[str], *, otherwise: str | None = None, cutoff: float = 0.6
) -> str:
    """Return the way out of an unknown name: the known name next to it, or `otherwise`, or all known names.

    >>> did_you_mean("lambs", ["lams", "seeds"]), did_you_mean("x", ["lams", "seeds"])
    ("did you mean 'lams'?", 'there are lams, seeds')
    """
    known = list(known)
    close = get_close_matches(name, known, n=1, cutoff=cutoff)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there are {', '.join(known)}" if otherwise is None else otherwise


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "seed"), counted(1440, "problem")
    ('1 seed', '1,440 problems')
    """
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """Return a time in words, rounded.

    >>> [duration(seconds) for seconds in (0, 0.2, 59, 600, 9000, 200_000)]
    ['0 s', '1 s', '59 s', '10 min', '2.5 h', '2.3 days']
    """
    if seconds < 60:
        return f"{max(1, round(seconds)) if seconds > 0 else 0} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def raised(error: Exception) -> str:
    """Return what a user's code raised, and the innermost line that belongs to no library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*NOT_THE_USERS, "<"))]
    place = (own or list(frames))[-1]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"raised {what} ({Path(place.filename).name}, line {place.lineno})"


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its kind where there is no message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
