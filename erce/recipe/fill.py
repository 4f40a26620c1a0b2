"""Plain values, as TOML and JSON hold them → frozen dataclasses, each checked against its annotation."""

import difflib
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

_KINDS: dict[type, tuple[type | tuple[type, ...], str]] = {  # declared → what fits, and what to call it
    float: ((int, float), "a number"),
    int: (int, "a whole number"),
    str: (str, "a text in quotes"),
    bool: (bool, "true or false"),
}


def fill(kind: type, settings: dict[str, Any], where: str = "") -> Any:
    """A `kind` from plain values; a field that is a dataclass itself is a section, filled in the same way.

    `where` stands before a setting's name in errors. A name that `kind` does not have, a field without a
    default that is missing, and a value of another type than is declared are ValueErrors.
    """
    _check_names(kind, settings, where)
    hints = get_type_hints(kind)
    return kind(**{name: _value(where + name, value, hints[name]) for name, value in settings.items()})


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


def one_of(name: str, value: str, known: tuple[str, ...]) -> tuple[bool, str]:
    """Whether `value` is one of these, and the sentence for where it is not."""
    return value in known, f"no {name} {value!r}; {_way_out(value.lower(), known)}"


def _check_names(kind: type, settings: dict[str, Any], where: str) -> None:
    names = tuple(each.name for each in fields(kind))
    for name in settings:
        if name not in names:
            raise ValueError(f"{where}no setting {name!r}; {_way_out(name, names)}")
    needed = [each.name for each in fields(kind) if each.default is each.default_factory is MISSING]
    for name in needed:
        if name not in settings:
            raise ValueError(f"{where}setting {name!r} is missing; there must be {', '.join(needed)}")


def _way_out(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"


def _value(name: str, value: Any, hint: Any) -> Any:
    """The value as its field holds it (TOML's 0 is a float where a float is declared)."""
    declared = [each for each in (get_args(hint) or (hint,)) if each is not type(None)]
    if value is None and type(None) in get_args(hint):
        return None
    if get_origin(hint) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} = {value!r} is not a list; write {name} = [{value!r}]")
        return tuple(_value(f"{name}[{at}]", each, declared[0]) for at, each in enumerate(value))
    section: type = declared[0]
    if is_dataclass(section):
        if not isinstance(value, dict):
            raise ValueError(f"{name} = {value!r}: write a section [{name}]")
        return fill(section, value, f"[{name}] ")
    accepted, called = _KINDS[section]
    if isinstance(value, accepted) and (section is bool or not isinstance(value, bool)):
        return section(value)
    raise ValueError(f"{name} = {value!r} is not {called}")
