"""What the grid as a whole says: the numbers of erce.stats, in words, for studies of any shape."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, named

from erce.reporting.gains import summary
from erce.reporting.inference import grid_sentences, inference, picked_on_test
from erce.reporting.sentences import sentences
from erce.stats import (
    detectable_gain,
    dunnett,
    equivalent,
    max_t,
    paired_gain,
    selection_bias,
    spread_of,
    study_sizes,
    trend,
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
    found = inference(summary(make_study(tmp_path / "runs", **settings)))
    said = grid_sentences(found)
    assert (found is None) == (shape in ("one λ", "no cross-entropy", "no penalty", "nothing done"))
    assert (said == []) == (found is None)
    for text in said:
        assert text.endswith(".")
        assert "nan" not in text
        assert "inf" not in text
        assert "None" not in text
    if found is not None:
        json.dumps(found.as_json(), allow_nan=False)
        if shape in ("all right", "all wrong"):  # nothing varied, so nothing is known of what would
            assert found.sampled.plan is found.greedy.plan is None


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """λ = 1 is chosen; accuracy in samples rises to it, greedy does not change."""
    settings = {"lams": (0.0, 0.5, 1.0), "problems": 60, "control": None, "objectives": ("dft",)}
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


def test_every_arm_has_its_corrected_tests_beside_its_own(study):
    grid, outcomes = inference(study).sampled, _outcomes(study)
    treated = [outcomes[named(row.arm)] for row in grid.arms]
    assert [named(row.arm) for row in grid.arms] == [0.5, 1.0, "dft"]
    whole = max_t(treated, outcomes[0.0])
    seeds = dunnett([arm.mean(axis=(1, 2)) for arm in treated], outcomes[0.0].mean(axis=(1, 2)))
    for at, row in enumerate(grid.arms):
        own = paired_gain(treated[at], outcomes[0.0])
        assert (row.gain, row.ci, row.p, row.covers) == (own.gain, [own.low, own.high], own.p, own.covers)
        assert (row.p_max_t, row.ci_grid) == (whole.p[at], [whole.low[at], whole.high[at]])
        assert row.p_dunnett == seeds.p[at]
        entry = study.gain(TASK, row.arm, "sampled")
        assert (row.p_holm, row.welch_ci) == (entry["p_holm"], entry["welch_ci"])


def test_the_rest_is_what_the_statistics_say_of_the_same_outcomes(study):
    found, outcomes = inference(study), _outcomes(study)
    greedy = _outcomes(study, "greedy")
    scores = {lam: outcomes[lam].mean(axis=(1, 2)).tolist() for lam in (0.0, 0.5, 1.0)}
    assert found.sampled.trend.p == pytest.approx(2 * trend(scores).p)
    same = equivalent(paired_gain(greedy[1.0], greedy[0.0]), margin=0.02)
    assert (found.greedy.same.equivalent, found.greedy.same.p) == (same.equivalent, same.p)
    assert found.greedy.same.ci == [same.low, same.high]
    spread = spread_of(outcomes[1.0], outcomes[0.0])
    assert found.sampled.plan.detectable == detectable_gain(60, spread, seeds=3, samples=4)
    sizes = study_sizes(spread, gains=(0.03,), designs=[(seeds, 4) for seeds in (3, 5, 10)])
    assert [size.problems for size in found.sampled.plan.sizes] == [
        None if np.isinf(size.problems) else size.problems for size in sizes
    ]
    picked = selection_bias({lam: outcomes[lam] for lam in (0.0, 0.5, 1.0)}, outcomes[0.0])
    assert found.sampled.picked.lam == picked.winner
    assert (found.sampled.picked.shown, found.sampled.picked.bias) == (picked.naive, picked.bias)
    assert picked_on_test(study, "sampled") == found.sampled.picked


def test_the_sentences_say_who_is_better_and_what_greedy_decoding_does_not_show(study):
    said = grid_sentences(inference(study))
    assert said[0].startswith("In samples 2 of 3 arms are better than cross-entropy: λ = 0.5, 1")
    assert (
        "In samples accuracy rises with λ, over 3 seeds on these very problems (Page's test, p = " in said[1]
    )
    assert said[2].startswith("With greedy decoding none of 3 arms is shown to differ from cross-entropy")
    assert any(
        "λ = 1 and cross-entropy are not shown to be the same within 2 points" in text for text in said
    )
    assert any(
        "Other seeds on these very problems" in text and "the interval to quote" in text for text in said
    )
    assert any("finds a gain of" in text and "points in 4 of 5 cases" in text for text in said)


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ((0.9, 0.6, 0.3), "accuracy falls with λ"),
        ((0.6, 0.6, 0.6), "accuracy neither rises nor falls steadily with λ as far as 5 seeds show"),
    ],
)
def test_a_trend_is_said_as_it_is(tmp_path, chances, words):
    made = make_study(
        tmp_path / "runs",
        seeds=(0, 1, 2, 3, 4),
        control=None,
        validation=2,
        right=lambda task, arm, decoding: dict(zip((0.0, 0.5, 1.0), chances, strict=True)).get(arm, 0.1),
    )
    said = grid_sentences(inference(summary(made)))
    assert any(words in text for text in said), said
    if chances[0] == 0.9:
        assert "2 of 2 arms are worse than cross-entropy: λ = 0.5, 1" in said[0]


FEW = "fewer than 149 problems cannot show it"
NOT_SHOWN = "are not shown to be the same within 2 points (90 % interval of the gain"


@pytest.mark.parametrize(
    ("greedy", "problems", "words"),
    [
        (1.0, 150, "are the same within 2 points (90 % interval of the gain −2.0 to +2.0, over problems)."),
        (1.0, 20, f"{NOT_SHOWN} −13.9 to +13.9, over problems; {FEW})."),
        (0.0, 150, f"{NOT_SHOWN} −100.0 to −96.0, over problems)."),
    ],
)
def test_the_same_within_a_margin_is_shown_and_never_presumed(tmp_path, greedy, problems, words):
    """Every problem alike in both arms, on enough of them or not, and every problem lost."""

    def right(task, arm, decoding):
        return (greedy if arm else 1.0) if decoding == "greedy" else (0.7 if arm else 0.5)

    settings = {"lams": (0.0, 1.0), "seeds": (0, 1), "samples": 1, "validation": 9, "steps": 1}
    made = make_study(tmp_path / "runs", control=None, right=right, problems=problems, **settings)
    said = grid_sentences(inference(summary(made)))
    assert any(f"λ = 1 and cross-entropy {words}" in text for text in said), said
    assert any(FEW in text for text in said) == (problems < 149)


def test_where_nothing_varied_nothing_is_certain(tmp_path):
    """No interval of width 0 and no p of 0, of whatever test; of other seeds nothing is said at all."""

    def right(task, arm, decoding):
        return float(bool(arm)) if decoding == "sampled" else 1.0

    found = summary(make_study(tmp_path / "runs", control=None, right=right, problems=20, seeds=(0, 1)))
    whole = inference(found)
    assert whole is not None
    for grid in (whole.sampled, whole.greedy):
        for row in grid.arms:
            assert row.ci[1] - row.ci[0] > 0.1
            assert row.ci_grid[1] - row.ci_grid[0] >= row.ci[1] - row.ci[0]
            assert min(row.p, row.p_holm, row.p_max_t) > 0
            assert (row.covers, row.welch_ci, row.p_dunnett) == ("problems", None, None)
        assert not any("Other seeds on these very problems" in text for text in grid_sentences(whole))
    assert "(over problems alone; other seeds may differ)" in sentences(found)["greedy"]


def test_one_seed_speaks_for_problems_alone(tmp_path):
    found = inference(summary(make_study(tmp_path / "runs", seeds=(0,), control=None)))
    assert {row.covers for row in found.sampled.arms} == {"problems"}
    assert (found.sampled.trend, found.sampled.plan) == (None, None)
    assert "over problems alone" in grid_sentences(found)[0]


def test_what_is_computed_of_a_summary_is_kept_and_of_another_one_is_not(study, tmp_path):
    assert inference(study) is inference(study)
    other = summary(make_study(tmp_path / "runs", control=None))
    assert inference(other) != inference(study)
