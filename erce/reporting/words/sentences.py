"""A summary → sentences that say what its numbers show, or that they show nothing."""

from erce.errors import counted
from erce.recipe import SELF
from erce.recipe.sections import OWN_METHODS
from erce.reporting.format import fixed, gain_with_interval, interval, listed, percent, points, strength
from erce.reporting.numbers.gains import Summary, TableRow
from erce.reporting.numbers.temperatures import arm_in_question, rivals, temperature_sweep
from erce.reporting.numbers.verdict import MARGIN, Preference, costs_less, preferences, usable_for_both
from erce.stats import Gain
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

FOR = {"greedy": "for greedy decoding", "sampled": "for samples"}
NARROWEST = 0.0005  # that a widening is said of: less is 0.0 points
CONTESTS = {  # by `Contest.finding`; the rivals stand with the gain over them
    "better": "So the gain over {rivals} is not of temperature alone.",
    "unclear": "The gain over {rivals} may be of temperature alone, as its interval includes 0.",
    "worse": "It is worse than {rivals} at the best temperature.",
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
    for decoding, gain in summary.interaction.items():
        assert summary.chosen is not None  # or there is no interaction
        by_subject[f"difference-{decoding}"] = (
            f"{_where(decoding)} the gain of {summary.name(summary.chosen)} minus that on the control "
            f"{summary.study.recipe.control}, where no gain is expected, is {gain_with_interval(gain)}"
            f"{_meaning(gain, 'the control gained more')}."
        )
    by_subject["sharpening"] = contest_sentence(summary) or _sharpening(summary)
    return {subject: text for subject, text in by_subject.items() if text}


def contest_sentence(summary: Summary) -> str:
    """Say whether an arm beats the base model and λ = 0 beyond temperature; empty where none was compared."""
    sweep = temperature_sweep(summary)
    if sweep is None or not sweep.contests:
        return ""
    first, name = sweep.contests[0], summary.name(sweep.contests[0].arm)
    others, by_finding = [], {}
    for contest in sweep.contests:
        rival, gain = in_sentence(summary, contest.rival), contest.gain
        others.append(f"{rival} ({contest.rival_temperature:g}) in {percent(contest.rival_mean)} %")
        gained = f"{rival} ({points(gain.gain)} points, {interval(gain)})"
        by_finding.setdefault(contest.finding, []).append(gained)
    found = [CONTESTS[one].format(rivals=listed(by_finding[one])) for one in CONTESTS if one in by_finding]
    return (
        f"With each arm at the temperature that validation prefers, {name} (temperature "
        f"{first.temperature:g}) is right in {percent(first.mean)} % of completions of the test "
        f"problems, {listed(others)}. {' '.join(found)}"
    )


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
        whose = f"the models of {summary.name(summary.study.recipe.grid_arm(settings.lam))}"
        each = f", over {counted(own['sets'], 'seed')}"
    return (
        f"Before training, {own['samples']:,} samples of {whose}{tokens} were generated and verified: "
        f"{own['with_one']:,} of {counted(own['problems'], 'training problem')}{each} have an accepted one, "
        f"and self leaves out the other {own['problems'] - own['with_one']:,}. "
        f"self trains on them alone, on at most {settings.keep} different ones of a problem; rft on the "
        "demonstrations and on those of them that differ from these."
    )


def _verdict(summary: Summary) -> str:
    """Say which arm to use, in a line or two: one for both decodings where the test problems allow it."""
    found, missing = preferences(summary), summary.study.missing
    if not found:
        return f"No arm is chosen: {summary.no_choice}."
    uses: dict[Arm, list[str]] = {}
    for decoding, one in found.items():
        uses.setdefault(one.use, []).append(FOR[decoding])
    both = usable_for_both(summary)
    if both is not None:
        [other] = [one for one in found.values() if one.use != both]
        text = f"Use {in_words(summary, both)}. {_where(other.row.decoding)} {_unlike(summary, other, both)}"
    else:
        named = [f"{_called(summary, arm)} {' and '.join(where)}" for arm, where in uses.items()]
        text = f"Use {' and '.join(named)}"
    if list(uses) == [BASE_MODEL]:
        text += ": nothing that validation prefers is shown to be better"
    of_all = f"{len(missing)} of {counted(len(summary.study.planned), 'cell')}"
    return text + (f". So far, with {of_all} unfinished." if missing else ".")


def _unlike(summary: Summary, found: Preference, arm: Arm) -> str:
    """Say why an arm is to be used under a decoding for which validation does not prefer it."""
    name, row = in_sentence(summary, found.arm), summary.row(summary.task, arm, found.row.decoding)
    if found.use != found.arm:
        shown = f"not shown to be better than the base model, nor {summary.name(arm)} to be worse"
        return f"validation prefers {name}, which is {shown}"
    cost = ", which costs less" if row is not None and costs_less(found.row, row) else ""
    return f"validation prefers {name}{cost}; the test problems do not show it to be better"


def _called(summary: Summary, arm: Arm) -> str:
    return in_sentence(summary, arm) if arm.is_base else in_words(summary, arm)


def _preferred(summary: Summary, found: Preference) -> str:
    """Say which arm validation prefers, what it gains on test and costs, and whether a cheaper one does."""
    row, name, next_best = found.row, in_sentence(summary, found.arm), found.next_best
    cheaper = [found.cheaper.row.arm] if found.cheaper else []
    right = (
        f"in {percent(row.mean)} % of samples" if row.decoding == "sampled" else f"on {percent(row.mean)} %"
    )
    arms, scores = "", f"{percent(found.scores[row.arm])} % right"
    if found.n_validation is not None:
        scores += f" on {counted(found.n_validation, 'problem')}"
    if next_best:
        arms = f", of {counted(len(found.scores), 'arm')}"
        names = listed([in_sentence(summary, arm) for arm in next_best])
        scores += f"; next {names}, {percent(found.scores[next_best[0]])} %"
    gains = [
        f"{points(found.over[arm].gain)} {'over' if found.over[arm].gain > 0 else 'against'} "
        f"{in_sentence(summary, arm)} ({interval(found.over[arm])})"
        for arm in dict.fromkeys((BASE_MODEL, summary.baseline, *next_best, *cheaper))
        if arm in found.over
    ]
    in_points = f"; in points, with the 95 % interval, {', '.join(gains)}" if gains else ""
    text = (
        f"{_where(row.decoding)} validation prefers {name}{arms} ({scores}). On the "
        f"{counted(row.n_problems, 'test problem')} it is right {right}{in_points}."
    )
    if found.over_base is not None and found.over_base.low <= 0:
        worse = found.over_base.high < 0
        text += f" So it is {'worse than' if worse else 'not shown to be better than'} the base model."
    if row.arm.is_base:
        return text
    if cost := _cost(summary, row):
        text += f" It takes {cost}."
    return text + _cheaper(summary, found) if found.use == row.arm else text


def _cheaper(summary: Summary, found: Preference) -> str:
    """Name a cheaper arm, unless it is an end that is said to be worse already."""
    cheaper = found.cheaper
    is_worse = cheaper is not None and cheaper.gain.low > 0 and not cheaper.is_as_good
    if cheaper is None or (is_worse and cheaper.row.arm in (BASE_MODEL, summary.baseline)):
        return ""
    named = f"{in_sentence(summary, cheaper.row.arm)} ({_cost(summary, cheaper.row)})"
    if is_worse:
        return f" Every cheaper arm is worse, such as {named}."
    finding = (
        f"as good within {fixed(100 * MARGIN, 0)} points" if cheaper.is_as_good else "not shown to be worse"
    )
    return f" Cheaper is {named}, and {finding}."


def in_sentence(summary: Summary, arm: Arm) -> str:
    """Return the arm's name as a sentence has it: with the article that "base model" needs."""
    return f"the {summary.name(arm)}" if arm.is_base else summary.name(arm)


def _choosing(summary: Summary) -> str:
    """Say what the intervals of the gains above cover, and what choosing among several arms costs."""
    found = preferences(summary).values()
    gains = [gain for one in found for gain in (one.over_base, one.over_baseline) if gain is not None]
    if not gains:
        return ""
    alone = "problems alone; other seeds may differ"
    covers = {"problems and seeds": "problems and seeds", "problems": alone}
    covered = [text for name, text in covers.items() if name in {gain.covers for gain in gains}]
    text = f"These 95 % intervals are over {', or over '.join(covered)}."
    widening = max(one.widening for one in found)
    if widening < NARROWEST:
        return text
    arms = counted(max(len(one.scores) for one in found), "arm")
    return (
        f"{text} The choice among {arms} was made on other problems, but of the same trained models: the "
        f"intervals allow for that, which makes them at most {points(widening)[1:]} points wider a side."
    )


def in_words(summary: Summary, arm: Arm) -> str:
    """Return an arm's name with what it is, where the name alone does not say it."""
    meaning = ""
    if arm.is_base:
        meaning = "not trained"
    elif summary.own and arm.method in OWN_METHODS:
        meaning = "trained on own right answers" + " and the demonstrations" * (arm.method != SELF)
        meaning += f", λ = {strength(arm.lam)}" if arm.lam else ""
    elif arm.method == CROSS_ENTROPY:
        meaning = "confidence penalty" if (arm.lam or 0) < 0 else "" if arm.lam else CROSS_ENTROPY
    name = summary.name(arm)
    return f"{name} ({meaning})" if meaning and meaning != name else name


def _cost(summary: Summary, row: TableRow) -> str:
    """Return what an arm takes: steps of training, and the tokens that are sampled before it."""
    if row.arm.is_base:
        return "no training"
    steps = "" if row.steps is None else counted(row.steps, "training step")
    tokens = f"{row.sampled_before:,} tokens sampled before training" if row.sampled_before else ""
    sharing = [arm for arm in summary.arms(row.task) if arm.method in OWN_METHODS] if tokens else []
    if len(sharing) > 1:
        tokens += f" (once for {listed([*map(summary.name, sharing)])} together)"
    return " and ".join(filter(None, [steps, tokens]))


def _meaning(gain: Gain, when_negative: str) -> str:
    if gain.low > 0:
        return ""
    return f"; {when_negative}" if gain.high < 0 else ", which includes 0: it may be chance"


def temperature_doubts(summary: Summary) -> list[str]:
    """Say over which arms the gain of the arm to use may be of temperature alone: one sentence, or none."""
    sweep, arm = temperature_sweep(summary), arm_in_question(summary)
    beyond = _gained(summary, arm, "greedy")
    if sweep is not None and sweep.contests:
        beyond = [contest.rival for contest in sweep.contests if contest.finding == "better"]
    doubted = [in_sentence(summary, other) for other in _sharpened(summary, arm) if other not in beyond]
    if arm is None or not doubted:
        return []
    over = listed(doubted)
    return [f"The gain of {summary.name(arm)} over {over} in samples may be of temperature alone."]


def _sharpening(summary: Summary) -> str:
    """Say where sharpening alone may explain the sampled gain of the arm to use, by its greedy decoding."""
    arm = arm_in_question(summary)
    gained = _sharpened(summary, arm)
    if not gained:
        return ""
    text = (
        f"Samples were generated at one temperature, {summary.study.recipe.decoding.temperature:g}. "
        "Sharpening alone, which leaves greedy decoding as it was, makes samples right more often at a fixed "
        "temperature."
    )
    too = [in_sentence(summary, other) for other in _gained(summary, arm, "greedy") if other in gained]
    if too:
        text += f" Greedy decoding gained over {listed(too)} too, so sharpening is not all there is."
    return " ".join([text, *temperature_doubts(summary)])


def _sharpened(summary: Summary, arm: Arm | None) -> list[Arm]:
    """Return which of base model and λ = 0 an arm gains over in samples; none for λ < 0: no sharpening."""
    return [] if arm is None or (arm.lam or 0) < 0 else _gained(summary, arm, "sampled")


def _gained(summary: Summary, arm: Arm | None, decoding: str) -> list[Arm]:
    """Return over which of its `rivals` the arm is shown to be better."""
    if arm is None:
        return []
    row, found = summary.row(summary.task, arm, decoding), preferences(summary).get(decoding)
    shown = {} if row is None else {BASE_MODEL: row.over_base, summary.baseline: row.gain}
    if found is not None and found.arm == arm:
        shown = found.over
    return [other for other in rivals(summary, arm) if (gain := shown.get(other)) and gain.low > 0]


def _where(decoding: str) -> str:
    return "In samples" if decoding == "sampled" else "With greedy decoding"
