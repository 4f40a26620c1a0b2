"""A summary → sentences that say what its numbers show, or that they show nothing."""

from erce.errors import counted
from erce.recipe.sections import OWN_ANSWERS
from erce.reporting.format import interval, known_as, percent, points, strength, with_interval
from erce.reporting.numbers.frontier import Contest, ContestResult, Frontier, temperature_frontier
from erce.reporting.numbers.gains import Summary
from erce.reporting.words import searched
from erce.reporting.words.whole_grid import where
from erce.stats import Gain
from erce.study.run_round import EVERYTHING, NOTHING

CHANCE = ", which includes 0: no difference can be told apart from chance on problems like these"
MAYBE_CHANCE = ", which includes 0: it may be chance"


def sentences(summary: Summary) -> dict[str, str]:
    """Say what the study found, by subject and in reading order: "headline" first.

    Then, where the study has them: "search", "own" (what own right answers cost), "greedy",
    "difference-sampled", "difference-greedy" and "sharpening", which says whether the
    frontier's temperatures explain a gain in samples or, without a frontier, that sharpening alone may
    explain the gain.
    """
    if alike := all_alike(summary):
        return {"headline": alike}
    by_subject = {"headline": _headline(summary)}
    if search := searched.search_sentence(summary):
        by_subject["search"] = search
    if own := own_sentence(summary):
        by_subject["own"] = own
    if summary.lam is None or summary.lam == 0:
        return by_subject
    recipe = summary.study.recipe
    if summary.decoding != "greedy":
        opening = "With greedy decoding, one completion a problem, the same λ was right on"
        by_subject["greedy"] = _comparison(summary, "greedy", opening, "of problems")
    for decoding, gain in summary.interaction.items():
        by_subject[f"difference-{decoding}"] = (
            f"{where(decoding)} the gain minus the gain on the control {recipe.control}, where no gain is "
            f"expected, is {with_interval(gain)}{_judgement(gain, 'the control gained more')}."
        )
    by_subject["sharpening"] = frontier_sentence(temperature_frontier(summary)) or _sharpening(summary)
    return {subject: text for subject, text in by_subject.items() if text}


def own_sentence(summary: Summary) -> str:
    """Say what was sampled before training, and on how many problems; empty where no arm trains on it."""
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


def statement(summary: Summary) -> str:
    """Say in words alone whether the chosen λ gained; the headline where there is no gain to speak of."""
    gain = summary.gain(summary.study.recipe.task, summary.chosen_penalty, summary.decoding)
    if gain is None or all_alike(summary):
        return sentences(summary)["headline"]
    name = f"λ = {strength(summary.lam)}, chosen on validation,"
    if gain.gain.low > 0:
        return f"{name} was right more often than {summary.baseline_name}."
    if gain.gain.high < 0:
        return f"{name} was right less often than {summary.baseline_name}."
    return f"{name} differs from {summary.baseline_name} by no more than chance explains."


def all_alike(summary: Summary) -> str:
    """Say that nothing was right on the study's own task, or everything; empty for any other study."""
    rows = [row for row in summary.rows if row.task == summary.study.recipe.task]
    means = {row.mean for row in rows}
    if all(row.arm.is_base for row in rows) or len(means) > 1 or not means <= {0.0, 1.0}:
        return ""
    text = EVERYTHING if means == {1.0} else NOTHING
    problems = counted(max(row.n_problems for row in rows), "test problem")
    return f"On the {problems} {text}. There is no gain to report."


def _headline(summary: Summary) -> str:
    choice, task = summary.choice, summary.study.recipe.task
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
        f"{opening} has nothing to be compared with: λ = 0, {summary.baseline_name}, has no finished cell."
    )


def _baseline_won(summary: Summary) -> str:
    choice, task = summary.choice, summary.study.recipe.task
    assert choice is not None
    led = searched.not_proven(summary)
    text = led or f"Validation chose λ = 0, plain {summary.baseline_name}"
    if not led and choice.runner_up is not None and choice.runner_up_score is not None:
        text += (
            f": {percent(choice.score)} % {_denominator(summary)} right there against "
            f"{percent(choice.runner_up_score)} % for the best penalty, λ = {strength(choice.runner_up)}"
        )
    row = summary.row(task, summary.baseline, summary.decoding)
    on_test = ""
    if row is not None:
        problems = counted(row.n_problems, "test problem")
        on_test = (
            f" On the {problems} {summary.baseline_name} was right in {percent(row.mean)} % "
            f"{_denominator(summary)}"
        )
        runner_up = summary.study.recipe.grid_arm(choice.runner_up) if led and choice.runner_up else None
        arm_gain = summary.gain(task, runner_up, summary.decoding)
        if arm_gain is not None:
            on_test += f" and λ = {strength(choice.runner_up)} in {percent(arm_gain.mean)} %"
            on_test += f": {with_interval(arm_gain.gain)}"
        on_test += "."
    return f"{text}. There is no gain to report.{on_test}"


def _denominator(summary: Summary) -> str:
    return "of samples" if summary.decoding == "sampled" else "of greedy completions"


def _comparison(summary: Summary, decoding: str, opening: str, denominator: str) -> str:
    """Compare the chosen λ with the baseline; empty where either has no finished cell."""
    arm_gain = summary.gain(summary.study.recipe.task, summary.chosen, decoding)
    if arm_gain is None:
        return ""
    better = f"{summary.baseline_name} was better"
    judgement = _judgement(arm_gain.gain, better, CHANCE if decoding == "sampled" else MAYBE_CHANCE)
    return (
        f"{opening} {percent(arm_gain.mean)} % {denominator} against {percent(arm_gain.baseline)} % "
        f"for {summary.baseline_name}: {with_interval(arm_gain.gain)}{judgement}."
    )


def _judgement(gain: Gain, when_negative: str, when_unclear: str = MAYBE_CHANCE) -> str:
    if gain.low > 0:
        return ""
    return f"; {when_negative}" if gain.high < 0 else when_unclear


def _sharpening(summary: Summary) -> str:
    """Say that sharpening alone may explain a sampled gain, and whether greedy decoding and control agree.

    Empty without a sampled gain, and for λ < 0, which does not sharpen.
    """
    recipe = summary.study.recipe
    if (summary.lam or 0) < 0 or not _gained(summary, recipe.task, "sampled"):
        return ""
    text = (
        f"Samples were drawn at one temperature, {recipe.decoding.temperature:g}. Sharpening alone, which "
        "leaves greedy decoding as it was, makes samples right more often at a fixed temperature."
    )
    greedy = summary.gain(recipe.task, summary.chosen, "greedy")
    if _gained(summary, recipe.task, "greedy"):
        text += " Greedy decoding gained too, so sharpening is not all there is."
    elif greedy is not None:
        lost = "Greedy decoding lost" if greedy.gain.high < 0 else "No gain was shown in greedy decoding"
        text += f" {lost}, so sharpening may be all there is."
    if recipe.control is not None and _gained(summary, recipe.control, "sampled"):
        text += " The control gained in samples as well, as sharpening alone would have it."
    return text


def _gained(summary: Summary, task: str, decoding: str) -> bool:
    """Tell whether the chosen λ gained: its interval lies above 0."""
    gain = summary.gain(task, summary.chosen, decoding)
    return gain is not None and gain.gain.low > 0


def frontier_sentence(frontier: Frontier | None) -> str:
    """Say whether λ beats the baseline beyond temperature; empty where nothing was compared."""
    if frontier is None or frontier.contest is None:
        return ""
    contest = frontier.contest
    tried = [point.temperature for point in frontier.lines[frontier.baseline]]
    baseline = frontier.baseline.objective
    name = f"λ = {strength(contest.lam)}"
    return (
        f"On the validation problems {baseline} is best at temperature {contest.baseline_temperature:g} and "
        f"{name} at {contest.temperature:g}, of {len(tried)} from {tried[0]:g} to {tried[-1]:g}. There "
        f"{name} was right in {percent(contest.mean)} % of completions of the test problems and "
        f"{baseline} in {percent(contest.baseline)} %: {with_interval(contest.gain)}. "
        f"{_VERDICTS[contest.finding].format(baseline=baseline)}{_in_hindsight(contest, baseline)}"
    )


_VERDICTS = {
    ContestResult.BETTER: "So the penalty beats {baseline} beyond temperature.",
    ContestResult.WORSE: (
        "So the penalty does not beat {baseline} beyond temperature: at its own best temperature "
        "{baseline} is better."
    ),
    ContestResult.UNCLEAR: (
        "The interval includes 0, so nothing shows that the penalty beats {baseline} beyond temperature: a "
        "gain at one temperature may be temperature alone."
    ),
}


def _in_hindsight(contest: Contest, baseline: str) -> str:
    """Warn of a gain that depends on the temperature that validation chose for λ = 0; else empty."""
    if contest.finding != ContestResult.BETTER or contest.hindsight.low > 0:
        return ""
    return (
        f" But that hangs on the temperature which validation chose for {baseline}: at "
        f"{contest.hindsight_temperature:g}, its best on the test problems, the gain is "
        f"{points(contest.hindsight.gain)} points, {interval(contest.hindsight)}; more validation problems, "
        "or more samples at each temperature, would settle it."
    )
