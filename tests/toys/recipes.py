"""The recipe of a study small enough for a test."""

from typing import Any

from erce.recipe import Decoding, Recipe, Training


def tiny_recipe(**changes: Any) -> Recipe:
    """Two λ, one seed and a few generated problems; `changes` are what the test is about."""
    settings: dict[str, Any] = {
        "task": "mini-sums",
        "lams": (0.0, 1.0),
        "seeds": (0,),
        "n_train": 16,
        "n_validation": 2,
        "n_test": 4,
        "training": Training(epochs=1.0, learning_rate=1e-3),
        "decoding": Decoding(samples=2),
    }
    return Recipe(**settings | changes)
