"""The entropy of one step becomes the λ of the next: a controller that holds the entropy at a target.

Experimental. What holds λ · (entropy − target) as a Lagrangian would raises λ while the entropy is above the
target and lowers it below; the logarithm moves, so λ stays positive.
"""

import math
from typing import NamedTuple

from erce.errors import DivergedError

SMOOTHING = 0.9  # how much of the old mean stays at each step: it remembers some ten of them
REACH = 100.0  # λ stays within this factor of where it began


class Controller(NamedTuple):
    """Where a controller is; all that a checkpoint needs of it."""

    lam: float
    smoothed: float | None = None  # the exponential mean of the entropies so far, nats; None before the first


def followed(
    controller: Controller, entropy: float, *, target: float, rate: float, start: float
) -> Controller:
    """The controller after a step of that mean entropy: log λ moves by rate · (smoothed entropy − target).

    λ stays in [start / 100, 100 · start]. The first entropy is its own mean.

    >>> controller = followed(Controller(1.0), 2.5, target=0.5, rate=0.05, start=1.0)
    >>> round(controller.lam, 4), controller.smoothed
    (1.1052, 2.5)
    >>> controller = followed(controller, 0.5, target=0.5, rate=0.05, start=1.0)
    >>> round(controller.lam, 4), round(controller.smoothed or 0, 4)
    (1.2092, 2.3)
    """
    if not math.isfinite(entropy):
        raise DivergedError(
            f"the entropy of a step is {entropy}, and λ cannot follow it; the training diverged"
        )
    before = controller.smoothed
    smoothed = entropy if before is None else SMOOTHING * before + (1 - SMOOTHING) * entropy
    step = math.log(controller.lam / start) + rate * (smoothed - target)
    reach = math.log(REACH)
    return Controller(start * math.exp(min(max(step, -reach), reach)), smoothed)
