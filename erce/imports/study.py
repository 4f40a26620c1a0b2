"""Logs of runs that other tools made → a study's folder that `erce report` reads."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from erce.imports.folder import NAME, SPLITS, study_of_rows
from erce.imports.logs import Reading, read_log, read_prompts
from erce.recipe import CROSS_ENTROPY
from erce.study.export import Row
from erce.study.folder import Study

BASELINE = "baseline"
BASE = "base"  # the model before any training
Logs = Mapping[str, Sequence[str | Path]]


def import_study(
    out: str | Path, arms: Logs, *, validation: Logs | None = None, reading: Reading | None = None
) -> Study:
    """The study in the new folder `out`, of one log a seed of each arm: a file, or the folder a run wrote.

    `arms` are named freely. "baseline" is what gains are measured from and has to be there; "lam=2" is the λ
    2, "base" the model before any training, any other name an arm of its own. Greedy logs and logs of samples
    of one arm are the two decodings of the same seeds, in order. `validation` has logs of other problems for
    the same arms and seeds; without it nothing is chosen.

    What a log does not hold is None in the study: it is never guessed, save the verdict's reason, which is
    "passed", "failed", or "no answer" and "truncated" where the log says so.
    """
    reading, validation = reading or Reading(), validation or {}
    if BASELINE not in arms:
        raise ValueError(
            f"no arm {BASELINE!r} among {list(arms)}; gains are measured from it, so name one so"
        )
    unknown = validation.keys() - arms.keys()
    if unknown:
        raise ValueError(f"validation logs for {min(unknown)!r}, which is no arm; there are {list(arms)}")
    rows, prompts = [], {}
    for split, logs in zip(SPLITS, (validation, arms), strict=True):
        for arm, paths in logs.items():
            rows += _arm_rows(arm, paths, split, reading)
        for path in logs.get(BASELINE, ())[:1]:
            prompts |= {(split, *each): text for *each, text in read_prompts(path, reading=reading).items()}
    tasks = sorted({str(row["task"]) for row in rows})
    if len(tasks) > 1:
        raise ValueError(f"the logs are of the tasks {', '.join(tasks)}; name one task, or what to call it")
    return study_of_rows(out, rows, prompts=prompts)


def _arm_rows(arm: str, paths: Sequence[str | Path], split: str, reading: Reading) -> list[Row]:
    """The logs of an arm, each one seed of the decoding that it is of."""
    lam, objective = _policy(arm)
    seeds: Counter[str] = Counter()
    found: list[Row] = []
    for path in paths:
        rows = read_log(path, arm=arm, reading=reading)
        decoding = rows[0]["decoding"]
        if any(row["decoding"] != decoding for row in rows):
            raise ValueError(
                f"{path} has greedy completions and samples; one log is one decoding of one seed"
            )
        shared = {"lam": lam, "objective": objective, "seed": seeds[decoding], "split": split}
        seeds[decoding] += 1
        found += [row | shared for row in rows]
    if lam is None and max(seeds.values(), default=0) > 1:
        raise ValueError(
            f"arm {BASE!r} has {max(seeds.values())} logs; the base model is not trained: one seed"
        )
    return found


def _policy(arm: str) -> tuple[float | None, str | None]:
    """λ and objective of a name; (None, None) is the base model.

    >>> [_policy(arm) for arm in ("baseline", "lam=2", "base", "dpo")]
    [(0.0, 'cross-entropy'), (2.0, 'cross-entropy'), (None, None), (0.0, 'dpo')]
    """
    if arm in (BASE, BASELINE):
        return (None, None) if arm == BASE else (0.0, CROSS_ENTROPY)
    name, _, number = arm.partition("=")
    if name == "lam":
        try:
            lam = float(number)
        except ValueError:
            lam = math.nan
        if not math.isfinite(lam):
            raise ValueError(f"arm {arm!r} is no λ; write lam=2, or another name than lam")
        return lam, CROSS_ENTROPY
    if not NAME.fullmatch(arm) or arm == CROSS_ENTROPY:
        raise ValueError(f"no arm can be called {arm!r}; a name has letters, digits and . : + = @ _ -")
    return 0.0, arm
