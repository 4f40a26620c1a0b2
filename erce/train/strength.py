"""Settings and the steps that a training has made become λ: constant, warmed up, or following a target."""

import math
from collections.abc import Callable
from typing import Any

from transformers import TrainerCallback, TrainerState

from erce.recipe.sections import SCHEDULES
from erce.train.controller import Controller, followed

STORED = "EntropyController"  # its place in a checkpoint's trainer_state.json


def scheduled(lam: float, schedule: str, *, warmup: float, step: int, steps: int) -> float:
    """λ of the optimizer step `step`, counted from 0, of `steps`.

    "linear" rises from 0, at the first step, over the first ⌈warmup · steps⌉ steps, as a learning rate does.

    >>> [scheduled(2.0, "linear", warmup=0.4, step=step, steps=10) for step in range(6)]
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.0]
    >>> scheduled(2.0, "constant", warmup=0.4, step=0, steps=10)
    2.0
    """
    rising = math.ceil(warmup * steps)
    return lam if schedule == "constant" or step >= rising else lam * (step / rising)


def check_strength(lam: Any, schedule: Any, warmup: Any, target: Any, rate: Any) -> None:
    """A ValueError of one sentence for settings that are none."""
    if not isinstance(lam, int | float) or not math.isfinite(lam):
        raise ValueError(f"entropy_penalty must be a finite number, got {lam!r}; 0 is plain cross-entropy")
    if schedule not in SCHEDULES:
        raise ValueError(f"entropy_schedule must be {' or '.join(map(repr, SCHEDULES))}, got {schedule!r}")
    if not (isinstance(warmup, int | float) and 0 <= warmup <= 1):
        raise ValueError(f"entropy_warmup = {warmup!r} is a share of the steps; give one in [0, 1]")
    if target is None:
        return
    if not (isinstance(target, int | float) and 0 <= target < math.inf):
        raise ValueError(f"entropy_target must be a number of nats from 0 up, got {target!r}; None is none")
    if not (isinstance(rate, int | float) and 0 < rate < math.inf):
        raise ValueError(f"entropy_target_rate must be above 0, got {rate!r}; its default is 0.05")
    if lam <= 0:
        raise ValueError(
            f"entropy_penalty = {lam} is where λ starts towards entropy_target; give one above 0"
        )
    if schedule != "constant":
        raise ValueError("entropy_target moves λ by itself; set entropy_schedule='constant'")


class Follower(TrainerCallback):
    """Moves λ after each optimizer step towards where the step's mean entropy is the target.

    Its state lies in the trainer's, so that a checkpoint has it. `measure` gives the entropy of the step that
    was made, the same in every process.
    """

    def __init__(self, start: float, target: float, rate: float, measure: Callable[[], float]) -> None:
        self.start, self.target, self.rate, self.measure = start, target, rate, measure
        self.controller = Controller(start)

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        states: Any = state.stateful_callbacks
        stored = states.get(STORED) if state.global_step > 0 else None
        self.controller = Controller(**stored["attributes"]) if stored else Controller(self.start)

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **_: Any) -> None:
        settings = {"target": self.target, "rate": self.rate, "start": self.start}
        self.controller = followed(self.controller, self.measure(), **settings)
        states: Any = state.stateful_callbacks
        states[STORED] = {"args": {}, "attributes": self.controller._asdict()}
