"""A matrix of cases → a few that every run has, and all others in the slow runs alone."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def others_slow(cases: Iterable[Any], quick: Callable[[Any], bool]) -> list[Any]:
    """Mark as slow whatever case is not `quick`; a case that is a tuple stays one argument."""
    return [
        case if quick(case) else pytest.param(case, id=str(case), marks=pytest.mark.slow) for case in cases
    ]
