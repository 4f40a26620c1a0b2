"""The package's core types, in the order of the walk: Problem, Completion, Verdict, Task, Arm, SampleRow."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from erce.errors import InputError

CROSS_ENTROPY = "cross-entropy"  # the loss that every penalty is added to unless a recipe names another


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem with one demonstration, which the task's verifier accepts.

    `answer` is the reference of a task that compares answers; `tests` are the asserts of a task that runs
    programs, `setup` the statements before them (imports, helpers), `entry_points` the closed list of names
    that the candidate answers, None for those that `erce.verify.run_program` finds. `inputs` are the standard
    inputs of a task whose programs print, `outputs` what is expected for each. Whatever a task does not use
    stays empty. `weight` multiplies the demonstration's loss in training; the mean still divides by the
    number of tokens. `meta` is whatever else a user-defined verifier wants to read.
    """

    id: str
    prompt: str
    demonstration: str
    answer: str = ""
    tests: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    entry_points: tuple[str, ...] | None = None
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    weight: float = 1.0
    meta: Any = field(default=None, hash=False)  # a dict or list has no hash

    def __post_init__(self) -> None:
        for name in ("tests", "setup", "entry_points", "inputs", "outputs"):
            texts = getattr(self, name)
            if isinstance(texts, str):  # whose letters would be the tests
                raise InputError(f"{name} = {texts[:80]!r} is one text; give a list of texts")
            if texts is not None:  # a list has no hash
                object.__setattr__(self, name, tuple(texts))


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One output of a policy. `finished` is False when it was cut off at the token limit.

    `tokens` counts its end token too. `logprob` is the sum over its tokens of log p, `entropy` the mean over
    them of the next-token distribution's Shannon entropy, both at temperature 1 and in nats. `tokens` and
    these two are None if the generator does not report them.
    """

    problem: str
    sample: int
    text: str
    tokens: int | None
    finished: bool | None  # None: a log of another tool does not say
    logprob: float | None
    entropy: float | None


REASONS = (
    "exact",
    "numeric",
    "structural",
    "passed",
    "unproven",
    "different",
    "no answer",
    "truncated",
    "unparsed",
    "reference not read",
    "too large",
    "failed",
    "timeout",
    "opaque",
    "error",
)


@dataclass(frozen=True)
class Verdict:
    """The verifier's judgement of one completion.

    `reason` is one of `REASONS`; "error" is a fault of the task or the machine, never of the completion;
    "unproven" accepts a program that shared an interpreter with its tests, and so could have cheated.
    `extracted` is the answer or program that was verified, `elapsed` wall time in seconds, `detail` one line
    for a reader. `warning` is empty but where a program ran with less protection than the whole sandbox
    gives, or passed although it answered two or more functions that the tests call. `flexible` is whether the
    completion would be accepted if the form in which it gives its answer were ignored; None: not asked.
    """

    accepted: bool
    reason: str
    extracted: str | None = None
    elapsed: float = 0.0
    detail: str = ""
    warning: str = ""
    flexible: bool | None = None


Verifier = Callable[[Problem, Completion], Verdict | bool]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Problems and the verifier that judges their completions.

    `pools(data)` returns the problems that may be trained on and those that may be tested on; `data` is a
    local folder or None for the task's own source. A recipe may ask for other sizes. `verify` decides, by a
    verdict or a bool; `verify_flexible` ignores in which form the answer is given, so that a report tells
    format from ability; None where the form does not matter, as with programs. `equal` says whether two
    extracted answers are one vote in maj@n; None where only the same text is. `about` is a line for
    `erce tasks`.
    """

    name: str
    pools: "Callable[[str | None], Pools]"
    verify: Verifier
    n_train: int
    n_validation: int
    n_test: int
    max_new_tokens: int
    max_length: int
    verify_flexible: Callable[[Problem, Completion], Verdict] | None = None
    equal: Callable[[str, str], bool] | None = None
    about: str = ""


@dataclass(frozen=True)
class Pools:
    """The problems that splits are taken from; training and validation problems both come from `train`."""

    train: tuple[Problem, ...]
    test: tuple[Problem, ...]


@dataclass(frozen=True)
class Splits:
    """Three lists of problems, disjoint in their prompts."""

    train: tuple[Problem, ...]
    validation: tuple[Problem, ...]
    test: tuple[Problem, ...]


@dataclass(frozen=True)
class Arm:
    """One row of a report's tables: the base model, or all seeds of a method with a penalty strength λ.

    `lam` is None for the base model as it came, which is not trained. Gains are measured from λ = 0 of the
    base loss that a recipe's grid is on: cross-entropy, or the one that the recipe names.
    """

    lam: float | None
    method: str = CROSS_ENTROPY  # a base loss by name, or "rft" or "self"

    @property
    def is_base(self) -> bool:
        return self.lam is None

    def name(self, grid: str = CROSS_ENTROPY) -> str:
        """Return the arm's one name, on every page, where a study's λ are on the base loss `grid`.

        >>> [Arm(lam).name() for lam in (None, 0.0, -0.5)], [Arm(lam, "dft").name() for lam in (0.0, 4.0)]
        (['base model', 'λ = 0', 'λ = −0.5'], ['dft', 'dft + 4'])
        >>> Arm(0.0).name("dft"), Arm(4.0).name("dft"), Arm(-0.5, "dft").name("dft")
        ('cross-entropy', 'cross-entropy + 4', 'dft − 0.5')
        """
        if self.lam is None:
            return "base model"
        if self.method == grid == CROSS_ENTROPY:
            return f"λ = {self.lam:g}".replace("-", "−")
        sign = "−" if self.lam < 0 else "+"
        return f"{self.method} {sign} {abs(self.lam):g}" if self.lam else self.method

    @property
    def slug(self) -> str:
        """Return the arm's part of a cell's name, also the `arm` of exported rows.

        >>> [Arm(lam).slug for lam in (None, 0.0, -0.5)], [Arm(lam, "dft").slug for lam in (0.0, 4.0)]
        (['base', 'lam0', 'lam-0.5'], ['dft', 'dft-lam4'])
        """
        if self.lam is None:
            return "base"
        if self.method != CROSS_ENTROPY:
            return f"{self.method}-lam{self.lam:g}" if self.lam else self.method
        return f"lam{self.lam:g}"

    def as_json(self, grid: str = CROSS_ENTROPY) -> dict[str, float | str | None]:
        """Return the arm's name as `label`, and `lam` and `method`, both None for the base model.

        >>> Arm(0.5).as_json()
        {'label': 'λ = 0.5', 'lam': 0.5, 'method': 'cross-entropy'}
        """
        method = None if self.is_base else self.method
        return {"label": self.name(grid), "lam": self.lam, "method": method}


BASE_MODEL, BASELINE = Arm(None), Arm(0.0)


@dataclass(frozen=True, kw_only=True)
class SampleRow:
    """One sample with everything that produced it: a row of `erce records`, in the order of its columns.

    None stands for what is not known; the columns without a default are always known.
    """

    key: str | None = None  # of everything that the sample depends on: equal keys, equal samples
    study: str | None = None
    task: str | None = None
    arm: str  # "base", "lam0.5", "dft": the arm (table row) that the sample belongs to
    lam: float | None = None
    method: str | None = None
    penalty: str | None = None
    order: float | None = None
    seed: int  # of training, and with `problem` and `sample` of the random numbers it was sampled with
    model: str | None = None
    revision: str | None = None
    dtype: str | None = None
    adapter: str | None = None  # digest of its weights
    split: str
    decoding: str
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    max_new_tokens: int | None = None
    stop: list[str] | None = None
    problem: str
    prompt_hash: str | None = None
    answer: str | None = None
    tests: list[str] | None = None
    sample: int
    completion: str | None = None
    tokens: int | None = None
    finish: str | None = None  # "stop" or "length"
    logprob: float | None = None
    entropy: float | None = None
    accepted: bool | None = None
    flexible: bool | None = None  # whether it would be accepted if the form of its answer were ignored
    reason: str | None = None
    extracted: str | None = None
    warning: str | None = None
    verifier: str | None = None
