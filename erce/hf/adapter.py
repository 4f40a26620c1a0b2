"""An adapter's folder → the names of its two files, and whether PEFT can read them; torch is not needed."""

from pathlib import Path

from safetensors import SafetensorError, safe_open

from erce.errors import DamagedError
from erce.files import MADE_AGAIN, read_json

WEIGHTS, CONFIGURATION = "adapter_model.safetensors", "adapter_config.json"


def check_adapter(folder: Path) -> None:
    """Raise a DamagedError unless the folder has the weights and the configuration, both whole."""
    read_json(folder / CONFIGURATION, "peft_type")
    try:
        with safe_open(folder / WEIGHTS, framework="numpy"):
            pass  # opening compares the table of contents with the file's size
    except FileNotFoundError:
        raise DamagedError(f"{folder / WEIGHTS} is missing; {MADE_AGAIN}") from None
    except SafetensorError:
        raise DamagedError(f"{folder / WEIGHTS} is damaged; {MADE_AGAIN}") from None
