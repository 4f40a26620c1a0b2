"""Every engine, as a test that holds for all of them takes it: `@each_engine` gives its name and its jobs."""

from importlib.util import find_spec

import pytest

from erce.study.engines import ENGINES
from toys.ray_nodes import RAYS_OWN_WARNINGS

NO_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra: pip install 'erce[ray]'")
MARKS = {"ray": [pytest.mark.slow, NO_RAY, *RAYS_OWN_WARNINGS]}  # of engines that are no test's everyday fare

each_engine = pytest.mark.parametrize(
    ("engine", "jobs"),
    [
        pytest.param(
            f"{name}@local" if engine.takes_address else name,  # never a cluster that runs here already
            None if engine.in_this_process else 2,
            marks=MARKS.get(name, ()),
            id=name,
        )
        for name, engine in ENGINES.items()
    ],
)
