"""A task's problems → nothing, or an error that shows a demonstration which the task's verifier refuses."""

from collections.abc import Iterable

from erce.errors import InputError
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Task

SHOWN_CHARACTERS = 200  # of prompt and demonstration in an error

SHOWN_IDS = 10


def check_demonstrations(task: Task, problems: Iterable[Problem], *, refuse_unproven: bool = False) -> None:
    """Raise an InputError that shows the first demonstration which the task's own verifier refuses.

    The verifier gets each demonstration as a finished completion. A study with a refused demonstration would
    train on what it counts as wrong. `refuse_unproven`: raise also if demonstrations pass only in one
    interpreter with their tests, and name these problems. JudgeError: the verifier raised.
    """
    unproven = []
    for problem in problems:
        judged = verdict(task, problem, _completion(problem))
        if judged.accepted:
            unproven += [problem.id] if judged.reason == "unproven" else []
            continue
        why = f"{judged.reason}: {judged.detail}" if judged.detail else judged.reason
        fault = (
            f"its verifier cannot judge problem {problem.id!r}, a fault of the problem or the machine"
            if judged.reason == "error"
            else f"its verifier refuses the demonstration of problem {problem.id!r}"
        )
        raise InputError(
            f"task {task.name!r}: {fault} ({why}); correct the problem or the verifier"
            f"\n  prompt: {_start(problem.prompt)}"
            f"\n  demonstration: {_start(problem.demonstration)}"
            f"\n  answer: {_start(problem.answer) if problem.answer else 'missing'}"
            + (f"\n  judged: {_start(judged.extracted)}" if judged.extracted is not None else "")
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


def _start(text: str) -> str:
    """Return the text's first characters in one line, in quotes."""
    return repr(text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…")
