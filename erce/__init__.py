"""Entropy-regularised cross-entropy for verified demonstrations: the loss, the trainer, the study.

Nothing heavy is imported until a name is used. `__init__.pyi` tells editors and type checkers the same names.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {
    "erce.evaluation.callback": ("VerifiedAccuracy",),
    "erce.evaluation.evaluate": ("Evaluation", "evaluate"),
    "erce.hf.attach": ("attach", "detach"),
    "erce.loss": (
        "DFT",
        "EAFT",
        "BASE_LOSSES",
        "PENALTIES",
        "CrossEntropy",
        "Focal",
        "LabelSmoothing",
        "ProbabilityPower",
        "Renyi",
        "Shannon",
        "SupportSize",
        "Threshold",
        "entropy_regularized_cross_entropy",
        "linear_entropy_regularized_cross_entropy",
    ),
    "erce.reporting": ("report",),
    "erce.study.run": ("run",),
    "erce.tasks": ("TASKS", "load_task"),
    "erce.train.config": ("ERCEConfig",),
    "erce.train.trainer": ("ERCETrainer",),
}
_PARTS = ("loss", "stats", "verify")  # reached as erce.verify.verify_number after a plain `import erce`
__all__ = [name for names in _HOME.values() for name in names]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None and name not in _PARTS:
        raise AttributeError(f"module 'erce' has no attribute {name!r}")
    try:
        return getattr(import_module(home), name) if home else import_module(f"erce.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("erce"):
            raise
        needed = f"erce.{name} needs {error.name}; run: pip install 'erce[study]'"
        raise ModuleNotFoundError(needed, name=error.name) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
