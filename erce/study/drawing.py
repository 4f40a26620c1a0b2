"""A stage of a cell: problems → completions, under every decoding that the recipe asks for."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from erce.generate.decoding import GenerationSettings
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, frontier
from erce.study.folder import RESULT
from erce.study.journal import Journal
from erce.study.policy import policy
from erce.study.provenance import check_origin, write_origin
from erce.study.samples import VERDICTS, DrawnSet, read_completions, write_completions
from erce.study.training import ADAPTER, base_policy
from erce.tasks import load_task
from erce.types import Completion, Problem, Splits

EVALUATED = ("validation", "test")
JOURNAL = "completions.journal"


def decodings(recipe: Recipe, cell: Cell) -> dict[str, GenerationSettings]:
    """Return each decoding that is scored, by its name in tables."""
    wanted = recipe.decoding
    greedy = GenerationSettings(
        temperature=0.0,
        samples=1,
        max_new_tokens=wanted.max_new_tokens or load_task(cell.task).max_new_tokens,
        batch_size=wanted.batch_size,
        stop=wanted.stop,
        compile=wanted.compile,
    )
    sampled = replace(greedy, temperature=wanted.temperature, samples=wanted.samples)
    return {GREEDY: greedy, SAMPLED: sampled} | {
        name: replace(greedy, temperature=temperature, samples=wanted.frontier_samples)
        for name, temperature in frontier(recipe, cell).items()
    }


def has_all_completions(folder: Path, recipe: Recipe, cell: Cell, problems: Splits) -> bool:
    """Return whether every set that the recipe asks for is there and whole; a new temperature adds sets."""
    completions = read_completions(folder)
    return all(
        _is_whole(completions.get(DrawnSet(split, decoding), ()), getattr(problems, split), settings)
        for split in EVALUATED
        for decoding, settings in decodings(recipe, cell).items()
    )


def draw(folder: Path, recipe: Recipe, cell: Cell, problems: Splits) -> None:
    """Draw every set that is not whole. All cells of a task are evaluated on the same problems.

    The old result and verdicts go before the completions change, so that a kill leaves no verdicts of other
    completions.
    """
    base, completions = base_policy(recipe.model, recipe.dtype), read_completions(folder)
    evaluated = {split: getattr(problems, split) for split in EVALUATED}
    if completions:
        check_origin(folder, recipe, cell, policy=base, evaluated=evaluated)
    wanted = decodings(recipe, cell)
    key = write_origin(folder, recipe, cell, policy=base, evaluated=evaluated, decodings=wanted)
    journal = Journal(folder / JOURNAL, key)
    with policy(recipe, base, None if cell.lam is None else folder / ADAPTER) as draw_from:
        for split in EVALUATED:
            for decoding, settings in wanted.items():
                drawn_set = DrawnSet(split, decoding)
                if not _is_whole(completions.get(drawn_set, ()), evaluated[split], settings):
                    completions[drawn_set] = journal.completed(
                        evaluated[split],
                        partial(draw_from, decoding=settings, seed=cell.seed),
                        drawn_set=drawn_set,
                        samples=settings.samples,
                        batch_size=settings.batch_size,
                    )
    for outdated in (RESULT, VERDICTS):
        (folder / outdated).unlink(missing_ok=True)
    in_order = sorted(completions, key=_order)
    write_completions(folder, ((place, drawn) for place in in_order for drawn in completions[place]))


def _is_whole(drawn: Sequence[Completion], problems: Sequence[Problem], settings: GenerationSettings) -> bool:
    return len(drawn) == len(problems) * settings.samples


def _order(drawn_set: DrawnSet) -> tuple[int, float]:
    """Return where a set stands in the file: greedy, sampled, then by rising temperature."""
    main = {GREEDY: -2.0, SAMPLED: -1.0}
    split, decoding = EVALUATED.index(drawn_set.split), drawn_set.decoding
    return split, main[decoding] if decoding in main else float(decoding.removeprefix("T"))
