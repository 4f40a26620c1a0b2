"""Numbers → the sentences that say what they mean, also where they mean nothing."""

from typing import Any

from erce.reporting import searched
from erce.reporting.format import counted, known_as, percent, strength, with_interval
from erce.reporting.frontier import sentence as only_temperature
from erce.reporting.frontier import temperature_frontier
from erce.reporting.gains import Summary
from erce.reporting.several import sentence as together
from erce.types import BASELINE, Arm

CHANCE = ", which includes 0: no difference can be told apart from chance on problems like these"
MAYBE_CHANCE = ", which includes 0: it may be chance"


def sentences(summary: Summary) -> dict[str, str]:
    """What the study found, by subject and in reading order: "headline" first.

    Then, where the study has them: "search", "greedy", "several", "control-sampled", "control-greedy",
    "difference-sampled", "difference-greedy", and "sharpening": what the temperatures of the frontier show of
    a sampled gain or, without them, the caution that it needs.
    """
    found = {"headline": _headline(summary)}
    if search := searched.sentence(summary):
        found["search"] = search
    if summary.lam is None or summary.lam == 0:
        return found
    recipe = summary.study.recipe
    if summary.decoding != "greedy":
        opening = "With greedy decoding, one completion a problem, the same λ"
        found["greedy"] = _greedy(summary, recipe.task, opening)
    found["several"] = together(summary)
    if recipe.control is not None:
        found["control-sampled"] = _sampled(
            summary,
            recipe.control,
            f"On the control {recipe.control}, where the mechanism predicts no gain, the same λ",
        )
        found["control-greedy"] = _greedy(summary, recipe.control, "On the control with greedy decoding it")
    found |= {f"difference-{each['decoding']}": _difference(each) for each in summary.interaction}
    found["sharpening"] = only_temperature(temperature_frontier(summary)) or _sharpening(summary)
    return {subject: text for subject, text in found.items() if text}


def _headline(summary: Summary) -> str:
    choice, task = summary.choice, summary.study.recipe.task
    if choice is None:
        return f"No λ is chosen: {summary.no_choice}."
    if choice.lam == 0:
        return _cross_entropy_won(summary)
    row = summary.row(task, summary.chosen, summary.decoding)
    name = f"{known_as(Arm(choice.lam))}, " if choice.lam < 0 else ""
    opening = f"λ = {strength(choice.lam)} ({name}chosen on validation)"
    if row is not None:
        opening = f"On the {counted(row.n_problems, 'test problem')}, {opening}"
    right = _sampled(summary, task, opening) or _comparison(
        summary, task, "greedy", f"{opening} was right with greedy decoding on", "of problems"
    )
    return right or (
        f"{opening} has nothing to be compared with: λ = 0, cross-entropy, has no finished cell."
    )


def _cross_entropy_won(summary: Summary) -> str:
    choice, task = summary.choice, summary.study.recipe.task
    assert choice is not None
    led = searched.not_proven(summary)
    text = led or "Validation chose λ = 0, plain cross-entropy"
    if not led and choice.runner_up is not None and choice.runner_up_score is not None:
        text += (
            f": {percent(choice.score)} % {_of(summary)} right there against "
            f"{percent(choice.runner_up_score)} % for the best penalty, λ = {strength(choice.runner_up)}"
        )
    row = summary.row(task, BASELINE, summary.decoding)
    on_test = ""
    if row is not None:
        problems = counted(row.n_problems, "test problem")
        on_test = f" On the {problems} cross-entropy was right in {percent(row.mean)} % {_of(summary)}"
        entry = summary.gain(task, Arm(choice.runner_up), summary.decoding) if led else None
        if entry is not None and entry["gain"] is not None:
            on_test += f" and λ = {strength(choice.runner_up)} in {percent(entry['mean'])} %"
            on_test += f": {_with_interval(entry)}"
        on_test += "."
    return f"{text}. There is no gain to report.{on_test}"


def _of(summary: Summary) -> str:
    return "of samples" if summary.decoding == "sampled" else "of greedy completions"


def _sampled(summary: Summary, task: str, opening: str) -> str:
    return _comparison(summary, task, "sampled", f"{opening} was right in", "of samples")


def _greedy(summary: Summary, task: str, opening: str) -> str:
    return _comparison(summary, task, "greedy", f"{opening} was right on", "of problems")


def _comparison(summary: Summary, task: str, decoding: str, opening: str, of_what: str) -> str:
    """Empty where the cells that it compares are not done."""
    gain = summary.gain(task, summary.chosen, decoding)
    if gain is None or gain["gain"] is None:
        return ""
    headline = task == summary.study.recipe.task and decoding == "sampled"
    judgement = _judgement(gain, "cross-entropy was better", CHANCE if headline else MAYBE_CHANCE)
    return (
        f"{opening} {percent(gain['mean'])} % {of_what} against {percent(gain['baseline'])} % "
        f"for cross-entropy: {_with_interval(gain)}{judgement}."
    )


def _difference(entry: dict[str, Any]) -> str:
    where = "In samples" if entry["decoding"] == "sampled" else "With greedy decoding"
    return (
        f"{where} the gain minus the control's gain is {_with_interval(entry)}"
        f"{_judgement(entry, 'the control gained more')}."
    )


def _with_interval(entry: dict[str, Any]) -> str:
    return with_interval(entry["gain"], entry["ci"], entry["covers"])


def _judgement(entry: dict[str, Any], when_negative: str, when_unclear: str = MAYBE_CHANCE) -> str:
    low, high = entry["ci"]
    if low > 0:
        return ""
    return f"; {when_negative}" if high < 0 else when_unclear


def _sharpening(summary: Summary) -> str:
    """What a sampled gain does not show by itself, and what greedy decoding and the control say to it.

    Nothing for λ < 0, which does not sharpen.
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
    elif greedy is not None and greedy["ci"] is not None:
        lost = "lost" if greedy["ci"][1] < 0 else "did not gain"
        text += f" Greedy decoding {lost}, so sharpening may be all there is."
    if recipe.control is not None and _gained(summary, recipe.control, "sampled"):
        text += " The control gained in samples as well, as sharpening alone would have it."
    return text


def _gained(summary: Summary, task: str, decoding: str) -> bool:
    """Whether the interval lies above 0."""
    gain = summary.gain(task, summary.chosen, decoding)
    return gain is not None and gain["ci"] is not None and gain["ci"][0] > 0
