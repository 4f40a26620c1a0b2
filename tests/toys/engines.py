"""Engines, as a test that holds for several of them takes them: by a name and a number of jobs."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from erce.study.engines import ENGINES, Engine
from toys.ray_nodes import RAYS_OWN_WARNINGS

NO_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra: pip install 'erce[ray]'")
MARKS = {"ray": [pytest.mark.slow, NO_RAY, *RAYS_OWN_WARNINGS]}  # of engines that are no test's everyday fare


def names_and_jobs(holds: Callable[[Engine], bool] = lambda engine: True) -> list[tuple[str, int | None]]:
    """Return the engines of the table that have a property: the name to open it by, and the jobs."""
    return [
        # Never a cluster that runs here already.
        (f"{name}@local" if engine.takes_address else name, None if engine.in_this_process else 2)
        for name, engine in ENGINES.items()
        if holds(engine)
    ]


def _each(engines: list[tuple[str, int | None]]) -> pytest.MarkDecorator:
    cases = [pytest.param(*case, marks=MARKS.get(case[0].partition("@")[0], ())) for case in engines]
    return pytest.mark.parametrize(("engine", "jobs"), cases)


KEEPING = names_and_jobs(lambda engine: engine.shares_folder)  # a stopped run leaves what its cells have done
each_engine = _each(names_and_jobs())
each_keeping_engine = _each(KEEPING)
each_pool = _each(names_and_jobs(lambda engine: engine.shares_folder and not engine.in_this_process))
