"""One TOML file → a checked Recipe and the cells of its grid."""

from erce.recipe.recipe import (
    GREEDY,
    SAMPLED,
    Cell,
    Recipe,
    as_settings,
    folder_name,
    frontier,
    identity,
    load_recipe,
    parse_recipe,
    temperatures,
)
from erce.recipe.sections import (
    GRID,
    Decoding,
    RegularizedObjective,
    Resources,
    SearchSettings,
    Serving,
    Training,
)

__all__ = [
    "GREEDY",
    "GRID",
    "SAMPLED",
    "Cell",
    "Decoding",
    "Recipe",
    "RegularizedObjective",
    "Resources",
    "SearchSettings",
    "Serving",
    "Training",
    "as_settings",
    "folder_name",
    "frontier",
    "identity",
    "load_recipe",
    "parse_recipe",
    "temperatures",
]
