"""A problem and a completion → the task's verdict; demonstrations that the verifier refuses stop a study."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from erce.errors import InputError, RunError, VerifierError, raised
from erce.types import REASONS, Completion, Problem, Task, Verdict

SHOWN_CHARACTERS = 200  # of a text in an error
SHOWN_IDS = 10
GETS = " (it gets a problem and a completion, whose text is completion.text)"
SLOW = ("error", "timeout")  # reasons after which no other demonstration is tried


class LaxVerifierWarning(UserWarning):
    """A verifier accepts a completion without a word."""


def verdict(task: Task, problem: Problem, completion: Completion) -> Verdict:
    """Verify the completion, strictly and, where the task says how, flexibly.

    VerifierError: the verifier raised; the sentence has its line and the completion.
    """
    try:
        strict = _as_verdict(task, problem, completion)
        if task.verify_flexible is None or strict.flexible is not None:
            return strict
        return replace(strict, flexible=strict.accepted or task.verify_flexible(problem, completion).accepted)
    except (VerifierError, RunError):
        raise
    except InputError as error:
        raise InputError(f"task {task.name!r} cannot verify {_named(problem)}: {error}") from error
    except Exception as error:  # the user's verifier; its error becomes a sentence
        hint = GETS if any(f"'{name}'" in str(error) for name in ("Completion", "Problem")) else ""
        raise VerifierError(
            f"the function that verifies task {task.name!r} {raised(error)} for the completion "
            f"{shown(completion.text)} of {_named(problem)}; correct it{hint}, and the same command goes on"
        ) from error


def _as_verdict(task: Task, problem: Problem, completion: Completion) -> Verdict:
    """Return the verdict of the task's function; False is "truncated" if the completion was cut off."""
    said: Any = task.verify(problem, completion)
    if type(said).__name__ in ("bool", "bool_"):  # Python's or NumPy's, which need not be imported
        wrong = "different" if completion.finished else "truncated"
        return Verdict(bool(said), "exact" if said else wrong)
    if not isinstance(said, Verdict) or said.reason not in REASONS:
        reasons = f" with one of the reasons {', '.join(REASONS)}" if isinstance(said, Verdict) else ""
        raise VerifierError(
            f"the function that verifies task {task.name!r} returned {said!r:.80} ({type(said).__name__}) "
            f"for problem {problem.id!r}; return True, False or an erce.types.Verdict{reasons}"
        )
    return said


def check_demonstrations(task: Task, problems: Iterable[Problem], *, refuse_unproven: bool = False) -> None:
    """Raise an InputError that shows the first demonstration which the task's own verifier refuses.

    The verifier gets each demonstration as a finished completion. A study with a refused demonstration would
    train on what it counts as wrong. `refuse_unproven`: raise also if demonstrations pass only in one
    interpreter with their tests, and name these problems. VerifierError: the verifier raised, on a
    demonstration or on an empty completion, which a model may write; a warning if it accepts that one.
    """
    refused: list[tuple[Problem, Verdict]] = []
    unproven, tried = [], []
    for problem in problems:
        by_task = verdict(task, problem, completion_of(problem, problem.demonstration))
        tried.append(problem)
        unproven += [problem.id] if by_task.reason == "unproven" else []
        refused += [] if by_task.accepted else [(problem, by_task)]
        if not by_task.accepted and by_task.reason in SLOW:
            break
    if refused:
        raise refusal(task, refused, len(tried))
    if tried and verdict(task, tried[0], completion_of(tried[0], "")).accepted:
        says = f"the verifier of task {task.name!r} accepts an empty completion"
        warnings.warn(says, LaxVerifierWarning, stacklevel=2)
    if refuse_unproven and unproven:
        more = f" and {len(unproven) - SHOWN_IDS} more" if len(unproven) > SHOWN_IDS else ""
        raise InputError(
            f"task {task.name!r}: the tests of {', '.join(unproven[:SHOWN_IDS])}{more} pass only in one "
            "interpreter with the program, which could cheat there; leave these problems out, or [verify] "
            'unproven = "refuse"'
        )


def refusal(task: Task, refused: list[tuple[Problem, Verdict]], count: int) -> InputError:
    """Return the error that shows the first refused demonstration of `count`."""
    problem, first = refused[0]
    way_out = "correct the problem or the verifier"
    if first.reason == "error":
        fault = f"fails on {_named(problem)}, a fault of the problem or the machine"
    elif len(refused) == 1:
        fault = f"refuses the demonstration of {_named(problem)}"
    elif len(refused) < count:
        fault = f"refuses {len(refused)} of {count} demonstrations, the first that of {_named(problem)}"
    else:
        fault = f"refuses all {count} demonstrations, the first that of {_named(problem)}"
        way_out = "correct the verifier, which is likelier to be wrong than all of them"
    why = f"{first.reason}: {first.detail}" if first.detail else first.reason
    return InputError(
        f"task {task.name!r}: its verifier {fault} ({why}); {way_out}"
        f"\n  prompt: {shown(problem.prompt)}"
        f"\n  demonstration: {shown(problem.demonstration)}"
        f"\n  answer: {shown(problem.answer) if problem.answer else 'missing'}"
        + (f"\n  read as: {shown(first.extracted)}" if first.extracted is not None else "")
    )


def _named(problem: Problem) -> str:
    """Return what a sentence calls a problem, with what keeps most verifiers from verifying it."""
    lacks = "" if problem.answer or problem.tests or problem.inputs else ", which has no answer and no tests"
    return f"problem {problem.id!r}{lacks}"


def completion_of(problem: Problem, text: str) -> Completion:
    """Return a finished completion of the problem that no model wrote."""
    return Completion(
        problem=problem.id, sample=0, text=text, tokens=0, finished=True, logprob=0.0, entropy=0.0
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
