"""Each thing that could be wrong is named just past its limit, with its number, and not just before it."""

import math

import pytest
from toys.studies import REASONS, TASK, make_study, with_results

from erce.files import write_json
from erce.reporting.numbers.gains import DECODINGS, summary
from erce.reporting.numbers.inference import power
from erce.reporting.words.cautions import PILOT, _sizes, cautions, faults, next_steps
from erce.stats import Power
from erce.study.folder import cell_folder, read_study

BEST = {0.5: 1.0, None: 0.2}  # λ = 0.5 is chosen and has the best test row; else 0.7
SMALL = {
    "control": None,
    "problems": 20,
    "samples": 2,
    "validation": 8,
    "reasons": ("different",),
    "steps": 1,
    "right": lambda task, arm, decoding: BEST.get(arm, 0.7),
}


def _made(tmp_path, **changes):
    return make_study(tmp_path / "runs", **(SMALL | changes))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return _made(tmp_path_factory.mktemp("whole"))


def _cautions_with(study, words):
    return [text for text in cautions(summary(study)) if words in text]


def _with_share(study, reason, share):
    """Return the study with this share of the test samples of λ = 1 under that reason."""

    def change(cell, result):
        if cell.lam == 1.0:
            result["scores"]["test"]["sampled"]["reasons"][reason] = share

    return with_results(study, change)


@pytest.mark.parametrize(
    ("reason", "allowed", "too_much", "words"),
    [
        ("truncated", 0.01, 0.011, "were cut off at the token limit. Raise max_new_tokens"),
        ("timeout", 0.005, 0.006, "delete verdicts.jsonl and result.json of those cells and run again"),
        ("opaque", 0.005, 0.006, "returned objects that no other process can compare"),
        ("error", 0.0, 0.001, "could not be verified, a fault of the task or the machine"),
        ("reference not read", 0.0, 0.001, "differ from a reference that is compared as text"),
        ("unproven", 0.0, 0.001, "where a program can cheat. To do without them, set unproven"),
    ],
)
def test_a_reason_is_named_above_its_limit_and_not_at_it(tmp_path, reason, allowed, too_much, words):
    study = _made(tmp_path, problems=3)
    of_the_row = "the sampled completions of λ = 1 on sums"
    assert not _cautions_with(_with_share(study, reason, allowed), of_the_row)
    [text] = _cautions_with(_with_share(study, reason, too_much), of_the_row)
    assert text.startswith(f"{100 * too_much:.1f} % of {of_the_row} ")
    assert words in text


@pytest.mark.parametrize(
    ("changes", "words", "number"),
    [
        ({"seeds": (0, 1)}, "Two seeds", "Run at least 3 seeds"),
        ({"seeds": (0,)}, "one seed", "Run at least 3 seeds"),
    ],
)
def test_what_a_study_is_too_small_for_is_named_with_its_number(whole, tmp_path, changes, words, number):
    assert not _cautions_with(whole, words)
    [text] = _cautions_with(_made(tmp_path, **changes), words)
    assert number in text


@pytest.mark.parametrize(("problems", "few"), [(199, True), (200, False)])
def test_fewer_than_200_test_problems_are_few(tmp_path, problems, few):
    study = _made(tmp_path, problems=problems, seeds=(0,), samples=1, lams=(0.0, 0.5), validation=2)
    assert bool(_cautions_with(study, f"{problems} test problems are few")) is few


@pytest.mark.parametrize("lams", [(0.0, 0.5), (0.0, 0.5, 1.0)])
def test_the_best_at_the_grids_edge_is_named(tmp_path, lams):
    texts = _cautions_with(_made(tmp_path, lams=lams), "No λ above 0.5 was tried:")
    assert bool(texts) == (max(lams) == 0.5)
    assert all("Add λ = 1 to" in text for text in texts)


def test_an_arm_that_validation_prefers_and_the_test_problems_show_to_be_worse_is_named(tmp_path):
    right = {None: 0.1, 0.0: 0.9, 0.5: 0.3}

    def change(cell, result):
        if cell.lam == 0.5:
            for scores in result["scores"]["validation"].values():
                scores["pass@1"] = 1.0

    study = _made(tmp_path, lams=(0.0, 0.5), right=lambda task, arm, decoding: right[arm])
    assert not _cautions_with(study, "is worse than")
    texts = _cautions_with(with_results(study, change), "λ = 0.5 is worse than λ = 0 for ")
    assert len(texts) == len(DECODINGS)
    assert all("validation chose it, perhaps by luck. Choose on" in text for text in texts)
    assert not _cautions_with(read_study(study.root), "the best may lie beyond")


def test_every_fault_is_a_sentence_and_its_remedy_a_next_step(tmp_path):
    study_summary = summary(_made(tmp_path, problems=5, seeds=(0,), samples=1, lams=(0.0, 0.5)))
    assert [" ".join(filter(None, caution)) for caution in faults(study_summary)] == cautions(study_summary)
    assert all(text.endswith(".") and len(text) < 300 for text in cautions(study_summary))
    remedies = [caution.remedy for caution in faults(study_summary) if caution.remedy]
    assert remedies == [step for step in next_steps(study_summary) if "temperatures" not in step]


def test_no_gain_is_shown_across_two_verifiers_and_the_cells_of_the_rarer_one_are_named(tmp_path):
    study = _made(tmp_path)
    for cell in study.results:
        folder = cell_folder(study.root, study.recipe, cell)
        write_json(folder / "cell.json", {"verifier": "old" if cell.lam == 0 else "new"})
        if cell.lam == 0:  # as a copy may leave it: the old verdicts have the latest date
            (folder / "verdicts.jsonl").touch()
    report = summary(read_study(study.root))
    assert (report.compared("sampled"), report.choice) == ([], None)
    assert "(sums-lam0-seed0, sums-lam0-seed1, sums-lam0-seed2 by another than most)" in cautions(report)[0]
    assert "none of its gains is shown; `erce run` verifies" in cautions(report)[0]
    for cell in study.results:
        write_json(cell_folder(study.root, study.recipe, cell) / "cell.json", {"verifier": "new"})
    assert summary(read_study(study.root)).compared("sampled")


def test_versions_that_differ_are_named_with_the_number_of_cells(tmp_path):
    study = _made(tmp_path, versions={"sums-lam1-seed0": {"torch": "2.6.0"}})
    [text] = _cautions_with(study, "package versions")
    assert "torch 2.13.0 (9 cells), 2.6.0 (1 cell)." in text


@pytest.mark.parametrize(
    ("shares", "pairs"),
    [
        ({}, ["λ = 0.5 over λ = 0", "λ = 0.5 over the base model"]),
        ({0.5: 1.0, 0.0: 0.9, None: 0.2}, ["λ = 0.5 over λ = 0"]),
        ({0.5: 1.0, 0.0: 0.7, None: 0.2}, []),
    ],
)
def test_a_gain_that_is_mostly_format_is_called_so_with_both_numbers(tmp_path, shares, pairs):
    """`shares`: what an arm's samples are right in if the form is ignored."""

    def change(cell, result):
        result["scores"]["test"]["sampled"]["flexible"] = shares.get(cell.lam, 0.9)

    made = _made(tmp_path)
    assert not _cautions_with(made, "format")  # nothing is said of a study without flexible verdicts
    said = _cautions_with(with_results(made, change), "format")
    assert [text[text.index("gain of ") + 8 : text.index(" is mostly")] for text in said] == pairs
    if not shares:
        assert "points (sampled), but 0.0 if the form" in said[0]


def _five_seeds(root, **changes):
    size = {"problems": 40, "validation": 20, "seeds": (0, 1, 2, 3, 4), "reasons": REASONS}
    return summary(_made(root, **(size | changes)))


def _gains(treated, baseline=0.5):
    return lambda task, arm, decoding: treated if arm == 0.5 else 0.1 if arm is None else baseline


def test_a_gain_that_is_not_settled_comes_after_what_to_take_with_the_seeds_and_problems_that_would_settle_it(
    tmp_path,
):
    study_summary = _five_seeds(tmp_path, right=_gains(0.55))
    planned = power(study_summary, "sampled")
    steps = next_steps(study_summary)
    taken, [first, *rest] = steps[0], [step for step in steps if not step.startswith("Take ")]
    assert taken.startswith("Take λ = 0: `erce card RUNS --out FOLDER`")
    assert first.startswith(
        f"A study of this size finds a gain of {100 * planned.detectable:.1f} points in 4 of"
    )
    assert first.endswith(
        f"to find 3 points, take {planned.problems:,.0f} problems or {planned.seeds:,.0f} seeds."
    )
    assert not any("at least 200 problems" in step for step in rest)


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (Power(0.1, math.inf, 50, 11.31), "to find 3 points, take 50 seeds"),
        (
            Power(0.1, math.inf, math.inf, 11.31),
            "take 11.4 times as many seeds and problems, as more of either",
        ),
        (Power(0.03, 100, 5, 1.0), "a gain that it does not show is probably smaller"),
    ],
)
def test_a_plan_names_what_is_enough(found, end):
    assert end in _sizes(found)


def test_a_settled_gain_needs_no_plan_but_the_temperatures_that_could_explain_it(tmp_path):
    steps = next_steps(_five_seeds(tmp_path, right=_gains(0.95)))
    assert not any("A study of this size" in step for step in steps)
    assert steps[-1].startswith("Set temperatures = ")
    asked = next_steps(_five_seeds(tmp_path / "asked", right=_gains(0.95), temperatures=(0.4,)))
    assert asked == [step for step in steps if not step.startswith("Set temperatures")]


def test_an_unfinished_study_is_finished_first(tmp_path):
    first, *rest = next_steps(_five_seeds(tmp_path, right=_gains(0.55), skip={(TASK, 1.0, 2)}))
    assert first.startswith("Run the study to its end")
    assert any("A study of this size" in step for step in rest)


def test_three_seeds_are_too_few_to_say_which_gain_would_be_found(tmp_path):
    steps = next_steps(_five_seeds(tmp_path, seeds=(0, 1, 2), right=_gains(0.55)))
    assert PILOT in steps
    assert not any("4 of 5 cases" in step for step in steps)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"skip": {(TASK, 1.0, 2)}}, "1 of 10 cells are unfinished (sums-lam1-seed2): every number"),
        ({"skip": {(TASK, lam, s) for lam in (0.5, 1.0) for s in (0, 1)}}, "and 1 more): every number"),
        ({"warnings": ("programs ran unprotected",)}, "programs ran unprotected"),
        (
            {"right": lambda task, lam, decoding: 0.9 if lam is None else 0.5},
            "The base model was right more often than",
        ),
    ],
)
def test_what_could_be_wrong_is_named(tmp_path, changes, sentence):
    texts = cautions(summary(_made(tmp_path, **changes)))
    assert any(sentence in text for text in texts), texts


def test_without_validation_the_next_step_is_to_have_some(tmp_path):
    step, *_ = next_steps(summary(_made(tmp_path, validation=0)))
    assert step.startswith("No arm is chosen: no sampled completions of validation problems")
    assert step.endswith("import logs of validation problems with --validation.")


def test_a_study_without_faults_has_no_cautions(tmp_path):
    chances = {0.5: 1.0, None: 0.2}
    right = {"right": lambda task, arm, decoding: chances.get(arm, 0.96)}
    assert cautions(summary(_made(tmp_path, problems=200, **right))) == []
