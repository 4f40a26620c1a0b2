"""What `evalplus.evaluate` wrote, *_eval_results.json → rows of the same columns as ours."""

import json
import re
from pathlib import Path
from typing import Any

from erce.study.export import Row, flat

PASS = "pass"
_REASONS: dict[str | None, str] = {PASS: "passed", "fail": "failed", "timeout": "timeout"}
_TASKS = {"HumanEval": "humaneval", "Mbpp": "mbpp"}  # what its problems are called → what it is called


def from_evalplus(
    path: str | Path,
    *,
    arm: str,
    seed: int = 0,
    plus: bool = False,
    task: str | None = None,
    temperature: float | None = None,
) -> list[Row]:
    """A row a program, judged by the benchmark's own tests; with `plus`, by those and the added ones.

    The two are different verdicts, and the task is called "humaneval" or "humaneval+". `path` may also be the
    samples, NAME.jsonl, beside which NAME_eval_results.json stands. The temperature is read from a name that
    evalplus gave, …_temp_0.8…, and 0 is greedy; another name needs `temperature`. A verdict that was not
    made is None. Results without added tests have no `plus`; that, and a file that is no such results, is a
    ValueError.
    """
    path = _results(Path(path))
    problems = _read(path)["eval"]
    kind = next(iter(problems)).split("/")[0]
    judged = [each.get("plus_status") for programs in problems.values() for each in programs]
    if plus and not any(judged):
        raise ValueError(f"{path} has no verdicts of the added tests; evaluate without --base-only")
    degree = _temperature(path) if temperature is None else temperature
    if degree is None:
        raise ValueError(f"{path} does not say how it was sampled; give the temperature, 0 for greedy")
    shared = {
        "task": task or f"{_TASKS.get(kind, kind)}{'+' * plus}",
        "arm": arm,
        "seed": seed,
        "split": "test",
        "decoding": "sampled" if degree else "greedy",
        "temperature": degree,
    }
    return [
        flat(shared | {"problem": name, "sample": sample} | _program(path, each, plus=plus))
        for name, programs in problems.items()
        for sample, each in enumerate(programs)
    ]


def _results(path: Path) -> Path:
    if path.suffix != ".jsonl":
        return path
    beside = path.with_name(f"{path.stem}_eval_results.json")
    if not beside.is_file():
        raise ValueError(f"{path} has no verdicts and {beside.name} is not beside it; run evalplus.evaluate")
    return beside


def _read(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no JSON ({error}); is it an *_eval_results.json?") from None
    problems = read.get("eval") if isinstance(read, dict) else None
    if not isinstance(problems, dict) or not problems:
        raise ValueError(f"{path} has no problems under 'eval'; is it an *_eval_results.json?")
    if not all(isinstance(programs, list) for programs in problems.values()):
        raise ValueError(f"{path} has the form of an old evalplus; evaluate its samples again")
    return read


def _temperature(path: Path) -> float | None:
    found = re.search(r"_temp_(\d+(?:\.\d+)?)", path.name)
    return float(found[1]) if found else None


def _program(path: Path, each: dict[str, Any], *, plus: bool) -> Row:
    """The added tests count only with the benchmark's own, as evalplus counts them."""
    if "base_status" not in each:
        raise ValueError(f"{path} has a program without base_status; evaluate its samples again")
    statuses = [each["base_status"], *([each.get("plus_status")] if plus else [])]
    worst = next((status for status in statuses if status != PASS), PASS)
    program = each.get("solution")
    return {
        "completion": program,
        "extracted": program,
        "accepted": None if worst is None else worst == PASS,
        "reason": _REASONS.get(worst, "error"),
    }
