"""The *_eval_results.json that `evalplus.evaluate` wrote → columns of `erce records`."""

import json
import re
from pathlib import Path
from typing import Any

from erce.errors import InputError

PASS = "pass"
REASONS: dict[str | None, str] = {PASS: "passed", "fail": "failed", "timeout": "timeout"}
TASKS = {"HumanEval": "humaneval", "Mbpp": "mbpp"}  # prefix of a problem's name → task


def evalplus_rows(path: Path, plus: bool, temperature: float | None) -> list[dict[str, Any]]:
    """Return the columns of one row per program; with `plus`, it must pass the added tests too.

    The task is then called "humaneval+" instead of "humaneval". `path` may also be the samples, NAME.jsonl,
    beside which NAME_eval_results.json stands. The temperature is read from the name that evalplus gives the
    file or its folder, …_temp_0.8…, and 0 is greedy; other names need `temperature`.
    """
    if path.suffix == ".jsonl":
        samples, path = path, path.with_name(f"{path.stem}_eval_results.json")
        if not path.is_file():
            raise InputError(
                f"{samples} has no verdicts, and {path.name} is not beside it; run evalplus.evaluate"
            )
    problems = _programs_by_problem(path)
    if plus and not any(program.get("plus_status") for programs in problems.values() for program in programs):
        raise InputError(f"{path} has no verdicts of the added tests; evaluate without --base-only")
    if temperature is None:
        match = re.search(r"_temp_(\d+(?:\.\d+)?)", f"{path.name} {path.absolute().parent.name}")
        if match is None:
            raise InputError(f"{path} does not say how it was sampled; give --temperature, 0 for greedy")
        temperature = float(match[1])
    benchmark = next(iter(problems)).split("/")[0]
    task = TASKS.get(benchmark, benchmark) + ("+" if plus else "")
    shared = {"task": task, "decoding": "sampled" if temperature else "greedy", "temperature": temperature}
    rows = []
    for problem, programs in problems.items():
        for sample, program in enumerate(programs):
            if "base_status" not in program:
                raise InputError(f"{path} has a program without base_status; evaluate its samples again")
            statuses = [program["base_status"], *([program.get("plus_status")] if plus else [])]
            status = next((failed for failed in statuses if failed != PASS), PASS)
            text = program.get("solution")
            outcome = {"completion": text, "extracted": text, "reason": REASONS.get(status, "error")}
            outcome["accepted"] = None if status is None else status == PASS
            rows.append(shared | {"problem": problem, "sample": sample} | outcome)
    return rows


def _programs_by_problem(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); is it an *_eval_results.json?") from None
    problems = content.get("eval") if isinstance(content, dict) else None
    if not isinstance(problems, dict) or not problems:
        raise InputError(f"{path} has no problems under 'eval'; is it an *_eval_results.json?")
    if not all(isinstance(programs, list) for programs in problems.values()):
        raise InputError(f"{path} was written by an old evalplus; evaluate its samples again")
    return problems
