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
    assert (
        outcomes(rows, "lam1", ["0", "1", "2"], "greedy").mean((1, 2)).tolist() == one.mean((1, 2)).tolist()
    )
    gain = paired_gain(one, zero)
    heading, greedy, *_ = table(rows)
    assert heading.startswith("seeds 0, 1, 2: λ = 0, λ = 1 in %")
    assert greedy.endswith(f"{points(gain.gain)} ({interval(gain)})")


def test_without_a_pair_there_is_a_sentence():
    assert table({("lam0", "3", "greedy", "a"): "1"}) == [
        "no seed has both λ = 0 and λ = 1 yet; name a study's folder"
    ]


def test_other_arms_are_compared_on_the_seeds_that_they_share():
    arms = {"lam0": "34", "lam1": "345", "rft-lam1": "4"}
    rows = {
        (arm, seed, how, problem): "1" if (how, arm) != ("greedy", "lam0") else "0"
        for arm, seeds in arms.items()
        for seed in seeds
        for how in ("greedy", "sampled")
        for problem in "ab"
    }
    headings, greedy = table(rows)[::4], table(rows)[1::4]
    assert [heading.partition(" in %")[0] for heading in headings] == [
        "seeds 3, 4: λ = 0, λ = 1",
        "seeds 4: λ = 1, rft + 1",
        "seeds 4: λ = 0, rft + 1",
    ]
    assert [line.split(", ")[2].partition(" (")[0] for line in greedy] == ["+100.0", "0.0", "+100.0"]
