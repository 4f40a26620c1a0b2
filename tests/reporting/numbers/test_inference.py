"""What the grid as a whole says: the numbers of erce.stats, in words, for studies of any shape."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, named

from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.inference import inference
from erce.reporting.words.sentences import sentences
from erce.reporting.words.whole_grid import grid_sentences
from erce.stats import (
    detectable_gain,
    equivalent,
    few_seeds_factor,
    holm,
    paired_gain,
    spread_of,
    study_sizes,
)

LAMS = (0.0, 0.5, 1.0, 2.0)


def _always(share):
    return lambda task, arm, decoding: share


SHAPES = {
    "one seed": {"seeds": (0,)},
    "one λ": {"lams": (0.0,)},
    "two λ": {"lams": (0.0, 1.0)},
    "only λ below 0": {"lams": (-0.5, 0.0)},
    "another objective alone": {"lams": (0.0,), "objectives": ("dft",)},
    "one problem": {"problems": 1},
    "two problems": {"problems": 2},
    "one of everything": {"problems": 1, "seeds": (0,), "samples": 1},
    "all right": {"right": _always(1.0)},
    "all wrong": {"right": _always(0.0)},
    "all or nothing": {"right": lambda task, arm, decoding: float(bool(arm))},
    "no cross-entropy": {"skip": {(TASK, 0.0, seed) for seed in range(3)}},
    "no penalty": {"skip": {(TASK, lam, seed) for lam in LAMS[1:] for seed in range(3)}},
    "nothing done": {"skip": {(TASK, lam, seed) for lam in (None, *LAMS) for seed in range(3)}},
    "a seed here and there": {"skip": {(TASK, 0.0, 0), (TASK, 0.5, 1), (TASK, 1.0, 2)}},
    "one seed of cross-entropy": {"skip": {(TASK, 0.0, 0), (TASK, 0.0, 1)}},
    "no validation": {"validation": 0},
    "one sample": {"samples": 1},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_study_is_too_odd_to_be_reported(tmp_path, shape):
    settings = {"control": None, "lams": LAMS, "problems": 12, "validation": 2, "steps": 1} | SHAPES[shape]
    findings = inference(summary(make_study(tmp_path / "runs", **settings)))
    statements = grid_sentences(findings)
    assert (findings is None) == (shape in ("one λ", "no cross-entropy", "no penalty", "nothing done"))
    assert statements == [] or findings is not None
    for text in statements:
        assert text.endswith(".")
        assert "nan" not in text
        assert "inf" not in text
        assert "None" not in text
    if findings is not None:
        json.dumps(findings.as_json(), allow_nan=False)
        if shape in ("all right", "all wrong"):  # nothing varied, so nothing is known of what would
            assert findings.sampled.power is findings.greedy.power is None


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """λ = 1 is chosen; accuracy in samples rises to it, greedy does not change."""
    settings = {"lams": (0.0, 0.5, 1.0), "problems": 60, "control": None, "objectives": ("dft",)}
    settings["seeds"] = (0, 1, 2, 3, 4)
    chances = {0.0: 0.4, 0.5: 0.57, 1.0: 0.74, "dft": 0.42, None: 0.3}
    made = make_study(
        tmp_path_factory.mktemp("study") / "runs",
        right=lambda task, arm, decoding: chances[arm] if decoding == "sampled" else 0.6,
        right_on_validation=lambda task, arm, decoding: float(arm == 1.0),
        **settings,
    )
    return summary(made)


def _outcomes(study, decoding="sampled"):
    arms = (0.0, 0.5, 1.0, "dft")
    return {arm: study.study.outcomes(TASK, arm_of(arm), split="test", decoding=decoding) for arm in arms}


def test_every_trained_arm_has_its_gain_and_its_json_names_it_in_one_value(study):
    grid, outcomes = inference(study).sampled, _outcomes(study)
    assert [named(gain.arm) for gain in grid.gains] == [0.5, 1.0, "dft"]
    adjusted = holm([paired_gain(outcomes[named(gain.arm)], outcomes[0.0]).p for gain in grid.gains])
    for gain, entry, p in zip(grid.gains, grid.as_json()["arms"], adjusted, strict=True):
        own = paired_gain(outcomes[named(gain.arm)], outcomes[0.0])
        assert (gain.gain, gain.p_holm) == (own, p)
        assert (entry["arm"], entry["ci"]) == (named(gain.arm), [own.low, own.high])
        assert entry["welch_ci"] == [gain.over_seeds.low, gain.over_seeds.high]


def test_the_rest_is_what_the_statistics_say_of_the_same_outcomes(study):
    findings, outcomes = inference(study), _outcomes(study)
    greedy = _outcomes(study, "greedy")
    same = equivalent(paired_gain(greedy[1.0], greedy[0.0]), margin=0.02)
    assert findings.greedy.same.test == same
    assert findings.as_json()["greedy"]["same"]["ci"] == [same.low, same.high]
    spread = spread_of(outcomes[1.0], outcomes[0.0])
    assert findings.sampled.power.detectable == few_seeds_factor(5) * detectable_gain(
        60, spread, seeds=5, samples=4
    )
    sizes = [
        *study_sizes(spread, gains=(0.03 / few_seeds_factor(3),), designs=[(3, 4)]),
        *study_sizes(spread, gains=(0.03 / few_seeds_factor(5),), designs=[(5, 4), (10, 4)]),
    ]
    assert [size["problems"] for size in findings.as_json()["sampled"]["plan"]["sizes"]] == [
        None if np.isinf(size.problems) else size.problems for size in sizes
    ]


def test_the_sentences_say_who_is_better_and_what_greedy_decoding_does_not_show(study):
    statements = grid_sentences(inference(study))
    assert statements[0].startswith("In samples 2 of 3 arms are better than cross-entropy: λ = 0.5, 1")
    assert statements[0].endswith("(p after Holm's correction for all 3).")
    assert statements[1].startswith(
        "With greedy decoding none of 3 arms is shown to differ from cross-entropy"
    )
    assert any(
        "λ = 1 and cross-entropy are not shown to be the same within 2 points" in text for text in statements
    )


def test_arms_that_lost_are_called_worse(tmp_path):
    chances = {0.0: 0.9, 0.5: 0.6, 1.0: 0.3}
    made = make_study(
        tmp_path / "runs",
        seeds=(0, 1, 2, 3, 4),
        control=None,
        validation=2,
        right=lambda task, arm, decoding: chances.get(arm, 0.1),
    )
    statements = grid_sentences(inference(summary(made)))
    assert (
        "2 of 2 arms are worse than cross-entropy: λ = 0.5, 1 (p after Holm's correction for both)"
        in statements[0]
    )


FEW = "fewer than 149 problems cannot show it"
NOT_SHOWN = "are not shown to be the same within 2 points (90 % interval of the gain"


@pytest.mark.parametrize(
    ("greedy", "problems", "words"),
    [
        (1.0, 150, "are the same within 2 points (90 % interval of the gain −2.0 to +2.0, over problems)."),
        (1.0, 20, f"{NOT_SHOWN} −13.9 to +13.9, over problems; {FEW})."),
    ],
)
def test_the_same_within_a_margin_is_shown_and_never_presumed(tmp_path, greedy, problems, words):
    """Every problem alike in both arms, on enough of them or not."""

    def right(task, arm, decoding):
        return (greedy if arm else 1.0) if decoding == "greedy" else (0.7 if arm else 0.5)

    settings = {"lams": (0.0, 1.0), "seeds": (0, 1), "samples": 1, "validation": 9, "steps": 1}
    made = make_study(tmp_path / "runs", control=None, right=right, problems=problems, **settings)
    statements = grid_sentences(inference(summary(made)))
    assert any(f"λ = 1 and cross-entropy {words}" in text for text in statements), statements
    assert any(FEW in text for text in statements) == (problems < 149)


def test_arms_that_clearly_differ_are_not_asked_whether_they_are_the_same(tmp_path):
    def right(task, arm, decoding):
        return float(not arm) if decoding == "greedy" else (0.7 if arm else 0.5)

    made = make_study(tmp_path / "runs", control=None, right=right, problems=150, seeds=(0, 1), samples=1)
    assert not any("the same within" in text for text in grid_sentences(inference(summary(made))))


def test_where_nothing_varied_nothing_is_certain(tmp_path):
    """No interval of width 0 and no p of 0, of whatever test; of other seeds nothing is said at all."""

    def right(task, arm, decoding):
        return float(bool(arm)) if decoding == "sampled" else 1.0

    study_summary = summary(
        make_study(tmp_path / "runs", control=None, right=right, problems=20, seeds=(0, 1))
    )
    whole = inference(study_summary)
    assert whole is not None
    for grid in (whole.sampled, whole.greedy):
        for row in grid.gains:
            assert row.gain.high - row.gain.low > 0.1
            assert min(row.gain.p, row.p_holm) > 0
            assert (row.gain.covers, row.over_seeds) == ("problems", None)
    assert "(over problems alone; other seeds may differ)" in sentences(study_summary)["greedy"]


def test_one_seed_speaks_for_problems_alone(tmp_path):
    findings = inference(summary(make_study(tmp_path / "runs", seeds=(0,), control=None)))
    assert {row.gain.covers for row in findings.sampled.gains} == {"problems"}
    assert findings.sampled.power is None
    assert "over problems alone" in grid_sentences(findings)[0]


def test_what_is_computed_of_a_summary_is_kept_and_of_another_one_is_not(study, tmp_path):
    assert inference(study) is inference(study)
    other = summary(make_study(tmp_path / "runs", control=None))
    assert inference(other) != inference(study)
