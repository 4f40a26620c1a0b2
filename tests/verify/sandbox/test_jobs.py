"""The jobs that a sandbox takes, and those it refuses."""

import pytest

from erce.verify.sandbox import Job, Limits


@pytest.mark.parametrize(
    "job",
    [
        {"program": 5, "tests": []},
        {"program": b"", "tests": []},
        {"program": "", "tests": "assert f(1)"},
        {"program": "", "tests": 5},
        {"program": "", "tests": [5]},
        {"program": "", "tests": ["assert f"], "setup": "import math"},
        {"program": "", "tests": ["assert f"], "entry_points": "f"},
        {"program": "", "tests": ["assert f"], "mode": "lenient"},
    ],
)
def test_what_is_no_text_is_a_sentence(job):
    with pytest.raises(ValueError, match=r"must be|no mode"):
        Job(**job)


@pytest.mark.parametrize("name", ["cpu", "wall", "memory", "file"])
def test_a_limit_is_over_zero(name):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


@pytest.mark.parametrize("name", ["memory", "file"])
def test_bytes_are_whole(name):
    with pytest.raises(ValueError, match=rf"{name} counts bytes, and 2000000000\.0 is no int: round it"):
        Limits(**{name: 2e9})


def test_what_can_be_gone_through_once_is_kept():
    job = Job("", (test for test in ["assert f"]))
    assert job.tests == ("assert f",)
