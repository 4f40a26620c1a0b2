"""A recipe and the results so far → the cells of its study, round by round, and what validation chooses.

1. Samples of the training problems, if an arm trains on them (`Recipe.own_cells`): the base model's, alone,
   or those of the models of one λ, once these are trained.
2. On the main task every arm and seed; on the control the base model and λ = 0. On the main task the
   base model and λ = 0 are sampled at the recipe's `temperatures` too.
3. Once every λ of the main task is done or has diverged, the same for the λ with the best validation score;
   and once every arm is, the arm with the best one is sampled at the `temperatures`.

Nothing here reads a disk or trains: equal results give equal cells. The test problems have no say.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from erce.errors import InputError, counted
from erce.generate.decoding import GenerationSettings
from erce.recipe import GREEDY, RFT, SAMPLED, SELF, Cell, Recipe, further_temperatures
from erce.recipe.sections import MOST_COMPLETIONS
from erce.study.samples import SampleSet
from erce.tasks import load_task
from erce.types import Arm, Problem, Splits

if TYPE_CHECKING:
    from erce.study.folder import Study

MAX_NAMED = 3  # cells in a sentence
EVALUATED, TRAIN = ("validation", "test"), "train"

Results = Mapping[Cell, dict[str, Any]]  # a finished cell's result.json


def next_cells(recipe: Recipe, results: Results, diverged: Collection[Cell] = ()) -> list[Cell]:
    """Return the cells of the next round, done or not; run them and ask again.

    `results` has those of the grid that are done, and of `Recipe.own_cells`; `diverged` are cells whose
    training diverged. Cells that others read come first, in a round of their own.
    """
    own, lost = own_left(recipe, results, diverged), _lost(recipe, diverged)
    models = [recipe.source(cell) for cell in own]
    untrained = [cell for cell in models if cell is not None and cell not in results]
    rest = expected_cells(recipe, results, diverged)
    return untrained or own or [cell for cell in rest if cell in diverged or cell not in lost]


def own_left(recipe: Recipe, results: Results, diverged: Collection[Cell] = ()) -> list[Cell]:
    """Return the cells of own samples that are still to come, without those whose model diverged."""
    lost = _lost(recipe, diverged)
    return [cell for cell in recipe.own_cells if cell not in results and cell not in lost]


def _lost(recipe: Recipe, diverged: Collection[Cell]) -> set[Cell]:
    """Return the diverged cells, and those that read them, directly or by way of own samples."""
    lost = {*diverged}
    for cell in [*recipe.own_cells, *recipe.cells()]:  # who samples comes before who learns
        if recipe.source(cell) in lost:
            lost.add(cell)
    return lost


def expected_cells(recipe: Recipe, results: Results, diverged: Collection[Cell] = ()) -> list[Cell]:
    """Return the cells that the study needs by these results, in grid order, and all others that are done."""
    if not recipe.can_run:
        return recipe.cells()
    diverged = _lost(recipe, diverged)
    lams = compared_lams(recipe, results, diverged) or (0.0,)
    return _with_comparisons(recipe, results, lams, preferred_arm(recipe, results, diverged))


def planned_cells(
    recipe: Recipe, results: Results | None = None, diverged: Collection[Cell] = ()
) -> list[Cell]:
    """Return the cells that the study will have in the end, or has: all that is counted as its cells.

    First come `Recipe.own_cells`, then the grid in its order, with all that is done. Until validation has
    chosen, the first λ other than 0 and the first other method stand for what it will choose.
    """
    if not recipe.can_run:
        return recipe.cells()
    results, diverged = results or {}, _lost(recipe, diverged)
    first = (0.0, *[lam for lam in recipe.lams if lam][:1])
    lams = compared_lams(recipe, results, diverged) or first
    preferred = preferred_arm(recipe, results, diverged) or next(iter(recipe.other_arms), None)
    return [*recipe.own_cells, *_with_comparisons(recipe, results, lams, preferred)]


def probe_cells(recipe: Recipe) -> list[Cell]:
    """Return the cells that tell whether anything is right: the base model, and one seed of each arm."""
    arms = [*map(recipe.grid_arm, recipe.lams), *recipe.other_arms]
    trained = [Cell(recipe.task, arm.lam, recipe.seeds[0], arm.method) for arm in arms]
    return [Cell(recipe.task, None, 0), *trained]


def has_decodings(result: Mapping[str, Any], names: Collection[str]) -> bool:
    """Return whether a result has scores of every split under all the decodings of these `names`."""
    return all(by_decoding.keys() >= {*names} for by_decoding in result["scores"].values())


def compared_lams(recipe: Recipe, results: Results, diverged: Collection[Cell]) -> Collection[float] | None:
    """Return the λ that a report compares: 0 and the best on validation.

    None while a λ's cell of the main task has no result and has not diverged.
    """
    own = [cell for cell in recipe.cells() if cell.task == recipe.task and _is_lam(recipe, cell)]
    if any(cell not in results and cell not in diverged for cell in own):
        return None
    scores = validation_scores(own, results, task=recipe.task, decoding=SAMPLED)
    return (0.0, *[arm.lam for arm in ranked(scores)[:1] if arm.lam is not None])


def preferred_arm(recipe: Recipe, results: Results, diverged: Collection[Cell]) -> Arm | None:
    """Return the arm of the main task with the best validation score, of the base model and all trained ones.

    None while a cell of that task has no result and has not diverged.
    """
    own = [cell for cell in recipe.cells() if cell.task == recipe.task]
    if any(cell not in results and cell not in diverged for cell in own):
        return None
    scores = validation_scores(own, results, task=recipe.task, decoding=SAMPLED)
    return next(iter(ranked(scores)), None)


def _with_comparisons(
    recipe: Recipe, results: Results, lams: Collection[float], preferred: Arm | None
) -> list[Cell]:
    """Return the cells that a study needs if its report compares `lams` and recommends the `preferred` arm.

    On the main task every cell stays, and the base model, `lams` and the preferred arm are sampled at
    all temperatures. On the control the base model and `lams` stay, and what is done.
    """
    kept = []
    for cell in recipe.cells():
        is_compared = cell.lam is None or (_is_lam(recipe, cell) and cell.lam in lams)
        if cell.task == recipe.task:
            kept.append(replace(cell, all_temperatures=is_compared or cell.arm == preferred))
        elif is_compared or cell in results:
            kept.append(cell)
    return kept


def decodings(recipe: Recipe, cell: Cell) -> dict[str, GenerationSettings]:
    """Return the settings of each decoding that a cell needs, by its name; `sample` sets the batch size."""
    wanted = recipe.decoding
    greedy = GenerationSettings(
        temperature=0.0,
        samples=1,
        max_new_tokens=wanted.max_new_tokens or load_task(cell.task).max_new_tokens,
        batch_size=wanted.batch_size or MOST_COMPLETIONS,
        stop=wanted.stop,
        compile=wanted.compile,
    )
    sampled = replace(greedy, temperature=wanted.temperature, samples=wanted.samples)
    if cell.is_own:
        own = recipe.own_samples
        return {SAMPLED: replace(greedy, temperature=own.temperature, samples=own.samples)}
    return {GREEDY: greedy, SAMPLED: sampled} | {
        name: replace(greedy, temperature=temperature, samples=wanted.temperature_samples)
        for name, temperature in further_temperatures(recipe, cell).items()
    }


@dataclass(frozen=True)
class CellSampling:
    """The completions that a recipe asks of a cell: which problems are sampled, and how."""

    cell: Cell
    problems: dict[str, tuple[Problem, ...]]  # by split
    decodings: dict[str, GenerationSettings]  # by name; whoever samples sets the batch size

    @property
    def sizes(self) -> dict[SampleSet, int]:
        """How many completions each set has."""
        return {
            SampleSet(split, decoding): len(problems) * settings.samples
            for split, problems in self.problems.items()
            for decoding, settings in self.decodings.items()
        }


def cell_sampling(recipe: Recipe, cell: Cell, problems: Splits) -> CellSampling:
    """Return what a cell samples: own samples are of the training problems, all others of the rest."""
    sampled = {split: getattr(problems, split) for split in ((TRAIN,) if cell.is_own else EVALUATED)}
    return CellSampling(cell, sampled, decodings(recipe, cell))


class Choice(NamedTuple):
    """The λ with the best mean validation Pass@1; other methods are never chosen.

    `scores` holds every λ that could win, in the order of the grid; λ = 0, the baseline, is one of them.
    """

    lam: float
    score: float
    scores: dict[float, float]


class NoChoiceError(InputError):
    """The error of a study that has no chosen λ."""


def best_lam(study: "Study", *, decoding: str = SAMPLED) -> Choice:
    """Choose the λ to report, from the validation problems of the main task alone.

    Only a λ whose every seed is done can win. Of equal scores the λ nearer to 0 wins. If there is no choice,
    raise a NoChoiceError.
    """
    task = study.recipe.task
    if fewer := study.verified_otherwise(task):
        raise NoChoiceError(verified_by_several(task, fewer))
    grid = [cell for cell in study.expected if _is_lam(study.recipe, cell)]
    scores = validation_scores(grid, study.results, task=task, decoding=decoding)
    if not scores:
        raise _no_choice(study, decoding)
    best = ranked(scores)[0]
    by_lam = {arm.lam: score for arm, score in scores.items() if arm.lam is not None}
    return Choice(lam=best.lam or 0.0, score=scores[best], scores=by_lam)


def verified_by_several(task: str, fewer: Sequence[Cell]) -> str:
    """Return the sentence that a task's cells have different verifiers; it names the smaller group."""
    return (
        f"the cells of {task} were not all verified by one verifier ({names(fewer)} by another than most), "
        "so none of its gains is shown; `erce run` verifies those of an old verifier again and keeps all "
        "completions"
    )


def names(cells: Sequence[Cell]) -> str:
    """Return the names of the first cells."""
    return ", ".join(cell.name for cell in cells[:MAX_NAMED]) + (", …" if len(cells) > MAX_NAMED else "")


def counted_cells(cells: Sequence[Cell]) -> str:
    """Return how many cells these are, with the names of the first."""
    return f"{counted(len(cells), 'cell')} ({names(cells)})"


def _no_choice(study: "Study", decoding: str) -> NoChoiceError:
    task = study.recipe.task
    missing = {cell.arm for cell in study.missing if cell.task == task}
    if any(study.recipe.grid_arm(lam) not in missing for lam in study.recipe.lams):
        return NoChoiceError(
            f"no {decoding} completions of validation problems for {task!r}, so no λ can be chosen without "
            "looking at the test problems; import logs of validation problems with --validation"
        )
    return NoChoiceError(
        f"no λ of {task!r} has all its {len(study.recipe.seeds)} seeds yet; run the study to its end first"
    )


def validation_scores(
    cells: Sequence[Cell], results: Results, *, task: str, decoding: str
) -> dict[Arm, float]:
    """Return the mean validation Pass@1 of every arm of which each cell has a result with that decoding.

    Means are rounded, so that equal means of different seeds are a tie and not a matter of the last bit.
    """
    by_arm: dict[Arm, list[Cell]] = {}
    for cell in cells:
        if cell.task == task:
            by_arm.setdefault(cell.arm, []).append(cell)
    scores = {}
    for arm, of_arm in by_arm.items():
        validated = [results.get(cell, {"scores": {}})["scores"].get("validation", {}) for cell in of_arm]
        if all(decoding in by_decoding for by_decoding in validated):
            scores[arm] = round(fmean(by_decoding[decoding]["pass@1"] for by_decoding in validated), 12)
    return scores


def ranked(scores: Mapping[Arm, float]) -> list[Arm]:
    """Return the arms, the best first; of equal scores the one that takes less, then the λ nearer to 0.

    The base model takes no training; "self" and "rft" take samples before theirs.

    >>> scores = {Arm(0.0): 0.5, Arm(-2.0): 0.6, Arm(0.0, "self"): 0.6, Arm(1.0): 0.6}
    >>> [arm.name() for arm in ranked(scores)]
    ['λ = 1', 'λ = −2', 'self', 'λ = 0']
    """

    samples = {SELF: 1, RFT: 2}  # and trains on fewer, or on more demonstrations
    return sorted(
        scores,
        key=lambda arm: (
            -scores[arm],
            not arm.is_base,
            samples.get(arm.method, 0),
            abs(arm.lam or 0),
            arm.lam or 0,
        ),
    )


def _is_lam(recipe: Recipe, cell: Cell) -> bool:
    """Tell whether the cell is one of the grid's λ, which the other methods and the base model are not."""
    return cell.lam is not None and cell.method == recipe.base_loss
