"""A study's completions → the verdicts of the paper's own procedures beside those of the study's verifiers.

The paper compares answers by four steps (`steps`), and runs a program and its tests in one interpreter under
an alarm. A program can forge that pass, so that it serves this comparison alone; the sandbox confines it as
any other. The paper does not tell its procedure for numbers in full.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from erce.errors import InputError, counted
from erce.study.demonstrations import cell_splits
from erce.study.folder import cell_folder, read_study
from erce.study.samples import read_completions
from erce.tasks import load_task
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Verdict
from erce.verify import Limits, verify_many
from erce.verify.extract import FINAL_ANSWER_IS, find_answer, is_finished, text_of
from erce.verify.fences import extract_program
from erce.verify.sandbox import Job, shared
from scripts.paper.steps import equivalent_paper

WALL_SECONDS = 2.0  # the paper's appendix "Execution-Based Evaluation"
LIMITS = Limits(cpu=4.0)  # of processor time, for programs that the alarm does not stop
# A set-up runs before and after the program: the second time the alarm is already set.
ALARM = f"""
import signal
class PaperAlarm(BaseException):
    pass
def _stop(number, frame):
    raise PaperAlarm
if not signal.getitimer(signal.ITIMER_REAL)[0]:
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, {WALL_SECONDS})
"""


class Row(NamedTuple):
    """A completion, and the two verdicts on it."""

    where: str
    reference: str
    ours: Verdict
    paper: Verdict


def verify_math_paper(answer: str, completion: Completion | str) -> Verdict:
    r"""Verify the last box, else what follows "the final answer is", by the paper's four steps.

    >>> verify_math_paper("0.0000001", r"It is $\boxed{0.0000002}$.").accepted  # an absolute tolerance
    True
    """
    given = find_answer(completion, FINAL_ANSWER_IS)
    if given is None or not given.text.strip():
        return Verdict(False, "no answer" if is_finished(completion) else "truncated")
    return equivalent_paper(answer, given.text)


def paper_job(
    program: str,
    tests: Sequence[str],
    setup: Sequence[str] = (),
    entry_points: Sequence[str] | None = None,
) -> Job:
    """Return what the sandbox runs for the paper's protocol: program and tests in one interpreter."""
    return Job(program, tests, (ALARM, *setup), entry_points, "unproven", LIMITS)


def paper_verdict(job: Job) -> Verdict:
    """Run a job of `paper_job`: "passed", "failed", or "timeout" if the alarm came first."""
    verdict = shared().verify_job(job).verdict
    if verdict.accepted:
        return replace(verdict, reason="passed")
    if verdict.detail.endswith("PaperAlarm"):
        return replace(verdict, reason="timeout", detail=f"over the paper's {WALL_SECONDS} s of wall time")
    return verdict


def verify_program_paper(problem: Problem, completion: Completion | str) -> Verdict:
    """Verify the program in a completion by the paper's protocol."""
    program = extract_program(text_of(completion), problem.entry_points or ())
    if not program.strip():
        return Verdict(False, "no answer" if is_finished(completion) else "truncated")
    return paper_verdict(paper_job(program, problem.tests, problem.setup, problem.entry_points))


def _verify_math(problem: Problem, completion: Completion | str) -> Verdict:
    return verify_math_paper(problem.answer, completion)


PROCEDURES: dict[str, Callable[[Problem, Completion], Verdict]] = {  # by the name of the task
    "math": _verify_math,
    "mbpp": verify_program_paper,
    "mbpp-full": verify_program_paper,
    "mini-code": verify_program_paper,
}


def verified_rows(root: Path, *, workers: int | None = None) -> list[Row]:
    """Verify every completion of a study's finished cells by the task's verifier and the paper's procedure.

    `workers` processes share the completions (None: one per core). InputError for a study without finished
    cells, or with a task for which the paper has no procedure of its own.
    """
    study = read_study(root)
    if not study.results:
        raise InputError(f"{root} has no finished cell to verify again; `erce run` finishes them")
    rows: list[Row] = []
    for cell in study.results:
        if cell.task not in PROCEDURES:
            raise InputError(
                f"the paper tells no procedure for task {cell.task!r}; it has one for {', '.join(PROCEDURES)}"
            )
        splits = cell_splits(study.recipe, cell.task)
        known = {problem.id: problem for problems in vars(splits).values() for problem in problems}
        completions = chain(*read_completions(cell_folder(study.root, study.recipe, cell)).values())
        pairs = [(known[completion.problem], completion) for completion in completions]
        by_task = partial(verdict, load_task(cell.task))
        ours, paper = (
            verify_many(verify, pairs, workers=workers) for verify in (by_task, PROCEDURES[cell.task])
        )
        for (problem, completion), *verdicts in zip(pairs, ours, paper, strict=True):
            where = f"{cell.name}, {problem.id}, sample {completion.sample}"
            rows.append(Row(where, problem.answer or "\n".join(problem.tests), *verdicts))
    return rows


def verdict_lines(rows: Sequence[Row]) -> list[str]:
    """Return how many completions each accepts, and a line for each on which they disagree."""
    disputed = [row for row in rows if row.ours.accepted != row.paper.accepted]
    ours, paper = sum(row.ours.accepted for row in rows), sum(row.paper.accepted for row in rows)
    head = (
        f"{counted(len(rows), 'completion')}; accepted by the study's verifier: {ours}, by the paper's "
        f"procedure: {paper}; they disagree on {len(disputed)}"
    )
    return [head, *map(_line, disputed)]


def _line(row: Row) -> str:
    verdicts = [
        f"{whose} {'accepts' if verdict.accepted else 'refuses'} it ({verdict.reason})"
        for whose, verdict in (("the study's verifier", row.ours), ("the paper's procedure", row.paper))
    ]
    answer = (row.ours.extracted or "nothing")[:60]
    return f"  {row.where}: reference {row.reference[:60]!r}, read {answer!r}; {', '.join(verdicts)}"
