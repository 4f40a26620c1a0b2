"""The stages of a cell: demonstrations → an adapter → completions → verdicts → scores.

Each leaves its files in the cell's folder, and `erce.study.cell` calls those whose files are missing.
"""

import gc
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from erce import events
from erce.evaluation.evaluate import verify_all
from erce.files import write_json
from erce.generate.backend import backend_of
from erce.hf.prompt import end_tokens
from erce.recipe import Cell, Objective, Recipe
from erce.score import summarize
from erce.study.folder import ADAPTER, JOURNAL, RESULT, TRAINING, cell_folder
from erce.study.freshness import missing_completions, refuse_other_policy
from erce.study.provenance import (
    DEMONSTRATIONS,
    demonstrations_digest,
    origin_of,
    write_origin,
    write_verifier,
)
from erce.study.samples import (
    VERDICTS,
    Journal,
    SampleSet,
    VerifiedSample,
    place_of_decoding,
    read_completions,
    write_completions,
    write_verdicts,
)
from erce.study.schedule import EVALUATED, TRAIN, CellSampling
from erce.tasks import load_task
from erce.types import Problem

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy

Equal = Callable[[str, str], bool]  # whether two extracted answers are one vote


@lru_cache(maxsize=1)
def base_policy(model: str, dtype: str) -> "BasePolicy":
    """Load the base model and tokenizer, once per process; a caller that adds an adapter must remove it."""
    from erce.hf.models import BasePolicy, load_model, load_tokenizer

    tokenizer = load_tokenizer(model)
    return BasePolicy(load_model(model, dtype=dtype), tokenizer)


def release_memory() -> None:
    """Return to the device what nothing holds any more; torch would keep it for its own next call."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


@contextmanager
def cpu_threads(wanted: int | None) -> Iterator[None]:
    """Run the block with `wanted` CPU threads, then restore the old count; None changes nothing."""
    if wanted is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(folder: Path, recipe: Recipe, cell: Cell, problems: Sequence[Problem]) -> None:
    """Write the cell's adapter, then its log; an adapter that a kill left without a log is made again.

    `fine_tune` goes on from a checkpoint, which lies beside the adapter.
    """
    assert cell.lam is not None
    assert cell.is_trained, "the base model and own samples have no training"
    training = recipe.training
    if training.max_length is None:
        training = replace(training, max_length=load_task(cell.task).max_length)
    objective = Objective(
        lam=cell.lam,
        penalty=recipe.penalty,
        order=recipe.order,
        base_loss=recipe.base_loss if cell.learns_own else cell.method,
    )
    # The old adapter goes first and the log comes last: an adapter without a log is not whole.
    adapter = folder / ADAPTER
    shutil.rmtree(adapter, ignore_errors=True)
    from erce.train.fine_tune import fine_tune  # here: a process that only samples does without TRL

    base = base_policy(recipe.model, recipe.dtype)
    log = fine_tune(base, problems, objective=objective, training=training, seed=cell.seed, folder=adapter)
    # Seconds are in timing.json: a log with times in it would differ between two equal runs.
    log = {name: value for name, value in log.items() if name != "seconds"}
    if cell.learns_own:
        log[DEMONSTRATIONS] = demonstrations_digest(problems)
    write_json(folder / TRAINING, log)


def adapter_of(root: Path, recipe: Recipe, cell: Cell) -> Path | None:
    """Return the folder of the adapter with which a cell samples; None for the base model as it came."""
    if cell.is_own and recipe.own_samples.adapter is not None:
        return Path(recipe.own_samples.adapter)
    trained = recipe.source(cell) if cell.is_own else cell
    return None if trained is None or trained.lam is None else cell_folder(root, recipe, trained) / ADAPTER


def sample(
    folder: Path, recipe: Recipe, sampling: CellSampling, *, adapter: Path | None, batch_size: int
) -> None:
    """Sample every set that is not whole, with the base model under an adapter, or as it came for None."""
    base, backend = base_policy(recipe.model, recipe.dtype), backend_of(recipe)
    completions = read_completions(folder)
    origin = origin_of(recipe, sampling, base=base, adapter=adapter, backend=backend)
    refuse_other_policy(folder, origin)
    ends: Any = base.tokenizer.convert_ids_to_tokens(end_tokens(base.tokenizer))
    key = write_origin(folder, origin, sampling, ends=ends, backend=backend.name)
    journal = Journal(folder / JOURNAL, key)
    batch_size = min([batch_size, *journal.batch_sizes()])  # other batches would round otherwise
    missing, total = missing_completions(folder, sampling), sum(sampling.sizes.values())
    journaled = sum(len(journal.completions(sample_set)) for sample_set in missing)
    with backend.generator(base, adapter) as generate:
        events.begin("generation", total, done=total - sum(missing.values()) + journaled)
        for sample_set in missing:
            settings = replace(sampling.decodings[sample_set.decoding], batch_size=batch_size)
            completions[sample_set] = journal.completed(
                sampling.problems[sample_set.split],
                partial(generate, decoding=settings, seed=sampling.cell.seed),
                sample_set=sample_set,
                samples=settings.samples,
                batch_size=settings.batch_size,
            )
    # The old result and verdicts go first, so that a kill leaves no verdicts of other completions.
    for outdated in (RESULT, VERDICTS):
        (folder / outdated).unlink(missing_ok=True)
    splits = (TRAIN, *EVALUATED)
    in_order = sorted(completions, key=lambda x: (splits.index(x.split), place_of_decoding(x.decoding)))
    write_completions(folder, ((of, completion) for of in in_order for completion in completions[of]))


def verify_completions(folder: Path, sampling: CellSampling) -> None:
    """Write a verdict for every completion, and into cell.json the verifier's version."""
    task = load_task(sampling.cell.task)
    write_verifier(folder, task.verify, task=sampling.cell.task)
    sets = read_completions(folder)
    problems = [problem for of_split in sampling.problems.values() for problem in of_split]
    verified = verify_all(task, problems, [completion for some in sets.values() for completion in some])
    places = [sample_set for sample_set, some in sets.items() for _ in some]
    write_verdicts(
        folder, [VerifiedSample(place, *each) for place, each in zip(places, verified, strict=True)]
    )


def scores_of(samples: Iterable[VerifiedSample], *, equal: Equal | None) -> dict[str, dict[str, Any]]:
    """Return split → decoding → what `erce.score.summarize` returns; `equal` joins the votes of maj@n."""
    by_set: dict[SampleSet, list[VerifiedSample]] = {}
    for sample in samples:
        by_set.setdefault(sample.sample_set, []).append(sample)
    scored: dict[str, dict[str, Any]] = {}
    for (split, decoding), verified in by_set.items():
        completions = [sample.completion for sample in verified]
        verdicts = [sample.verdict for sample in verified]
        scored.setdefault(split, {})[decoding] = summarize(completions, verdicts, equal=equal)
    return scored
