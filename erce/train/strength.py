"""λ at each step of a training: constant, rising from 0, or 0 until it starts."""

import math
from typing import Any

from erce.errors import InputError
from erce.recipe.sections import SCHEDULES


def scheduled(lam: float, schedule: str, *, warmup: float, step: int, steps: int) -> float:
    """Return λ at the optimizer step `step`, counted from 0, of `steps`.

    Over the first ⌈warmup · steps⌉ steps "linear" rises from 0, as a learning rate does, and "delayed" is 0.

    >>> [scheduled(2.0, "linear", warmup=0.4, step=step, steps=10) for step in range(6)]
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.0]
    >>> [scheduled(2.0, "delayed", warmup=0.4, step=step, steps=10) for step in range(6)]
    [0.0, 0.0, 0.0, 0.0, 2.0, 2.0]
    >>> scheduled(2.0, "constant", warmup=0.4, step=0, steps=10)
    2.0
    """
    early = math.ceil(warmup * steps)
    if schedule == "constant" or step >= early:
        return lam
    return 0.0 if schedule == "delayed" else lam * (step / early)


def check_strength(lam: Any, schedule: Any, warmup: Any) -> None:
    """Refuse a λ, a schedule or a warm-up that cannot be used, with one sentence."""
    if not isinstance(lam, int | float) or not math.isfinite(lam):
        raise InputError(f"entropy_penalty must be a finite number, got {lam!r}; 0 is plain cross-entropy")
    if schedule not in SCHEDULES:
        raise InputError(f"entropy_schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
    if not (isinstance(warmup, int | float) and 0 <= warmup <= 1):
        raise InputError(f"entropy_warmup = {warmup!r} is a share of the steps; give one in [0, 1]")
