"""A row of a data set, as trainers have them → its Problem, and its prompt as a text or messages.

    {"prompt": [{"role": "user", "content": "Work out 2+3."}], "answer": 5, "level": "easy"}

A row has a `prompt`, a text or messages, and may have a `completion`; or it has `messages` alone, and where
the last of them is the assistant's, that is the completion. It becomes the problem's demonstration. `id`,
`answer`, `tests`, `setup`, `entry_points`, `inputs` and `outputs` are what they are in a user-defined task
(`erce.tasks.user_defined`). All other columns are the problem's `meta`, unless a column has that name.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from erce.errors import InputError
from erce.tasks.source import SourceRow
from erce.tasks.user_defined import FIELDS, REFERENCE, problem_of
from erce.tasks.verdicts import completion_of, refusal, shown, verdict
from erce.types import Problem, Task

if TYPE_CHECKING:
    from datasets import Dataset

Prompt = str | Sequence[Mapping[str, Any]]


def as_dataset(problems: Sequence[Problem]) -> "Dataset":
    """Return the problems as a data set that trainers take, each in a user's and an assistant's turn.

    Columns of the reference, such as `answer`, and `weight` are there where a problem has them, other than 1;
    `read_row` reads them all.
    """
    from datasets import Dataset

    columns: dict[str, list[Any]] = {
        "id": [problem.id for problem in problems],
        "prompt": [[{"role": "user", "content": problem.prompt}] for problem in problems],
        "completion": [[{"role": "assistant", "content": problem.demonstration}] for problem in problems],
    }
    for name in REFERENCE:
        values = [getattr(problem, name) for problem in problems]
        columns |= {name: values} if any(values) else {}
    weights = [problem.weight for problem in problems]
    columns |= {"weight": weights} if set(weights) - {1} else {}
    return Dataset.from_dict(columns)


class AskedProblem(NamedTuple):
    """A problem, and the prompt with which its row asks it."""

    problem: Problem
    prompt: Prompt


def read_row(row: Any, number: int) -> AskedProblem:
    """Return what row `number` of a list or data set asks; an InputError names what cannot be read."""
    where = f"row {number}"
    if not isinstance(row, Mapping):
        raise InputError(
            f"{where} of the problems is {shown(str(row))} ({type(row).__name__}); problems are "
            "erce.types.Problem, or the rows of one data set, each with a `prompt`"
        )
    values = {name: value for name, value in row.items() if value is not None}
    turns = values.pop("messages", None)
    demonstration = values.pop("completion", values.pop("demonstration", ""))
    if turns and "prompt" not in values:
        answers = turns[-1].get("role") == "assistant"
        values["prompt"] = turns[:-1] if answers else turns
        demonstration = turns[-1:] if answers else demonstration
    if not values.get("prompt"):
        raise InputError(
            f"{where} of the problems has no `prompt`, only {', '.join(values) or 'nothing'}; rename one"
        )
    prompt = values["prompt"]
    values |= {"prompt": _text(prompt), "demonstration": _text(demonstration)}
    rest = {name: value for name, value in values.items() if name not in FIELDS}
    values = {"id": f"row-{number}", "meta": rest or None} | values
    return AskedProblem(problem_of(SourceRow(where, values), needed=("prompt",)), prompt)


def check_problems(task: Task, problems: Sequence[Problem]) -> None:
    """Refuse what the task's verifier cannot be right about, before anything is generated.

    InputError: a problem whose reference the verifier cannot read, which a completion without a text shows,
    or not one demonstration that the verifier accepts. VerifierError: the verifier raised.
    """
    if not problems:
        raise InputError("there are no problems; give at least one")
    for problem in problems:
        verdict(task, problem, completion_of(problem, ""))
    refused = []
    for problem in problems:
        if problem.demonstration:
            by_task = verdict(task, problem, completion_of(problem, problem.demonstration))
            if by_task.accepted:
                return
            refused.append((problem, by_task))
    if refused:
        raise refusal(task, refused, len(refused))


def _text(prompt: Prompt) -> str:
    """Return the words of a text or of messages."""
    if isinstance(prompt, str):
        return prompt
    if not all(isinstance(turn, Mapping) for turn in prompt):
        raise InputError(f"{shown(str(prompt))} is neither a text nor messages with `role` and `content`")
    contents = (turn.get("content") or "" for turn in prompt)
    return "\n\n".join(
        content if isinstance(content, str) else "".join(part.get("text") or "" for part in content)
        for content in contents
    )
