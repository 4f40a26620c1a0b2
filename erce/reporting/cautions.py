"""A study → what could be wrong with it: each a sentence with its number and the way out."""

from functools import lru_cache

from erce.reporting.duplicates import Pair, duplicates
from erce.reporting.format import counted, fixed, percent, strength
from erce.reporting.gains import Summary
from erce.reporting.inference import picked_on_test
from erce.reporting.searched import finalists
from erce.types import BASE_MODEL, BASELINE, Arm

FEW_PROBLEMS = 200
WIDE = 0.05  # half an interval, in fractions of 1
TOO_SLOW = (  # docs/sandbox.md: processor time, and wall time as a backstop; no setting raises either
    "most never end, and are wrong; if the machine was overloaded, delete verdicts.jsonl and result.json of "
    "those cells and run again with fewer --jobs, which judges the same completions again"
)
ACCIDENTS = (  # reason, the share of completions that is too much, what it means
    ("truncated", 0.01, "were cut off at the token limit: raise max_new_tokens in [decoding]"),
    ("timeout", 0.005, f"ran into the verifier's time limit: {TOO_SLOW}"),
    ("error", 0.0, "could not be judged, a fault of the task or the machine: its tests want a look"),
    ("opaque", 0.005, "returned objects that no other process can compare: look at a few of them"),
)


def cautions(summary: Summary) -> list[str]:
    """Empty for a study in which nothing was noticed."""
    return [
        *_unfinished(summary),
        *_uneven(summary),
        *_chosen(summary),
        *_picked(summary),
        *_narrow(summary),
        *_overlap(summary),
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
    of_all = f"{len(missing)} of {counted(len(summary.study.expected), 'cell')}"
    return [
        f"{of_all} are missing ({names}{more}): run the study to its end, every number here can still change."
    ]


def _uneven(summary: Summary) -> list[str]:
    """An arm with fewer seeds than another of its task, which is less well known and can be luckier.

    Not those that a search dropped, which it compared over the seeds they had.
    """
    compared = {*finalists(summary), *(Arm(0.0, name) for name in summary.study.recipe.objectives)}
    for task in summary.study.recipe.tasks:
        rows = [row for row in summary.rows if row.task == task and row.arm in compared]
        fewest = min(rows, key=lambda row: row.n_seeds, default=None)
        most = max(rows, key=lambda row: row.n_seeds, default=None)
        if fewest and most and fewest.n_seeds < most.n_seeds:
            few, many = counted(fewest.n_seeds, "seed"), most.n_seeds
            text = f"{fewest.arm.label} has {few} on {task} and {most.arm.label} has {many}: "
            return [text + "the row with fewer may be luck more than it looks; run the missing seeds."]
    return []


def _chosen(summary: Summary) -> list[str]:
    if summary.choice is None:
        if "validation" not in summary.no_choice:
            return []
        text = (
            "There is no validation split, so no λ can be chosen without looking at the test problems, and "
            f"the best row of the table overstates its gain{_overstated(summary)}: "
        )
        logs = summary.study.recipe.imported
        text += "import logs of them with --validation." if logs else "set n_validation in the recipe."
        return [text]
    if search := summary.study.search:
        leader = strength(search["step"]["leader"])
        text = f"λ = {leader} leads at the edge of what the search tried, and the best may lie beyond: "
        return [text + "allow more extensions and cells in [search]."] if search["step"]["at_edge"] else []
    if not summary.choice.at_edge:
        return []
    lam, further = strength(summary.lam), strength(2 * summary.choice.lam)
    return [f"The chosen λ = {lam} is the strongest tried, and the best may lie beyond: add λ = {further}."]


def _picked(summary: Summary) -> list[str]:
    """Validation chose, and another λ is better on the test problems: the reader may want that one.

    Not λ = 0, whose gain is 0 and which nobody overstates.
    """
    picked = picked_on_test(summary, "sampled") if summary.choice is not None else None
    if picked is None or picked.lam in (0, summary.lam):
        return []
    best, chosen = strength(picked.lam), strength(summary.lam)
    text = f"The best test row is λ = {best}, and validation chose λ = {chosen}: picking the best for that "
    how_much = f"would overstate its gain{_overstated(summary)}"
    return [f"{text}{how_much}; keep the chosen one, or confirm the other with new seeds."]


def _overstated(summary: Summary) -> str:
    """By how much picking on the test problems flatters, where that can be told and is not nothing."""
    picked = picked_on_test(summary, "sampled")
    if picked is None or picked.lam == 0 or picked.bias < 0.0005:
        return ""
    return f" by about {fixed(100 * picked.bias, 1)} points"


def _narrow(summary: Summary) -> list[str]:
    """What the grid and the samples are too few for."""
    found, recipe = [], summary.study.recipe
    if len(summary.study.lams) == 2:
        lams = " and ".join(strength(lam) for lam in sorted(summary.study.lams))
        found.append(
            f"The grid has two λ, {lams}: whether accuracy rises or has a peak cannot be seen; three or more "
            "show it."
        )
    if recipe.decoding.samples == 1 and summary.decoding == "sampled":
        found.append(
            "There is one sample a problem: nothing can be said of pass@k or of votes; set samples = 4 or "
            "more in [decoding]."
        )
    return found


@lru_cache(maxsize=1)
def _pairs(summary: Summary) -> list[Pair]:
    return duplicates(summary.study)


def _overlap(summary: Summary) -> list[str]:
    pairs = _pairs(summary)
    tested = len({pair.tested for pair in pairs})
    if not tested:
        return []
    ask = f"{counted(tested, 'test problem')} {'asks' if tested == 1 else 'ask'}"
    text = f"{ask} what a problem of another split asks ({pairs[0].tested} and {pairs[0].trained}): "
    return [text + "being right there can be memory; leave one of each pair out."]


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
    gain = summary.gain(recipe.task, summary.chosen, summary.decoding)
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
    trained = [row for row in summary.rows if not row.arm.is_base]
    for reason, limit, words in ACCIDENTS:
        worst = max(trained, key=lambda row: row.reasons.get(reason, 0.0), default=None)
        if worst is None or worst.reasons.get(reason, 0.0) <= limit:
            continue
        of_what = f"the {worst.decoding} completions of {worst.arm.label} on {worst.task}"
        found.append(f"{percent(worst.reasons[reason])} % of {of_what} {words}.")
    return found


def _unprotected(summary: Summary) -> list[str]:
    """What the verifier said of running programs with less than a sandbox."""
    return sorted({text for result in summary.study.results.values() for text in result.get("warnings", ())})


def _base_model(summary: Summary) -> list[str]:
    """Where fine-tuning hurt, a gain over cross-entropy may be damage avoided and not something learnt."""
    task, found = summary.study.recipe.task, []
    for decoding in ("sampled", "greedy"):
        base, baseline = (summary.row(task, arm, decoding) for arm in (BASE_MODEL, BASELINE))
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
