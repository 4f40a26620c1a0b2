"""The *_eval_results.json that `evalplus.evaluate` wrote → rows with the columns of `erce records`."""

import json
import re
from pathlib import Path
from typing import Any

from erce.errors import InputError
from erce.types import SampleRow

PASS = "pass"
REASONS: dict[str | None, str] = {PASS: "passed", "fail": "failed", "timeout": "timeout"}
TASKS = {"HumanEval": "humaneval", "Mbpp": "mbpp"}  # prefix of a problem's name → task


def from_evalplus(
    path: str | Path,
    *,
    arm: str,
    seed: int = 0,
    plus: bool = False,
    task: str | None = None,
    temperature: float | None = None,
) -> list[SampleRow]:
    """Return one row a program, judged by the benchmark's own tests; with `plus`, by the added tests too.

    The task is then called "humaneval+" instead of "humaneval". `path` may also be the samples, NAME.jsonl,
    beside which NAME_eval_results.json stands. The temperature is read from the name that evalplus gives the
    file or its folder, …_temp_0.8…, and 0 is greedy; other names need `temperature`. A program without a
    verdict has `accepted` None. InputError: `plus` without added tests, or a file that is not evalplus's.
    """
    path = _results_file(Path(path))
    problems = _programs_by_problem(path)
    benchmark = next(iter(problems)).split("/")[0]
    plus_statuses = [program.get("plus_status") for programs in problems.values() for program in programs]
    if plus and not any(plus_statuses):
        raise InputError(f"{path} has no verdicts of the added tests; evaluate without --base-only")
    if temperature is None:
        temperature = _temperature_in_name(path)
    if temperature is None:
        raise InputError(f"{path} does not say how it was sampled; give --temperature, 0 for greedy")
    shared = {
        "task": task or TASKS.get(benchmark, benchmark) + ("+" if plus else ""),
        "arm": arm,
        "seed": seed,
        "split": "test",
        "decoding": "sampled" if temperature else "greedy",
        "temperature": temperature,
    }
    return [
        SampleRow(**shared, problem=problem, sample=sample, **_judged_program(path, program, plus=plus))
        for problem, programs in problems.items()
        for sample, program in enumerate(programs)
    ]


def _results_file(path: Path) -> Path:
    """Return the file of results: `path`, or the one beside samples."""
    if path.suffix != ".jsonl":
        return path
    results = path.with_name(f"{path.stem}_eval_results.json")
    if not results.is_file():
        raise InputError(f"{path} has no verdicts and {results.name} is not beside it; run evalplus.evaluate")
    return results


def _programs_by_problem(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path} is no JSON ({error}); is it an *_eval_results.json?") from None
    problems = content.get("eval") if isinstance(content, dict) else None
    if not isinstance(problems, dict) or not problems:
        raise InputError(f"{path} has no problems under 'eval'; is it an *_eval_results.json?")
    if not all(isinstance(programs, list) for programs in problems.values()):
        raise InputError(f"{path} was written by an old evalplus; evaluate its samples again")
    return problems


def _temperature_in_name(path: Path) -> float | None:
    names = (path.name, path.absolute().parent.name)
    matches = [match for name in names if (match := re.search(r"_temp_(\d+(?:\.\d+)?)", name))]
    return float(matches[0][1]) if matches else None


def _judged_program(path: Path, program: dict[str, Any], *, plus: bool) -> dict[str, Any]:
    """Return what is a program's own in its row; with `plus`, it must pass both kinds of tests."""
    if "base_status" not in program:
        raise InputError(f"{path} has a program without base_status; evaluate its samples again")
    statuses = [program["base_status"], *([program.get("plus_status")] if plus else [])]
    status = next((failed for failed in statuses if failed != PASS), PASS)
    text = program.get("solution")
    return {
        "completion": text,
        "extracted": text,
        "accepted": None if status is None else status == PASS,
        "reason": REASONS.get(status, "error"),
    }
