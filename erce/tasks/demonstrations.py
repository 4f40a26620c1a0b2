"""A task's problems → the first demonstration that its verifier refuses, as an error, or nothing."""

from collections.abc import Iterable

from erce.types import Completion, Problem, Task

SHOWN = 200  # characters of prompt and demonstration in an error


def check_demonstrations(task: Task, problems: Iterable[Problem]) -> None:
    """Raises a ValueError that shows the first demonstration that the task's own verifier does not accept.

    The verifier gets each demonstration as a finished completion. A study on such a task would train on what
    it counts as wrong. What the verifier raises is not caught.
    """
    for problem in problems:
        verdict = task.verify(problem, _completion(problem))
        if verdict.accepted:
            continue
        why = f"{verdict.reason}: {verdict.detail}" if verdict.detail else verdict.reason
        fault = (
            f"its verifier cannot judge problem {problem.id!r}, a fault of the problem or the machine"
            if verdict.reason == "error"
            else f"its verifier refuses the demonstration of problem {problem.id!r}"
        )
        raise ValueError(
            f"task {task.name!r}: {fault} ({why}); correct the problem or the verifier"
            f"\n  prompt: {_start(problem.prompt)}"
            f"\n  demonstration: {_start(problem.demonstration)}"
            + (f"\n  answer: {_start(problem.answer)}" if problem.answer else "")
            + (f"\n  judged: {_start(verdict.extracted)}" if verdict.extracted is not None else "")
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
    """Its first characters in one line, in quotes."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
