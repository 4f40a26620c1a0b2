"""One TOML file ⇄ Recipe; its grid → Cells.

    task = "gsm8k"
    model = "Qwen/Qwen2.5-1.5B-Instruct"
    lams = [0, 0.3, 1, 3, 8]
    seeds = [0, 1, 2]

    [training]
    epochs = 3.0

Every setting that is left out has the paper's value; a key that does not exist stops the run.
"""

import hashlib
import json
import tomllib
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from erce.catalog import is_own, split_number
from erce.errors import InputError
from erce.recipe.fill import fill, merge
from erce.recipe.rules import check_recipe
from erce.recipe.sections import AUTO, GRID, Decoding, Resources, SearchSettings, Serving, Training
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

GREEDY, SAMPLED = "greedy", "sampled"  # what the completions that every study draws are called


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
    penalty: str = "shannon"  # "shannon" | "renyi" | "support-size" | your own, "package.module:NAME"
    order: float = 1.0  # of the penalty; 1 where it takes none
    dtype: str = "auto"  # "auto": float32 on a CPU, bfloat16 on a GPU
    n_train: int | None = None  # None: the task's size
    n_validation: int | None = None
    n_test: int | None = None
    split_seed: int = 42
    training: Training = field(default_factory=Training)
    decoding: Decoding = field(default_factory=Decoding)
    server: Serving | None = None  # None: transformers draws the completions
    resources: Resources = field(default_factory=Resources)
    search: SearchSettings | None = None  # of lams = "auto"; `lams` is then what it begins with
    imported: tuple[str, ...] = ()  # the cells that logs were read for; their arms are named freely

    def __post_init__(self) -> None:
        check_recipe(self)

    @property
    def own_losses(self) -> bool:
        """Whether its penalty or one of its objectives is one's own, which only an import can check."""
        return any(is_own(split_number(name)[0]) for name in (self.penalty, *self.objectives))

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
            if not self.imported or cell.name in self.imported
        ]

    @cached_property
    def identity_json(self) -> str:
        """`identity` as JSON; kept, since the name of every cell's folder has it."""
        return json.dumps(identity(self), sort_keys=True)


@dataclass(frozen=True)
class Cell:
    """One point of the grid; `lam` None is the base model as it came, which is not trained."""

    task: str
    lam: float | None
    seed: int
    objective: str = CROSS_ENTROPY  # another one has λ = 0

    @property
    def arm(self) -> Arm:
        """The arm (table row) that this cell is one seed of."""
        return BASE_MODEL if self.lam is None else Arm(self.lam, self.objective)

    @property
    def name(self) -> str:
        """What people call it.

        >>> Cell("gsm8k", 0.5, 3).name, Cell("gsm8k", 0.0, 3, "focal:2").name, Cell("gsm8k", None, 0).name
        ('gsm8k-lam0.5-seed3', 'gsm8k-focal-2-seed3', 'gsm8k-base')
        """
        seed = "" if self.arm.is_base else f"-seed{self.seed}"
        return f"{self.task}-{self.arm.slug}{seed}".replace(":", "-")


def frontier(recipe: Recipe, task: str) -> dict[str, float]:
    """Name of a decoding → its temperature, rising: the recipe's frontier, which only its own task has."""
    return {f"T{t:g}": t for t in sorted(recipe.decoding.frontier)} if task == recipe.task else {}


def temperatures(recipe: Recipe) -> dict[float, str]:
    """Rising temperature → name of its decoding, over all at which the study's own task is drawn.

    >>> temperatures(parse_recipe({"task": "a", "lams": [0], "seeds": [0]}))
    {0.0: 'greedy', 0.8: 'sampled'}
    """
    further = {temperature: name for name, temperature in frontier(recipe, recipe.task).items()}
    return dict(sorted(({0.0: GREEDY, recipe.decoding.temperature: SAMPLED} | further).items()))


def identity(recipe: Recipe) -> dict[str, Any]:
    """What makes two recipes the same study: all but the grid and the frontier, which may grow, and speed.

    Where the data lie is not in it: the study's folder knows the problems themselves.

    `stop`, `frontier_samples`, λ's schedule and `server` are in it where a recipe sets them. Of a server, it
    is who draws and what it says: the kind, the model's name and the alternatives a step, not where it is.
    """
    settings = asdict(recipe)
    for growing in ("lams", "search", "seeds", "objectives", "imported"):
        del settings[growing]
    settings["data"] = None
    decoding, usual = settings["decoding"], asdict(Decoding())
    del decoding["batch_size"], decoding["frontier"]
    for name in ("frontier_samples", "stop"):
        if decoding[name] == usual[name]:
            del decoding[name]
    if recipe.training.lam_schedule == Training.lam_schedule:
        del settings["training"]["lam_schedule"], settings["training"]["lam_warmup"]
    del settings["server"], settings["resources"]
    if served := recipe.server:
        who = {"kind": served.kind, "model": served.model or recipe.model}
        settings["server"] = who | {"top_logprobs": served.top_logprobs}
    return settings


def folder_name(recipe: Recipe, cell: Cell) -> str:
    """The cell's folder, named after its content: other settings, other folder."""
    coordinates = [cell.task, cell.lam, cell.seed]
    if cell.objective != CROSS_ENTROPY:
        coordinates.append(cell.objective)
    content = ", ".join([recipe.identity_json, *map(json.dumps, coordinates)])
    return f"{cell.name}-{hashlib.sha256(f'[{content}]'.encode()).hexdigest()[:8]}"


def load_recipe(path: str | Path, **overrides: Any) -> Recipe:
    """The recipe in a TOML file; `overrides` that are not None win over the file's top-level settings."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no recipe at {str(path)!r}; the ones that come with erce are in recipes/")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    merge(settings, {key: value for key, value in overrides.items() if value is not None})
    try:
        return parse_recipe(settings)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def parse_recipe(settings: dict[str, Any]) -> Recipe:
    """A Recipe from plain values, as TOML or JSON hold them.

    >>> parse_recipe({"task": "gsm8k", "lambs": [0, 1], "seeds": [0]})
    Traceback (most recent call last):
    erce.errors.InputError: no setting 'lambs'; did you mean 'lams'?
    """
    return fill(Recipe, _auto_written_out(settings))


def as_settings(recipe: Recipe) -> dict[str, Any]:
    """The plain values that `parse_recipe` makes this recipe of."""
    settings = asdict(recipe)
    if recipe.search is None:
        del settings["search"]
    else:
        settings["lams"] = AUTO
    return json.loads(json.dumps(settings))


def _auto_written_out(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the grid and the section [search] in the place of lams = "auto".

    >>> _auto_written_out({"lams": "auto"})
    {'lams': [0.0, 0.3, 1.0, 3.0, 8.0], 'search': {}}
    >>> _auto_written_out({"lams": [0, 1], "search": {"level": 0.1}})
    Traceback (most recent call last):
    erce.errors.InputError: [search] has no effect on a list of lams; leave it out, or write lams = "auto"
    """
    lams, search = settings.get("lams"), settings.get("search")
    if lams == AUTO:
        return settings | {"lams": list(GRID), "search": {} if search is None else search}
    if isinstance(lams, str):
        raise InputError(f'lams = {lams!r} is neither a list of λ nor "{AUTO}"; write lams = [0, 1]')
    if search is not None:
        raise InputError(f'[search] has no effect on a list of lams; leave it out, or write lams = "{AUTO}"')
    return settings
