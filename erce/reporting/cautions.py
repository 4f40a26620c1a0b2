"""A study → what could be wrong with it: each a sentence with its number and the way out."""

from erce.reporting.format import counted, percent, strength
from erce.reporting.gains import Summary

FEW_PROBLEMS = 200
WIDE = 0.05  # half an interval, in fractions of 1
ACCIDENTS = (  # reason, the share of completions that is too much, what it means
    ("truncated", 0.01, "were cut off at the token limit: raise max_new_tokens in [decoding]"),
    ("timeout", 0.005, "ran into the verifier's time limit: give it more time"),
    ("error", 0.0, "could not be judged, a fault of the task or the machine: its tests want a look"),
    ("opaque", 0.005, "returned objects that no other process can compare: look at a few of them"),
)


def cautions(summary: Summary) -> list[str]:
    """Empty for a study in which nothing was noticed."""
    return [
        *_unfinished(summary),
        *_chosen(summary),
        *_small(summary),
        *_cut_short(summary),
        *_unprotected(summary),
        *_base_model(summary),
        *_versions(summary),
    ]


def _unfinished(summary: Summary) -> list[str]:
    missing = summary.study.missing
    if not missing:
        return []
    names = ", ".join(cell.name for cell in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    of_all = f"{len(missing)} of {counted(len(summary.study.recipe.cells()), 'cell')}"
    return [
        f"{of_all} are missing ({names}{more}): run the study to its end, every number here can still change."
    ]


def _chosen(summary: Summary) -> list[str]:
    if summary.choice is None:
        text = (
            "There is no validation split, so no λ can be chosen without looking at the test problems, and "
            "the best row of the table overstates its gain: set n_validation in the recipe."
        )
        return [text] if "validation" in summary.no_choice else []
    if not summary.choice.at_edge:
        return []
    lam, further = strength(summary.lam), strength(2 * summary.choice.lam)
    return [f"The chosen λ = {lam} is the strongest tried, and the best may lie beyond: add λ = {further}."]


def _small(summary: Summary) -> list[str]:
    found, recipe = [], summary.study.recipe
    if len(recipe.seeds) == 1:
        found.append(
            "There is one seed: no interval here says what another would have done; three are a start."
        )
    elif len(recipe.seeds) == 2:
        found.append("Two seeds say little about how much seeds differ; a third narrows every interval.")
    problems = max((row.n_problems for row in summary.rows), default=FEW_PROBLEMS)
    if problems < FEW_PROBLEMS:
        found.append(f"{counted(problems, 'test problem')} are few: a gain of several points can be luck.")
    gain = summary.gain(recipe.task, summary.lam, "sampled")
    if gain is not None and gain["ci"] is not None:
        half = (gain["ci"][1] - gain["ci"][0]) / 2
        if half > WIDE:
            text = (
                f"The headline's interval reaches {percent(half)} points to either side, and smaller gains "
            )
            found.append(text + "cannot be seen here: more test problems and more seeds narrow it.")
    return found


def _cut_short(summary: Summary) -> list[str]:
    """The worst row of each accident over all tasks, arms and decodings, the base model aside."""
    found = []
    trained = [row for row in summary.rows if row.lam is not None]
    for reason, limit, words in ACCIDENTS:
        worst = max(trained, key=lambda row: row.reasons.get(reason, 0.0), default=None)
        if worst is None or worst.reasons.get(reason, 0.0) <= limit:
            continue
        arm = worst.objective if isinstance(worst.arm, str) else f"λ = {strength(worst.lam)}"
        of_what = f"the {worst.decoding} completions of {arm} on {worst.task}"
        found.append(f"{percent(worst.reasons[reason])} % of {of_what} {words}.")
    return found


def _unprotected(summary: Summary) -> list[str]:
    """What the verifier said of running programs with less than a sandbox."""
    return sorted({text for result in summary.study.results.values() for text in result.get("warnings", ())})


def _base_model(summary: Summary) -> list[str]:
    """Where fine-tuning hurt, a gain over cross-entropy may be damage avoided and not something learnt."""
    task, found = summary.study.recipe.task, []
    for decoding in ("sampled", "greedy"):
        base, baseline = (summary.row(task, lam, decoding) for lam in (None, 0.0))
        if base is not None and baseline is not None and base.mean > baseline.mean:
            found.append(
                f"The base model is better than cross-entropy ({decoding}: {percent(base.mean)} % against "
                f"{percent(baseline.mean)} %), so a gain over cross-entropy may be damage avoided: tune the "
                "learning rate and the epochs of λ = 0 first."
            )
    return found[:1]


def _versions(summary: Summary) -> list[str]:
    kinds = {tuple(sorted(result.get("versions", {}).items())) for result in summary.study.results.values()}
    text = f"Cells were run with {len(kinds)} different sets of package versions, which can differ in scores."
    return [text] if len(kinds) > 1 else []
