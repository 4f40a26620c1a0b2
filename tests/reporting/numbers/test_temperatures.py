"""Is it only temperature? Both arms at their best validation temperature, and what the figures show of it."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, named, with_results

from erce.reporting import contents
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.reporting.pages.figures import accuracy_over_temperature
from erce.reporting.words.sentences import contest_sentence, sentences
from erce.stats import paired_gain
from erce.types import BASELINE, Arm

AT = {"greedy": 0.0, "sampled": 0.8}
SMALL = {"control": None, "lams": (0.0, 0.5), "temperatures": (0.2, 1.0), "validation": 60, "problems": 60}


def _at(decoding):
    return AT[decoding] if decoding in AT else float(decoding[1:])


def _right(best, baseline=0.3, chosen=0.6):
    """Chances that fall with the distance from the temperature that is best for an arm; λ = 0.5 is chosen."""

    def right(task, arm, decoding):
        top = {0.5: chosen, 0.0: baseline}.get(arm, 0.25)
        return top - 0.5 * abs(_at(decoding) - best.get(arm, 0.8))

    return right


def _summary(root, **changes):
    return summary(make_study(root / "runs", **(SMALL | changes)))


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    """Cross-entropy is best at 0.2 and λ = 0.5 at 1."""
    changes = {"right": _right({0.0: 0.2, 0.5: 1.0}), "objectives": ("dft",)}
    return _summary(tmp_path_factory.mktemp("sweep"), **changes)


def test_every_arm_has_a_point_a_temperature_with_the_numbers_of_its_cells(study_summary):
    lines = temperature_sweep(study_summary).lines
    assert list(lines) == list(map(arm_of, (None, 0.0, 0.5, "dft")))
    for arm, line in lines.items():
        decodings = {point.temperature: point.decoding for point in line}
        assert decodings == {0.0: "greedy", 0.2: "T0.2", 0.8: "sampled", 1.0: "T1"}
        for point in line:
            outcomes = study_summary.outcomes(arm, point.decoding)
            assert point.accuracy == pytest.approx(outcomes.mean())


def test_each_arm_is_taken_at_its_own_best_validation_temperature_and_compared_on_test(study_summary):
    contest = temperature_sweep(study_summary).contest
    assert (contest.lam, contest.temperature, contest.baseline_temperature) == (0.5, 1.0, 0.2)
    arms = [study_summary.outcomes(arm, name) for arm, name in ((Arm(0.5), "T1"), (BASELINE, "T0.2"))]
    gain = paired_gain(*arms)
    assert contest.gain == gain
    assert (contest.mean, contest.baseline) == (arms[0].mean(), arms[1].mean())


def _with_validation(made, scores):
    """The study with these validation scores, (arm, decoding) → pass@1, and each test score turned round."""

    def change(cell, result):
        for decoding, held in result["scores"]["validation"].items():
            held["pass@1"] = scores.get((named(cell.arm), decoding), 0.1)

    return summary(with_results(made, change))


def test_test_scores_choose_no_temperature_and_ties_go_to_the_lower(tmp_path):
    made = make_study(tmp_path / "runs", **SMALL, right=_right({0.0: 0.2, 0.5: 1.0}))
    scores = {(0.0, "sampled"): 0.5, (0.0, "T1"): 0.5, (0.5, "sampled"): 0.6, (0.5, "greedy"): 0.7}
    contest = temperature_sweep(_with_validation(made, scores)).contest
    assert (contest.lam, contest.temperature, contest.baseline_temperature) == (0.5, 0.0, 0.8)


@pytest.mark.parametrize(
    ("chances", "finding", "words"),
    [
        ({"baseline": 0.3, "chosen": 0.6}, "better", "So the penalty beats cross-entropy beyond temperature"),
        ({"baseline": 0.3, "chosen": 0.31}, "unclear", "nothing shows that the penalty beats cross-entropy"),
        ({"baseline": 0.8, "chosen": 0.45}, "worse", "the penalty does not beat cross-entropy beyond temper"),
    ],
)
def test_the_sentence_says_what_the_interval_says(tmp_path, chances, finding, words):
    made = make_study(tmp_path / "runs", **SMALL, right=_right({0.0: 0.2, 0.5: 1.0}, **chances))
    scores = {(0.0, "T0.2"): 0.3, (0.5, "T1"): 0.4, (0.5, "sampled"): 0.35}
    study_summary = _with_validation(made, scores)
    sweep = temperature_sweep(study_summary)
    gain = sweep.contest.gain
    assert {"better": gain.low > 0, "worse": gain.high < 0, "unclear": gain.low <= 0 <= gain.high}[finding]
    assert sweep.contest.finding == finding
    text = sentences(study_summary)["sharpening"]
    assert text == contest_sentence(sweep)
    assert words in text
    assert "validation prefers 0.2 for cross-entropy and 1 for λ = 0.5. There" in text
    assert "Sharpening alone" not in text


def test_the_json_holds_every_point_and_none_without_a_sweep(study_summary, tmp_path):
    held = json.loads(json.dumps(contents(study_summary)["temperatures"], allow_nan=False))
    assert [(arm["lam"], arm["objective"]) for arm in held["arms"]] == [
        (None, None),
        *((lam, "cross-entropy") for lam in (0.0, 0.5)),
        (0.0, "dft"),
    ]
    contest = temperature_sweep(study_summary).contest
    assert held["contest"]["ci"] == [contest.gain.low, contest.gain.high]
    assert held["contest"]["finding"] == contest.finding
    assert held["arms"][2]["best_temperature"] == held["contest"]["temperature"] == 1.0
    assert held["arms"][0]["points"][3]["decoding"] == "T1"
    plain = _summary(tmp_path, temperatures=(), right=_right({}))
    assert contents(plain)["temperatures"] is None
    assert "at one temperature, 0.8." in sentences(plain)["sharpening"]


@pytest.mark.parametrize(
    "changes",
    [
        {"validation": 0},
        {"skip": {(TASK, 0.0, seed) for seed in range(3)}},
        {"right": lambda task, arm, decoding: 0.9 - 0.3 * (arm or 0)},
    ],
)
def test_there_is_a_sweep_and_no_contest_where_nothing_can_be_compared(tmp_path, changes):
    study_summary = _summary(tmp_path, **({"right": _right({}), "problems": 5} | changes))
    sweep = temperature_sweep(study_summary)
    assert len(sweep.lines) >= 2
    assert sweep.contest is None
    assert contest_sentence(sweep) == ""
    accuracy_over_temperature(sweep).draw_without_rendering()


def test_what_a_cell_lacks_is_no_point(tmp_path):
    made = make_study(tmp_path / "runs", **(SMALL | {"problems": 5, "validation": 5}), right=_right({}))

    def change(cell, result):
        if (cell.lam, cell.seed) == (0.5, 2):
            del result["scores"]["test"]["greedy"]

    sweep = temperature_sweep(summary(with_results(made, change)))
    assert [point.temperature for point in sweep.lines[Arm(0.5)]] == [0.2, 0.8, 1.0]


def test_the_figure_has_a_line_an_arm_and_a_star_at_the_best_temperatures(study_summary):
    sweep = temperature_sweep(study_summary)
    drawn = accuracy_over_temperature(sweep).axes[0].lines
    lines = [line for line in drawn if line.get_marker() != "*"]
    for line, points in zip(lines, sweep.lines.values(), strict=True):
        assert np.allclose(line.get_xydata(), [(point.temperature, 100 * point.accuracy) for point in points])
    assert [line.get_xdata()[0] for line in drawn if line.get_marker() == "*"] == [0.2, 1.0]
