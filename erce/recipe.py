"""One TOML file ⇄ Recipe; its grid → Cells.

    task = "gsm8k"
    model = "Qwen/Qwen2.5-1.5B-Instruct"
    lams = [0, 0.3, 1, 3, 8]
    seeds = [0, 1, 2]

    [training]
    epochs = 3.0

Every setting that is left out has the paper's value; a key that does not exist stops the run.
"""

import difflib
import hashlib
import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

DTYPES = ("auto", "float32", "bfloat16", "float16")
PENALTY_NAMES = ("shannon", "renyi", "support-size")
NORMALIZATIONS = ("token", "sequence")
HEADS = ("erce", "trl")
CROSS_ENTROPY = "cross-entropy"
# Besides cross-entropy → what the number after a colon must be.
OBJECTIVES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "label-smoothing": ("in [0, 1)", lambda number: 0 <= number < 1),
    "dft": ("left out", lambda number: False),
    "eaft": ("a whole number above 1", lambda number: number > 1 and number.is_integer()),
    "focal": ("0 or above", lambda number: 0 <= number < math.inf),
}

Arm = float | str | None  # a row of the tables: a λ, another objective at λ = 0, or None, the base model


@dataclass(frozen=True, kw_only=True)
class Training:
    """LoRA fine-tuning; the paper's set-up (appendix on the GSM8K set-up) where nothing is said."""

    epochs: float = 3.0
    learning_rate: float = 2e-4  # peak; cosine to 0
    warmup: float = 0.03  # share of the steps
    batch_size: int = 16  # effective: sequences an optimizer step
    micro_batch_size: int = 8  # sequences a forward pass
    max_grad_norm: float = 1.0
    rank: int = 16
    lora_alpha: int = 32
    dropout: float = 0.05
    normalize: str = "token"  # "token": mean over the batch's response tokens | "sequence": the paper's 1/T
    head: str = "erce"  # "erce" | "trl": TRL's own loss head, for comparison
    gradient_checkpointing: bool = False
    max_length: int | None = None  # tokens of prompt and demonstration; None: the task's


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How completions are drawn; besides these, one greedy completion is always drawn for every problem."""

    temperature: float = 0.8  # of the samples, from the full softmax (no top-k, no top-p)
    samples: int = 4  # a problem
    max_new_tokens: int | None = None  # None: the task's
    batch_size: int = 512  # completions at a time; changes speed only


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A study: a grid of penalty strengths and seeds on one task, and on a control task if one is named."""

    task: str
    lams: tuple[float, ...]  # penalty strengths λ; 0 is plain cross-entropy and the baseline
    seeds: tuple[int, ...]
    objectives: tuple[str, ...] = ()  # what else every seed is trained with, at λ = 0: "dft", "focal:2", …
    control: str | None = None  # a task on which the mechanism predicts no gain, over the same grid
    model: str = "tiny"
    data: str | None = None  # folder with the task's original files; None: the task's own source
    penalty: str = "shannon"  # "shannon" | "renyi" | "support-size"
    order: float = 1.0  # of the penalty; Shannon's is 1
    dtype: str = "auto"  # "auto": float32 on a CPU, bfloat16 on a GPU
    n_train: int | None = None  # None: the task's size
    n_validation: int | None = None
    n_test: int | None = None
    split_seed: int = 42
    training: Training = field(default_factory=Training)
    decoding: Decoding = field(default_factory=Decoding)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task, then the control if there is one."""
        return (self.task,) if self.control is None else (self.task, self.control)

    def cells(self) -> list["Cell"]:
        """The grid in running order: each task's base model, then every seed of every λ and objective."""
        arms = [(lam, CROSS_ENTROPY) for lam in self.lams] + [(0.0, each) for each in self.objectives]
        return [
            cell
            for task in self.tasks
            for cell in (
                Cell(task, None, 0),
                *(Cell(task, lam, seed, objective) for seed in self.seeds for lam, objective in arms),
            )
        ]


@dataclass(frozen=True)
class Cell:
    """One point of the grid; `lam` None is the base model as it came, which is not trained."""

    task: str
    lam: float | None
    seed: int
    objective: str = CROSS_ENTROPY  # another one has λ = 0

    @property
    def arm(self) -> Arm:
        """What it is one seed of."""
        return arm_of(self.lam, self.objective)

    @property
    def name(self) -> str:
        """What people call it.

        >>> Cell("gsm8k", 0.5, 3).name, Cell("gsm8k", 0.0, 3, "focal:2").name, Cell("gsm8k", None, 0).name
        ('gsm8k-lam0.5-seed3', 'gsm8k-focal-2-seed3', 'gsm8k-base')
        """
        if self.lam is None:
            what = "base"
        elif self.objective == CROSS_ENTROPY:
            what = f"lam{self.lam:g}-seed{self.seed}"
        else:
            what = f"{self.objective}-seed{self.seed}"
        return f"{self.task}-{what}".replace(":", "-")


def arm_of(lam: float | None, objective: str | None) -> Arm:
    """λ, which None is for the base model; of another objective, its name."""
    return lam if objective == CROSS_ENTROPY else objective


def identity(recipe: Recipe) -> dict[str, Any]:
    """What makes two recipes the same study: all but the grid, which may grow, and the speed settings."""
    settings = asdict(recipe)
    for growing in ("lams", "seeds", "objectives"):
        del settings[growing]
    del settings["decoding"]["batch_size"]
    return settings


def folder_name(recipe: Recipe, cell: Cell) -> str:
    """The cell's folder, named after its content: other settings, other folder."""
    coordinates = [cell.task, cell.lam, cell.seed]
    if cell.objective != CROSS_ENTROPY:
        coordinates.append(cell.objective)
    content = json.dumps([identity(recipe), *coordinates], sort_keys=True)
    return f"{cell.name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def load_recipe(path: str | Path, **overrides: Any) -> Recipe:
    """The recipe in a TOML file; `overrides` that are not None win over the file's top-level settings."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"no recipe at {str(path)!r}; the ones that come with erce are in recipes/")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    merge(settings, {key: value for key, value in overrides.items() if value is not None})
    try:
        return parse_recipe(settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def merge(settings: dict[str, Any], overrides: dict[str, Any]) -> None:
    """Overrides win; a section is merged key by key.

    >>> settings = {"seeds": [0], "training": {"rank": 8, "epochs": 3.0}}
    >>> merge(settings, {"seeds": [1], "training": {"epochs": 1.0}})
    >>> settings
    {'seeds': [1], 'training': {'rank': 8, 'epochs': 1.0}}
    """
    for key, value in overrides.items():
        if isinstance(value, dict) and isinstance(settings.get(key), dict):
            merge(settings[key], value)
        else:
            settings[key] = value


def parse_recipe(settings: dict[str, Any]) -> Recipe:
    """A Recipe from plain values, as TOML or JSON hold them.

    >>> parse_recipe({"task": "gsm8k", "lambs": [0, 1], "seeds": [0]})
    Traceback (most recent call last):
    ValueError: no setting 'lambs'; did you mean 'lams'?
    """
    settings = dict(settings)
    for section, kind in (("training", Training), ("decoding", Decoding)):
        if section in settings:
            if not isinstance(settings[section], dict):
                raise ValueError(f"{section} = {settings[section]!r}: write a section [{section}]")
            settings[section] = _fill(kind, settings[section], f"[{section}] ")
    _known(Recipe, settings, "")
    for name in ("task", "lams", "seeds"):
        if name not in settings:
            raise ValueError(f"setting {name!r} is missing; a recipe needs task, lams and seeds")
    return _fill(Recipe, settings, "")


def _known(kind: type, settings: dict[str, Any], where: str) -> None:
    names = [each.name for each in fields(kind)]
    for key in settings:
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1)
            way_out = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
            raise ValueError(f"{where}no setting {key!r}; {way_out}")


def _fill(kind: type, settings: dict[str, Any], where: str) -> Any:
    """A frozen dataclass from plain values, each checked against its annotation."""
    _known(kind, settings, where)
    hints = get_type_hints(kind)
    return kind(**{key: _value(where + key, value, hints[key]) for key, value in settings.items()})


def _value(name: str, value: Any, hint: Any) -> Any:
    """The value as its field holds it (TOML's 0 is a float where a float is declared)."""
    if hint in (Training, Decoding):
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} = {value!r} is not a list; write {name} = [{value!r}]")
        item, _ = get_args(hint)
        return tuple(_value(f"{name}[{at}]", each, item) for at, each in enumerate(value))
    wanted = {float: (int, float), int: (int,), str: (str,), bool: (bool,)}
    for kind, accepted in wanted.items():
        if hint in (kind, kind | None):
            if isinstance(value, accepted) and (kind is bool or not isinstance(value, bool)):
                return kind(value)
            if value is None and hint == kind | None:
                return None
            raise ValueError(f"{name} = {value!r} is not {_A_KIND[kind]}")
    raise AssertionError(f"{name}: no rule for {hint}")


_A_KIND = {float: "a number", int: "a whole number", str: "a text in quotes", bool: "true or false"}


def _check(recipe: Recipe) -> None:
    """Stops at the first value that no run could use, with one sentence."""
    for holds, sentence in (
        *_grid_rules(recipe),
        *_objective_rules(recipe),
        *_training_rules(recipe.training),
        *_decoding_rules(recipe.decoding),
    ):
        if not holds:
            raise ValueError(sentence)


def _grid_rules(recipe: Recipe) -> list[tuple[bool, str]]:
    lams, seeds = list(recipe.lams), list(recipe.seeds)
    return [
        (bool(lams), "lams = [] is empty; write at least lams = [0, 1]"),
        (all(map(math.isfinite, lams)), f"lams = {lams}: every λ must be a finite number"),
        (0 in lams, f"lams = {lams} has no 0, the plain cross-entropy that gains are measured from; add it"),
        (len(set(lams)) == len(lams), f"lams = {lams} names a λ twice; leave one out"),
        (bool(seeds), "seeds = [] is empty; write at least seeds = [0]"),
        (min(seeds, default=0) >= 0, f"seeds = {seeds}: a seed is 0 or more"),
        (len(set(seeds)) == len(seeds), f"seeds = {seeds} names a seed twice; leave one out"),
        (
            recipe.control != recipe.task,
            f"control = {recipe.control!r} is the task itself; name another task",
        ),
        _one_of("dtype", recipe.dtype, DTYPES),
        _one_of("penalty", recipe.penalty, PENALTY_NAMES),
        (recipe.order > 0, f"order = {recipe.order:g} must be over 0; order 1 is Shannon's"),
        (
            recipe.penalty != "shannon" or recipe.order == 1,
            f"order = {recipe.order:g} has no effect on penalty 'shannon'; write penalty = \"renyi\"",
        ),
    ]


def _objective_rules(recipe: Recipe) -> list[tuple[bool, str]]:
    names, head = list(recipe.objectives), recipe.training.head
    return [
        (
            CROSS_ENTROPY not in names,
            f"objectives = {names}: cross-entropy is λ = 0, which every study has; leave it out",
        ),
        *map(_objective_rule, names),
        (
            len({_parts(name) for name in names}) == len(names),
            f"objectives = {names} names an objective twice; leave one out",
        ),
        (
            not names or head == "erce",
            f"[training] head = {head!r} trains cross-entropy alone; leave objectives = {names} out",
        ),
    ]


def _objective_rule(name: str) -> tuple[bool, str]:
    kind, number = _parts(name)
    if kind not in OBJECTIVES:
        return _one_of("objective", kind, tuple(OBJECTIVES))
    wanted, fits = OBJECTIVES[kind]
    return number is None or fits(number), f"objective {name!r}: its number must be {wanted}"


def _parts(objective: str) -> tuple[str, float | None]:
    """Its name and its number: None where there is no colon, NaN where it is no number.

    >>> _parts("focal:2"), _parts("dft"), _parts("focal:two")
    (('focal', 2.0), ('dft', None), ('focal', nan))
    """
    kind, colon, number = objective.partition(":")
    try:
        return kind, float(number) if colon else None
    except ValueError:
        return kind, math.nan


def _training_rules(training: Training) -> list[tuple[bool, str]]:
    rows, micro = training.batch_size, training.micro_batch_size
    return [
        *_over_zero(
            "[training] ", training, "epochs", "learning_rate", "max_grad_norm", "rank", "lora_alpha"
        ),
        *_over_zero("[training] ", training, "batch_size", "micro_batch_size"),
        (
            micro > 0 and rows % micro == 0,
            f"[training] batch_size = {rows} is no multiple of micro_batch_size = {micro}",
        ),
        (
            0 <= training.warmup < 1,
            f"[training] warmup = {training.warmup:g} is a share of the steps, in [0, 1)",
        ),
        (0 <= training.dropout < 1, f"[training] dropout = {training.dropout:g} must lie in [0, 1)"),
        _one_of("[training] normalize", training.normalize, NORMALIZATIONS),
        _one_of("[training] head", training.head, HEADS),
    ]


def _decoding_rules(decoding: Decoding) -> list[tuple[bool, str]]:
    return _over_zero("[decoding] ", decoding, "temperature", "samples", "batch_size")


def _over_zero(where: str, section: Any, *names: str) -> list[tuple[bool, str]]:
    values = {name: getattr(section, name) for name in names}
    return [(value > 0, f"{where}{name} = {value:g} must be over 0") for name, value in values.items()]


def _one_of(name: str, value: str, known: tuple[str, ...]) -> tuple[bool, str]:
    close = difflib.get_close_matches(value.lower(), known, n=1)
    way_out = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return value in known, f"no {name} {value!r}; {way_out}"
