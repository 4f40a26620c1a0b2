"""A study's settings, checked, as one object; its grid → cells.

    task = "gsm8k"
    model = "Qwen/Qwen2.5-1.5B-Instruct"
    lams = [0, 0.3, 1, 3, 8]
    seeds = [0, 1, 2]

    [training]
    epochs = 3.0

Every setting of the training that is left out has the paper's value; a key that does not exist stops the run.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from erce.catalog import check_penalty_name, is_user_defined, penalty_in_words, split_number
from erce.errors import InputError
from erce.recipe import rules
from erce.recipe.sections import (
    MOST_SEQUENCES,
    OWN,
    OWN_METHODS,
    Cell,
    Columns,
    Decoding,
    OwnSamples,
    Resources,
    Serving,
    Training,
    Verification,
)
from erce.types import CROSS_ENTROPY, Arm

DTYPES = ("auto", "float32", "bfloat16", "float16")
GREEDY, SAMPLED = "greedy", "sampled"  # what the completions of every study are called


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A study: a grid of penalty strengths and seeds on one task, and on a control task if one is named."""

    task: str  # a name that `erce tasks` lists, or your own: "package.module:NAME"
    lams: tuple[float, ...]  # penalty strengths λ, or "auto"; 0 is the base loss alone, and the baseline
    seeds: tuple[int, ...]  # every λ is trained once with each
    base_loss: str = CROSS_ENTROPY  # what λ · penalty is added to in the grid
    methods: tuple[
        str, ...
    ] = ()  # further arms, for every seed: "dft", "focal:2", "dft + 4" (λ), "rft", "self", …
    control: str | None = None  # a task on which the mechanism predicts no gain, at λ = 0 and the chosen λ
    model: str = "tiny"  # "tiny" comes with erce; a folder; a name on the hub
    data: str | None = None  # the task's original files, or your file or data set; None: the task's source
    penalty: str = "shannon"  # "shannon" | "renyi" | "support-size" | your own, "package.module:NAME"
    order: float = 1.0  # of the penalty; 1 where it takes none
    dtype: str = "auto"  # "auto": bfloat16 where that is fast (`dtype_here`)
    n_train: int | None = None  # problems to train on; None: the task's number
    n_validation: int | None = None  # problems to choose λ on; None: the task's number
    n_test: int | None = None  # problems to test on; None: the task's number
    split_seed: int = 42  # which problems are taken from the task's pools
    columns: Columns | None = None  # of your file or data set; None: named as the fields
    verify: Verification | None = None  # None: as its section says by default
    training: Training = field(default_factory=Training)
    decoding: Decoding = field(default_factory=Decoding)
    own: OwnSamples | None = None  # of the methods "rft" and "self"; None: as its section says by default
    server: Serving | None = None  # None: transformers samples the completions
    resources: Resources = field(default_factory=Resources)
    imported: tuple[str, ...] = ()  # the cells that logs were read for; their arms are named freely

    def __post_init__(self) -> None:
        _check_grid(self)
        _check_methods(self)
        rules.check_section("verify", self.verify)
        rules.check_training(self.training)
        rules.check_decoding(self.decoding)
        rules.check_own(self.own, () if self.imported else self.other_arms, self.lams)
        rules.check_section("resources", self.resources)
        if self.server is not None:
            rules.check_server(self.server, self.decoding)

    @property
    def refuses_unproven(self) -> bool:
        """Whether a problem whose programs could cheat stops the study."""
        return self.verify is not None and self.verify.unproven == "refuse"

    @property
    def has_user_defined_losses(self) -> bool:
        """Whether the penalty or a base loss is user-defined, which only an import can check."""
        return any(is_user_defined(split_number(name)[0]) for name in (self.penalty, *self.base_loss_names))

    @property
    def base_loss_names(self) -> tuple[str, ...]:
        """The names of everything that the recipe adds a penalty to, the grid's first."""
        others = (arm.method for arm in self.other_arms)
        return self.base_loss, *(name for name in others if name not in OWN_METHODS)

    @property
    def baseline(self) -> Arm:
        """The arm that gains are measured from: the grid's base loss at λ = 0."""
        return self.grid_arm(0.0)

    def grid_arm(self, lam: float) -> Arm:
        """Return the arm of a λ of the grid."""
        return Arm(lam, self.base_loss)

    @property
    def other_arms(self) -> tuple[Arm, ...]:
        """The arms of `methods`, which stand beside the grid."""
        return tuple(map(rules.parse_arm, self.methods))

    @property
    def own_cells(self) -> list[Cell]:
        """The cells in which a model samples the training problems; none if no arm trains on these samples.

        That is one of the base model, or one for each seed of [own] lam.
        """
        if not self.can_run or not any(arm.method in OWN_METHODS for arm in self.other_arms):
            return []
        lam = self.own_samples.lam
        return [Cell(self.task, lam, seed, OWN) for seed in ((0,) if lam is None else self.seeds)]

    def source(self, cell: Cell) -> Cell | None:
        """Return the cell whose folder this one reads, and which therefore runs before it; None for most.

        Own answers come from own samples, and these from the adapter of [own] lam, each of the same seed.
        """
        lam = self.own_samples.lam
        if cell.learns_own:
            return Cell(self.task, lam, 0 if lam is None else cell.seed, OWN)
        return Cell(self.task, lam, cell.seed, self.base_loss) if cell.is_own and lam is not None else None

    @property
    def own_samples(self) -> OwnSamples:
        """The section [own], or its defaults."""
        return self.own or OwnSamples()

    def is_other(self, arm: Arm) -> bool:
        """Return whether the arm was trained with another method than the recipe's λ grid."""
        return not arm.is_base and arm.method != self.base_loss

    @property
    def penalty_in_words(self) -> str:
        """The penalty as reports call it."""
        return penalty_in_words(self.penalty, self.order)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task, then the control if there is one."""
        return (self.task,) if self.control is None else (self.task, self.control)

    def cells(self) -> list[Cell]:
        """Return the grid in running order: per task the base model, then every seed of every arm."""
        arms = [*map(self.grid_arm, self.lams), *self.other_arms]
        return [
            cell
            for task in self.tasks
            for cell in (
                Cell(task, None, 0),
                *(Cell(task, arm.lam, seed, arm.method) for seed in self.seeds for arm in arms),
            )
            if not self.imported or cell.name in self.imported
        ]

    @property
    def can_run(self) -> bool:
        """Whether `erce run` can make the cells; otherwise the recipe has only what logs show."""
        return not self.imported

    @cached_property
    def identity_json(self) -> str:
        """`identity` as JSON; kept, since the name of every cell's folder is a digest of it."""
        settings = identity(self)
        if "base_loss" in settings:  # the name that it had when the first folders were named
            settings["objective"] = settings.pop("base_loss")
        return json.dumps(settings, sort_keys=True)


def _check_grid(recipe: Recipe) -> None:
    rules.check_lams(recipe.lams)
    rules.check_seeds(recipe.seeds)
    if recipe.control == recipe.task:
        raise InputError(f"control = {recipe.control!r} is the task itself; name another task")
    rules.check_choice("dtype", recipe.dtype, DTYPES)
    check_penalty_name(recipe.penalty, recipe.order)


def _check_methods(recipe: Recipe) -> None:
    names = list(recipe.methods)
    if recipe.imported:
        if len(set(names)) < len(names):
            raise InputError(f"methods = {names} names an arm twice; leave one out")
        return
    rules.check_base_loss(recipe.base_loss)
    grid = rules.parse_base_loss(recipe.base_loss)
    for name, arm in zip(names, recipe.other_arms, strict=True):
        if arm.method in OWN_METHODS:
            continue
        rules.check_base_loss(arm.method)
        if rules.parse_base_loss(arm.method) == grid:
            why = "λ = 0, which every study has; leave it out"
            if arm.lam:
                why = f"a λ of the grid; write {arm.lam:g} in lams"
            raise InputError(f"methods = {names}: {name} is {why}")
    arms = {(rules.parse_base_loss(arm.method), f"{arm.lam:g}") for arm in recipe.other_arms}
    if len(arms) < len(names):
        raise InputError(f"methods = {names} names an arm twice; leave one out")
    if recipe.training.head != "erce":
        _check_head(recipe)


def _check_head(recipe: Recipe) -> None:
    """Refuse a recipe whose loss TRL's head cannot compute; it averages Shannon's entropy over tokens."""
    usual = {"base_loss": CROSS_ENTROPY, "methods": (), "penalty": "shannon"}
    settings = {name: (getattr(recipe, name), usual[name]) for name in usual}
    settings["normalize"] = recipe.training.normalize, "token"
    for name, (value, expected) in settings.items():
        if value != expected:
            shown = list(value) if isinstance(value, tuple) else value
            head = f"[training] head = {recipe.training.head!r}"
            raise InputError(f"{head} knows no {name} = {shown!r}; leave one of them out")


def further_temperatures(recipe: Recipe, cell: Cell) -> dict[str, float]:
    """Return name → value of the recipe's `temperatures`, rising; empty for a cell not sampled at them."""
    return {f"T{t:g}": t for t in sorted(recipe.decoding.temperatures)} if cell.all_temperatures else {}


def temperatures(recipe: Recipe) -> dict[float, str]:
    """Return rising temperature → name of the decoding, for all at which the main task is sampled.

    >>> temperatures(Recipe(task="a", lams=(0.0,), seeds=(0,)))
    {0.0: 'greedy', 0.8: 'sampled'}
    """
    further = {temperature: f"T{temperature:g}" for temperature in recipe.decoding.temperatures}
    return dict(sorted(({0.0: GREEDY, recipe.decoding.temperature: SAMPLED} | further).items()))


def identity(recipe: Recipe) -> dict[str, Any]:
    """Return the settings that must be equal for two recipes to share a folder.

    Left out are:

    - the grid (`lams`, `seeds`, `methods`) and `temperatures`, which may grow;
    - `own`, which only the cells that it is for have in their names;
    - `decoding.batch_size` and `resources`, which change speed only;
    - `data` and `columns`, since the study's folder has the problems;
    - `verify`, which only stops a run;
    - a `micro_batch_size` that is left out, which stands as the most that is taken;
    - `report_to`, which says where trainings are logged, and `checkpoint_minutes`.

    `base_loss`, `stop`, `temperature_samples`, `compile = true` (whose rounding gives other samples in half
    precision), λ's schedule and `server` are in it only if a recipe sets them; of a server the kind and
    the model's name, not its address.
    """
    settings = asdict(recipe)
    for growing in ("lams", "seeds", "methods", "own", "imported"):
        del settings[growing]
    if recipe.base_loss == CROSS_ENTROPY:
        del settings["base_loss"]
    settings["data"] = None
    settings["training"]["micro_batch_size"] = recipe.training.micro_batch_size or MOST_SEQUENCES
    del settings["training"]["report_to"], settings["training"]["checkpoint_minutes"]
    decoding, usual = settings["decoding"], asdict(Decoding())
    del decoding["batch_size"], decoding["temperatures"]
    decoding["compile"] = decoding["compile"] or None
    for name in ("temperature_samples", "stop", "compile"):
        if decoding[name] == usual[name]:
            del decoding[name]
    if recipe.training.lam_schedule == Training.lam_schedule:
        del settings["training"]["lam_schedule"], settings["training"]["lam_warmup"]
    del settings["columns"], settings["verify"], settings["server"], settings["resources"]
    if served := recipe.server:
        settings["server"] = {"kind": served.kind, "model": served.model or recipe.model}
    return settings


def folder_name(recipe: Recipe, cell: Cell) -> str:
    """Return the name of the cell's folder, which depends on the study's identity and the cell."""
    coordinates = [cell.task, cell.lam, cell.seed]
    if cell.method != CROSS_ENTROPY:
        coordinates.append(cell.method)
    if recipe.can_run and (cell.is_own or cell.learns_own):
        own = recipe.own_samples
        coordinates += [own.samples, own.temperature] + ([own.keep] if cell.learns_own else [])
        coordinates += [model for model in (own.lam, own.adapter) if model is not None]
    content = ", ".join([recipe.identity_json, *map(json.dumps, coordinates)])
    return f"{cell.name}-{hashlib.sha256(f'[{content}]'.encode()).hexdigest()[:8]}"
