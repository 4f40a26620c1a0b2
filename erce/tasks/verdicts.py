"""A problem and a completion → the task's verdict; a verifier that raises is named in a sentence."""

import sys
import sysconfig
import traceback
from dataclasses import replace
from pathlib import Path

from erce.errors import InputError, JudgeError, RunError
from erce.types import Completion, Problem, Task, Verdict

SHOWN_CHARACTERS = 120  # of a completion in an error
NOT_THE_USERS = tuple(
    str(Path(folder)) for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix)
)


def verdict(task: Task, problem: Problem, completion: Completion) -> Verdict:
    """Judge the completion, strictly and, where the task says how, flexibly.

    JudgeError: the verifier raised; the sentence has its line and the completion.
    """
    try:
        judged = task.verify(problem, completion)
        if task.verify_flexible is None or judged.flexible is not None:
            return judged
        return replace(judged, flexible=judged.accepted or task.verify_flexible(problem, completion).accepted)
    except (InputError, RunError):
        raise
    except Exception as error:  # the user's function judges; its error becomes a sentence
        text = completion.text
        shown = repr(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise JudgeError(
            f"the function that judges task {task.name!r} raised {what} ({_line(error)}) for problem "
            f"{problem.id!r} and the completion {shown}; correct it, and the same command goes on"
        ) from error


def _line(error: Exception) -> str:
    """Return the place of the error: the innermost line that belongs to no library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*NOT_THE_USERS, "<"))]
    place = (own or list(frames))[-1]
    return f"{Path(place.filename).name}, line {place.lineno}"
