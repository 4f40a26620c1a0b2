"""Plain values, as TOML and JSON hold them → frozen dataclasses, each checked against its annotation."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from erce.errors import InputError, did_you_mean

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
    _check_names(kind, settings, where)
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


def _check_names(kind: type, settings: dict[str, Any], where: str) -> None:
    names = tuple(field.name for field in fields(kind))
    for name, value in settings.items():
        if name not in names:
            hints = get_type_hints(kind)
            is_section = isinstance(value, dict)
            alike = [name for name in names if is_section == any(map(is_dataclass, _declared(hints[name])))]
            what = "section" if is_section else "setting"
            raise InputError(f"{where}no {what} {name!r}; {did_you_mean(name, alike or names)}")
    needed = [field.name for field in fields(kind) if field.default is field.default_factory is MISSING]
    for name in needed:
        if name not in settings:
            raise InputError(f"{where}setting {name!r} is missing; there must be {', '.join(needed)}")


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
            raise InputError(f"{name} = {value!r} is not a list; write {name} = [{value!r}]")
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
