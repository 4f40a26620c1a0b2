"""The original files of MBPP → problems for a sandbox, and tables of the sandbox's verdicts on them.

Entry points are the names that the reference defines and the tests use; set-up is the task's own imports and
code. If the set-up needs a class of the reference (two tasks of the full set), that is an entry point too.
"""

import ast
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mutants import mutants

from erce.verify.sandbox import Job, Limits, Sandbox
from erce.verify.sandbox.host import WALL_TIMES_CPU


@dataclass(frozen=True)
class Case:
    name: str
    program: str
    tests: tuple[str, ...]
    setup: tuple[str, ...]
    entry_points: tuple[str, ...]
    cpu_seconds: float = 2.0
    mode: str = "strict"  # or "unproven", if the reference passes in that mode alone


@dataclass(frozen=True)
class Difference:
    name: str
    strict: str
    paper: str


def sanitized(folder: Path) -> list[Case]:
    rows = json.loads((folder / "sanitized-mbpp.json").read_text(encoding="utf-8"))
    return [_case(f"MBPP/{r['task_id']}", r["code"], r["test_list"], r["test_imports"]) for r in rows]


def full(folder: Path) -> list[Case]:
    """Return the full set, with the challenge tests."""
    lines = (folder / "mbpp.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        _case(
            f"full/{r['task_id']}",
            r["code"],
            r["test_list"] + r["challenge_test_list"],
            [r["test_setup_code"]] if r["test_setup_code"] else [],
        )
        for r in rows
    ]


def mutated(cases: Iterable[Case], each: int, seed: int) -> Iterator[Case]:
    for case in cases:
        for i, (kind, program) in enumerate(
            mutants(case.program, case.entry_points[-1], count=each, seed=seed)
        ):
            yield replace(case, name=f"{case.name}, {kind} {i}", program=program)


def calibrated(sandbox: Sandbox, cases: list[Case]) -> list[Case]:
    """Give each case the mode that its reference needs, and five times its processor time if over 2.0 s."""
    patient = Limits(cpu=20.0, wall=20.0 * WALL_TIMES_CPU)

    def calibrate(case: Case) -> Case:
        for mode in ("strict", "unproven"):
            job = Job(case.program, case.tests, case.setup, case.entry_points, mode, patient)
            outcome = sandbox.verify_job(job)
            if outcome.verdict.accepted:
                return replace(case, mode=mode, cpu_seconds=max(case.cpu_seconds, 5 * outcome.cpu))
        return case

    with ThreadPoolExecutor(sandbox.workers) as threads:
        return list(threads.map(calibrate, cases))


def references(sandbox: Sandbox, sets: dict[str, list[Case]]) -> None:
    print(f"| {'references':<20} |   n | passed | unproven | seconds | slowest       | not passed")
    print(f"|{'-' * 22}|----:|-------:|---------:|--------:|---------------|-----------")
    for name, cases in sets.items():
        began = time.monotonic()
        verdicts = judged(sandbox, cases)
        took = time.monotonic() - began
        slowest = max(verdicts, key=lambda case: verdicts[case].elapsed)
        failed = [f"{each}: {v.reason}: {v.detail}" for each, v in verdicts.items() if not v.accepted]
        passed = len(cases) - len(failed)
        unproven = sum(verdict.reason == "unproven" for verdict in verdicts.values())
        shown = f"{slowest} {verdicts[slowest].elapsed:.1f} s"
        counts = f"{len(cases):>3} | {passed:>6} | {unproven:>8} | {took:>7.1f}"
        print(f"| {name:<20} | {counts} | {shown} | {'; '.join(failed)}")


def agreement(sandbox: Sandbox, cases: list[Case]) -> list[Difference]:
    """Print how often the strict verdict and the paper's agree; return the differences."""
    strict, paper = (judged(sandbox, cases, by_paper=by_paper) for by_paper in (False, True))
    differences = [
        Difference(name, _shown(strict[name]), _shown(paper[name]))
        for name in strict
        if strict[name].accepted != paper[name].accepted
    ]
    reasons = Counter(verdict.reason for verdict in strict.values())
    print(
        f"\n{len(cases)} mutants: strict and in-process agree on {len(cases) - len(differences)}; strict: ",
        end="",
    )
    print(", ".join(f"{count} {reason}" for reason, count in reasons.most_common()))
    for difference in differences:
        print(f"  {difference.name}: strict {difference.strict} | in-process {difference.paper}")
    return differences


def repeats(sandbox: Sandbox, cases: list[Case], *, times: int, loads: Iterable[int]) -> None:
    """Print how many verdicts change over `times` runs beside each number of busy processes."""
    first = judged(sandbox, cases)
    print("\n| busy processes | runs | verdicts | changed | seconds a run |")
    print("|---------------:|-----:|---------:|--------:|--------------:|")
    for load in loads:
        changed: list[str] = []
        began = time.monotonic()
        with busy(load):
            for _ in range(times):
                again = judged(sandbox, cases)
                changed += [
                    f"{name}: {first[name].reason} → {verdict.reason} ({verdict.detail})"
                    for name, verdict in again.items()
                    if verdict.reason != first[name].reason
                ]
        took = (time.monotonic() - began) / times
        print(
            f"| {load:>14} | {times:>4} | {times * len(cases):>8} | {len(changed):>7} | {took:>13.1f} |",
            flush=True,
        )
        for line in changed:
            print(f"  {line}")


def judged(sandbox: Sandbox, cases: Iterable[Case], *, by_paper: bool = False) -> dict[str, Any]:
    """Return the verdicts by name, in the cases' own modes or the paper's; all workers judge in parallel."""
    from scripts.paper.verdicts import paper_job

    def judge(case: Case) -> tuple[str, Any]:
        operands = case.program, case.tests, case.setup, case.entry_points
        limits = Limits(cpu=case.cpu_seconds, wall=WALL_TIMES_CPU * case.cpu_seconds)
        job = paper_job(*operands) if by_paper else Job(*operands, case.mode, limits)
        return case.name, sandbox.verify_job(job).verdict

    with ThreadPoolExecutor(sandbox.workers) as threads:
        return dict(threads.map(judge, cases))


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep `count` processes computing during the block."""
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            while os.getppid() != 1:
                sum(range(100000))
            os._exit(0)
        children.append(child)
    try:
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _case(name: str, program: str, tests: list[str], setup: list[str]) -> Case:
    program = program.replace("\r\n", "\n")
    own_setup = tuple(text.replace("\r\n", "\n") for text in setup)
    defined = _defined(program)
    used = _names_read("\n".join([*own_setup, *tests])) - _defined("\n".join(own_setup))
    modules = {alias for alias in defined if alias in _imported(program)}
    points = tuple(sorted(defined & used - modules))
    imports = tuple(f"import {module}" for module in sorted(modules & used))
    return Case(name, program, tuple(tests), (*imports, *own_setup), points)


def _defined(program: str) -> set[str]:
    names = _imported(program)
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _imported(program: str) -> set[str]:
    nodes = (node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Import))
    return {(alias.asname or alias.name).split(".")[0] for node in nodes for alias in node.names}


def _names_read(source: str) -> set[str]:
    nodes = ast.walk(ast.parse(source))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _shown(verdict: Any) -> str:
    return f"{verdict.reason} ({verdict.detail[:120]})"
