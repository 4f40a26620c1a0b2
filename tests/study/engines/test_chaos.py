"""Nothing is lost: whenever a driver is killed, the next run ends where an undisturbed one would have."""

import json
import os
import subprocess
import sys

import pytest
from toys import FINDS_TOYS

MOMENTS = int(os.environ.get("ERCE_MOMENTS", "20"))  # a long search sets more


@pytest.mark.slow
def test_a_driver_killed_at_any_moment_loses_nothing_and_does_nothing_twice(tmp_path):
    command = [sys.executable, "-m", "toys.chaos_study", str(tmp_path), str(MOMENTS), "0"]
    environment = os.environ | FINDS_TOYS | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told.pop("kills") >= MOMENTS
    assert told == {"differ": [], "twice": [], "exits": []}
