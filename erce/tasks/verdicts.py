"""A problem and a completion → the task's verdict; demonstrations that the verifier refuses stop a study."""

import sys
import sysconfig
import traceback
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from erce.errors import InputError, RunError, VerifierError
from erce.types import Completion, Problem, Task, Verdict

NOT_THE_USERS = tuple(
    str(Path(folder)) for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix)
)
SHOWN_CHARACTERS = 200  # of a text in an error
SHOWN_IDS = 10


def verdict(task: Task, problem: Problem, completion: Completion) -> Verdict:
    """Verify the completion, strictly and, where the task says how, flexibly.

    VerifierError: the verifier raised; the sentence has its line and the completion.
    """
    try:
        strict = task.verify(problem, completion)
        if not isinstance(strict, Verdict):
            raise InputError(
                f"the function that verifies task {task.name!r} returned {strict!r:.80}; a Task's returns a "
                "Verdict, such as erce.types.Verdict(True, 'passed')"
            )
        if task.verify_flexible is None or strict.flexible is not None:
            return strict
        return replace(strict, flexible=strict.accepted or task.verify_flexible(problem, completion).accepted)
    except (InputError, RunError):
        raise
    except Exception as error:  # the user's verifier; its error becomes a sentence
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise VerifierError(
            f"the function that verifies task {task.name!r} raised {what} ({_line(error)}) for problem "
            f"{problem.id!r} and the completion {shown(completion.text)}; correct it, and the same command "
            "goes on"
        ) from error


def _line(error: Exception) -> str:
    """Return the place of the error: the innermost line that belongs to no library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*NOT_THE_USERS, "<"))]
    place = (own or list(frames))[-1]
    return f"{Path(place.filename).name}, line {place.lineno}"


def check_demonstrations(task: Task, problems: Iterable[Problem], *, refuse_unproven: bool = False) -> None:
    """Raise an InputError that shows the first demonstration which the task's own verifier refuses.

    The verifier gets each demonstration as a finished completion. A study with a refused demonstration would
    train on what it counts as wrong. `refuse_unproven`: raise also if demonstrations pass only in one
    interpreter with their tests, and name these problems. VerifierError: the verifier raised.
    """
    unproven = []
    for problem in problems:
        by_task = verdict(task, problem, _completion(problem))
        if by_task.accepted:
            unproven += [problem.id] if by_task.reason == "unproven" else []
            continue
        why = f"{by_task.reason}: {by_task.detail}" if by_task.detail else by_task.reason
        fault = (
            f"its verifier fails on problem {problem.id!r}, a fault of the problem or the machine"
            if by_task.reason == "error"
            else f"its verifier refuses the demonstration of problem {problem.id!r}"
        )
        raise InputError(
            f"task {task.name!r}: {fault} ({why}); correct the problem or the verifier"
            f"\n  prompt: {shown(problem.prompt)}"
            f"\n  demonstration: {shown(problem.demonstration)}"
            f"\n  answer: {shown(problem.answer) if problem.answer else 'missing'}"
            + (f"\n  read as: {shown(by_task.extracted)}" if by_task.extracted is not None else "")
        )
    if refuse_unproven and unproven:
        more = f" and {len(unproven) - SHOWN_IDS} more" if len(unproven) > SHOWN_IDS else ""
        raise InputError(
            f"task {task.name!r}: the tests of {', '.join(unproven[:SHOWN_IDS])}{more} pass only in one "
            "interpreter with the program, which could cheat there; leave these problems out, or [verify] "
            'unproven = "refuse"'
        )


def _completion(problem: Problem) -> Completion:
    return Completion(
        problem=problem.id,
        sample=0,
        text=problem.demonstration,
        tokens=0,
        finished=True,
        logprob=0.0,
        entropy=0.0,
    )


def shown(text: str) -> str:
    """Return a text's first characters in one line and in quotes; `repr` leaves nothing hidden."""
    return repr(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")


def outcome(completion: Completion, verdict: Verdict) -> str:
    """Return a line on a completion: its problem, whether it was accepted and why, and its text."""
    read = "" if verdict.extracted is None else f", read as {shown(verdict.extracted)}"
    accepted = "accepted" if verdict.accepted else "rejected"
    return (
        f"problem {shown(completion.problem)}, {accepted} ({verdict.reason}{read}): {shown(completion.text)}"
    )
