"""Nothing is lost: whatever stops a study, the next run ends where an undisturbed one would have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from toys import FINDS_TOYS

MOMENTS = int(os.environ.get("ERCE_MOMENTS", "20"))  # of each kind of disturbance; a long search sets more
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who is alive"),
]


def private_mounts() -> list[str]:
    """Return the words before a command that give it mounts of its own; skip where the kernel grants none.

    A full disk is a small file system mounted for the test alone, and containers often forbid every mount.
    """
    for command in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        try:
            # Private to the namespace, or else nothing is mounted at all.
            tried = subprocess.run(
                [*command, "--propagation", "private", "mount", "-n", "-t", "tmpfs", "erce", "/mnt"],
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            break
        if tried.returncode == 0:
            return [*command, "--propagation", "private"]
    pytest.skip("this user may have no mounts of their own: a small disk cannot be made")


def disturbed(how: str, folder: Path, *, within: list[str]) -> dict:
    command = [*within, sys.executable, "-m", "toys.chaos_study", how, str(folder), str(MOMENTS), "0"]
    environment = os.environ | FINDS_TOYS | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return json.loads(ended.stdout.splitlines()[-1])


def nothing_is_lost(report: dict) -> None:
    assert report["moments"] >= MOMENTS
    assert report["studies"] > 0
    assert report["differ"] == []
    assert report["twice"] == []
    assert report["exits"] == []


def test_a_driver_killed_at_any_moment_loses_nothing_and_does_nothing_twice(tmp_path):
    report = disturbed("drivers", tmp_path, within=[])
    nothing_is_lost(report)
    assert not report["said"]


def test_a_full_disk_ends_in_a_sentence_and_is_gone_on_with(tmp_path):
    report = disturbed("disk", tmp_path, within=private_mounts())
    nothing_is_lost(report)
    assert len(report["said"]) >= MOMENTS
    for sentences in report["said"]:
        assert "No space left on device" in sentences
        assert "Traceback" not in sentences
