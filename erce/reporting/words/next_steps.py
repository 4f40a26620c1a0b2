"""A study → what to do next: how many seeds and problems would settle its gain, and what mends its faults."""

import math

from erce.errors import counted
from erce.reporting.format import fixed
from erce.reporting.numbers.gains import Summary
from erce.reporting.numbers.inference import PILOT_SEEDS, Power, inference
from erce.reporting.words.cautions import MORE_PROBLEMS, RUN_ON, THIRD_SEED, faults
from erce.reporting.words.sentences import sentences

MORE_SEEDS = f"Run {PILOT_SEEDS} seeds: fewer do not tell how large a gain this study would find."
NOTHING_TO_DO = "Nothing is left to do but to read some completions before you quote the gain."


def next_steps(summary: Summary) -> list[str]:
    """Return what to do next, the most useful sentence first."""
    plan = _plan(summary)
    planned: set[str] = set()
    if plan:
        planned = {THIRD_SEED} if plan == [MORE_SEEDS] else {THIRD_SEED, MORE_PROBLEMS}
    remedies = dict.fromkeys(caution.remedy for caution in faults(summary))
    run_on = [remedy for remedy in remedies if remedy == RUN_ON]
    others = [remedy for remedy in remedies if remedy and remedy not in {RUN_ON, *planned}]
    return [*run_on, *plan, *others, *_temperatures(summary)] or [NOTHING_TO_DO]


def _plan(summary: Summary) -> list[str]:
    """Say what would settle the gain; empty where it is settled, or an interval covers problems alone."""
    findings = inference(summary)
    grid = findings and (findings.sampled or findings.greedy)
    if grid is None or any(arm_gain.gain.covers == "problems" for arm_gain in grid.gains):
        return []
    gain = summary.gain(summary.study.recipe.task, summary.chosen_penalty, grid.decoding)
    if gain is not None and not gain.gain.low <= 0 <= gain.gain.high:
        return []
    return [MORE_SEEDS if grid.power is None else f"{_sizes(grid.power)}."]


def _temperatures(summary: Summary) -> list[str]:
    """Ask for a temperature sweep where a gain in samples may be temperature alone."""
    recipe = summary.study.recipe
    if recipe.decoding.temperatures or not recipe.can_run or "sharpening" not in sentences(summary):
        return []
    setting = "temperatures = [0.2, 0.4, 0.6, 1.0] in [decoding]"
    return [f"Set {setting}, which shows whether a lower temperature gains as much."]


def _sizes(power: Power) -> str:
    """Say which gain this study finds, and which sizes find the gain that studies are planned for."""
    smallest = f"{fixed(100 * power.detectable, 1)} points"
    opening = f"A study of this size finds a gain of {smallest} in 4 of 5 cases"
    wanted = f"{fixed(100 * power.wanted, 0)} points"
    if power.detectable <= power.wanted:
        return f"{opening}: a gain that it does not show is probably smaller"
    enough = [size for size in power.sizes if not math.isinf(size.problems)]
    if not enough:
        seeds = power.sizes[-1].seeds
        return f"{opening}; for {wanted} even {seeds} seeds are too few, whatever the number of problems"
    sizes = " or ".join(f"{size.seeds} seeds with {size.problems:,.0f} problems" for size in enough)
    return f"{opening}; to find {wanted}, run {sizes} ({counted(enough[0].samples, 'sample')} a problem)"
