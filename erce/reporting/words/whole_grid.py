"""The statistical tests over all arms of a study → sentences."""

from erce.reporting.format import fixed, interval, row_label, strength
from erce.reporting.numbers.gains import ArmGain
from erce.reporting.numbers.inference import LEVEL, GridFindings, Inference
from erce.types import Arm


def grid_sentences(inference: Inference | None) -> list[str]:
    """Say what the grid shows, samples first; empty where there is nothing to say."""
    if inference is None:
        return []
    grids = [grid for grid in (inference.sampled, inference.greedy) if grid is not None]
    sentences = [_better_and_worse(grid) for grid in grids]
    if inference.greedy is not None:
        sentences.append(_same(inference.greedy))
    return [sentence for sentence in sentences if sentence]


def where(decoding: str) -> str:
    """Return the words that open a sentence about a decoding."""
    return "In samples" if decoding == "sampled" else "With greedy decoding"


def _better_and_worse(grid: GridFindings) -> str:
    """Name the arms that differ from the baseline; empty for a single arm, which the headline covers."""
    number = len(grid.gains)
    if number < 2:
        return ""
    alone = ", over problems alone" if grid.gains[0].gain.covers == "problems" else ""
    correction = f"p after Holm's correction for {'both' if number == 2 else f'all {number}'}{alone}"
    clear = [gain for gain in grid.gains if gain.p_holm <= LEVEL]
    better = [gain for gain in clear if gain.gain.gain > 0]
    worse = [gain for gain in clear if gain.gain.gain < 0]
    if not better and not worse:
        nobody = f"none of {number} arms is shown to differ from {grid.baseline.objective}"
        return f"{where(grid.decoding)} {nobody} ({correction})."
    baseline = grid.baseline.objective
    parts = [
        f"{len(gains)} of {number} arms {'is' if len(gains) == 1 else 'are'} {word} than {baseline}: "
        f"{_names(gains, grid.baseline)}"
        for gains, word in ((better, "better"), (worse, "worse"))
        if gains
    ]
    return f"{where(grid.decoding)} {', and '.join(parts)} ({correction})."


def _same(grid: GridFindings) -> str:
    """Say whether the chosen λ is shown to change nothing; empty where it clearly does."""
    same = grid.same
    if same is None or any(gain.arm == same.arm and gain.p_holm <= LEVEL for gain in grid.gains):
        return ""
    are = "are the same" if same.test.equivalent else "are not shown to be the same"
    margin = f"{fixed(100 * same.test.margin, 0)} points"
    few = f"; fewer than {same.fewest} problems cannot show it" if same.problems < same.fewest else ""
    return (
        f"{where('greedy')} {same.arm.label} and {grid.baseline.objective} {are} within {margin} (90 % "
        f"interval of the gain {interval(same.test)}, over {same.test.covers}{few})."
    )


def _names(gains: list[ArmGain], baseline: Arm) -> str:
    """Name arms like λ = 1, 2, dft."""
    lams = [strength(gain.arm.lam) for gain in gains if gain.arm.objective == baseline.objective]
    others = [row_label(gain.arm, baseline) for gain in gains if gain.arm.objective != baseline.objective]
    named = [f"λ = {', '.join(lams)}"] if lams else []
    return ", ".join([*named, *others])
