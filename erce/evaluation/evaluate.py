"""A model, problems and a verifier → verified completions, and rates with their intervals over problems.

The cells of a study generate, verify and score with the same functions, under their recipe's settings.
"""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from erce import events
from erce.errors import InputError, RunError, counted
from erce.generate.decoding import GenerationSettings, check_ids
from erce.hf.prompt import end_tokens, prompt_ids, row_prompt_ids
from erce.recipe import GREEDY, SAMPLED
from erce.score import acceptance, mixed_share, summarize
from erce.score.rounding import percent
from erce.stats import accuracy_bounds
from erce.tasks import READERS, jsonl_task, load_task, reader_task
from erce.tasks.rows import check_problems, read_row
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Task, Verdict, Verifier

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

BATCH_SIZE = 64  # completions at a time


class Rate(NamedTuple):
    """A share of 1, and its 95 % interval for other problems like these."""

    value: float
    low: float
    high: float


class EvaluatedCompletion(NamedTuple):
    """A completion and what the verifier said of it."""

    completion: Completion
    verdict: Verdict


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What a model wrote for the problems, and how much of it is right; `print` shows two lines.

    `verified` has the completions by the name of their decoding, "greedy" and, where samples were asked for,
    "sampled": in the order of the problems, then of samples. `scores` has what `erce.score.summarize` says of
    each, as in the result.json of a study's cell. `temperature` is that of the samples.
    """

    problems: tuple[Problem, ...]
    verified: Mapping[str, tuple[EvaluatedCompletion, ...]]
    scores: Mapping[str, Mapping[str, Any]]
    temperature: float

    @property
    def greedy(self) -> Rate:
        """The accuracy of greedy decoding."""
        return self._rate(GREEDY)

    @property
    def sampled(self) -> Rate | None:
        """The share of right samples; None if none were asked for."""
        return self._rate(SAMPLED) if SAMPLED in self.verified else None

    @property
    def mixed(self) -> float | None:
        """The share of problems with right and with wrong samples; None for fewer than two samples."""
        several = SAMPLED in self.verified and self.scores[SAMPLED]["samples"] > 1
        return mixed_share(self._accepted(SAMPLED)) if several else None

    def metrics(self) -> dict[str, float]:
        """Return the numbers that a training's log has, shares of 1 and a mean of tokens.

        `verified`, `cut_off`, `mean_tokens` and, where a verifier can ignore the answer's form,
        `verified_flexible` are of greedy decoding; `verified_sampled`, `pass@k` and `mixed` of the samples.
        """
        greedy, sampled = self.scores[GREEDY], self.scores.get(SAMPLED, {})
        numbers = {
            "verified": greedy["pass@1"],
            "verified_flexible": greedy["flexible"],
            "verified_sampled": sampled.get("pass@1"),
            **_pass_at_k(sampled),
            "mixed": self.mixed,
            "cut_off": 1 - greedy["finished"],
            "mean_tokens": greedy["tokens"],
        }
        return {name: number for name, number in numbers.items() if number is not None}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each completion, with its prompt and verdict."""
        prompts = {problem.id: problem.prompt for problem in self.problems}
        for decoding, verified in self.verified.items():
            for completion, by_verifier in verified:
                row = {"decoding": decoding, "problem": completion.problem, "sample": completion.sample}
                row |= {"prompt": prompts[completion.problem], "completion": completion.text}
                row |= {"accepted": by_verifier.accepted, "reason": by_verifier.reason}
                row |= {"extracted": by_verifier.extracted, "flexible": by_verifier.flexible}
                yield row | {"tokens": completion.tokens, "finished": completion.finished}

    def __repr__(self) -> str:
        return "\n".join(self._line(decoding) for decoding in self.verified)

    def _line(self, decoding: str) -> str:
        """Return a decoding's line; shares that are 0, and a form that matters nowhere, are left out."""
        scores, rate = self.scores[decoding], self._rate(decoding)
        of = f"of {counted(len(self.problems), 'problem')}"
        if decoding == SAMPLED:
            of = f"of {counted(scores['samples'], 'sample')} each at temperature {self.temperature:g}"
        interval = f"95 % interval {percent(rate.low)} to {percent(rate.high)}"
        parts = [f"{decoding:<8} {percent(rate.value)} % right ({interval}) {of}"]
        if scores["flexible"] not in (None, scores["pass@1"]):
            parts.append(f"{percent(scores['flexible'])} % if the form is ignored")
        parts += [f"{name} {percent(share)} %" for name, share in _pass_at_k(scores).items()]
        if decoding == SAMPLED and self.mixed is not None:
            parts.append(f"{percent(self.mixed)} % of the problems mixed")
        shares = {"cut off": 1 - scores["finished"], "without an answer": scores["reasons"].get("no answer")}
        parts += [f"{percent(share)} % {what}" for what, share in shares.items() if share]
        return ", ".join([*parts, f"{scores['tokens']:.0f} tokens"])

    def _accepted(self, decoding: str) -> np.ndarray:
        return acceptance(*zip(*self.verified[decoding], strict=True))

    def _rate(self, decoding: str) -> Rate:
        return Rate(self.scores[decoding]["pass@1"], *accuracy_bounds(self._accepted(decoding)))


def _pass_at_k(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: share for name, share in scores.items() if name.startswith("pass@") and name != "pass@1"}


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How an evaluation generates, as `evaluate` explains it; an unusable value is an InputError."""

    samples: int = 0
    temperature: float = 0.8
    max_new_tokens: int | None = None
    batch_size: int | None = None
    stop: Sequence[str] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in {"samples": 0, "max_new_tokens": 1, "batch_size": 1}.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise InputError(f"{name} = {value!r} is not a whole number of {least} or more")
        if not isinstance(self.temperature, int | float) or not 0 < self.temperature < math.inf:
            raise InputError(
                f"temperature = {self.temperature!r} is not above 0 and finite; leave it out, since greedy "
                "completions are always there"
            )
        texts = self.stop if isinstance(self.stop, list | tuple) else [None]
        if not all(isinstance(text, str) and text for text in texts):
            raise InputError(f"stop = {self.stop!r} is not a list of texts; write stop=['…']")

    def decodings(self, task: Task) -> dict[str, GenerationSettings]:
        """Return the settings of the greedy completions and, where samples are asked for, of these."""
        greedy = GenerationSettings(
            temperature=0.0,
            samples=1,
            max_new_tokens=self.max_new_tokens or task.max_new_tokens,
            batch_size=self.batch_size or BATCH_SIZE,
            stop=tuple(self.stop),
        )
        sampled = replace(greedy, temperature=float(self.temperature), samples=self.samples)
        return {GREEDY: greedy, SAMPLED: sampled} if self.samples else {GREEDY: greedy}


def evaluate(  # noqa: PLR0913  the model and the settings of generation
    model: Any,
    tokenizer: "PreTrainedTokenizerBase",
    problems: Iterable[Any],
    verify: str | Task | Verifier,
    *,
    samples: int = 0,
    temperature: float = 0.8,
    max_new_tokens: int | None = None,
    batch_size: int | None = None,
    stop: Sequence[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Generate completions of the problems, verify them, and return how many are right.

    The model comes back in the mode and with the generation settings that it had, and so do the states of all
    random numbers. The checkpoint's own generation settings have no effect (`erce.generate.transformers`).

    Args:
        model: A causal language model of transformers, or a `PeftModel` of one.
        tokenizer: The one that it was trained with.
        problems: Problems, whose prompt is a user's turn as in a study, or rows of a list or data set as
            trainers take them (`erce.tasks.rows`): a prompt that is a text then gets no chat template.
        verify: "number", "math" or "program", which read `answer` or `tests`; a task's name, or a task; or a
            function of a problem and a completion that returns a bool or a `Verdict`.
        samples: How many samples there are of each problem, beside the greedy completion.
        temperature: Of the samples.
        max_new_tokens: Of a completion; None is the task's number, or 512.
        batch_size: How many completions are written at a time, which changes speed and memory; None is 64.
        stop: Texts that end a completion.
        seed: Of the samples: equal seeds, equal samples.

    Returns:
        The rates and the completions. Printed, an `Evaluation` is one line per decoding.

    Raises:
        InputError: A setting, a row, the model or the verifier cannot be used; raised before anything is
            generated. VerifierError: the verifier raised.
    """
    settings = EvaluationSettings(
        samples=samples,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        batch_size=batch_size,
        stop=stop,
        seed=seed,
    )
    plan = prepare(tokenizer, problems, verify, settings)
    require_generation(model, plan)
    with progress():
        return plan.scored(plan.verified(model, plan.problems))


@dataclass(frozen=True)
class EvaluationPlan:
    """An evaluation of which all but the model is checked: what is asked, how often, and who verifies."""

    task: Task
    tokenizer: Any
    problems: tuple[Problem, ...]
    prompts: Mapping[str, list[int]]  # token ids by the problem's id
    decodings: Mapping[str, GenerationSettings]
    seed: int

    def verified(self, model: Any, problems: Sequence[Problem]) -> dict[str, list[EvaluatedCompletion]]:
        """Return the completions of some of the problems with their verdicts, by decoding."""
        from erce.generate.transformers import generate
        from erce.hf.models import kept_random_states

        verified = {}
        with kept_random_states():
            for name, decoding in self.decodings.items():
                events.begin("generation", len(problems) * decoding.samples)
                completions = generate(
                    model, self.tokenizer, problems, decoding=decoding, seed=self.seed, prompts=self.prompts
                )
                verified[name] = verify_all(self.task, problems, completions)
        return verified

    def scored(self, verified: Mapping[str, Iterable[EvaluatedCompletion]]) -> Evaluation:
        """Return the evaluation that the completions of all problems are, in whatever order."""
        places = {problem.id: place for place, problem in enumerate(self.problems)}
        ordered = {
            name: tuple(
                sorted(some, key=lambda each: (places[each.completion.problem], each.completion.sample))
            )
            for name, some in verified.items()
        }
        scores = {
            name: summarize(*zip(*some, strict=True), equal=self.task.equal) for name, some in ordered.items()
        }
        return Evaluation(self.problems, ordered, scores, list(self.decodings.values())[-1].temperature)


def prepare(
    tokenizer: "PreTrainedTokenizerBase",
    problems: Iterable[Any],
    verify: str | Task | Verifier,
    settings: EvaluationSettings,
) -> EvaluationPlan:
    """Check everything that `evaluate` is given but the model, and return what is to be done."""
    from erce.hf.models import kept_random_states

    task = _task(verify)
    end_tokens(tokenizer)
    asked, prompts = [], {}
    for number, problem in enumerate(problems, start=1):
        if isinstance(problem, Problem):
            asked.append(problem)
            prompts[problem.id] = prompt_ids(tokenizer, problem.prompt)
        else:
            row = read_row(problem, number)
            asked.append(row.problem)
            prompts[row.problem.id] = row_prompt_ids(tokenizer, row.prompt, **_template(row.problem))
    check_ids(asked)
    with kept_random_states():
        check_problems(task, asked)
    return EvaluationPlan(task, tokenizer, tuple(asked), prompts, settings.decodings(task), settings.seed)


def _template(problem: Problem) -> dict[str, Any]:
    """Return what a row says of its chat template, as TRL reads it."""
    row = problem.meta if isinstance(problem.meta, dict) else {}
    tools = row.get("tools")
    settings = {"tools": json.loads(tools) if isinstance(tools, str) else tools} if tools else {}
    return settings | dict(row.get("chat_template_kwargs") or {})


def verify_all(
    task: Task, problems: Iterable[Problem], completions: Sequence[Completion]
) -> list[EvaluatedCompletion]:
    """Return the completions with the task's verdicts, in their order, and tell how far it is."""
    by_id = {problem.id: problem for problem in problems}
    verified = []
    events.begin("verification", len(completions))
    for completion in completions:
        verified.append(EvaluatedCompletion(completion, verdict(task, by_id[completion.problem], completion)))
        events.advance(1)
    return verified


def require_generation(model: Any, plan: EvaluationPlan) -> None:
    """Refuse a model that cannot write a token of a completion, which is tried with the first problem."""
    import torch
    from torch.distributed.tensor import DTensor

    from erce.generate.transformers import generate
    from erce.hf.models import kept_random_states

    name, remedy = type(model).__name__, "give a causal language model of transformers, or a PeftModel of one"
    if isinstance(model, torch.nn.Module) and not hasattr(model, "generate"):
        raise InputError(f"a {name} has no `generate`; {remedy}, and of a wrapped model its `module`")
    config = getattr(model, "config", None)
    if config is None or config.is_encoder_decoder or not getattr(model, "can_generate", lambda: True)():
        raise InputError(f"a {name} does not continue a text; {remedy}")
    if any(isinstance(weight, DTensor) or weight.is_meta for weight in model.parameters()):
        raise InputError(
            f"the {name} has parameters that are sharded or not in memory, which generation cannot use; save "
            "the model, and evaluate the saved one with erce.evaluate"
        )
    limit = plan.decodings[GREEDY].max_new_tokens
    longest = max(map(len, plan.prompts.values()))
    room = getattr(config.get_text_config(), "max_position_embeddings", None) or math.inf
    if longest + limit - 1 > room:  # the last token is not read
        raise InputError(
            f"the longest prompt, {longest} tokens, and max_new_tokens = {limit} do not fit "
            f"the {room} positions of the {name}; lower max_new_tokens"
        )
    greedy = replace(plan.decodings[GREEDY], max_new_tokens=min(2, limit))
    try:
        with kept_random_states():
            generate(model, plan.tokenizer, plan.problems[:1], decoding=greedy, seed=0, prompts=plan.prompts)
    except (InputError, RunError):
        raise
    except Exception as error:  # whatever the model's own code raises
        why = " ".join(str(error).split())
        raise InputError(
            f"the {name} cannot generate a token ({type(error).__name__}: {why:.200}); {remedy} that can"
        ) from error


@contextmanager
def progress(*, wanted: bool = True) -> Iterator[None]:
    """Show a bar on a terminal, first of generation and then of verification, while the block runs."""
    from tqdm.auto import tqdm

    enabled = wanted and sys.stderr.isatty()
    with tqdm(disable=not enabled, leave=False, unit=" completions") as bar:

        def hear(event: events.Event) -> None:
            if (event.stage, event.total) != (bar.desc.removesuffix(": "), bar.total):
                bar.reset(event.total)
                bar.set_description(event.stage)
            bar.update(event.done - bar.n)

        with events.listening(hear if enabled else lambda event: None):
            yield


def _task(verify: str | Task | Verifier) -> Task:
    if isinstance(verify, Task):
        return verify
    if isinstance(verify, str):
        return reader_task(verify) if verify in READERS else load_task(verify)
    if not callable(verify):
        raise InputError(
            f'verify = {verify!r} is neither a name nor a function; give "number", "math", "program", the '
            "name of a task, or a function of a problem and a completion"
        )
    return jsonl_task(getattr(verify, "__name__", repr(verify)), None, verify)
