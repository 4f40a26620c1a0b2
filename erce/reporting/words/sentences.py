"""A summary → sentences that say what its numbers show, or that they show nothing."""

from erce.errors import counted
from erce.recipe import SELF
from erce.recipe.sections import OWN_ANSWERS
from erce.reporting.format import (
    fixed,
    gain_with_interval,
    interval,
    known_as,
    percent,
    points,
    sentence_label,
    strength,
)
from erce.reporting.numbers.gains import Summary, TableRow
from erce.reporting.numbers.k_samples import sample_coverage
from erce.reporting.numbers.temperatures import TemperatureSweep, temperature_sweep
from erce.reporting.numbers.verdict import MARGIN, Cheaper, Preference, preferences, usable_for_both
from erce.stats import Gain
from erce.types import BASE_MODEL, Arm

FOR = {"greedy": "for greedy decoding", "sampled": "for samples"}
NARROWEST = 0.0005  # that a widening is said of: less is 0.0 points
CONTESTS = {  # by `Contest.finding`
    "better": "So the penalty beats {baseline} beyond temperature.",
    "worse": (
        "So the penalty does not beat {baseline} beyond temperature: at its own best temperature "
        "{baseline} is better."
    ),
    "unclear": (
        "The interval includes 0, so nothing shows that the penalty beats {baseline} beyond temperature: a "
        "gain at one temperature may be temperature alone."
    ),
}


def sentences(summary: Summary) -> dict[str, str]:
    """Say what the study found, by subject and in reading order: "verdict", the arm to use, comes first.

    Then, where the study has them: "greedy" and "sampled" (the arm that validation prefers, its gains and
    cost), "choosing" (what the intervals cover), "own" (what was sampled before training),
    "difference-sampled", "difference-greedy" and "sharpening", which says whether the temperature sweep
    explains a gain in samples or, without a sweep, that sharpening alone may.
    """
    by_subject = {"verdict": _verdict(summary)}
    by_subject |= {decoding: _preferred(summary, found) for decoding, found in preferences(summary).items()}
    by_subject |= {"choosing": _choosing(summary), "own": _own_sentence(summary)}
    if summary.chosen_penalty is not None:
        for decoding, gain in summary.interaction.items():
            by_subject[f"difference-{decoding}"] = (
                f"{_where(decoding)} the gain minus the gain on the control {summary.study.recipe.control}, "
                f"where no gain is expected, is {gain_with_interval(gain)}"
                f"{_meaning(gain, 'the control gained more')}."
            )
        sweep = temperature_sweep(summary)
        by_subject["sharpening"] = contest_sentence(sweep) or _sharpening(summary)
    return {subject: text for subject, text in by_subject.items() if text}


def contest_sentence(sweep: TemperatureSweep | None) -> str:
    """Say whether λ beats the baseline beyond temperature; empty where nothing was compared."""
    if sweep is None or sweep.contest is None:
        return ""
    contest, baseline = sweep.contest, sweep.baseline.objective
    tried = [point.temperature for point in sweep.lines[sweep.baseline]]
    name = f"λ = {strength(contest.lam)}"
    return (
        f"Of the temperatures {', '.join(f'{each:g}' for each in tried)} validation prefers "
        f"{contest.baseline_temperature:g} for {baseline} and {contest.temperature:g} for {name}. There "
        f"{name} was right in {percent(contest.mean)} % of completions of the test problems and "
        f"{baseline} in {percent(contest.baseline)} %: {gain_with_interval(contest.gain)}. "
        f"{CONTESTS[contest.finding].format(baseline=baseline)}"
    )


def exploration_sentences(summary: Summary) -> list[str]:
    """Name each arm that has more right samples than λ = 0 and yet fewer problems that GRPO learns from."""
    coverage, zero = sample_coverage(summary), summary.row(summary.task, summary.baseline, "sampled")
    if coverage is None or zero is None:
        return []
    mixed, baseline = coverage.mixed, summary.baseline
    return [
        f"{_name(row.arm, baseline)} has more right samples than {_name(baseline, baseline)} "
        f"({percent(row.mean)} % against {percent(zero.mean)} %) but fewer mixed problems "
        f"({percent(mixed[row.arm])} % against {percent(mixed[baseline])} %)."
        for row in summary.compared("sampled")
        if row.mean > zero.mean and mixed[row.arm] < mixed[baseline]
    ]


def of_completions(summary: Summary) -> str:
    """Return what the tables' gains are shares of."""
    return "of samples" if summary.decoding == "sampled" else "of greedy completions"


def _own_sentence(summary: Summary) -> str:
    """Say what was sampled before training, and for how many problems; empty where no arm trains on it."""
    own = summary.own
    if own is None:
        return ""
    tokens = "" if own["tokens"] is None else f" ({own['tokens']:,} tokens)"
    settings, whose, each = summary.study.recipe.own_samples, "the base model", ""
    if settings.adapter is not None:
        whose = "the base model with an adapter"
    elif settings.lam is not None:
        whose = f"the models of {summary.study.recipe.grid_arm(settings.lam).label}"
        each = f", over {counted(own['sets'], 'seed')}"
    return (
        f"Before training, {own['samples']:,} samples of {whose}{tokens} were generated and verified: "
        f"{own['with_one']:,} of {counted(own['problems'], 'training problem')}{each} have an accepted one, "
        f"and self leaves out the other {own['problems'] - own['with_one']:,}. "
        "self trains on the accepted ones alone, rft on them and the given demonstrations."
    )


def _verdict(summary: Summary) -> str:
    """Say which arm to use, in one line."""
    found, baseline, missing = preferences(summary), summary.baseline, summary.study.missing
    if not found:
        return f"No arm is chosen: {summary.no_choice}."
    uses: dict[Arm, list[str]] = {}
    for decoding, one in found.items():
        uses.setdefault(one.use, []).append(FOR[decoding])
    named = [f"{_name(arm, baseline)} {' and '.join(where)}" for arm, where in uses.items()]
    text = f"Use {' and '.join(named)}"
    if list(uses) == [BASE_MODEL]:
        text += ": no trained arm is shown to be better"
    if (both := usable_for_both(summary)) is not None:
        [other] = [where[0] for arm, where in uses.items() if arm != both]
        text += f". One for both: {_name(both, baseline)}, not shown to be worse {other}"
    of_all = f"{len(missing)} of {counted(len(summary.study.expected), 'cell')}"
    return text + (f". So far, with {of_all} missing." if missing else ".")


def _preferred(summary: Summary, found: Preference) -> str:
    """Say which arm validation prefers, what it gains on test and costs, and whether a cheaper one does."""
    row, baseline = found.row, summary.baseline
    name = "the base model" if row.arm.is_base else in_words(summary, row.arm)
    arms = f", of {counted(len(found.scores), 'arm')}" if len(found.scores) > 1 else ""
    right = "in {} % of samples of" if row.decoding == "sampled" else "on {} % of"
    over = {"the base model": found.over_base, sentence_label(baseline, baseline): found.over_baseline}
    gains = [
        f"{points(gain.gain)} points over {name} ({interval(gain)})"
        for name, gain in over.items()
        if gain is not None
    ]
    text = (
        f"{_where(row.decoding)} validation prefers {name}{arms}: right "
        f"{right.format(percent(row.mean))} the {counted(row.n_problems, 'test problem')}"
        f"{', ' if gains else ''}{' and '.join(gains)}."
    )
    if found.over_base is not None and found.over_base.low <= 0:
        worse = found.over_base.high < 0
        text += f" So it is {'worse than' if worse else 'not shown to be better than'} the base model."
    if not row.arm.is_base and (cost := cost_in_words(row)):
        text += f" It takes {cost}."
    return text + (f" {_cheaper(found.cheaper, baseline)}" if found.cheaper and found.use == row.arm else "")


def _cheaper(cheaper: Cheaper, baseline: Arm) -> str:
    margin = f"as good within {fixed(100 * MARGIN, 0)} points"
    return (
        f"Cheaper is {_name(cheaper.row.arm, baseline)} ({cost_in_words(cheaper.row)}): the gain "
        f"over it is {points(cheaper.gain.gain)} points ({interval(cheaper.gain)}), so it is "
        f"{margin if cheaper.is_as_good else 'not shown to be worse'}."
    )


def _name(arm: Arm, baseline: Arm) -> str:
    return f"the {arm.label}" if arm.is_base else sentence_label(arm, baseline)


def _choosing(summary: Summary) -> str:
    """Say what the intervals of the gains above cover, and what choosing among several arms costs."""
    found = preferences(summary).values()
    gains = [gain for one in found for gain in (one.over_base, one.over_baseline) if gain is not None]
    if not gains:
        return ""
    alone = "problems alone; other seeds may differ"
    covers = {"problems": alone, "problems and seeds": "problems and seeds"}
    covered = [text for name, text in covers.items() if name in {gain.covers for gain in gains}]
    text = f"These 95 % intervals are over {covered[-1]}."
    widening = max(one.widening for one in found)
    if widening < NARROWEST:
        return text
    arms = counted(max(len(one.scores) for one in found), "arm")
    return (
        f"{text} They allow for choosing the best of {arms}, which adds {points(widening)[1:]} points a side."
    )


def in_words(summary: Summary, arm: Arm) -> str:
    """Return an arm's name with what it is, where the name alone does not say it."""
    meaning = known_as(arm, summary.baseline)
    if arm.is_base:
        meaning = "not trained"
    elif summary.own and arm.objective in OWN_ANSWERS:
        meaning = "own right answers " + ("alone" if arm.objective == SELF else "beside the given ones")
    return sentence_label(arm, summary.baseline) + (f" ({meaning})" if meaning else "")


def cost_in_words(row: TableRow) -> str:
    """Return what an arm takes: steps of a training, and the tokens that are sampled before it."""
    if row.arm.is_base:
        return "no training"
    steps = "" if row.steps is None else counted(row.steps, "training step")
    tokens = f"{row.sampled_before:,} tokens sampled before training" if row.sampled_before else ""
    return " and ".join(filter(None, [steps, tokens]))


def _meaning(gain: Gain, when_negative: str) -> str:
    if gain.low > 0:
        return ""
    return f"; {when_negative}" if gain.high < 0 else ", which includes 0: it may be chance"


def _sharpening(summary: Summary) -> str:
    """Say that sharpening alone may explain a sampled gain, and whether greedy decoding and control agree.

    Empty without a sampled gain, and for λ < 0, which does not sharpen.
    """
    recipe = summary.study.recipe
    if (summary.lam or 0) < 0 or not _gained(summary, recipe.task, "sampled"):
        return ""
    text = (
        f"Samples were generated at one temperature, {recipe.decoding.temperature:g}. Sharpening alone, "
        "which leaves greedy decoding as it was, makes samples right more often at a fixed temperature."
    )
    greedy = summary.gain(recipe.task, summary.chosen, "greedy")
    if _gained(summary, recipe.task, "greedy"):
        text += " Greedy decoding gained too, so sharpening is not all there is."
    elif greedy is not None:
        lost = "Greedy decoding lost" if greedy.high < 0 else "No gain was shown in greedy decoding"
        text += f" {lost}, so sharpening may be all there is."
    if recipe.control is not None and _gained(summary, recipe.control, "sampled"):
        text += " The control gained in samples as well, as sharpening alone would have it."
    return text


def _gained(summary: Summary, task: str, decoding: str) -> bool:
    """Tell whether the chosen λ gained: its interval lies above 0."""
    gain = summary.gain(task, summary.chosen, decoding)
    return gain is not None and gain.low > 0


def _where(decoding: str) -> str:
    return "In samples" if decoding == "sampled" else "With greedy decoding"
