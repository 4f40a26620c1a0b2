"""A TOML file, or plain values → a Recipe, and back."""

import json
import os
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from erce.catalog import EMBEDDED_MODELS, PACKAGED_MODELS
from erce.errors import InputError
from erce.recipe.fill import fill, merge
from erce.recipe.recipe import Recipe
from erce.recipe.sections import AUTO, GRID, RENAMED, RETIRED


def load_recipe(path: str | Path, **overrides: Any) -> Recipe:
    """Read a recipe from a TOML file; `overrides` that are not None win over its top-level settings.

    The file's relative `model` and `data` are those beside the file, if they are there. Otherwise, and in
    `overrides`, a relative path starts from the working directory.
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
    merge(settings, {key: value for key, value in overrides.items() if value is not None})
    try:
        return parse_recipe(settings)
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
    for section, names in RENAMED.items():
        held = settings.get(section)
        for old in names.keys() & held if isinstance(held, dict) else ():
            raise InputError(f"[{section}] {old} is called {names[old]}; rename it")
    return fill(Recipe, _auto_written_out(settings))


def with_current_names(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of an older study.json as `parse_recipe` reads them.

    >>> with_current_names({"decoding": {"frontier": [0.4]}, "search": {"prune": True, "level": 0.1}})
    {'decoding': {'temperatures': [0.4]}, 'search': {'level': 0.1}}
    """
    current = dict(settings)
    for name in RENAMED | RETIRED:
        if isinstance(section := settings.get(name), dict):
            renamed, retired = RENAMED.get(name, {}), RETIRED.get(name, ())
            current[name] = {
                renamed.get(key, key): value for key, value in section.items() if key not in retired
            }
    return current


def as_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the plain values that `parse_recipe` makes this recipe of."""
    settings = asdict(recipe)
    for section in ("columns", "verify", "own"):
        if settings[section] is None:
            del settings[section]
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
