"""Sentences say what the numbers are, and say so where they mean nothing."""

import pytest
from toys.studies import CONTROL, TASK, make_study

from erce.files import write_json
from erce.reporting.format import interval, points
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.verdict import preferences
from erce.reporting.pages.html import document
from erce.reporting.words.sentences import sentences
from erce.study.folder import cell_folder, read_study
from erce.types import BASE_MODEL, Arm


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


def test_the_verdict_comes_first_and_the_preferred_arm_has_both_gains_with_what_they_cover(gained):
    lines, found = sentences(gained), preferences(gained)["sampled"]
    assert lines["verdict"] == (
        "Use λ = 0.5. With greedy decoding validation prefers the base model, which costs less; the test "
        "problems do not show it to be better."
    )
    validated = 100 * found.scores[found.arm]
    gains = ", ".join(
        f"{points(found.over[arm].gain)} over {name} ({interval(found.over[arm])})"
        for arm, name in ((BASE_MODEL, "the base model"), (Arm(0.0), "λ = 0"))
    )
    assert lines["sampled"].startswith(
        f"In samples validation prefers λ = 0.5, of 3 arms ({validated:.1f} % right on "
        f"{found.n_validation} problems; next "
    )
    assert (
        f"On the 100 test problems it is right in {100 * found.row.mean:.1f} % of samples; in points, with "
        f"the 95 % interval, {gains}." in lines["sampled"]
    )
    assert "It takes 12 training steps." in lines["sampled"]
    assert lines["choosing"].startswith("These 95 % intervals are over problems and seeds")
    differences = ["difference-sampled", "difference-greedy"]
    expected = ["verdict", "greedy", "sampled", "choosing", *differences, "sharpening"]
    assert list(lines) == expected
    opening = (
        f"In samples the gain of λ = 0.5 minus that on the control {CONTROL}, where no gain is expected, is +"
    )
    assert lines["difference-sampled"].startswith(opening)


FAVOURS_HALF = {"right_on_validation": lambda task, lam, decoding: 0.9 if lam == 0.5 else 0.4}


def test_what_is_not_shown_to_beat_the_base_model_is_not_recommended(tmp_path):
    """On the test problems the base model is as good as λ = 0.5, which validation prefers."""
    study_summary = _summary(tmp_path, right=lambda task, lam, decoding: 0.5, **FAVOURS_HALF)
    lines = sentences(study_summary)
    reason = "nothing that validation prefers is shown to be better."
    assert lines["verdict"] == f"Use the base model for greedy decoding and for samples: {reason}"
    for subject in ("greedy", "sampled"):
        assert "validation prefers λ = 0.5" in lines[subject]
        assert "So it is not shown to be better than the base model." in lines[subject]
    assert "sharpening" not in lines


def test_a_loss_is_called_one(tmp_path):
    study_summary = _summary(tmp_path, **LARGE, right=_always((0.7, 0.4), (0.8, 0.5)), **FAVOURS_HALF)
    assert "So it is worse than the base model." in sentences(study_summary)["greedy"]
    assert sentences(study_summary)["difference-sampled"].endswith("; the control gained more.")


def test_cross_entropy_may_win(tmp_path):
    study_summary = _summary(
        tmp_path, right=lambda task, lam, decoding: 0.1 if lam is None else 0.9 - 0.3 * lam
    )
    assert study_summary.interaction == {}
    lines = sentences(study_summary)
    assert list(lines) == ["verdict", "greedy", "sampled", "choosing"]
    assert lines["verdict"] == "Use λ = 0 (cross-entropy) for greedy decoding and for samples."
    assert "over λ = 0 (" not in lines["sampled"]


@pytest.mark.parametrize(
    ("greedy", "sentence"),
    [
        ((0.5, 0.9), "Greedy decoding gained over {} too, so sharpening is not all there is."),
        ((0.8, 0.5), "The gain of λ = 0.5 over {} in samples may be of temperature alone."),
        ((0.5, 0.5), "The gain of λ = 0.5 over {} in samples may be of temperature alone."),
    ],
)
def test_a_sampled_gain_comes_with_a_caution_about_sharpening(tmp_path, greedy, sentence):
    study_summary = _summary(tmp_path, **LARGE, right=_always((0.4, 0.7), greedy))
    said = sentences(study_summary)["sharpening"]
    assert said.startswith("Samples were generated at one temperature, 0.8. Sharpening alone")
    assert said.endswith(f"temperature. {sentence.format('the base model and λ = 0')}")


def test_a_chosen_negative_lam_is_called_the_confidence_penalty_and_not_sharpening(tmp_path):
    right = _always((0.4, 0.7), (0.5, 0.5))
    lines = sentences(_summary(tmp_path, **(LARGE | {"lams": (0.0, -0.5)}), right=right))
    assert lines["verdict"].startswith("Use λ = −0.5 (confidence penalty). ")
    assert "sharpening" not in lines


def test_what_own_right_answers_cost_is_said_beside_every_arms_gain(tmp_path):
    study = make_study(tmp_path / "runs", methods=("self", "rft", "dft"), control=None)
    assert "own" not in sentences(summary(study))
    counts = {"problems": 320, "with_one": 262, "accepted": 900, "samples": 2560, "tokens": 49_123}
    own = cell_folder(study.root, study.recipe, study.recipe.own_cells[0])
    write_json(own / "result.json", {"scores": {}, "own": counts})
    report = summary(read_study(study.root))
    for part in (
        "2,560 samples of the base model (49,123 tokens)",
        "262 of 320 training problems have an accepted one, and self leaves out the other 58",
    ):
        assert part in sentences(report)["own"]
    costs = {report.name(row.arm): row.sampled_before for row in report.rows if row.task == TASK}
    assert {name: tokens for name, tokens in costs.items() if tokens} == {"self": 49_123, "rft": 49_123}
    page = document(report)
    assert page.count("<td>49,123</td>") == 4  # of two arms, in the tables of both decodings
    assert sentences(report)["own"] in page.replace("\u2060", "").replace("\xa0", " ")


def test_nothing_chosen_is_said_with_the_reason_and_so_is_a_missing_baseline(tmp_path):
    reason = f"no λ of '{TASK}' has all its 3 seeds yet; run the study to its end first."
    study_summary = _summary(tmp_path / "no", skip={(TASK, lam, 0) for lam in (0.0, 0.5, 1.0)})
    assert sentences(study_summary) == {"verdict": f"No arm is chosen: {reason}"}
    study_summary = _summary(tmp_path, skip={(TASK, 0.0, seed) for seed in range(3)})
    assert "over λ = 0 (" not in sentences(study_summary)["sampled"]
    assert sentences(study_summary)["verdict"].endswith(". So far, with 3 of 20 cells unfinished.")
    assert "over the base model (" in sentences(study_summary)["sampled"]


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_study_in_which_all_is_alike_keeps_the_base_model(tmp_path, right):
    study_summary = summary(make_study(tmp_path, right=lambda task, arm, decoding: right))
    assert preferences(study_summary)["sampled"].arm == BASE_MODEL
    assert sentences(study_summary)["verdict"].startswith("Use the base model")
