"""A recipe → what its first steps of training would push the base model to, before anything is trained.

The base model's samples of the training and validation problems are verified, and
`erce.train.pushes` says how fast the loss on the demonstrations raises the accepted ones over the rejected.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from erce import events
from erce.errors import InputError
from erce.files import short_hash
from erce.generate.decoding import GenerationSettings
from erce.recipe import SAMPLED, Cell, Recipe, RegularizedObjective, load_recipe
from erce.study.demonstrations import cell_splits
from erce.study.folder import RESULT, cell_folder
from erce.study.manifest import base_model, checked_origin
from erce.study.memory import batch_sizes
from erce.study.policy import policy
from erce.study.samples import Journal, SampleSet, read_samples
from erce.study.stages import EVALUATED, base_policy
from erce.tasks import load_task
from erce.tasks.verdicts import outcome, verdict
from erce.types import Completion, Problem, Splits, Verdict

if TYPE_CHECKING:
    from erce.hf.models import BasePolicy
    from erce.train.pushes import Pushes

SAMPLES = 4  # of a problem, at temperature 1, where the penalty acts too
MOST_TEXTS = 400  # of either kind whose gradient is taken
FEWEST_TEXTS = 10  # of either kind in each half of the problems; fewer cannot tell
SHOWN = 3  # samples in an error


@dataclass(frozen=True)
class Outlook:
    """How a first training step shifts the base model between right and wrong samples, a demonstration."""

    accepted: int
    samples: int
    problems: int  # that were sampled
    answered: int  # of these, those with a right sample: the share that "self" and "rft" can train on
    halves: tuple["Pushes", "Pushes"]  # each measured on one half of the problems
    temperature: float = 1.0  # of the samples

    @property
    def objective(self) -> float:
        """How fast the objective alone raises accepted samples over rejected ones; below 0: lowers them."""
        return sum(half.objective for half in self.halves) / 2

    @property
    def penalty(self) -> float:
        """How fast the penalty at λ = 1 raises accepted samples over rejected ones; below 0: lowers them."""
        return sum(half.penalty for half in self.halves) / 2

    @property
    def switching_lam(self) -> float:
        """The λ above which the first step raises accepted samples over rejected ones.

        0 where the objective alone does so, inf where no λ does.
        """
        return switching_lam(self.objective, self.penalty)


def switching_lam(objective: float, penalty: float) -> float:
    """Return the λ above which objective + λ · penalty is positive; 0 if the objective is, inf if none.

    >>> switching_lam(-3.0, 1.5), switching_lam(1.0, 0.2), switching_lam(-1.0, -0.2)
    (2.0, 0.0, inf)
    """
    if objective >= 0:
        return 0.0
    return -objective / penalty if penalty > 0 else math.inf


def outlook(recipe: Recipe | str | Path, *, root: Path | None = None, **overrides: Any) -> Outlook:
    """Verify the base model's samples and compare the pushes; nothing is trained.

    It costs 4 samples of each training and validation problem, and gradients of the demonstrations and of up
    to 1,600 samples. `root` is the study's folder, which need not exist: the validation samples of its base
    model are taken where they are enough, and other samples are kept beside it, in ROOT.outlook, for the next
    outlook. InputError: fewer than 10 right or wrong samples in a half of the problems.
    """
    if not isinstance(recipe, Recipe):
        recipe = load_recipe(recipe, **overrides)
    events.begin("reading problems and loading the model", cell="")
    problems, task = cell_splits(recipe, recipe.task), load_task(recipe.task)
    base = base_policy(recipe.model, recipe.dtype)
    # Samples that the study has already come first: they cost nothing.
    samples = [] if root is None else _of_base_cell(root, recipe, problems, base)
    temperature = recipe.decoding.temperature
    if not _enough(samples):
        samples, temperature = _sampled(root, recipe, problems, base), 1.0
    if not _enough(samples):
        raise InputError(_too_few(samples, recipe))
    from erce.train.pushes import VerifiedTexts, pushes

    texts = {kind: [sample.text for sample in some] for kind, some in _by_kind(samples).items()}
    groups = [
        VerifiedTexts(texts[half, True][:MOST_TEXTS], texts[half, False][:MOST_TEXTS]) for half in (0, 1)
    ]
    training = replace(recipe.training, max_length=recipe.training.max_length or task.max_length)
    objective = RegularizedObjective(
        lam=0.0, penalty=recipe.penalty, order=recipe.order, objective=recipe.objective
    )
    texts_taken = sum(len(kind) for group in groups for kind in group)
    events.begin("gradients of demonstrations and samples", 2 * len(problems.train) + texts_taken)
    first, second = pushes(base, problems.train, groups, objective=objective, training=training)
    accepted = sum(sample.verdict.accepted for sample in samples)
    right = [sample for sample in samples if sample.completion.finished and sample.verdict.accepted]
    return Outlook(
        accepted=accepted,
        samples=len(samples),
        problems=len({sample.problem.id for sample in samples}),
        answered=len({sample.problem.id for sample in right}),
        halves=(first, second),
        temperature=temperature,
    )


class _Sample(NamedTuple):
    """One sample of the base model, verified; `half` is that of its problem."""

    half: int
    problem: Problem
    completion: Completion
    verdict: Verdict

    @property
    def text(self) -> Problem:
        """The sample as a problem's demonstration."""
        return replace(self.problem, demonstration=self.completion.text)


def _of_base_cell(root: Path, recipe: Recipe, problems: Splits, base: "BasePolicy") -> list[_Sample]:
    """Return the validation samples of the study's base cell; none where it has no result."""
    cell = Cell(recipe.task, None, 0)
    folder = cell_folder(root, recipe, cell)
    if not (folder / RESULT).is_file():
        return []
    checked_origin(folder, recipe, cell, base, {split: getattr(problems, split) for split in EVALUATED})
    numbers = {problem.id: at for at, problem in enumerate(problems.validation)}
    return [
        _Sample(at % 2, problems.validation[at], sample.completion, sample.verdict)
        for sample in read_samples(folder)
        if sample.sample_set == SampleSet("validation", SAMPLED)
        and (at := numbers.get(sample.completion.problem)) is not None
    ]


def _sampled(root: Path | None, recipe: Recipe, problems: Splits, base: "BasePolicy") -> list[_Sample]:
    """Verify samples of the training and validation problems at temperature 1, where the penalty acts."""
    task, asked = load_task(recipe.task), [*problems.train, *problems.validation]
    decoding = GenerationSettings(
        temperature=1.0,
        samples=SAMPLES,
        max_new_tokens=recipe.decoding.max_new_tokens or task.max_new_tokens,
        batch_size=batch_sizes(recipe, {recipe.task: problems}, share=1.0).completions,
        stop=recipe.decoding.stop,
        compile=recipe.decoding.compile,
    )
    sample_set, total = SampleSet("train and validation", SAMPLED), SAMPLES * len(asked)
    with policy(recipe, base, None) as generate:
        sample = partial(generate, decoding=decoding, seed=0)
        if root is None:
            events.begin("generation", total)
            completions = sample(asked)
        else:
            # Kept under all that they depend on; another batch size is no reason to sample again.
            of_what = [(problem.id, problem.prompt) for problem in asked]
            origin = (base_model(recipe), str(base.model.dtype), replace(decoding, batch_size=1), of_what)
            key = short_hash(repr(origin).encode())
            journal = Journal(root.with_name(f"{root.name}.outlook"), key)
            events.begin("generation", total, done=len(journal.completions(sample_set)))
            sizes = {"samples": SAMPLES, "batch_size": decoding.batch_size}
            completions = journal.completed(asked, sample, sample_set=sample_set, **sizes)
    numbers = {problem.id: at for at, problem in enumerate(asked)}
    samples = []
    events.begin("verification", total)
    for completion in completions:
        at = numbers[completion.problem]
        samples.append(_Sample(at % 2, asked[at], completion, verdict(task, asked[at], completion)))
        events.advance(1)
    return samples


def _by_kind(samples: Sequence[_Sample]) -> dict[tuple[int, bool], list[_Sample]]:
    """Return (half, right?) → the finished samples."""
    kinds: dict[tuple[int, bool], list[_Sample]] = {(half, ok): [] for half in (0, 1) for ok in (True, False)}
    for sample in samples:
        if sample.completion.finished:
            kinds[sample.half, sample.verdict.accepted].append(sample)
    return kinds


def _enough(samples: Sequence[_Sample]) -> bool:
    return min(map(len, _by_kind(samples).values())) >= FEWEST_TEXTS


def _too_few(samples: Sequence[_Sample], recipe: Recipe) -> str:
    """Return the sentence on too few samples of a kind: the rate, a way out that exists, three samples."""
    kinds = _by_kind(samples)
    half, is_right = min(kinds, key=lambda kind: len(kinds[kind]))
    of_kind, asked = sum(len(kinds[at, is_right]) for at in (0, 1)), {sample.problem.id for sample in samples}
    accepted = sum(sample.verdict.accepted for sample in samples)
    needed = math.ceil(3 * FEWEST_TEXTS * len(asked) / max(1, of_kind))
    there = len(load_task(recipe.task).pools(recipe.data).train)
    if needed <= there:
        way_out = "raise n_train or n_validation (or --limit)"
    elif is_right:
        way_out = "take a stronger base model, an easier task or more problems"
    else:
        way_out = "the task is nearly solved, so a penalty can gain little"
    shown = samples[:: max(1, len(samples) // SHOWN)][:SHOWN]
    lines = [f"\n  {outcome(sample.completion, sample.verdict)}" for sample in shown]
    return (
        f"{accepted} of {len(samples)} samples of the base model are right ({accepted / len(samples):.1%}). "
        f"It takes {FEWEST_TEXTS} finished {'right' if is_right else 'wrong'} ones in each half of the "
        f"problems, and one half of these {len(asked)} has {len(kinds[half, is_right])}: about {needed:,} "
        f"problems may do, the task has {there:,} to train and validate on; {way_out}. Three samples:"
        + "".join(lines)
    )


def outlook_lines(seen: Outlook, recipe: Recipe) -> list[str]:
    """Return what an outlook says, in sentences."""
    right = f"{seen.accepted} of {seen.samples} samples of {recipe.model} are right"
    own = f"{seen.answered} of {seen.problems} problems have a right one, as the arms self and rft need"
    return [f"{right} at temperature {seen.temperature:g}; {own}.", _advice(seen, recipe.objective)]


def _advice(seen: Outlook, objective: str) -> str:
    if any(min(pair) < 0 < max(pair) for pair in zip(*seen.halves, strict=True)):
        return (
            "The two halves of the problems give opposite answers: the effect is near 0, or the problems are "
            "too few. Start with λ = 4 and look at the report."
        )
    if seen.penalty <= 0:
        return "The penalty would make right samples less likely relative to wrong ones. Stay at λ = 0."
    if seen.objective >= 0:
        return (
            f"A first step of {objective} already makes right samples more likely relative to wrong ones, so "
            "plain fine-tuning may do, and a penalty can hurt. Train λ = 0 first: where it beats the base "
            "model in greedy decoding and in samples, stay there; where its samples gain nothing, try λ = 1 "
            "and a lower temperature."
        )
    low, high = sorted(switching_lam(*half) for half in seen.halves)
    return (
        f"A first step of {objective} on these demonstrations makes right samples less likely relative "
        f"to wrong ones, and the penalty makes them more likely. The penalty outweighs {objective} above λ = "
        f"{seen.switching_lam:.1f} or so (halves of the problems: {low:.1f} and {high:.1f}). Below that λ "
        f"expect harm. Try {3 * seen.switching_lam:.2g} and {6 * seen.switching_lam:.2g}."
    )
