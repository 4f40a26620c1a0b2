"""Is it only temperature? Both arms at their best validation temperature, and what the figures show of it."""

import json

import numpy as np
import pytest
from toys.studies import TASK, arm_of, make_study, named, with_results

from erce.reporting import contents
from erce.reporting.format import interval, points
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.reporting.numbers.verdict import preferences
from erce.reporting.pages.figures import accuracy_over_temperature
from erce.reporting.words.cautions import faults
from erce.reporting.words.sentences import contest_sentence, sentences, temperature_doubts
from erce.stats import paired_gain
from erce.types import BASE_MODEL, BASELINE, Arm

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
    changes = {"right": _right({0.0: 0.2, 0.5: 1.0}), "methods": ("dft",)}
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
    base, contest, next_best = temperature_sweep(study_summary).contests
    assert [next_best.rival] == preferences(study_summary)["sampled"].next_best
    assert (contest.arm, contest.rival) == (Arm(0.5), BASELINE)
    assert (contest.temperature, contest.rival_temperature) == (1.0, 0.2)
    arms = [study_summary.outcomes(arm, name) for arm, name in ((Arm(0.5), "T1"), (BASELINE, "T0.2"))]
    assert contest.gain == paired_gain(*arms)
    assert (contest.mean, contest.rival_mean) == (arms[0].mean(), arms[1].mean())
    assert (base.rival, base.rival_temperature) == (BASE_MODEL, 0.8)
    outcomes = study_summary.outcomes(BASE_MODEL, "sampled")
    assert base.gain == paired_gain(arms[0], outcomes, untrained=["baseline"])


def _with_validation(made, scores):
    """The study with these validation scores, (arm, decoding) → pass@1, and each test score turned round."""

    def change(cell, result):
        for decoding, held in result["scores"]["validation"].items():
            held["pass@1"] = scores.get((named(cell.arm), decoding), 0.1)

    return summary(with_results(made, change))


def test_test_scores_choose_no_temperature_and_ties_go_to_the_lower(tmp_path):
    made = make_study(tmp_path / "runs", **SMALL, right=_right({0.0: 0.2, 0.5: 1.0}))
    scores = {(0.0, "sampled"): 0.5, (0.0, "T1"): 0.5, (0.5, "sampled"): 0.6, (0.5, "greedy"): 0.7}
    contest = temperature_sweep(_with_validation(made, scores)).contests[1]
    assert (contest.arm, contest.temperature, contest.rival_temperature) == (Arm(0.5), 0.0, 0.8)


@pytest.mark.parametrize(
    ("chances", "finding", "words"),
    [
        ({"baseline": 0.3, "chosen": 0.6}, "better", "λ = 0 ({}) is not of temperature alone."),
        (
            {"baseline": 0.3, "chosen": 0.31},
            "unclear",
            "The gain over λ = 0 ({}) may be of temperature alone",
        ),
        ({"baseline": 0.8, "chosen": 0.45}, "worse", "It is worse than λ = 0 ({}) at the best temperature"),
    ],
)
def test_the_sentence_says_what_the_interval_says(tmp_path, chances, finding, words):
    made = make_study(tmp_path / "runs", **SMALL, right=_right({0.0: 0.2, 0.5: 1.0}, **chances))
    scores = {(0.0, "T0.2"): 0.3, (0.5, "T1"): 0.4, (0.5, "sampled"): 0.35}
    study_summary = _with_validation(made, scores)
    sweep = temperature_sweep(study_summary)
    gain = sweep.contests[1].gain
    assert {"better": gain.low > 0, "worse": gain.high < 0, "unclear": gain.low <= 0 <= gain.high}[finding]
    assert sweep.contests[1].finding == finding
    text = sentences(study_summary)["sharpening"]
    assert text == contest_sentence(study_summary)
    assert words.format(f"{points(gain.gain)} points, {interval(gain)}") in text
    assert "the temperature that validation prefers, λ = 0.5 (temperature 1) is right in" in text
    assert "and λ = 0 (0.2) in" in text
    assert "Sharpening alone" not in text


def test_the_arm_in_question_is_the_one_to_use_for_samples_not_the_chosen_lam(tmp_path):
    """`dft` is to be used for samples, and gains nothing greedily."""

    def right(task, arm, decoding):
        return {"dft": 0.7 if decoding == "sampled" else 0.3, 0.5: 0.5, 0.0: 0.05}.get(arm, 0.3)

    made = make_study(tmp_path / "runs", **SMALL, methods=("dft",), right=right)

    def without_further(cell, result):
        for held in result["scores"].values() if cell.method == "dft" else ():
            del held["T0.2"], held["T1"]

    whole = summary(made)
    assert whole.choice.lam == 0.5
    contests = temperature_sweep(whole).contests
    assert {contest.arm for contest in contests} == {arm_of("dft")}
    assert [contest.rival for contest in contests[:2]] == [BASE_MODEL, BASELINE]
    assert "dft (temperature 0.8) is right in" in contest_sentence(whole)
    begun = summary(with_results(made, without_further))
    assert {cell.arm for cell in begun.study.missing} == {arm_of("dft")}
    assert temperature_sweep(begun).contests == []
    plain = _summary(tmp_path / "plain", temperatures=(), methods=("dft",), right=right)
    [doubt] = temperature_doubts(plain)
    assert doubt == "The gain of dft over the base model and λ = 0.5 in samples may be of temperature alone."
    assert sentences(plain)["sharpening"].endswith(doubt)
    assert doubt in [caution.fault for caution in faults(plain)]


def test_the_json_holds_every_point_and_none_without_a_sweep(study_summary, tmp_path):
    held = json.loads(json.dumps(contents(study_summary)["temperatures"], allow_nan=False))
    assert [(arm["lam"], arm["method"]) for arm in held["arms"]] == [
        (None, None),
        *((lam, "cross-entropy") for lam in (0.0, 0.5)),
        (0.0, "dft"),
    ]
    contest = temperature_sweep(study_summary).contests[1]
    assert held["contests"][1]["ci"] == [contest.gain.low, contest.gain.high]
    assert held["contests"][1]["finding"] == contest.finding
    assert held["arms"][2]["best_temperature"] == held["contests"][1]["temperature"] == 1.0
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
    assert all(contest.rival != BASELINE for contest in sweep.contests)
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
    for line, of_arm in zip(lines, sweep.lines.values(), strict=True):
        assert np.allclose(line.get_xydata(), [(point.temperature, 100 * point.accuracy) for point in of_arm])
    assert [line.get_xdata()[0] for line in drawn if line.get_marker() == "*"] == [0.8, 0.2, 1.0]
