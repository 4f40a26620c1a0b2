"""Environment variables → the settings of `erce.attach`, where a framework's own have no such fields."""

import os
from typing import Any

from erce.errors import InputError, did_you_mean

VARIABLES = {
    "entropy_penalty": "ERCE_ENTROPY_PENALTY",
    "entropy_type": "ERCE_ENTROPY_TYPE",
    "entropy_order": "ERCE_ENTROPY_ORDER",
    "base_loss": "ERCE_BASE_LOSS",
}


def settings_from_environment() -> dict[str, Any]:
    """Read `entropy_penalty`, and the other settings where they are set, from the `VARIABLES`.

    A penalty that is not set is refused: a training that was meant to have one would go without.
    """
    for key in os.environ:
        if key.startswith(("ERCE_ENTROPY", "ERCE_BASE_L", "ERCE_BASEL")) and key not in VARIABLES.values():
            meant = did_you_mean(key, VARIABLES.values(), otherwise="unset it")
            raise InputError(f"no variable {key} is read; {meant}")
    settings: dict[str, Any] = {name: os.environ[key] for name, key in VARIABLES.items() if key in os.environ}
    if "entropy_penalty" not in settings:
        raise InputError("ERCE_ENTROPY_PENALTY is not set; export ERCE_ENTROPY_PENALTY=4.0 first")
    for name in settings.keys() & {"entropy_penalty", "entropy_order"}:
        variable, text = VARIABLES[name], settings[name]
        try:
            settings[name] = float(text)
        except ValueError:
            raise InputError(f"{variable} = {text!r} is not a number; export {variable}=4.0, say") from None
    return settings
