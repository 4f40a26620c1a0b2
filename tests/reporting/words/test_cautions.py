"""Each thing that could be wrong is named just past its limit, with its number, and not just before it."""

import json

import pytest
from toys.studies import CONTROL, TASK, make_study

from erce.files import read_json, write_json, write_rows
from erce.reporting.numbers.gains import summary
from erce.reporting.words.cautions import cautions, faults
from erce.reporting.words.next_steps import next_steps
from erce.study.folder import PROBLEMS, cell_folder, read_study
from erce.study.rounds import verified_by_several

BEST = {0.5: 1.0, None: 0.2}  # λ = 0.5 is chosen and has the best test row; else 0.7


def _right(task, arm, decoding):
    return BEST.get(arm, 0.7)


def _made(tmp_path, **changes):
    settings = {
        "control": None,
        "problems": 20,
        "samples": 2,
        "validation": 8,
        "reasons": ("different",),
        "steps": 1,
    }
    return make_study(tmp_path / "runs", **(settings | {"right": _right} | changes))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return _made(tmp_path_factory.mktemp("whole"))


def _cautions_with(study, words):
    return [text for text in cautions(summary(study)) if words in text]


def _with_share(study, reason, share):
    """Return the study with this share of the test samples of λ = 1 under that reason."""
    for cell in study.results:
        path = cell_folder(study.root, study.recipe, cell) / "result.json"
        result = read_json(path)
        if cell.lam == 1.0:
            result["scores"]["test"]["sampled"]["reasons"][reason] = share
        write_json(path, result)
    return read_study(study.root)


@pytest.mark.parametrize(
    ("reason", "allowed", "too_much", "sentence"),
    [
        (
            "truncated",
            0.01,
            0.011,
            "1.1 % of the sampled completions of λ = 1 on sums were cut off at the token",
        ),
        (
            "timeout",
            0.005,
            0.006,
            "0.6 % of the sampled completions of λ = 1 on sums ran into the verifier's",
        ),
        ("opaque", 0.005, 0.006, "0.6 % of the sampled completions of λ = 1 on sums returned objects"),
        ("error", 0.0, 0.001, "0.1 % of the sampled completions of λ = 1 on sums could not be judged"),
    ],
)
def test_an_accident_is_named_above_its_limit_and_not_at_it(tmp_path, reason, allowed, too_much, sentence):
    study = _made(tmp_path, problems=3)
    assert not _cautions_with(_with_share(study, reason, allowed), "the sampled completions of λ = 1")
    [text] = _cautions_with(_with_share(study, reason, too_much), "the sampled completions of λ = 1")
    assert text.startswith(sentence)


def test_completions_whose_reference_was_not_read_are_counted_once_a_study(tmp_path):
    study = _made(tmp_path, problems=3)
    assert not _cautions_with(study, "compared as text")
    [text] = _cautions_with(_with_share(study, "reference not read", 1 / 6), "compared as text")
    # λ = 1 has 3 seeds of 3 problems and 2 samples; beside its samples stand the greedy answers.
    assert text.startswith("3 of 90 test completions differ from a reference")


def test_completions_that_could_have_cheated_are_counted_and_their_problems_named(tmp_path):
    study = _made(tmp_path, problems=3)
    assert not _cautions_with(study, "can cheat")
    shared = _with_share(study, "unproven", 1 / 6)
    for cell in shared.results:
        path = cell_folder(study.root, study.recipe, cell) / "result.json"
        write_json(path, read_json(path) | {"unproven": [f"stack-{n:02}" for n in range(12)]})
    [text] = _cautions_with(read_study(study.root), "can cheat")
    assert text.startswith("3 of 90 test completions passed in one interpreter")
    assert "stack-00, stack-01" in text
    assert "stack-09 and 2 more" in text


@pytest.mark.parametrize(
    ("changes", "words", "number"),
    [
        ({"lams": (0.0, 0.5)}, "The grid has two λ", "0 and 0.5"),
        ({"samples": 1}, "one sample a problem", "Set samples = 4"),
        ({"seeds": (0, 1)}, "Two seeds", "Run a third seed"),
        ({"seeds": (0,)}, "one seed", "Run at least three"),
        ({"skip": {(TASK, 1.0, 2)}}, "seeds on sums and", "λ = 1 has 2 seeds on sums and λ = 0 has 3"),
        ({"skip": {(TASK, 0.0, 1)}}, "seeds on sums and", "λ = 0 has 2 seeds on sums and λ = 0.5 has 3"),
        ({"objectives": ("dft",), "skip": {(TASK, "dft", 1)}}, "seeds on sums", "dft has 2 seeds on sums"),
        (
            {"control": CONTROL, "skip": {(CONTROL, 0.5, 0), (CONTROL, 0.5, 1)}},
            f"on {CONTROL} and",
            f"λ = 0.5 has 1 seed on {CONTROL} and λ = 0 has 3",
        ),
        ({"validation": 0}, "no validation split", "Set n_validation"),
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
    texts = _cautions_with(_made(tmp_path, lams=lams), "strongest tried")
    assert bool(texts) == (max(lams) == 0.5)
    assert all("Add λ = 1 to" in text for text in texts)


def test_a_better_test_row_than_the_chosen_one_is_not_to_be_picked(tmp_path):
    """Validation chooses λ = 0.5; on the test problems λ = 2 is better."""
    study = _made(
        tmp_path,
        lams=(0.0, 0.3, 0.5, 1.0, 2.0),
        right=lambda task, arm, decoding: {2.0: 0.9}.get(arm, 0.5),
        right_on_validation=lambda task, arm, decoding: float(arm == 0.5),
    )
    [text] = _cautions_with(study, "The best test row")
    assert "The best test row is λ = 2, and validation chose λ = 0.5" in text


def test_cross_entropy_as_the_best_test_row_is_no_gain_that_picking_would_overstate(tmp_path):
    """Validation chooses λ = 0.5; on the test problems λ = 0 is the best."""
    study = _made(
        tmp_path,
        right=lambda task, arm, decoding: {0.0: 0.6, 0.5: 0.5}.get(arm, 0.4),
        right_on_validation=lambda task, arm, decoding: float(arm == 0.5),
    )
    assert not _cautions_with(study, "The best test row")
    unchosen = _made(
        tmp_path / "unchosen", validation=0, right=lambda task, arm, decoding: 0.5 - (arm or 0) / 9
    )
    [text] = _cautions_with(unchosen, "no validation split")
    assert "overstates its gain. Set n_validation" in text


def test_too_many_timeouts_come_with_something_that_the_reader_can_do(tmp_path):
    [text] = _cautions_with(_with_share(_made(tmp_path, problems=3), "timeout", 0.02), "time limit")
    assert "delete verdicts.jsonl and result.json of those cells and run again with fewer --jobs" in text


def test_a_chosen_row_that_is_the_best_test_row_is_no_caution(whole):
    assert not _cautions_with(whole, "The best test row")


def _ask(split, name, prompt, answer="7"):
    return {"task": TASK, "split": split, "problem": name, "prompt": prompt, "answer": answer, "tests": []}


LONG = "Ada keeps bees behind the old mill and sells honey in jars at the market every other Sunday of May."


@pytest.mark.parametrize(
    ("trained", "tested", "same"),
    [
        (("What is 3 + 4?",), ("what is 3+4",), True),
        (("What is 3 + 4?",), ("What is 3 + 5?",), False),
        ((f"{LONG} How many are 12 jars?",), (f"{LONG} How many jars are 12?",), True),
        ((f"{LONG} How many are 12 jars?",), (f"{LONG} How many jars are 13?",), False),
        ((f"{LONG} How many are 12 jars?",), (f"{LONG} How many jars are 12?", "8"), False),
        ((f"{LONG} How many are 12 jars?",), ("How many are 12 jars? Ada sells honey.",), False),
        (("a b c",), ("one a b c two",), False),
        (("?",), ("!",), False),
    ],
)
def test_a_test_problem_that_was_trained_on_is_named(tmp_path, trained, tested, same):
    study = _made(tmp_path, problems=2, seeds=(0,), samples=1, validation=1)
    write_rows(study.root / PROBLEMS, [_ask("train", "t1", *trained), _ask("test", "e1", *tested)])
    texts = _cautions_with(study, "of another split asks")
    assert bool(texts) is same
    assert all(text.startswith("1 test problem asks") and "(e1 and t1)" in text for text in texts)


@pytest.mark.parametrize(("others", "same"), [(8, True), (30, False)])
def test_what_nearly_all_prompts_say_is_the_tasks_wording_and_no_overlap(tmp_path, others, same):
    """With thirty prompts of one wording, only what follows it counts."""
    study = _made(tmp_path, problems=2, seeds=(0,), samples=1, validation=1)
    asked = [("train", "Is the bear brown?"), ("test", "Are all cats grey?")]
    rows = [_ask(split, split, f"{LONG} {text}", "no") for split, text in asked]
    rows += [_ask("train", f"t{n}", f"{LONG} {'so ' * n} it goes") for n in range(others)]
    write_rows(study.root / PROBLEMS, rows)
    assert bool(_cautions_with(study, "of another split asks")) is same


def test_overlap_counts_test_problems_of_the_studys_own_task_once(tmp_path):
    study = _made(tmp_path, problems=3)
    rows = [
        _ask("train", "t1", "Name it."),
        _ask("validation", "v1", "name IT"),
        _ask("test", "e1", "Name it"),
    ]
    other = [_ask("train", "t2", "Say it.") | {"task": CONTROL}, _ask("test", "e2", "Say it.")]
    write_rows(study.root / PROBLEMS, rows + other + [{"task": TASK, "split": "test", "problem": "bare"}])
    [text] = _cautions_with(study, "of another split asks")
    assert text.startswith("1 test problem asks what a problem of another split asks (e1 and t1)")


def test_every_fault_comes_with_a_sentence_on_what_to_do_where_there_is_one(tmp_path):
    study_summary = summary(_made(tmp_path, seeds=(0,), samples=1, lams=(0.0, 0.5)))
    study_faults = faults(study_summary)
    assert [" ".join(filter(None, caution)) for caution in study_faults] == cautions(study_summary)
    remedies = [caution.remedy for caution in study_faults if caution.remedy]
    assert remedies == [step for step in next_steps(study_summary) if "temperatures" not in step]


def test_cautions_are_sentences_that_json_holds(tmp_path):
    texts = cautions(summary(_made(tmp_path, problems=5, seeds=(0,), samples=1, lams=(0.0, 0.5))))
    assert json.loads(json.dumps(texts)) == texts
    assert all(text.endswith(".") and len(text) < 300 for text in texts)


def test_no_gain_is_shown_across_two_verifiers_and_the_cells_of_the_rarer_one_are_named(tmp_path):
    study = _made(tmp_path)
    for cell in study.results:
        folder = cell_folder(study.root, study.recipe, cell)
        write_json(folder / "cell.json", {"verifier": "old" if cell.lam == 0 else "new"})
        if cell.lam == 0:  # as a copy may leave it: the old verdicts have the latest date
            (folder / "verdicts.jsonl").touch()
    report = summary(read_study(study.root))
    assert (report.gains, report.choice) == ([], None)
    assert cautions(report)[0] == (
        "The cells of sums were not all verified by the same verifier (sums-lam0-seed0, sums-lam0-seed1, "
        "sums-lam0-seed2 by another than most), so none of its gains is shown; `erce run` judges those of an "
        "old verifier again and keeps all completions."
    )
    for cell in study.results:
        write_json(cell_folder(study.root, study.recipe, cell) / "cell.json", {"verifier": "new"})
    assert summary(read_study(study.root)).gains


def test_a_sentence_names_three_cells_at_most(tmp_path):
    cells = list(_made(tmp_path).results)
    assert "(sums-base, " in verified_by_several("sums", cells[:3])
    text = verified_by_several("sums", cells[:5])
    assert " and 2 more by another than most)" in text
    assert text.count("sums-") == 3


def test_versions_that_differ_are_named_with_the_number_of_cells(tmp_path):
    study = _made(tmp_path, versions={"sums-lam1-seed0": {"torch": "2.6.0"}})
    [text] = _cautions_with(study, "package versions")
    assert "torch 2.13.0 (9 cells), 2.6.0 (1 cell)." in text


def _with_any_form(study, shares):
    """Return the study whose arms are right in these shares of samples if the form is ignored."""
    for cell in study.results:
        path = cell_folder(study.root, study.recipe, cell) / "result.json"
        result = read_json(path)
        result["scores"]["test"]["sampled"]["flexible"] = shares.get(cell.lam, 0.9)
        write_json(path, result)
    return read_study(study.root)


@pytest.mark.parametrize(
    ("shares", "pairs"),
    [
        ({}, ["λ = 0.5 over λ = 0", "λ = 0.5 over the base model", "λ = 0 over the base model"]),
        ({0.5: 1.0, 0.0: 0.9, None: 0.2}, ["λ = 0.5 over λ = 0"]),
        ({0.5: 1.0, 0.0: 0.7, None: 0.2}, []),
    ],
)
def test_a_gain_that_is_mostly_format_is_called_so_with_both_numbers(tmp_path, shares, pairs):
    made = _made(tmp_path)
    assert not _cautions_with(made, "format")  # nothing is said of a study without flexible verdicts
    said = _cautions_with(_with_any_form(made, shares), "format")
    assert [text[text.index("gain of ") + 8 : text.index(" is mostly")] for text in said] == pairs
    if not shares:
        assert "points (sampled), but 0.0 if the form" in said[0]
