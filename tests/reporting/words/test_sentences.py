"""Sentences say what the numbers are, and say so where they mean nothing."""

import pytest
from toys.studies import CONTROL, TASK, make_study

from erce.files import write_json
from erce.reporting.numbers.gains import summary
from erce.reporting.pages import figures
from erce.reporting.pages.html import document
from erce.reporting.words.sentences import sentences
from erce.study.folder import cell_folder
from erce.types import Arm


def _summary(root, **changes):
    return summary(make_study(root / "runs", **changes))


LARGE = {"problems": 100, "samples": 2, "lams": (0.0, 0.5)}


def _always(sampled, greedy, control=0.4):
    """Chances that change between λ = 0 and every other."""

    def right(task, lam, decoding):
        pair = {"sampled": sampled, "greedy": greedy}[decoding]
        return control if task == CONTROL else pair[bool(lam)]

    return right


@pytest.fixture(scope="module")
def gained(tmp_path_factory):
    return _summary(tmp_path_factory.mktemp("gain"), **LARGE, right=_always((0.4, 0.7), (0.5, 0.5)))


def test_a_gain_is_said_with_both_accuracies_its_interval_and_what_it_covers(gained):
    lines = sentences(gained)
    row, baseline = (gained.row(TASK, arm, "sampled") for arm in (gained.chosen, gained.baseline))
    text = lines["headline"]
    assert text.startswith(
        f"On the 100 test problems, λ = {gained.lam:g} (chosen on validation) was right in "
    )
    assert f"{100 * row.mean:.1f} % of samples against {100 * baseline.mean:.1f} % for cross-entropy" in text
    assert f"{100 * row.gain.gain:+.1f} points, 95 % interval +" in text
    assert text.endswith("(over problems and seeds).")
    differences = ["difference-sampled", "difference-greedy"]
    assert list(lines) == ["headline", "greedy", "same", *differences, "sharpening"]
    opening = f"In samples the gain minus the gain on the control {CONTROL}, where no gain is expected, is +"
    assert lines["difference-sampled"].startswith(opening)


FAVOURS_HALF = {"right_on_validation": lambda task, lam, decoding: 0.9 if lam == 0.5 else 0.4}


def test_an_interval_with_zero_is_called_chance(tmp_path):
    study_summary = _summary(tmp_path, right=_always((0.5, 0.5), (0.5, 0.5)), **FAVOURS_HALF)
    gain = study_summary.gain(TASK, Arm(0.5), "sampled")
    assert gain.low < 0 < gain.high
    assert "which includes 0: it may be chance." in sentences(study_summary)["headline"]
    assert "which includes 0: it may be chance." in sentences(study_summary)["greedy"]
    assert "sharpening" not in sentences(study_summary)


def test_a_loss_is_called_one(tmp_path):
    study_summary = _summary(tmp_path, **LARGE, right=_always((0.7, 0.4), (0.8, 0.5)), **FAVOURS_HALF)
    for subject in ("headline", "greedy"):
        assert sentences(study_summary)[subject].endswith(
            "(over problems and seeds); cross-entropy was better."
        )
        assert " points, 95 % interval −" in sentences(study_summary)[subject]
    assert sentences(study_summary)["difference-sampled"].endswith("; the control gained more.")


def test_cross_entropy_may_win_and_is_then_the_headline(tmp_path):
    study_summary = _summary(tmp_path, right=lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0))
    assert study_summary.interaction == {}
    assert list(sentences(study_summary)) == ["headline"]
    text = sentences(study_summary)["headline"]
    assert text.startswith("Validation chose λ = 0, plain cross-entropy: ")
    assert "There is no gain to report." in text
    assert "for the best penalty, λ = 0.5" in text


@pytest.mark.parametrize(
    ("greedy", "sentence"),
    [
        ((0.5, 0.9), "Greedy decoding gained too, so sharpening is not all there is."),
        ((0.8, 0.5), "Greedy decoding lost, so sharpening may be all there is."),
        ((0.5, 0.5), "No gain was shown in greedy decoding, so sharpening may be all there is."),
    ],
)
def test_a_sampled_gain_comes_with_a_caution_about_sharpening(tmp_path, greedy, sentence):
    study_summary = _summary(tmp_path, **LARGE, right=_always((0.4, 0.7), greedy))
    assert sentence in sentences(study_summary)["sharpening"]
    assert "at one temperature, 0.8." in sentences(study_summary)["sharpening"]


def test_a_chosen_negative_lam_is_called_the_confidence_penalty_and_not_sharpening(tmp_path):
    right = _always((0.4, 0.7), (0.5, 0.5))
    lines = sentences(_summary(tmp_path, **(LARGE | {"lams": (0.0, -0.5)}), right=right))
    assert "λ = −0.5 (confidence penalty, chosen on validation) was right in" in lines["headline"]
    assert "sharpening" not in lines


def test_a_control_that_gains_in_samples_is_held_against_the_gain(tmp_path):
    study_summary = _summary(tmp_path, **LARGE, right=lambda task, lam, decoding: 0.75 if lam else 0.4)
    assert "The control gained in samples as well" in sentences(study_summary)["sharpening"]


def test_what_own_right_answers_cost_is_said_beside_every_arms_gain(tmp_path):
    study = make_study(tmp_path / "runs", objectives=("self", "rft", "dft"), control=None)
    assert "own" not in sentences(summary(study))
    counts = {"problems": 320, "with_one": 262, "accepted": 900, "samples": 2560, "tokens": 49_123}
    own = cell_folder(study.root, study.recipe, study.recipe.own_cell)
    write_json(own / "result.json", {"scores": {}, "own": counts})
    report = summary(study)
    for part in (
        "2,560 samples of the base model (49,123 tokens)",
        "262 of 320 training problems have an accepted one, and self leaves out the other 58",
        "12 on the given demonstrations, 12 as self, 12 as rft.",
    ):
        assert part in sentences(report)["own"]
    costs = {row.arm.label: row.sampled_before for row in report.rows if row.task == TASK}
    assert {name: tokens for name, tokens in costs.items() if tokens} == {"self": 49_123, "rft": 49_123}
    page = document(report)
    assert page.count("<td>49,123</td>") == 2
    assert sentences(report)["own"] in page.replace("\u2060", "").replace("\xa0", " ")


def test_nothing_chosen_is_said_with_the_reason_and_so_is_a_missing_baseline(tmp_path):
    reason = f"no λ of '{TASK}' has all its 3 seeds yet; run the study to its end first."
    study_summary = _summary(tmp_path / "no", skip={(TASK, lam, 0) for lam in (0.0, 0.5, 1.0)})
    assert sentences(study_summary) == {"headline": f"No λ is chosen: {reason}"}
    study_summary = _summary(tmp_path, skip={(TASK, 0.0, seed) for seed in range(3)})
    assert "has nothing to be compared with: λ = 0" in sentences(study_summary)["headline"]


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_study_in_which_all_is_alike_has_no_gain_to_report(tmp_path, right):
    study_summary = summary(make_study(tmp_path, right=lambda task, arm, decoding: right))
    assert list(sentences(study_summary)) == ["headline"]
    assert (
        f"There is no gain to report. On the 30 test problems cross-entropy was right in {100 * right} %"
        in (sentences(study_summary)["headline"])
    )
    low, high = figures.accuracy(study_summary, TASK).axes[0].get_ylim()
    assert high - low >= 10
