"""A stage of a cell: problems → completions, under every decoding that the recipe asks for."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from erce import events
from erce.generate.decoding import GenerationSettings
from erce.recipe import GREEDY, SAMPLED, Cell, Recipe, further_temperatures
from erce.recipe.sections import MOST_COMPLETIONS
from erce.study.folder import RESULT
from erce.study.policy import policy
from erce.study.provenance import check_origin, write_origin
from erce.study.samples import VERDICTS, Journal, SampleSet, read_completions, write_completions
from erce.study.training import ADAPTER, base_policy
from erce.tasks import load_task
from erce.types import Problem, Splits

EVALUATED = ("validation", "test")
TRAIN = "train"
JOURNAL = "completions.journal"


def decodings(recipe: Recipe, cell: Cell) -> dict[str, GenerationSettings]:
    """Return each decoding that is scored, by its name in tables; `sample` fits the batch size."""
    wanted = recipe.decoding
    greedy = GenerationSettings(
        temperature=0.0,
        samples=1,
        max_new_tokens=wanted.max_new_tokens or load_task(cell.task).max_new_tokens,
        batch_size=wanted.batch_size or MOST_COMPLETIONS,
        stop=wanted.stop,
    )
    sampled = replace(greedy, temperature=wanted.temperature, samples=wanted.samples)
    if cell.is_own:
        own = recipe.own_samples
        return {SAMPLED: replace(greedy, temperature=own.temperature, samples=own.samples)}
    return {GREEDY: greedy, SAMPLED: sampled} | {
        name: replace(greedy, temperature=temperature, samples=wanted.temperature_samples)
        for name, temperature in further_temperatures(recipe, cell).items()
    }


def sampled_problems(cell: Cell, problems: Splits) -> dict[str, tuple[Problem, ...]]:
    """Return split → the problems that the cell has completions of."""
    return {split: getattr(problems, split) for split in ((TRAIN,) if cell.is_own else EVALUATED)}


def all_completions(recipe: Recipe, cell: Cell, problems: Splits) -> dict[SampleSet, int]:
    """Return how many completions each set has that the recipe asks for."""
    return {
        SampleSet(split, decoding): len(of_split) * settings.samples
        for split, of_split in sampled_problems(cell, problems).items()
        for decoding, settings in decodings(recipe, cell).items()
    }


def missing_completions(folder: Path, recipe: Recipe, cell: Cell, problems: Splits) -> dict[SampleSet, int]:
    """Return the sets that are not whole in the folder, with their sizes; a new temperature adds sets."""
    there = read_completions(folder)
    sizes = all_completions(recipe, cell, problems)
    return {place: size for place, size in sizes.items() if len(there.get(place, ())) != size}


def sample(folder: Path, recipe: Recipe, cell: Cell, problems: Splits, *, batch_size: int) -> None:
    """Sample every set that is not whole. All cells of a task are evaluated on the same problems."""
    base, completions = base_policy(recipe.model, recipe.dtype), read_completions(folder)
    evaluated, wanted = sampled_problems(cell, problems), decodings(recipe, cell)
    if completions:
        check_origin(folder, recipe, cell, policy=base, evaluated=evaluated)
    key = write_origin(folder, recipe, cell, policy=base, evaluated=evaluated, decodings=wanted)
    journal = Journal(folder / JOURNAL, key)
    batch_size = min([batch_size, *journal.batch_sizes()])  # other batches would round otherwise
    missing = missing_completions(folder, recipe, cell, problems)
    total = sum(all_completions(recipe, cell, problems).values())
    journaled = sum(len(journal.completions(place)) for place in missing)
    with policy(recipe, base, None if cell.lam is None else folder / ADAPTER) as generate:
        events.begin("generation", total, done=total - sum(missing.values()) + journaled)
        for sample_set in missing:
            settings = replace(wanted[sample_set.decoding], batch_size=batch_size)
            completions[sample_set] = journal.completed(
                evaluated[sample_set.split],
                partial(generate, decoding=settings, seed=cell.seed),
                sample_set=sample_set,
                samples=settings.samples,
                batch_size=settings.batch_size,
            )
    # The old result and verdicts go first, so that a kill leaves no verdicts of other completions.
    for outdated in (RESULT, VERDICTS):
        (folder / outdated).unlink(missing_ok=True)
    in_order = sorted(completions, key=_order)
    write_completions(
        folder, ((place, completion) for place in in_order for completion in completions[place])
    )


def _order(sample_set: SampleSet) -> tuple[int, float]:
    """Return where a set stands in the file: greedy, sampled, then by rising temperature."""
    main = {GREEDY: -2.0, SAMPLED: -1.0}
    split, decoding = (TRAIN, *EVALUATED).index(sample_set.split), sample_set.decoding
    return split, main[decoding] if decoding in main else float(decoding.removeprefix("T"))
