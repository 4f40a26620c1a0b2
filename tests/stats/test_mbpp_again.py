"""The verdicts that are kept seed by seed are those of the study, without its other arms."""

from toys.studies import TASK, make_study

from benchmarks.mbpp_again import of_study, outcomes, table
from erce.reporting.format import interval, points
from erce.stats import paired_gain
from erce.types import Arm


def test_the_gains_are_those_of_the_studys_own_outcomes(tmp_path):
    study = make_study(tmp_path / "runs", lams=(0.0, 1.0), methods=("dft",), control=None)
    rows = of_study(study.root)
    one, zero = (study.outcomes(TASK, Arm(lam), split="test", decoding="greedy") for lam in (1.0, 0.0))
    assert outcomes(rows, "1", ["0", "1", "2"], "greedy").mean((1, 2)).tolist() == one.mean((1, 2)).tolist()
    gain = paired_gain(one, zero)
    heading, greedy, *_ = table(rows)
    assert heading.startswith("seeds 0, 1, 2:")
    assert greedy.endswith(f"{points(gain.gain)} ({interval(gain)})")


def test_without_a_pair_there_is_a_sentence():
    assert table({("0", "3", "greedy", "a"): "1"}) == [
        "no seed has both λ = 0 and λ = 1 yet; name a study's folder"
    ]
