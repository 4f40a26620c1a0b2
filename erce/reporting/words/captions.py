"""Frontier, pass@k and the gains of problems → captions and headings."""

from erce.errors import counted
from erce.reporting.format import strength
from erce.reporting.numbers.changes import Changes
from erce.reporting.numbers.k_samples import Coverage

OVER_ENTROPY = (
    "Each line is an arm, each point a temperature, from T 0 (greedy) up. Entropy: mean over the tokens, of "
    "the distributions at that temperature. Where one line lies above another, it is right more often at "
    "the same diversity: more than a temperature."
)
OVER_TEMPERATURE = (
    "The same points over the temperature. Star: the temperature that validation prefers for λ = 0 and for "
    "the chosen λ, the lower of equals."
)
WAY_HEADINGS = {"pass": "pass@k: one of k", "maj": "maj@k: the vote", "best": "best@k: the likeliest"}


def coverage_caption(coverage: Coverage) -> str:
    """Say what the figure of pass@k shows, and where the lines cross."""
    text = "The chance that one of k samples of a problem is right, the mean over problems and seeds."
    crossed = coverage.crossing
    if coverage.chosen is None or coverage.baseline not in coverage.curves:
        return text
    name = coverage.baseline.objective
    if crossed is None:
        return f"{text} Up to {max(coverage.ks)} samples the chosen λ and {name} do not change places."
    ahead = name if crossed.leader == "treated" else "the chosen λ"
    return f"{text} From k = {crossed.k} on {ahead} covers more (dashed)."


def changes_caption(changes: Changes) -> str:
    """Say how many problems were gained, lost and neither."""
    return (
        f"λ = {strength(changes.lam)} minus λ = 0 in samples, all seeds: of "
        f"{counted(len(changes.gains), 'problem')}, {changes.gained} gained (right), {changes.lost} lost "
        f"(left), {changes.unchanged} unchanged. Small bars come by chance alone."
    )
