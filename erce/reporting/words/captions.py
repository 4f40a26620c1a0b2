"""Turn the frontier, pass@k, the gains of the problems and the completions into captions."""

from erce.errors import counted
from erce.reporting.format import one_line, strength
from erce.reporting.numbers.changes import Changes
from erce.reporting.numbers.completions import MOST_COMPLETIONS, Completions, JudgedCompletion
from erce.reporting.numbers.k_samples import Coverage

LONGEST_LINE = 160  # characters of a completion
OVER_TEMPERATURE = (
    "Every arm at every temperature; 0 is greedy decoding. Star: the temperature that validation prefers "
    "for λ = 0 and for the chosen λ, the lower of equals."
)


def coverage_caption(coverage: Coverage) -> str:
    """Say where the chosen λ and the baseline change places in pass@k; empty without both of them."""
    if coverage.chosen is None or coverage.baseline not in coverage.curves:
        return ""
    name, crossed = coverage.baseline.objective, coverage.crossing
    if crossed is None:
        return f"Up to {max(coverage.ks)} samples the chosen λ and {name} do not change places in pass@k."
    ahead = name if crossed.leader == "treated" else "the chosen λ"
    return f"From k = {crossed.k} on {ahead} has the higher pass@k."


def completions_caption(shown: Completions, seeds: int) -> str:
    """Say which of the study's completions a page shows, of how many seeds."""
    every = "all" if shown.problems == shown.all_problems else "the first"
    of_seeds = "" if shown.seeds == seeds else f", {shown.seeds} of {counted(seeds, 'seed')}"
    text = f"{len(shown.rows):,} completions of {every} {counted(shown.problems, 'test problem')}{of_seeds}."
    if every == "all" and not of_seeds:
        return text
    return (
        f"{text} This page holds at most {MOST_COMPLETIONS:,}; the command erce records writes all of them "
        "into one file."
    )


def completion_line(shown: JudgedCompletion) -> str:
    """Describe one completion and its verdict on one line."""
    verdict = f"{'right' if shown.accepted else 'not accepted'} ({shown.reason})"
    text = one_line(shown.text)[:LONGEST_LINE]
    return f"{shown.arm.label}, problem {one_line(shown.problem)}, {verdict}: {text}"


def changes_caption(changes: Changes) -> str:
    """Say how many problems were gained, lost and neither."""
    return (
        f"λ = {strength(changes.lam)} minus λ = 0: of "
        f"{counted(len(changes.gains), 'problem')}, {changes.gained} gained (right), {changes.lost} lost "
        f"(left), {changes.unchanged} unchanged. Small bars come by chance alone."
    )
