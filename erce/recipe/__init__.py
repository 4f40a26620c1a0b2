"""One TOML file → a checked Recipe and the cells of its grid."""

from erce.recipe.recipe import (
    CROSS_ENTROPY,
    GREEDY,
    SAMPLED,
    Arm,
    Cell,
    Recipe,
    arm_of,
    as_settings,
    folder_name,
    frontier,
    identity,
    load_recipe,
    parse_recipe,
    temperatures,
)
from erce.recipe.sections import Decoding, RegularizedObjective, Resources, Serving, Training

__all__ = [
    "CROSS_ENTROPY",
    "GREEDY",
    "SAMPLED",
    "Arm",
    "Cell",
    "Decoding",
    "Recipe",
    "RegularizedObjective",
    "Resources",
    "Serving",
    "Training",
    "arm_of",
    "as_settings",
    "folder_name",
    "frontier",
    "identity",
    "load_recipe",
    "parse_recipe",
    "temperatures",
]
