"""Score an inspect-ai task with erce's verifier of mathematical answers.

from inspect_scorer import same_answer       # in your task: Task(dataset, solver, scorer=same_answer())
"""

from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from erce.verify import verify_math


@scorer(metrics=[accuracy(), stderr()])
def same_answer() -> Scorer:
    """Accept a last box, or "the final answer is …", that means the same as the target."""

    async def score(state: TaskState, target: Target) -> Score:
        verdict = verify_math(target.text, state.output.completion)
        value = CORRECT if verdict.accepted else INCORRECT
        return Score(value=value, answer=verdict.extracted, explanation=verdict.detail or verdict.reason)

    return score
