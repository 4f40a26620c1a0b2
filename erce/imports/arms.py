"""The logs of each arm, made by other tools → a study's folder that `erce report` reads."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from erce.errors import InputError
from erce.imports.logs import Reading, read_log, read_prompts
from erce.imports.rows_to_study import ARM_NAME, ARM_NAME_RULE, study_of_rows
from erce.study.folder import Study
from erce.types import CROSS_ENTROPY, SampleRow

BASELINE = "baseline"
BASE = "base"  # the model before any training
Logs = Mapping[str, Sequence[str | Path]]


def import_study(
    out: str | Path, arms: Logs, *, validation: Logs | None = None, reading: Reading | None = None
) -> Study:
    """Write a study into the new folder `out`, of one log for each seed of each arm, and return it.

    A log is a file, or the folder that a run wrote. `arms` are named freely: "baseline" is what gains are
    measured from and must be there; "lam=2" is the λ 2, "base" the model before any training, any other name
    an arm of its own. Greedy logs and logs of samples of one arm are two decodings of the same seeds, in
    order. `validation` has logs of other problems for the same arms and seeds; without it nothing is chosen.

    What a log does not hold is None in the study, never guessed. Only the reason of a verdict is filled in:
    "passed", "failed", or "no answer" and "truncated" if the log shows it.
    """
    reading, validation = reading or Reading(), validation or {}
    if BASELINE not in arms:
        raise InputError(
            f"no arm {BASELINE!r} among {list(arms)}; gains are measured from it, so name one arm so"
        )
    unknown = validation.keys() - arms.keys()
    if unknown:
        raise InputError(f"validation logs for {min(unknown)!r}, which is no arm; there are {list(arms)}")
    rows: list[SampleRow] = []
    prompts: dict[tuple[str, str], str] = {}
    for split, logs in (("validation", validation), ("test", arms)):
        for arm, paths in logs.items():
            rows += _arm_rows(arm, paths, split, reading)
        for path in logs.get(BASELINE, ())[:1]:
            by_problem = read_prompts(path, reading=reading)
            prompts |= {(split, problem): prompt for problem, prompt in by_problem.items()}
    tasks = sorted({str(row.task) for row in rows})
    if len(tasks) > 1:
        raise InputError(
            f"the logs are of the tasks {', '.join(tasks)}; import one at a time, named by --task"
        )
    return study_of_rows(out, rows, prompts=prompts)


def _arm_rows(arm: str, paths: Sequence[str | Path], split: str, reading: Reading) -> list[SampleRow]:
    """Read an arm's logs; the first log of a decoding is its seed 0, the next its seed 1."""
    lam, objective = _lam_and_objective(arm)
    logs_by_decoding: Counter[str] = Counter()
    arm_rows: list[SampleRow] = []
    for path in paths:
        rows = read_log(path, arm=arm, reading=reading)
        decoding = rows[0].decoding
        if any(row.decoding != decoding for row in rows):
            raise InputError(
                f"{path} has greedy completions and samples; one log is one decoding of one seed"
            )
        if unjudged := [row for row in rows if row.accepted is None]:
            row = unjudged[0]
            raise InputError(
                f"{path} has no verdict on problem {row.problem!r}, sample {row.sample} ({len(unjudged)} in "
                "all); choose another --metric, --filter or --scorer, or finish the evaluation"
            )
        columns = {"lam": lam, "objective": objective, "seed": logs_by_decoding[decoding], "split": split}
        logs_by_decoding[decoding] += 1
        arm_rows += [replace(row, **columns) for row in rows]
    if lam is None and max(logs_by_decoding.values(), default=0) > 1:
        raise InputError(
            f"arm {BASE!r} has {max(logs_by_decoding.values())} logs; the base model is not trained: one seed"
        )
    return arm_rows


def _lam_and_objective(arm: str) -> tuple[float | None, str | None]:
    """Return the λ and the objective that an arm's name stands for; (None, None) is the base model.

    >>> [_lam_and_objective(arm) for arm in ("baseline", "lam=2", "base", "dpo")]
    [(0.0, 'cross-entropy'), (2.0, 'cross-entropy'), (None, None), (0.0, 'dpo')]
    """
    if arm == BASE:
        return None, None
    if arm == BASELINE:
        return 0.0, CROSS_ENTROPY
    name, _, number = arm.partition("=")
    if name == "lam":
        try:
            lam = float(number)
        except ValueError:
            lam = math.nan
        if not math.isfinite(lam):
            raise InputError(f"arm {arm!r} is no λ; write lam=2, or another name than lam")
        return lam, CROSS_ENTROPY
    if not ARM_NAME.fullmatch(arm) or arm == CROSS_ENTROPY:
        raise InputError(f"no arm can be called {arm!r}; {ARM_NAME_RULE}")
    return 0.0, arm
