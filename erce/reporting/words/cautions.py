"""A study → what could be wrong with it, each fault with its number, and what to do next.

A caution is for a number that may be wrong, or that may be taken for more than it says.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from erce.catalog import is_user_defined
from erce.errors import counted
from erce.reporting.format import fixed, gain_with_interval, percent, points, strength
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.reporting.numbers.inference import PILOT_SEEDS, WANTED, outliers, package_versions, power
from erce.reporting.numbers.verdict import MARGIN, Preference, preferences, to_take, usable_for_both
from erce.reporting.words.sentences import FOR, in_sentence, sentences, temperature_doubts
from erce.stats import Power
from erce.study.folder import read_record
from erce.study.freshness import TRAIN_AGAIN, changed_files, trained_on_others
from erce.study.provenance import TASK_FILE, task_file_digest
from erce.study.schedule import verified_by_several
from erce.types import BASE_MODEL, Arm

FEW_PROBLEMS = 200
FEW_SEEDS = 3
FORMAT_MATTERS = 0.01  # a gain that may be of format is said to be, in fractions of 1
RUN_ON = "Run the study to its end; the same command goes on where it stopped."
MORE_PROBLEMS = f"Test on at least {FEW_PROBLEMS} problems."
THREE_SEEDS = f"Run at least {FEW_SEEDS} seeds."
PILOT = f"Run {PILOT_SEEDS} seeds: fewer do not tell how large a gain this study would find."
NOTHING_TO_DO = "Nothing is left to do but to read some completions before you quote the gain."

REASONS_TO_NAME = {  # a verdict's reason → the share of completions that is too much, the fault, the remedy
    "truncated": (
        0.01,
        "were cut off at the token limit.",
        "Raise max_new_tokens in [decoding], or set stop there if the model goes on after its answer.",
    ),
    "timeout": (
        0.005,
        "ran into the verifier's time limit; most never end, and are wrong.",
        # The limits on processor time and wall time are fixed (docs/sandbox.md).
        (
            "If the machine was overloaded, delete verdicts.jsonl and result.json of those cells and run "
            "again with fewer --jobs, which verifies the same completions again."
        ),
    ),
    "error": (0.0, "could not be verified, a fault of the task or the machine.", "Look at the task's tests."),
    "opaque": (0.005, "returned objects that no other process can compare.", "Look at opaque completions."),
    "reference not read": (
        0.0,
        "differ from a reference that is compared as text: a right answer in other words counts as wrong.",
        "Rewrite those references, or verify their problems by hand.",
    ),
    "unproven": (
        0.0,
        "passed in one interpreter with their tests, where a program can cheat.",
        'To do without them, set unproven = "refuse" in [verify].',
    ),
}


class Caution(NamedTuple):
    """A fault of a study, and what would repair it: one sentence each, the second may be empty.

    The page shows both ("What could be wrong", "What to do next"), the terminal the remedy.
    """

    fault: str
    remedy: str = ""


def cautions(summary: Summary) -> list[str]:
    """Return each fault of a study with its remedy; empty where there are none."""
    return [" ".join(filter(None, caution)) for caution in faults(summary)]


@lru_cache(maxsize=1)
def faults(summary: Summary) -> list[Caution]:
    """Return what could be wrong with a study, what weighs most first: a terminal shows but three."""
    return [
        *_changed(summary),
        *_verifiers(summary),
        *_older_verifiers(summary),
        *_learned_from_others(summary),
        *_outliers(summary),
        *_versions(summary),
        *_unfinished(summary),
        *_base_model(summary),
        *_chosen(summary),
        *_small(summary),
        *_reasons(summary),
        *_unprotected(summary),
        *map(Caution, temperature_doubts(summary)),
        *_format(summary),
    ]


def next_steps(summary: Summary) -> list[str]:
    """Return what to do next, the most useful sentence first: run to the end, then take what is preferred."""
    plan = _plan(summary)
    planned = {THREE_SEEDS} if plan == [PILOT] else {THREE_SEEDS, MORE_PROBLEMS} if plan else set()
    remedies = dict.fromkeys(caution.remedy for caution in faults(summary) if caution.remedy)
    first = [] if summary.no_choice is None else [f"No arm is chosen: {summary.no_choice}."]
    first = [RUN_ON] if RUN_ON in remedies else first
    others = [remedy for remedy in remedies if remedy not in {RUN_ON, *planned}]
    recipe = summary.study.recipe
    if "sharpening" in sentences(summary) and recipe.can_run and not recipe.decoding.temperatures:
        setting = "temperatures = [0.2, 0.4, 0.6, 1.0] in [decoding]"
        others.append(f"Set {setting}, which shows whether a lower temperature gains as much.")
    return [*first, *_take(summary), *plan, *_decode(summary), *others] or [NOTHING_TO_DO]


def _changed(summary: Summary) -> Iterator[Caution]:
    """Name the files of finished cells that changed after their result was written."""
    study = summary.study
    names = [
        f"{study.folder(cell).name}/{name}"
        for cell, result in study.results.items()
        for name in changed_files(study.folder(cell), result)
    ]
    if not names:
        return
    fault = (
        f"These files changed after the run wrote them: {_first_three(names)}. The numbers here may not "
        "match them."
    )
    yield Caution(fault, "`erce run` with the study's recipe makes them again.")


def _verifiers(summary: Summary) -> Iterator[Caution]:
    """Name the cells that have another verifier than the rest of their task."""
    for task in summary.study.recipe.tasks:
        if cells := summary.study.verified_otherwise(task):
            text = verified_by_several(task, cells)
            yield Caution(f"{text[0].upper()}{text[1:]}.")


def _older_verifiers(summary: Summary) -> Iterator[Caution]:
    """Name each user-defined task whose file has changed since its completions were verified."""
    study = summary.study
    for task in filter(is_user_defined, summary.study.recipe.tasks):
        cells = (cell for cell in study.results if cell.task == task)
        verified = {read_record(study.folder(cell)).get(TASK_FILE) for cell in cells}
        present = task_file_digest(task)
        if present is not None and verified - {None, present}:
            yield Caution(
                f"The numbers are of an older verifier: the file of {task} has changed since.",
                f"`erce run` with the study's recipe verifies {task}'s completions again.",
            )


def _versions(summary: Summary) -> Iterator[Caution]:
    """Name the packages of which not all cells had the same version."""
    versions = package_versions(summary).items()
    if mixed := [f"{name} {', '.join(texts)}" for name, texts in versions if len(texts) > 1]:
        text = "Cells were run with different package versions, which can differ in scores"
        yield Caution(f"{text}: {'; '.join(mixed)}.")


def _learned_from_others(summary: Summary) -> Iterator[Caution]:
    """Name the cells that were trained on own samples with other verdicts than these have now."""
    if fault := trained_on_others(summary.study):
        yield Caution(fault, TRAIN_AGAIN)


def _outliers(summary: Summary) -> Iterator[Caution]:
    """Name each run that is far from its arm's other seeds."""
    completions = "samples" if summary.decoding == "sampled" else "greedy completions"
    for cell, accuracy, median in outliers(summary):
        yield Caution(
            f"{cell.name} is far from the other seeds of {summary.name(cell.arm)}: right in "
            f"{percent(accuracy)} % of {completions}, against {percent(median)} % (median).",
            "Train more seeds: how often runs collapse is part of what an arm gains.",
        )


def _unfinished(summary: Summary) -> Iterator[Caution]:
    missing = summary.study.missing
    if not missing:
        return
    names = _first_three([cell.name for cell in missing])
    of_all = f"{len(missing)} of {counted(len(summary.study.planned), 'cell')}"
    yield Caution(f"{of_all} are unfinished ({names}): every number here can still change.", RUN_ON)


def _chosen(summary: Summary) -> Iterator[Caution]:
    found = preferences(summary)
    for arm in dict.fromkeys(one.arm for one in found.values()):
        worse = [*_worse(summary, {name: one for name, one in found.items() if one.arm == arm})]
        yield from worse
        yield from _unpaired(summary, arm)
        if not worse:
            yield from _edge(summary, arm)


def _worse(summary: Summary, found: Mapping[str, Preference]) -> Iterator[Caution]:
    """Warn where the test problems show that the preferred arm is worse than another."""
    for decoding, one in found.items():
        other, gain = min(one.over.items(), key=lambda item: item[1].high, default=(None, None))
        if other is not None and gain is not None and gain.high < 0:
            yield Caution(
                f"On the test problems {summary.name(one.arm)} is worse than {summary.name(other)} "
                f"{FOR[decoding]} ({gain_with_interval(gain)}): validation chose it, perhaps by luck.",
                "Choose on more validation problems.",
            )


def _edge(summary: Summary, arm: Arm) -> Iterator[Caution]:
    """Warn where the preferred arm has the strongest penalty tried with its method."""
    recipe = summary.study.recipe
    tried = [one.lam for one in summary.arms(summary.task) if one.method == arm.method]
    lams = [0.0, *(lam for lam in tried if lam is not None)]
    if not arm.lam or arm.lam not in (min(lams), max(lams)):
        return
    further, end = strength(2 * arm.lam), strength(arm.lam)
    way = f'"{arm.method} + {further}" to methods' if recipe.is_other(arm) else f"λ = {further} to the grid"
    of = f" with {arm.method}" if recipe.is_other(arm) else ""
    fault = f"No λ {'above' if arm.lam > 0 else 'below'} {end} was tried{of}: the best may lie beyond."
    yield Caution(fault, f"Add {way}.")


def _unpaired(summary: Summary, arm: Arm) -> Iterator[Caution]:
    """Warn where the preferred arm's penalty has no arm without it beside it."""
    recipe = summary.study.recipe
    plain = replace(arm, lam=0.0)
    if recipe.is_other(arm) and arm.lam and plain not in summary.arms(summary.task):
        yield Caution(
            f"{arm.method} was not tried without the penalty: what the penalty adds to it is not known.",
            f'Add "{arm.method}" to methods.',
        )


def _small(summary: Summary) -> Iterator[Caution]:
    seeds = len(summary.study.recipe.seeds)
    if seeds == 1:
        fault = "There is one seed: no interval here says what another seed would have done."
        yield Caution(fault, THREE_SEEDS)
    elif seeds < FEW_SEEDS:
        yield Caution("Two seeds say little about how much seeds differ.", THREE_SEEDS)
    problems = max((row.n_problems for row in summary.rows), default=FEW_PROBLEMS)
    if problems < FEW_PROBLEMS:
        fault = f"{counted(problems, 'test problem')} are few: a gain of several points can be luck."
        yield Caution(fault, MORE_PROBLEMS)


def _reasons(summary: Summary) -> Iterator[Caution]:
    """Warn of each reason that verdicts have too often, for the trained arm that has it most often."""
    trained = [row for row in summary.rows if not row.arm.is_base]
    for reason, (limit, fault, remedy) in REASONS_TO_NAME.items():
        # A control's limit is short on purpose: what is cut off there has not answered at once.
        rows = [row for row in trained if reason != "truncated" or row.task == summary.task]
        worst = max(rows, key=lambda row: row.reasons.get(reason, 0.0), default=None)
        if worst is not None and worst.reasons.get(reason, 0.0) > limit:
            completions = f"the {worst.decoding} completions of {summary.name(worst.arm)} on {worst.task}"
            yield Caution(f"{percent(worst.reasons[reason])} % of {completions} {fault}", remedy)


def _unprotected(summary: Summary) -> Iterator[Caution]:
    """Return the verifier's warnings about programs that ran with less than the full sandbox."""
    results = summary.study.results.values()
    yield from map(Caution, sorted({text for result in results for text in result.get("warnings", ())}))


def _base_model(summary: Summary) -> Iterator[Caution]:
    """Warn where fine-tuning hurt: a gain over the baseline may then be damage avoided."""
    name = summary.name(summary.baseline)
    rows = (summary.row(summary.task, summary.baseline, decoding) for decoding in DECODINGS)
    gains = [(row.over_base.gain, row) for row in rows if row is not None and row.over_base is not None]
    gain, zero = min(gains, key=itemgetter(0), default=(0.0, None))
    if zero is None or gain >= 0:
        return
    base = percent(zero.mean - gain)
    fault = (
        f"The base model was right more often than {name} ({zero.decoding}: {base} % against "
        f"{percent(zero.mean)} %), so a gain over {name} may be damage avoided."
    )
    way = "Read some demonstrations and what λ = 0 makes of them; tune the learning rate and epochs of λ = 0."
    yield Caution(fault, way)


def _format(summary: Summary) -> Iterator[Caution]:
    """Warn where over half of a preferred arm's gain goes away if the form of the answers is ignored."""
    for other in (summary.baseline, BASE_MODEL):
        for decoding, found in reversed(preferences(summary).items()):
            row, beside = found.row, summary.row(summary.task, other, decoding)
            if beside is None or row.flexible is None or beside.flexible is None:
                continue
            gain, left = row.mean - beside.mean, row.flexible - beside.flexible
            if gain >= FORMAT_MATTERS and left < gain / 2:
                name, over = (in_sentence(summary, arm) for arm in (found.arm, other))
                yield Caution(
                    f"The gain of {name} over {over} is mostly format: {points(gain)} points ({decoding}), "
                    f"but {points(left)} if the form of the answer is ignored.",
                    "Say in the prompt how the answer is to be given, or report the second number too.",
                )
                break


def _take(summary: Summary) -> list[str]:
    """Say how to take the adapter of the arm to use, or of each where no arm is for both decodings."""
    study, both = summary.study, usable_for_both(summary)
    arms = [found.use for found in preferences(summary).values()] if both is None else [both]
    if not study.recipe.can_run:
        return []
    cells = {arm: study.cells(summary.task, arm)[0].name for arm in arms}
    named = {arm: "" if arm == to_take(summary) else f" --cell {cell}" for arm, cell in cells.items()}
    return [
        f"Take {summary.name(arm)}: `erce card RUNS{named[arm]} --out FOLDER` copies the adapter of its "
        "first seed, with a model card."
        for arm in dict.fromkeys(arms)
        if not arm.is_base
    ]


def _decode(summary: Summary) -> list[str]:
    """Say that one greedy answer is right more often than a sample, where it is so by more than MARGIN."""
    arm = to_take(summary)
    greedy, sampled = (summary.row(summary.task, arm, decoding) for decoding in ("greedy", "sampled"))
    if arm is None or greedy is None or sampled is None or greedy.mean - sampled.mean <= MARGIN:
        return []
    of_greedy, of_samples = percent(greedy.mean), percent(sampled.mean)
    right = f"is then right on {of_greedy} % of the problems, against {of_samples} % of its samples"
    return [f"Decode greedily where one answer is enough: {in_sentence(summary, arm)} {right}."]


def _plan(summary: Summary) -> list[str]:
    """Say what would settle the verdict; empty where it is settled, or an interval covers problems alone."""
    decoding = summary.decoding
    gains = [row.gain for row in summary.compared(decoding) if row.gain is not None]
    if not gains or any(gain.covers == "problems" for gain in gains):
        return []
    preferred = preferences(summary).get(decoding)
    if preferred is not None:
        gains = [gain for gain in (preferred.over_base, preferred.over_baseline) if gain is not None]
        if preferred.over_baseline is not None and not any(gain.low <= 0 <= gain.high for gain in gains):
            return []
    found = power(summary, decoding)
    return [PILOT if found is None else f"{_sizes(found)}."]


def _sizes(found: Power) -> str:
    """Say which gain this study finds, and which sizes find the gain that studies are planned for."""
    opening = (
        f"A study of this size finds a gain of {fixed(100 * found.detectable, 1)} points in 4 of 5 cases"
    )
    if found.detectable <= WANTED:
        return f"{opening}: a gain that it does not show is probably smaller"
    needed = ((found.problems, "problems"), (found.seeds, "seeds"))
    sizes = [f"{number:,.0f} {name}" for number, name in needed if not math.isinf(number)]
    if not sizes:
        times = fixed(math.ceil(10 * found.times) / 10, 1)
        sizes = [f"{times} times as many seeds and problems, as more of either alone is not enough"]
    return f"{opening}; to find {fixed(100 * WANTED, 0)} points, take {' or '.join(sizes)}"


def _first_three(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"
