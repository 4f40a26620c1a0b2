"""The verifiers as reward functions: a `…_reward` for TRL's GRPOTrainer, a `…_score` for verl.

TRL hands over lists: completions, and each column of the dataset. verl asks for one completion at a time. A
reward is 1.0 where the verifier accepts, else 0.0. A fault of the tests or the machine is neither: it is None
for TRL, which then leaves the function out for that completion, and a RunError for verl.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import cpu_count
from typing import Any

from erce.errors import RunError
from erce.types import Problem, Verdict
from erce.verify.math import verify_math
from erce.verify.number import verify_number

TextOrMessages = str | Sequence[Mapping[str, Any]]  # the two forms of TRL's completions
Texts = Sequence[str]


def number_reward(
    completions: Sequence[TextOrMessages], answer: Texts, *, strict: bool = True, **_: Any
) -> list[float]:
    """Return 1.0 for each completion whose final number is its `answer`, else 0.0 (`verify_number`).

    Of chat messages the last one is read, if it is the assistant's. `functools.partial(number_reward,
    strict=False)` also reads other forms of answers. Every completion counts as finished, because TRL does
    not say which were cut off. The trainer's other arguments have no effect.

    >>> number_reward(["#### 2", [{"role": "assistant", "content": "Answer: 2"}]], answer=["2", "2"])
    [1.0, 0.0]
    >>> number_reward(["#### 2", "Answer: 2"], answer=["2", "2"], strict=False)
    [1.0, 1.0]
    """
    return _rewards(partial(verify_number, strict=strict), completions, answer)


def math_reward(
    completions: Sequence[TextOrMessages], answer: Texts, *, strict: bool = True, **_: Any
) -> list[float]:
    r"""Return 1.0 for each completion whose answer means the same as its `answer`, else 0.0 (`verify_math`).

    Completions and `strict` are those of `number_reward`.

    >>> math_reward([r"\boxed{0.5}", "The answer is 0.5"], answer=[r"\frac{1}{2}", r"\frac{1}{2}"])
    [1.0, 0.0]
    """
    return _rewards(partial(verify_math, strict=strict), completions, answer)


def program_reward(
    completions: Sequence[TextOrMessages],
    tests: Sequence[Texts],
    setup: Sequence[Texts | None] | None = None,
    entry_points: Sequence[Texts | None] | None = None,
    **_: Any,
) -> list[float | None]:
    """Return 1.0 for each completion whose program passes its `tests`, else 0.0 (`verify_program`).

    As many programs run at a time as there are cores.

    Args:
        completions: Texts or chats, as in `number_reward`.
        tests: A list of asserts for each completion.
        setup: A list of the statements before them, for each.
        entry_points: A list of the names that the program defines, for each.

    Returns:
        The rewards; None where the tests or the machine were at fault.

    >>> program_reward(["def f(): return 3", "def f(): return 4"], tests=[["assert f() == 3"]] * 2)
    [1.0, 0.0]
    """
    from erce.verify.program import verify_program  # verifying numbers never loads what verifies programs

    missing = [None] * len(completions)
    rows = zip(map(_text, completions), tests, setup or missing, entry_points or missing, strict=True)
    with ThreadPoolExecutor(cpu_count()) as threads:
        verdicts = list(threads.map(lambda row: verify_program(_problem(*row[1:]), row[0]), rows))
    return [None if _is_no_fault_of_the_program(verdict) else float(verdict.accepted) for verdict in verdicts]


def number_score(
    data_source: str, solution_str: str, ground_truth: str, *, strict: bool = True, **_: Any
) -> float:
    """Return 1.0 if the final number of `solution_str` is `ground_truth`, else 0.0 (`verify_number`).

    `strict` comes from verl's `reward_kwargs`; `data_source` and verl's other arguments of a
    `custom_reward_function` (verl 0.9) have no effect.
    """
    return number_reward([solution_str], [ground_truth], strict=strict)[0]


def math_score(
    data_source: str, solution_str: str, ground_truth: str, *, strict: bool = True, **_: Any
) -> float:
    """Return 1.0 if the answer of `solution_str` is the same as `ground_truth`, else 0.0 (`verify_math`).

    The arguments are those of `number_score`.
    """
    return math_reward([solution_str], [ground_truth], strict=strict)[0]


def program_score(
    data_source: str,
    solution_str: str,
    ground_truth: Texts,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> float:
    """Return 1.0 if the program of `solution_str` passes its tests, else 0.0 (`verify_program`).

    `ground_truth` is the list of asserts; `extra_info` may have `setup` and `entry_points`, as in
    `program_reward`. RunError if the tests or the machine are at fault.
    """
    from erce.verify.program import verify_program

    extra = extra_info or {}
    problem = _problem(ground_truth, extra.get("setup"), extra.get("entry_points"))
    verdict = verify_program(problem, solution_str)
    if _is_no_fault_of_the_program(verdict):
        raise RunError(f"a program could not be verified ({verdict.detail}): correct its tests, or run again")
    return float(verdict.accepted)


def _rewards(
    verify: Callable[[str, str], Verdict], completions: Sequence[TextOrMessages], answer: Texts
) -> list[float]:
    pairs = zip(answer, map(_text, completions), strict=True)
    numbers = int | float  # which the answers of a column may be
    return [
        float(verify(str(gold) if isinstance(gold, numbers) else gold, text).accepted) for gold, text in pairs
    ]


def _text(completion: TextOrMessages) -> str:
    """Return what a verifier reads: the text, or the last message; "" if that is not the assistant's."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if completion else {}
    content = last.get("content") if last.get("role") == "assistant" else None
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text") or "" for part in content)


def _problem(tests: Texts, setup: Texts | None, entry_points: Texts | None) -> Problem:
    """Return the problem that one row's columns make; InputError where one of them is a text, not a list."""
    columns: dict[str, Any] = {"tests": tests, "setup": setup or (), "entry_points": entry_points}
    return Problem(id=next(iter(tests), "")[:60], prompt="", demonstration="", **columns)


def _is_no_fault_of_the_program(verdict: Verdict) -> bool:
    """Return whether the tests or the machine are at fault, as where the tests import NumPy."""
    from erce.verify.sandbox.judge import OF_NUMPY

    return verdict.reason == "error" or (verdict.reason, verdict.detail) == ("opaque", OF_NUMPY)
