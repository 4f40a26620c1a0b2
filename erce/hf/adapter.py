"""An adapter's folder → whether PEFT can read its two files, and what its README says, without torch."""

from importlib.metadata import version
from pathlib import Path

from safetensors import SafetensorError, safe_open

from erce.catalog import penalty_in_words
from erce.errors import DamagedError
from erce.files import MADE_AGAIN, read_json

WEIGHTS, CONFIGURATION = "adapter_model.safetensors", "adapter_config.json"
README, HEADING = "README.md", "## Objective"


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


def name_objective(folder: Path, *, base_loss: str, lam: float, penalty: str, order: float) -> None:
    """Write the objective and erce's version into an adapter's README.md, after the text that is there."""
    path = folder / README
    text = path.read_text(encoding="utf-8") if path.is_file() else "---\nlibrary_name: peft\n---\n"
    minimised = f"`{base_loss}` alone, without a penalty (λ = 0)"
    if lam:
        minimised = f"`{base_loss}` + λ · entropy, with λ = {lam:g} and {penalty_in_words(penalty, order)}"
    above = text.partition(f"\n{HEADING}\n")[0].rstrip()
    sentence = f"Trained with erce {version('erce')} to minimise {minimised}."
    path.write_text(f"{above}\n\n{HEADING}\n\n{sentence}\n", encoding="utf-8")
