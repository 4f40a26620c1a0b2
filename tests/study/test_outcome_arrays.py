"""Rows of two runs become arrays that line up; nothing missing counts as wrong."""

from dataclasses import replace

import numpy as np
import pytest

from erce.study.export import outcome_arrays
from erce.types import SampleRow


def run(arm, accepted, *, seed=0):
    """One greedy sample a problem; `accepted` maps a problem to its verdict."""
    shared = {"task": "gsm8k", "arm": arm, "seed": seed, "split": "test", "decoding": "greedy", "sample": 0}
    return [SampleRow(**shared, problem=problem, accepted=verdict) for problem, verdict in accepted.items()]


def test_two_runs_become_arrays_that_line_up():
    treated = run("treated", {"2": True, "1": False})
    base = run("base", {"1": True, "2": False})
    again = run("base", {"1": True, "2": True}, seed=1)
    arrays = outcome_arrays([*treated, *again, *base])
    np.testing.assert_array_equal(arrays["treated"], [[[0], [1]]])
    np.testing.assert_array_equal(arrays["base"], [[[1], [0]], [[1], [1]]])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[:-1], r"arm 'b', seed 0, problem '2', sample 0 is missing \(1 in all\)"),
        (lambda rows: [*rows, rows[0]], "arm 'a', seed 0, problem '1', sample 0 is there twice"),
        (lambda rows: [replace(rows[0], accepted=None), *rows[1:]], "has no verdict"),
        (lambda rows: [replace(rows[0], task="math"), *rows[1:]], "select one task, split and decoding"),
        (lambda rows: [replace(rows[0], decoding="sampled"), *rows[1:]], "select one task"),
        (lambda rows: [], "nothing to compare"),
    ],
)
def test_nothing_missing_is_ever_scored(change, sentence):
    rows = run("a", {"1": True, "2": False}) + run("b", {"1": True, "2": False})
    with pytest.raises(ValueError, match=sentence):
        outcome_arrays(change(rows))
