"""Environment variables → the settings of `erce.attach`, where a framework's own have no such fields."""

import os
from typing import Any

from erce.errors import InputError

VARIABLES = {
    "entropy_penalty": "ERCE_ENTROPY_PENALTY",
    "entropy_type": "ERCE_ENTROPY_TYPE",
    "entropy_order": "ERCE_ENTROPY_ORDER",
}


def settings_from_environment() -> dict[str, Any]:
    """`entropy_penalty`, and `entropy_type` and `entropy_order` where they are set, from ERCE_ENTROPY_….

    A ValueError where the penalty is not set: a training that was meant to have one would go without.
    """
    found: dict[str, Any] = {name: os.environ[key] for name, key in VARIABLES.items() if key in os.environ}
    if "entropy_penalty" not in found:
        raise InputError("ERCE_ENTROPY_PENALTY is not set; export ERCE_ENTROPY_PENALTY=4.0 first")
    for name in ("entropy_penalty", "entropy_order"):
        if name in found:
            found[name] = _number(VARIABLES[name], found[name])
    return found


def _number(variable: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{variable} = {text!r} is not a number") from None
