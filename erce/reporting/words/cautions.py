"""A study → what could be wrong with it, each fault with its number, and what would mend it."""

import re
from collections import Counter
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from erce.catalog import is_own
from erce.errors import counted
from erce.reporting.format import fixed, interval, percent, points, sentence_label, strength, with_interval
from erce.reporting.numbers.completions import judged_completions
from erce.reporting.numbers.far_runs import far_runs
from erce.reporting.numbers.gains import Summary, TableRow
from erce.reporting.numbers.overlaps import overlaps
from erce.reporting.words.searched import finalists
from erce.study.folder import cell_folder
from erce.study.provenance import read_origin
from erce.study.rounds import NoChoice, verified_by_several
from erce.study.state import changed_files
from erce.study.verifying import TASK_FILE, task_file_digest
from erce.tasks import TASKS
from erce.types import BASE_MODEL

FEW_PROBLEMS = 200
FORMAT_MATTERS = 0.01  # a gain that may be of format is said to be, in fractions of 1
TIMES_AS_LONG = 4  # as completions that ended: what is cut off there would not end soon either
WIDE = 0.05  # half an interval, in fractions of 1
RUN_ON = "Run the study to its end; the same command goes on where it stopped."
THIRD_SEED = "Run a third seed, which narrows every interval."
MORE_PROBLEMS = f"Test on at least {FEW_PROBLEMS} problems."
JUDGE_AGAIN = (  # the limits on processor time and wall time are fixed (docs/sandbox.md)
    "If the machine was overloaded, delete verdicts.jsonl and result.json of those cells and run again with "
    "fewer --jobs, which judges the same completions again."
)


class Accident(NamedTuple):
    """A reason of verdicts that is no wrong answer, and the words for a share of it that is too large."""

    reason: str
    limit: float  # the share of completions that is too much
    meaning: str
    remedy: str


ACCIDENTS = (
    Accident("truncated", 0.01, "were cut off at the token limit.", "Raise max_new_tokens in [decoding]."),
    Accident(
        "timeout", 0.005, "ran into the verifier's time limit; most never end, and are wrong.", JUDGE_AGAIN
    ),
    Accident(
        "error", 0.0, "could not be judged, a fault of the task or the machine.", "Look at the task's tests."
    ),
    Accident(
        "opaque",
        0.005,
        "returned objects that no other process can compare.",
        "Look at opaque completions.",
    ),
)
RUNS_ON = Accident(
    "truncated",
    0.01,
    f"were cut off at the token limit, at over {TIMES_AS_LONG} times the length of those that ended: the "
    "model does not stop by itself.",
    "End completions at a text that follows the answer ([decoding] stop), or train longer: every "
    "demonstration ends with the end-of-sequence token.",
)
ANSWER_LINE = re.compile(r"^#### *\$?(-?[0-9][0-9,.]*)[ *]*$", re.MULTILINE)
SECOND_ANSWERS = 0.01  # the share of completions that may give two


class Caution(NamedTuple):
    """A fault of a study, and what would mend the fault: one sentence each, the second may be empty."""

    fault: str
    remedy: str = ""


def cautions(summary: Summary) -> list[str]:
    """Return each fault of a study with its remedy; empty where there are none."""
    return [" ".join(filter(None, caution)) for caution in faults(summary)]


def faults(summary: Summary) -> list[Caution]:
    """Return what could be wrong with a study."""
    return [
        *_changed(summary),
        *_verifiers(summary),
        *_older_verifiers(summary),
        *_far_runs(summary),
        *_versions(summary),
        *_unfinished(summary),
        *_uneven(summary),
        *_chosen(summary),
        *_better_on_test(summary),
        *_narrow(summary),
        *_overlap(summary),
        *_small(summary),
        *_cut_short(summary),
        *_second_answers(summary),
        *_not_read(summary),
        *_unproven(summary),
        *_unprotected(summary),
        *_base_model(summary),
        *_format(summary),
    ]


@lru_cache(maxsize=1)
def _changed(summary: Summary) -> list[Caution]:
    """Name the files of finished cells that changed after their result was written."""
    study = summary.study
    folders = {cell: cell_folder(study.root, study.recipe, cell) for cell in study.results}
    names = [
        f"{folders[cell].name}/{name}"
        for cell, result in study.results.items()
        for name in changed_files(folders[cell], result)
    ]
    if not names:
        return []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    fault = (
        f"These files changed after the run wrote them: {', '.join(names[:3])}{more}. The numbers here may "
        "not match them."
    )
    return [Caution(fault, "`erce run` with the study's recipe makes them again.")]


def _verifiers(summary: Summary) -> list[Caution]:
    """Name the cells that another verifier judged than the rest of their task."""
    by_task = {task: summary.study.verified_otherwise(task) for task in summary.study.recipe.tasks}
    faults = [verified_by_several(task, cells) for task, cells in by_task.items() if cells]
    return [Caution(f"{text[0].upper()}{text[1:]}.") for text in faults]


def _older_verifiers(summary: Summary) -> list[Caution]:
    """Name each user-defined task whose file has changed since its completions were verified."""
    study, outdated = summary.study, []
    for task in filter(is_own, study.recipe.tasks):
        cells = (cell for cell in study.results if cell.task == task)
        verified = {read_origin(cell_folder(study.root, study.recipe, cell)).get(TASK_FILE) for cell in cells}
        present = task_file_digest(task)
        if present is not None and verified - {None, present}:
            outdated.append(task)
    return [
        Caution(
            f"The numbers are of an older verifier: the file of {task} has changed since.",
            f"`erce run` with the study's recipe verifies the completions again, as the file of {task} has "
            "changed since.",
        )
        for task in outdated
    ]


def _versions(summary: Summary) -> list[Caution]:
    """Name the packages of which not all cells had the same version."""
    cells = [result.get("versions", {}) for result in summary.study.results.values()]
    kinds = {tuple(sorted(versions.items())) for versions in cells}
    if len(kinds) < 2:
        return []
    mixed = []
    for name in sorted({*chain(*cells)}):
        counts = Counter(versions.get(name, "unknown") for versions in cells)
        if len(counts) > 1:
            versions = [f"{version} ({counted(count, 'cell')})" for version, count in counts.items()]
            mixed.append(f"{name} {', '.join(versions)}")
    text = f"Cells were run with {len(kinds)} different sets of package versions, which can differ in scores"
    return [Caution(f"{text}: {'; '.join(mixed)}.")]


def _far_runs(summary: Summary) -> list[Caution]:
    """Name each run that is far from its arm's other seeds, and the gain with and without that run."""
    right = f"right in {{}} % {'of samples' if summary.decoding == 'sampled' else 'of greedy completions'}"
    phrases = {
        "accuracy": lambda share: right.format(percent(share)),
        "ce": lambda nats: f"a loss of {fixed(nats, 2)} nats a token at the end of training",
        "entropy": lambda nats: f"an entropy of {fixed(nats, 2)} nats a token at the end of training",
    }
    warnings = []
    for run in far_runs(summary):
        phrase = phrases[run.measure]
        fault = (
            f"{run.cell.name} is far from the other seeds of {run.cell.arm.label}: {phrase(run.value)}, "
            f"against {phrase(run.median)} (median)."
        )
        if run.compared and run.whole and run.without:
            fault += (
                f" The gain of {run.compared.label} is {with_interval(run.whole)}; without this run it is "
                f"{points(run.without.gain)}, {interval(run.without)}."
            )
        remedy = "Train more seeds: how often runs collapse is part of what an arm gains."
        warnings.append(Caution(fault, remedy))
    return warnings


def _unfinished(summary: Summary) -> list[Caution]:
    missing = summary.study.missing
    if not missing:
        return []
    names = ", ".join(cell.name for cell in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    of_all = f"{len(missing)} of {counted(len(summary.study.expected), 'cell')}"
    fault = f"{of_all} are missing ({names}{more}): every number here can still change."
    return [Caution(fault, RUN_ON)]


def _uneven(summary: Summary) -> list[Caution]:
    """Warn where an arm has fewer seeds than another of the same task, so that its mean is less certain.

    Arms that a search dropped do not count; the search compared them over the seeds that they had.
    """
    compared = {*finalists(summary), *summary.study.recipe.other_arms}
    for task in summary.study.recipe.tasks:
        rows = [row for row in summary.rows if row.task == task and row.arm in compared]
        fewest = min(rows, key=lambda row: row.n_seeds, default=None)
        most = max(rows, key=lambda row: row.n_seeds, default=None)
        if fewest and most and fewest.n_seeds < most.n_seeds:
            few, many = counted(fewest.n_seeds, "seed"), most.n_seeds
            labels = [sentence_label(row.arm, summary.baseline) for row in (fewest, most)]
            text = f"{labels[0]} has {few} on {task} and {labels[1]} has {many}: "
            remedy = "" if summary.study.missing else "Run the missing seeds."
            return [Caution(f"{text}the row with fewer seeds is less certain than it looks.", remedy)]
    return []


def _chosen(summary: Summary) -> list[Caution]:
    if summary.no_choice is not None and summary.no_choice.reason == NoChoice.NO_VALIDATION:
        fault = (
            "There is no validation split, so no λ can be chosen without looking at the test problems, and "
            "the best row of the table overstates its gain."
        )
        way = summary.study.way_to_validate
        return [Caution(fault, f"{way[0].upper()}{way[1:]}.")]
    if summary.choice is None or not summary.choice.at_edge:
        return []
    if search := summary.study.search:
        leader = strength(search["step"]["leader"])
        fault = f"λ = {leader} leads at the edge of what the search tried, and the best may lie beyond."
        return [Caution(fault, "Allow more extensions and cells in [search].")]
    lam, further = strength(summary.lam), strength(2 * summary.choice.lam)
    fault = f"The chosen λ = {lam} is the strongest tried, and the best may lie beyond."
    return [Caution(fault, f"Add λ = {further} to the grid.")]


def _better_on_test(summary: Summary) -> list[Caution]:
    """Warn where the best test row is not of the chosen λ, as a reader may want to pick the best row."""
    rows = [
        row
        for row in summary.rows
        if (row.task, row.decoding) == (summary.study.recipe.task, "sampled")
        and not row.arm.is_base
        and not summary.study.recipe.is_other(row.arm)
    ]
    if summary.choice is None or not rows:
        return []
    best = max(rows, key=lambda row: (round(row.mean, 12), -abs(row.arm.lam or 0.0)))
    if best.arm in (summary.baseline, summary.chosen):
        return []
    fault = (
        f"The best test row is {best.arm.label}, and validation chose λ = {strength(summary.lam)}: "
        "taking the best test row would overstate its gain."
    )
    return [Caution(fault, f"Keep the chosen λ, or confirm {best.arm.label} with new seeds.")]


def _narrow(summary: Summary) -> list[Caution]:
    """Say what cannot be seen with two λ or with one sample a problem."""
    warnings, recipe = [], summary.study.recipe
    if len(summary.study.lams) == 2:
        lams = " and ".join(strength(lam) for lam in sorted(summary.study.lams))
        fault = f"The grid has two λ, {lams}: whether accuracy rises or has a peak cannot be seen."
        warnings.append(Caution(fault, "Try three or more λ."))
    if recipe.decoding.samples == 1 and summary.decoding == "sampled":
        fault = "There is one sample a problem: nothing can be said of pass@k or of votes."
        warnings.append(Caution(fault, "Set samples = 4 or more in [decoding]."))
    return warnings


def _overlap(summary: Summary) -> list[Caution]:
    pairs = overlaps(summary)
    tested = len({pair.tested.id for pair in pairs})
    if not tested:
        return []
    ask = f"{counted(tested, 'test problem')} {'asks' if tested == 1 else 'ask'}"
    pair = f"({pairs[0].tested.id} and {pairs[0].trained.id})"
    fault = f"{ask} what a problem of another split asks {pair}: being right there can be memory."
    return [Caution(fault, "Leave out one problem of each such pair.")]


def _small(summary: Summary) -> list[Caution]:
    warnings, recipe = [], summary.study.recipe
    if len(recipe.seeds) == 1:
        fault = "There is one seed: no interval here says what another seed would have done."
        warnings.append(Caution(fault, "Run at least three seeds."))
    elif len(recipe.seeds) == 2:
        fault = "Two seeds say little about how much seeds differ."
        warnings.append(Caution(fault, THIRD_SEED))
    problems = max((row.n_problems for row in summary.rows), default=FEW_PROBLEMS)
    if problems < FEW_PROBLEMS:
        fault = f"{counted(problems, 'test problem')} are few: a gain of several points can be luck."
        warnings.append(Caution(fault, MORE_PROBLEMS))
    gain = summary.gain(recipe.task, summary.chosen, summary.decoding)
    if gain is not None and (half := (gain.gain.high - gain.gain.low) / 2) > WIDE:
        reach = f"The headline's interval reaches {percent(half)} points to either side"
        warnings.append(Caution(f"{reach}, and smaller gains cannot be seen here."))
    return warnings


def _cut_short(summary: Summary) -> list[Caution]:
    """Warn of each kind of accident that is too frequent, for the trained row that has it most often."""
    warnings = []
    trained = [row for row in summary.rows if not row.arm.is_base]
    for accident in ACCIDENTS:
        reason = accident.reason
        # A control's limit is short on purpose: what is cut off there has not answered at once.
        rows = [row for row in trained if reason != "truncated" or row.task == summary.study.recipe.task]
        worst = max(rows, key=lambda row: row.reasons.get(accident.reason, 0.0), default=None)
        if worst is None or worst.reasons.get(reason, 0.0) <= accident.limit:
            continue
        said = RUNS_ON if reason == "truncated" and _runs_on(summary, worst) else accident
        label = sentence_label(worst.arm, summary.baseline)
        of_what = f"the {worst.decoding} completions of {label} on {worst.task}"
        text = f"{percent(worst.reasons[reason])} % of {of_what} {said.meaning}"
        warnings.append(Caution(text, said.remedy))
    return warnings


@lru_cache(maxsize=1)
def _second_answers(summary: Summary) -> list[Caution]:
    """Warn where completions go on to another answer, for the arm whose first seed has most of them."""
    study, shares = summary.study, {}
    for arm in summary.arms(study.recipe.task):
        cell = study.cells(study.recipe.task, arm)[0]
        several = [len(set(ANSWER_LINE.findall(row.text))) > 1 for row in judged_completions(study, cell)]
        shares[cell] = sum(several) / max(1, len(several))
    worst = max(shares, key=lambda cell: shares[cell], default=None)
    if worst is None or shares[worst] <= SECOND_ANSWERS:
        return []
    fault = (
        f"{percent(shares[worst])} % of the completions of {worst.name} go on after an answer (`####`) to "
        "another one, which is the one that counts."
    )
    remedy = 'End completions at the text that follows an answer, as in [decoding] stop = ["\\nQ:"].'
    return [Caution(fault, remedy)]


def _runs_on(summary: Summary, row: TableRow) -> bool:
    """Return whether what was cut off is so much longer than what ended that more room would not help."""
    decoding = summary.study.recipe.decoding
    limit = decoding.max_new_tokens
    if limit is None and row.task in TASKS:
        limit = TASKS[row.task].max_new_tokens
    if not limit or row.tokens is None or row.finished is None:
        return False
    of_finished = row.tokens - (1 - row.finished) * limit  # tokens of those that ended, per completion
    return limit * row.finished > TIMES_AS_LONG * of_finished


def _not_read(summary: Summary) -> list[Caution]:
    """Count the test completions whose reference the verifier could only compare as text."""
    completions = [row.n_problems * row.n_samples * row.n_seeds for row in summary.rows]
    shares = [row.reasons.get("reference not read", 0.0) for row in summary.rows]
    unread = round(sum(share * count for share, count in zip(shares, completions, strict=True)))
    if not unread:
        return []
    fault = (
        f"{unread} of {counted(sum(completions), 'test completion')} differ from a reference that is "
        "compared as text: a right answer in other words counts as wrong there."
    )
    return [Caution(fault, "Rewrite those references, or judge their problems by hand.")]


def _unproven(summary: Summary) -> list[Caution]:
    """Count the accepted completions whose programs could have cheated, and name their problems."""
    problems = sorted({name for r in summary.study.results.values() for name in r.get("unproven", ())})
    if not problems:
        return []
    completions = [row.n_problems * row.n_samples * row.n_seeds for row in summary.rows]
    shares = [row.reasons.get("unproven", 0.0) for row in summary.rows]
    count = round(sum(share * number for share, number in zip(shares, completions, strict=True)))
    more = f" and {len(problems) - 10} more" if len(problems) > 10 else ""
    fault = (
        f"{count} of {counted(sum(completions), 'test completion')} passed in one interpreter with their "
        f"tests, where a program can cheat: the tests of {', '.join(problems[:10])}{more} look at more than "
        "values."
    )
    return [Caution(fault, 'To do without them, set unproven = "refuse" in [verify].')]


def _unprotected(summary: Summary) -> list[Caution]:
    """Return the verifier's warnings about programs that ran with less than the full sandbox."""
    results = summary.study.results.values()
    return [
        Caution(text) for text in sorted({text for result in results for text in result.get("warnings", ())})
    ]


def _base_model(summary: Summary) -> list[Caution]:
    """Warn where fine-tuning hurt: a gain over the baseline may then be damage avoided."""
    task, name, warnings = summary.study.recipe.task, summary.baseline_name, []
    for decoding in ("sampled", "greedy"):
        base, baseline = (summary.row(task, arm, decoding) for arm in (BASE_MODEL, summary.baseline))
        if base is not None and baseline is not None and base.mean > baseline.mean:
            fault = (
                f"The base model is better than {name} ({decoding}: {percent(base.mean)} % against "
                f"{percent(baseline.mean)} %), so a gain over {name} may be damage avoided."
            )
            warnings.append(
                Caution(fault, "Tune the learning rate and the epochs of λ = 0, then compare again.")
            )
    return warnings[:1]


def _format(summary: Summary) -> list[Caution]:
    """Warn where more than half of a gain goes away if the form of the answers is ignored.

    Compared are the chosen λ and λ = 0, and each of them and the base model.
    """
    chosen, baseline, warnings = summary.chosen_penalty, summary.baseline, []
    for arm, other in ((chosen, baseline), (chosen, BASE_MODEL), (baseline, BASE_MODEL)):
        for decoding in ("sampled", "greedy"):
            rows = [summary.row(summary.study.recipe.task, one, decoding) for one in (arm, other)]
            of_arm, of_other = rows
            if of_arm is None or of_other is None or of_arm.flexible is None or of_other.flexible is None:
                continue
            gain, left = of_arm.mean - of_other.mean, of_arm.flexible - of_other.flexible
            if gain >= FORMAT_MATTERS and left < gain / 2:
                name = sentence_label(of_arm.arm, baseline)
                over = "the base model" if of_other.arm.is_base else sentence_label(of_other.arm, baseline)
                fault = (
                    f"The gain of {name} over {over} is mostly format: {points(gain)} points ({decoding}), "
                    f"but {points(left)} if the form of the answer is ignored."
                )
                remedy = "Say in the prompt how the answer is to be given, or report the second number too."
                warnings.append(Caution(fault, remedy))
                break
    return warnings
