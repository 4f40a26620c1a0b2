"""A model's name → whether it is on this machine, or can be one of the hub's."""

from erce.catalog import is_gguf, model_folder


def is_here(model: str) -> bool:
    """Return whether a model comes with erce or in a package, or is a folder or file of this machine."""
    return is_gguf(model) or model_folder(model).exists()


def is_hub_name(model: str) -> bool:
    """Return whether a model of the hub can have this name; the hub is not asked."""
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(model)
    except HFValidationError:
        return False
    return True
