"""A summary → sentences that say what its numbers show, or that they show nothing."""

from erce.errors import counted
from erce.recipe.sections import OWN_ANSWERS
from erce.reporting.format import (
    fixed,
    gain_with_interval,
    interval,
    known_as,
    percent,
    strength,
)
from erce.reporting.numbers.gains import Summary
from erce.reporting.numbers.inference import LEVEL, equivalence
from erce.reporting.numbers.temperatures import TemperatureSweep, temperature_sweep
from erce.stats import Gain

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
    """Say what the study found, by subject and in reading order: "headline" first.

    Then, where the study has them: "own" (what own right answers cost), "greedy", "same" (whether
    nothing changed), "difference-sampled", "difference-greedy" and "sharpening", which says whether the
    temperature sweep explains a gain in samples or, without a sweep, that sharpening alone may explain it.
    """
    by_subject = {
        "headline": _headline(summary),
        "own": _own_sentence(summary),
    }
    if summary.chosen_penalty is not None:
        if summary.decoding != "greedy":
            opening = "With greedy decoding, one completion per problem, the same λ was right on"
            by_subject["greedy"] = _comparison(summary, "greedy", opening, "of problems")
        by_subject["same"] = equivalence_sentence(summary)
        for decoding, gain in summary.interaction.items():
            by_subject[f"difference-{decoding}"] = (
                f"{_where(decoding)} the gain minus the gain on the control {summary.study.recipe.control}, "
                f"where no gain is expected, is {gain_with_interval(gain)}"
                f"{_meaning(gain, 'the control gained more')}."
            )
        sweep = temperature_sweep(summary)
        by_subject["sharpening"] = contest_sentence(sweep) or _sharpening(summary)
    return {subject: text for subject, text in by_subject.items() if text}


def statement(summary: Summary) -> str:
    """Say in words alone whether the chosen λ gained; the headline where there is no gain to speak of."""
    gain = summary.gain(summary.task, summary.chosen_penalty, summary.decoding)
    if gain is None:
        return sentences(summary)["headline"]
    name = f"λ = {strength(summary.lam)}, chosen on validation,"
    if gain.low > 0:
        return f"{name} was right more often than {summary.baseline.objective}."
    if gain.high < 0:
        return f"{name} was right less often than {summary.baseline.objective}."
    return f"{name} differs from {summary.baseline.objective} by no more than chance explains."


def equivalence_sentence(summary: Summary) -> str:
    """Say whether the chosen λ is shown to change nothing in greedy decoding; empty where it clearly does."""
    row, same = summary.row(summary.task, summary.chosen_penalty, "greedy"), equivalence(summary, "greedy")
    if row is None or same is None or row.p_holm is None or row.p_holm <= LEVEL:
        return ""
    are = "are the same" if same.equivalent else "are not shown to be the same"
    return (
        f"{_where('greedy')} {row.arm.label} and {summary.baseline.objective} {are} within "
        f"{fixed(100 * same.margin, 0)} points (90 % interval of the gain {interval(same)}, over "
        f"{same.covers})."
    )


def contest_sentence(sweep: TemperatureSweep | None) -> str:
    """Say whether λ beats the baseline beyond temperature; empty where nothing was compared."""
    if sweep is None or sweep.contest is None:
        return ""
    contest, baseline = sweep.contest, sweep.baseline.objective
    tried = [point.temperature for point in sweep.lines[sweep.baseline]]
    name = f"λ = {strength(contest.lam)}"
    return (
        f"On the validation problems {baseline} is best at temperature {contest.baseline_temperature:g} and "
        f"{name} at {contest.temperature:g}, of {len(tried)} from {tried[0]:g} to {tried[-1]:g}. There "
        f"{name} was right in {percent(contest.mean)} % of completions of the test problems and "
        f"{baseline} in {percent(contest.baseline)} %: {gain_with_interval(contest.gain)}. "
        f"{CONTESTS[contest.finding].format(baseline=baseline)}"
    )


def of_completions(summary: Summary) -> str:
    """Return what the tables' gains are shares of."""
    return "of samples" if summary.decoding == "sampled" else "of greedy completions"


def _own_sentence(summary: Summary) -> str:
    """Say what was sampled before training, and for how many problems; empty where no arm trains on it."""
    own, study = summary.own, summary.study
    if own is None:
        return ""
    tokens = "" if own["tokens"] is None else f" ({own['tokens']:,} tokens)"
    steps = {}
    for arm in (summary.baseline, *study.recipe.other_arms):
        name = "on the given demonstrations" if arm == summary.baseline else f"as {arm.objective}"
        cells = study.cells(study.recipe.task, arm)
        if cells and arm.objective in (study.recipe.objective, *OWN_ANSWERS):
            steps[name] = f"{study.results[cells[0]]['training']['steps']:,} {name}"
    return (
        f"Before training, {own['samples']:,} samples of the base model{tokens} were generated and verified: "
        f"{own['with_one']:,} of {counted(own['problems'], 'training problem')} have an accepted one, and "
        f"self leaves out the other {own['problems'] - own['with_one']:,}. Steps of a training: "
        f"{', '.join(steps.values())}."
    )


def _headline(summary: Summary) -> str:
    choice, task = summary.choice, summary.task
    if choice is None:
        return f"No λ is chosen: {summary.no_choice}."
    if choice.lam == 0:
        return _baseline_won(summary)
    row = summary.row(task, summary.chosen, summary.decoding)
    name = known_as(summary.study.recipe.grid_arm(choice.lam))
    opening = f"λ = {strength(choice.lam)} ({name}{', ' if name else ''}chosen on validation)"
    if row is not None:
        opening = f"On the {counted(row.n_problems, 'test problem')}, {opening}"
    right = _comparison(summary, "sampled", f"{opening} was right in", "of samples") or _comparison(
        summary, "greedy", f"{opening} was right with greedy decoding on", "of problems"
    )
    return right or (
        f"{opening} has nothing to be compared with: λ = 0, {summary.baseline.objective}, has no finished "
        "cell."
    )


def _baseline_won(summary: Summary) -> str:
    choice, name, completions = summary.choice, summary.baseline.objective, of_completions(summary)
    assert choice is not None
    text = f"Validation chose λ = 0, plain {name}"
    penalty = f"λ = {strength(choice.runner_up)}"
    if choice.runner_up is not None and choice.runner_up_score is not None:
        score, best = percent(choice.score), percent(choice.runner_up_score)
        text += f": {score} % {completions} right there against {best} % for the best penalty, {penalty}"
    text += ". There is no gain to report."
    row = summary.row(summary.task, summary.baseline, summary.decoding)
    if row is None:
        return text
    problems = counted(row.n_problems, "test problem")
    return f"{text} On the {problems} {name} was right in {percent(row.mean)} % {completions}."


def _comparison(summary: Summary, decoding: str, opening: str, denominator: str) -> str:
    """Compare the chosen λ with the baseline; empty where either has no finished cell."""
    chosen, baseline = (
        summary.row(summary.task, arm, decoding) for arm in (summary.chosen, summary.baseline)
    )
    if chosen is None or baseline is None or chosen.gain is None:
        return ""
    better = f"{summary.baseline.objective} was better"
    return (
        f"{opening} {percent(chosen.mean)} % {denominator} against {percent(baseline.mean)} % "
        f"for {summary.baseline.objective}: {gain_with_interval(chosen.gain)}{_meaning(chosen.gain, better)}."
    )


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
