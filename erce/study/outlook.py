"""A recipe → what its first steps of training would push the base model to, before anything is trained.

The base model's samples of the training and validation problems are judged by the task's verifier, and
`erce.train.pushes` says how fast the loss on the demonstrations raises the accepted ones over the rejected.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from erce.errors import InputError
from erce.generate.decoding import GenerationSettings
from erce.recipe import Recipe, RegularizedObjective, load_recipe
from erce.study.plan.fit import batch_sizes
from erce.study.policy import policy
from erce.study.problems import cell_splits
from erce.study.training import base_policy
from erce.tasks import load_task
from erce.tasks.verdicts import verdict

if TYPE_CHECKING:
    from erce.train.pushes import Pushes

SAMPLES = 4  # of a problem, at temperature 1, where the penalty acts too
MOST_TEXTS = 400  # of either kind whose gradient is taken
FEWEST_TEXTS = 10  # of either kind; fewer cannot tell


@dataclass(frozen=True)
class Outlook:
    """How a first training step shifts the base model between right and wrong samples, a demonstration."""

    accepted: int
    samples: int
    problems: int  # to train on
    answered: (
        int  # of these, problems of which a sample is right, so that "self" and "rft" have one to train on
    )
    halves: tuple["Pushes", "Pushes"]  # each measured on one half of the problems

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


def outlook(recipe: Recipe | str | Path, **overrides: Any) -> Outlook:
    """Judge the base model's samples and compare the pushes; nothing is trained or written.

    It costs 4 samples of each training and validation problem, and gradients of the demonstrations and of up
    to 1,600 samples. InputError: fewer than 10 right or wrong samples in a half of the problems.
    """
    if not isinstance(recipe, Recipe):
        recipe = load_recipe(recipe, **overrides)
    problems, task = cell_splits(recipe, recipe.task), load_task(recipe.task)
    asked = [*problems.train, *problems.validation]
    base = base_policy(recipe.model, recipe.dtype)
    decoding = GenerationSettings(
        temperature=1.0,
        samples=SAMPLES,
        max_new_tokens=recipe.decoding.max_new_tokens or task.max_new_tokens,
        batch_size=batch_sizes(recipe, {recipe.task: problems}, share=1.0).completions,
        stop=recipe.decoding.stop,
        compile=recipe.decoding.compile,
    )
    with policy(recipe, base, None) as draw:
        completions = draw(asked, decoding=decoding, seed=0)
    by_id = {problem.id: problem for problem in asked}
    half_of = {problem.id: at % 2 for at, problem in enumerate(asked)}
    texts: Mapping[tuple[int, bool], list[Any]] = {(half, ok): [] for half in (0, 1) for ok in (True, False)}
    accepted, answered = 0, set()
    for completion in completions:
        problem = by_id[completion.problem]
        is_right = verdict(task, problem, completion).accepted
        accepted += is_right
        if completion.finished:
            answered |= {problem.id} if is_right else set()
            of_kind = texts[half_of[problem.id], is_right]
            of_kind.append(replace(problem, demonstration=completion.text))
    _check_enough(texts, len(completions))
    from erce.train.pushes import JudgedTexts, pushes

    groups = [JudgedTexts(texts[half, True][:MOST_TEXTS], texts[half, False][:MOST_TEXTS]) for half in (0, 1)]
    training = replace(recipe.training, max_length=recipe.training.max_length or task.max_length)
    objective = RegularizedObjective(
        lam=0.0, penalty=recipe.penalty, order=recipe.order, objective=recipe.objective
    )
    first, second = pushes(base, problems.train, groups, objective=objective, training=training)
    answered &= {problem.id for problem in problems.train}
    return Outlook(accepted, len(completions), len(problems.train), len(answered), (first, second))


def _check_enough(texts: Mapping[tuple[int, bool], list[Any]], drawn: int) -> None:
    for (_, is_accepted), of_kind in texts.items():
        if len(of_kind) < FEWEST_TEXTS:
            kind = "right" if is_accepted else "wrong"
            raise InputError(
                f"of {drawn} samples of the base model too few are {kind}: {len(of_kind)} in one half of the "
                f"problems, where it takes {FEWEST_TEXTS}; raise n_train or n_validation"
            )


def outlook_lines(seen: Outlook, recipe: Recipe) -> list[str]:
    """Return what an outlook says, in sentences."""
    right = (
        f"{seen.accepted} of {seen.samples} samples of {recipe.model} are right at temperature 1; "
        f"{seen.answered} of {seen.problems} training problems have a right one among {SAMPLES}, which the "
        "arms self and rft could train on."
    )
    return [right, _advice(seen, recipe.objective)]


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
            f"A first step of {objective} already makes right samples more likely relative to wrong ones; "
            f"the penalty at λ = 1 adds {seen.penalty / seen.objective:.1f} times that effect. Later steps "
            "may act differently: try λ = 1 to 4, and compare with a lower temperature."
        )
    low, high = sorted(switching_lam(*half) for half in seen.halves)
    return (
        f"A first step of {objective} on these demonstrations makes right samples less likely relative "
        f"to wrong ones, and the penalty makes them more likely. The penalty outweighs {objective} above λ = "
        f"{seen.switching_lam:.1f} or so (halves of the problems: {low:.1f} and {high:.1f}). Below that λ "
        f"expect harm. Try {3 * seen.switching_lam:.2g} and {6 * seen.switching_lam:.2g}."
    )
