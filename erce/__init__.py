"""Entropy-regularised cross-entropy for verified demonstrations: the loss, the trainer, the study.

Nothing heavy is imported until a name is used.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {  # public name → the module that defines it
    "entropy_regularized_cross_entropy": "erce.loss",
    "linear_entropy_regularized_cross_entropy": "erce.loss",
    "Shannon": "erce.loss",
    "Renyi": "erce.loss",
    "SupportSize": "erce.loss",
    "PENALTIES": "erce.loss",
    "ERCEConfig": "erce.train",
    "ERCETrainer": "erce.train",
    "TASKS": "erce.tasks",
    "load_task": "erce.tasks",
    "run": "erce.study",
    "report": "erce.reporting",
}
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'erce' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
