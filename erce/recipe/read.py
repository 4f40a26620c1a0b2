"""A TOML file, or plain values → a Recipe, and back; values are checked against the fields' annotations."""

import json
import os
import tomllib
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from erce.catalog import EMBEDDED_MODELS, PACKAGED_MODELS
from erce.errors import InputError, did_you_mean
from erce.recipe.recipe import Recipe
from erce.recipe.sections import AUTO, GRID


def load_recipe(path: str | Path, /, **overrides: Any) -> Recipe:
    """Read a recipe from a TOML file; `overrides` that are not None win over its top-level settings.

    The file's relative `model`, `data` and `[own] adapter` are those beside the file, if they are there.
    Otherwise, and in `overrides`, a relative path starts from the working directory.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no recipe at {str(path)!r}; the ones that come with erce are in recipes/")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    for name in ("model", "data"):
        if isinstance(settings.get(name), str):
            settings[name] = _beside(path, settings[name])
    own = settings.get("own")
    if isinstance(own, dict) and isinstance(own.get("adapter"), str):
        own["adapter"] = _beside(path, own["adapter"])
    merge(settings, {key: value for key, value in overrides.items() if value is not None})
    try:
        _check_model(settings.get("model"))
        recipe = parse_recipe(settings)
        if recipe.data is not None and recipe.task.startswith("mini-"):
            raise InputError(
                f"data = {recipe.data!r} has no effect on {recipe.task!r}, which generates its problems; "
                "leave it out, or name the task that reads it"
            )
        return recipe
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _beside(recipe: Path, name: str) -> str:
    """Return what a recipe calls `name` as a path from here, if it is beside the recipe in another folder."""
    known = {*EMBEDDED_MODELS, *PACKAGED_MODELS}
    elsewhere = recipe.parent.resolve() != Path.cwd().resolve()
    if elsewhere and name not in known and (recipe.parent / name).exists():
        return os.path.relpath(recipe.parent / name)
    return name


def parse_recipe(settings: dict[str, Any]) -> Recipe:
    """Make a Recipe of plain values, as TOML or JSON hold them.

    >>> parse_recipe({"task": "gsm8k", "lambs": [0, 1], "seeds": [0]})
    Traceback (most recent call last):
    erce.errors.InputError: no setting 'lambs'; did you mean 'lams'?
    """
    return fill(Recipe, _auto_written_out(settings))


def _check_model(name: Any) -> None:
    """Refuse a misspelt name of a model that comes with erce or in a package, before the hub is asked for it.

    >>> _check_model("smolm2")
    Traceback (most recent call last):
    erce.errors.InputError: no model 'smolm2'; did you mean 'smollm2'?
    """
    known = [*EMBEDDED_MODELS, *PACKAGED_MODELS]
    if isinstance(name, str) and name not in known and "/" not in name and not Path(name).exists():
        way_out = did_you_mean(name.lower(), known, otherwise="", cutoff=0.7)
        if way_out:
            raise InputError(f"no model {name!r}; {way_out}")


def as_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the plain values that `parse_recipe` makes this recipe of."""
    settings = asdict(recipe)
    for section in ("columns", "verify", "own"):
        if settings[section] is None:
            del settings[section]
    return json.loads(json.dumps(settings))


def _auto_written_out(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the grid in the place of lams = "auto".

    >>> _auto_written_out({"lams": "auto"})
    {'lams': [0.0, 0.3, 1.0, 3.0, 8.0]}
    """
    lams = settings.get("lams")
    if lams == AUTO:
        return settings | {"lams": list(GRID)}
    if isinstance(lams, str):
        raise InputError(f'lams = {lams!r} is neither a list of λ nor "{AUTO}"; write lams = [0, 1]')
    return settings


_KINDS: dict[type, tuple[type | tuple[type, ...], str]] = {  # declared → what fits, and what to call it
    float: ((int, float), "a number"),
    int: (int, "a whole number"),
    str: (str, "a text in quotes"),
    bool: (bool, "true or false"),
}


def fill(kind: type, settings: dict[str, Any], where: str = "") -> Any:
    """Return a `kind` made of plain values; a field that is itself a dataclass is a section, filled in turn.

    `where` stands before a setting's name in errors. An InputError names a setting that `kind` does not have,
    a missing field without a default, or a value of another type than the field declares.
    """
    check_names(kind, settings, where)
    needed = [field.name for field in fields(kind) if field.default is field.default_factory is MISSING]
    for name in needed:
        if name not in settings:
            raise InputError(f"{where}setting {name!r} is missing; there must be {', '.join(needed)}")
    hints = get_type_hints(kind)
    return kind(**{name: _value(where + name, value, hints[name]) for name, value in settings.items()})


def merge(settings: dict[str, Any], overrides: dict[str, Any]) -> None:
    """Write `overrides` over `settings`; a section is merged key by key.

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


def check_names(kind: type, settings: dict[str, Any], where: str) -> None:
    """Raise an InputError for a setting that `kind` does not have."""
    names = tuple(field.name for field in fields(kind))
    for name, value in settings.items():
        if name not in names:
            hints = get_type_hints(kind)
            is_section = isinstance(value, dict)
            alike = [name for name in names if is_section == any(map(is_dataclass, _declared(hints[name])))]
            what = "section" if is_section else "setting"
            homes = [f"[{each}]" for each in names if name in _settings_of(hints[each])]
            way_out = did_you_mean(name, alike or names)
            if homes:
                near = did_you_mean(name, alike, otherwise="", cutoff=0.8)
                way_out = f"it stands in {' or '.join(homes)}{near and f'; {near}'}"
            raise InputError(f"{where}no {what} {name!r}; {way_out}")


def _settings_of(hint: Any) -> list[str]:
    """Return the names of the settings in a field that is a section."""
    return [field.name for kind in filter(is_dataclass, _declared(hint)) for field in fields(kind)]


def _declared(hint: Any) -> list[Any]:
    """Return what may stand in a field beside None."""
    return [kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)]


def _value(name: str, value: Any, hint: Any) -> Any:
    """Return the value as its field holds it (TOML's 0 becomes a float where a float is declared)."""
    declared = _declared(hint)
    if value is None and type(None) in get_args(hint):
        return None
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            written = f"[0, {value!r}]" if name == "lams" and value else f"[{value!r}]"
            if name == "seeds" and isinstance(value, int):  # most likely how many
                written = f"{[*range(max(1, min(value, 10)))]}, one number per seed"
            raise InputError(f"{name} = {value!r} is not a list; write {name} = {written}")
        return tuple(_value(f"{name}[{at}]", item, declared[0]) for at, item in enumerate(value))
    section: type = declared[0]
    if is_dataclass(section):
        if not isinstance(value, dict):
            raise InputError(f"{name} = {value!r}: write a section [{name}]")
        return fill(section, value, f"[{name}] ")
    accepted, called = _KINDS[section]
    if isinstance(value, accepted) and (section is bool or not isinstance(value, bool)):
        return section(value)
    raise InputError(f"{name} = {value!r} is not {called}")
