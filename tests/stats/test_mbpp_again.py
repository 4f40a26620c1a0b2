"""The verdicts that are kept seed by seed are those of the study, without its other arms."""

from toys.studies import TASK, make_study

import benchmarks.mbpp_again as benchmark
from benchmarks.mbpp_again import Rows, keep, kept, of_study, outcomes, table
from erce.reporting.format import interval, points
from erce.stats import paired_gain
from erce.types import Arm


def test_the_gains_are_those_of_the_studys_own_outcomes(tmp_path):
    study = make_study(tmp_path / "runs", lams=(0.0, 1.0), methods=("dft",), control=None)
    rows = of_study(study.root)
    one, zero = (study.outcomes(TASK, Arm(lam), split="test", decoding="greedy") for lam in (1.0, 0.0))
    by_seed = outcomes(rows, "lam1", ["0", "1", "2"], "test", "greedy").mean((1, 2))
    assert by_seed.tolist() == one.mean((1, 2)).tolist()
    gain = paired_gain(one, zero)
    heading, greedy, *_ = table(rows)
    assert heading.startswith("seeds 0, 1, 2: λ = 0, λ = 1 in %")
    assert greedy.endswith(f"{points(gain.gain)} ({interval(gain)})")


def test_without_a_pair_there_is_a_sentence():
    assert table({("lam0", "3", "test", "a"): {"greedy": "1"}}) == [
        "no seed has both λ = 0 and λ = 1 yet; name a study's folder"
    ]


def _rows(arms: dict[str, str], **drawn: tuple[str, str]) -> Rows:
    """Return the same verdicts of two problems for each arm, a text of its seeds, and both splits."""
    return {
        (arm, seed, split, problem): {decoding: texts[number] for decoding, texts in drawn.items()}
        for arm, seeds in arms.items()
        for seed in seeds
        for split in ("validation", "test")
        for number, problem in enumerate("ab")
    }


def test_other_arms_are_compared_on_the_seeds_that_they_share():
    rows = _rows({"lam0": "34"}, greedy=("0", "0")) | _rows(
        {"lam1": "345", "rft-lam1": "4"}, greedy=("1", "1")
    )
    headings, greedy = table(rows)[::2], table(rows)[1::2]
    assert [heading.partition(" in %")[0] for heading in headings] == [
        "seeds 3, 4: λ = 0, λ = 1",
        "seeds 4: λ = 1, rft + 1",
        "seeds 4: λ = 0, rft + 1",
    ]
    assert [line.split(", ")[2].partition(" (")[0] for line in greedy] == ["+100.0", "0.0", "+100.0"]


def test_validation_chooses_each_arms_temperature_and_test_is_what_is_compared():
    zero = _rows({"lam0": "34"}, **{"T0.4": ("1000", "0100"), "sampled": ("1100", "0000")})
    one = _rows({"lam1": "34"}, **{"T0.4": ("1111", "0000"), "sampled": ("1000", "0001")})
    test = ("lam1", "4", "test", "b")
    one[test] = one[test] | {"sampled": "0000"}
    lines = {line.partition(":")[0]: line for line in table(zero | one)}
    # Of λ = 0 one of four is right on both problems at 0.4, of λ = 1 at 0.8, and there on 3 of 4 in test.
    best = lines["at least one of four, each at its best temperature (0.4, 0.8)"]
    assert best.split(": ")[1].startswith("100.0, 75.0, −25.0 (")
    # "Each at its best temperature" would need greedy decoding, which was not drawn.
    assert list(lines)[1:] == [
        "sampled at 0.4",
        "sampled at 0.8",
        "at least one of four at 0.4",
        "at least one of four at 0.8",
        "at least one of four, each at its best temperature (0.4, 0.8)",
    ]


def test_of_equal_temperatures_the_lowest_is_chosen():
    drawn = {"greedy": ("1", "0"), "T0.4": ("1100", "1010"), "sampled": ("1010", "0110")}
    lines = "".join(table(_rows({"lam0": "3", "lam1": "3"}, **drawn)))
    assert lines.count("each at its best temperature (0, 0)") == 1
    assert lines.count("each at its best temperature (0.4, 0.4)") == 1


def test_what_is_kept_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "FILE", tmp_path / "kept.csv")
    keep({("lam0", "3", "test", "a"): {"greedy": "1", "sampled": "0010"}})
    assert kept() == {("lam0", "3", "test", "a"): {"greedy": "1", "T0.4": "", "sampled": "0010"}}
