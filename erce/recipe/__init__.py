"""One TOML file → a checked Recipe and the cells of its grid."""

from erce.recipe.read import as_settings, load_recipe, parse_recipe
from erce.recipe.recipe import (
    GREEDY,
    SAMPLED,
    Recipe,
    folder_name,
    further_temperatures,
    identity,
    temperatures,
)
from erce.recipe.sections import (
    GRID,
    RFT,
    SELF,
    Cell,
    Columns,
    Decoding,
    Objective,
    OwnSamples,
    Resources,
    Serving,
    Training,
    Verification,
)

__all__ = [
    "GREEDY",
    "GRID",
    "RFT",
    "SAMPLED",
    "SELF",
    "Cell",
    "Columns",
    "Decoding",
    "Objective",
    "OwnSamples",
    "Recipe",
    "Resources",
    "Serving",
    "Training",
    "Verification",
    "as_settings",
    "folder_name",
    "further_temperatures",
    "identity",
    "load_recipe",
    "parse_recipe",
    "temperatures",
]
