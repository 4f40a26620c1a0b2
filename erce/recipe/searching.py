"""`lams = "auto"` and the section [search] ⇄ the grid and the limits that a Recipe holds."""

from dataclasses import dataclass
from typing import Any

AUTO = "auto"
GRID = (0.0, 0.3, 1.0, 3.0, 8.0)  # logarithmic; a search may go beyond its edges


@dataclass(frozen=True, kw_only=True)
class Searching:
    """How far a search for λ may go; its rounds are in `erce.study.search`."""

    max_cells: int | None = None  # of the study's own task; None: all that its rounds ask for
    extensions: int = 2  # λ beyond the grid that it may try
    level: float = 0.05  # of the test against cross-entropy; at 1 the highest mean wins


def read_lams(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a recipe with "auto" written out: its grid, and a section [search].

    >>> read_lams({"lams": "auto"})
    {'lams': [0.0, 0.3, 1.0, 3.0, 8.0], 'search': {}}
    >>> read_lams({"lams": [0, 1], "search": {"level": 0.1}})
    Traceback (most recent call last):
    ValueError: [search] has no effect on a list of lams; leave it out, or write lams = "auto"
    """
    lams, search = settings.get("lams"), settings.get("search")
    if lams == AUTO:
        return settings | {"lams": list(GRID), "search": {} if search is None else search}
    if isinstance(lams, str):
        raise ValueError(f'lams = {lams!r} is neither a list of λ nor "{AUTO}"; write lams = [0, 1]')
    if search is not None:
        raise ValueError(f'[search] has no effect on a list of lams; leave it out, or write lams = "{AUTO}"')
    return settings


def write_lams(settings: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `read_lams`; a recipe that lists its λ has no section."""
    if settings["search"] is not None:
        return settings | {"lams": AUTO}
    return {name: value for name, value in settings.items() if name != "search"}


def search_rules(
    lams: tuple[float, ...], search: Searching, *, n_validation: int | None
) -> list[tuple[bool, str]]:
    """Whether each thing that a search needs holds, and the sentence for where it does not."""
    return [
        (lams == GRID, f'lams = {list(lams)}: a search has a grid of its own; write lams = "{AUTO}"'),
        (n_validation != 0, no_validation(n_validation)),
        (
            search.max_cells is None or search.max_cells >= len(GRID),
            f"[search] max_cells = {search.max_cells} does not cover one seed of {len(GRID)} λ; allow more",
        ),
        (search.extensions >= 0, f"[search] extensions = {search.extensions} must be 0 or more"),
        (
            0 < search.level <= 1,
            f"[search] level = {search.level:g} must lie over 0 and up to 1, such as 0.05",
        ),
    ]


def no_validation(asked: int | None) -> str:
    """The sentence for a search without problems to choose on."""
    said = "the task has none" if asked is None else f"n_validation = {asked}"
    return f'lams = "{AUTO}" chooses λ on validation problems, and {said}; set n_validation over 0'
