"""The page of completions: each is text, only one script runs, and the size is bounded."""

import base64
import hashlib
import json
import re

import pytest
from toys.studies import TASK, make_study

from erce.files import write_json, write_rows
from erce.reporting.numbers import completions
from erce.reporting.numbers.completions import shown_completions
from erce.reporting.numbers.gains import summary
from erce.reporting.pages import html
from erce.reporting.pages.html import completions_page
from erce.study.folder import cell_folder, read_study

HOSTILE = "</script><script>alert(1)</script><!-- \u202e\x00 & {{ 7*7 }}"


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    """A small study whose texts attack, with greedy decoding, samples and a temperature sweep."""
    made = make_study(
        tmp_path_factory.mktemp("hostile") / "runs",
        control=None,
        lams=(0.0, 0.5),
        seeds=(0, 1),
        problems=6,
        validation=2,
        samples=2,
        steps=1,
        temperatures=(0.4,),
        text=lambda cell, number, right: f"{HOSTILE} {cell.name} {number} {right}",
    )
    texts = {"prompt": HOSTILE, "demonstration": HOSTILE, "answer": f"17 {HOSTILE}"}
    rows = [{"task": TASK, "split": "test", "problem": f"test-{n}"} | texts for n in range(6)]
    write_rows(made.root / "problems.jsonl", rows)
    return summary(made)


def _parts(page):
    """Return the two scripts of a page: its data, parsed, and its code."""
    [(_, data), (kind, code)] = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert kind == ""
    return json.loads(data), code


def test_only_the_one_script_that_the_policy_names_can_run(study_summary):
    page = completions_page(study_summary)
    _, code = _parts(page)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}';" in policy[1]
    assert policy[1].count("script-src") == 1
    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "setAttribute"):
        assert way not in code
    assert page.count("<script") == page.count("</script") == 2


def test_the_data_holds_each_completion_with_its_verdict(study_summary):
    data, _ = _parts(completions_page(study_summary))
    assert data["arms"] == ["base model (not trained)", "λ = 0 (cross-entropy)", "λ = 0.5"]
    assert len(data["rows"]) == 6 * 3 * 5  # problems × (greedy + 2 samples) × cells
    assert {row[3] for row in data["rows"]} == {"greedy", "sampled"}
    for _, prompt, reference, demonstration in data["problems"]:
        assert prompt == demonstration == HOSTILE.replace("\u202e", "\\u202e").replace("\x00", "␀")
        assert reference == f"17 {prompt}"
    for problem, arm, verdict, _, seed, extracted, text in data["rows"]:
        reason, right = data["verdicts"][verdict]
        number = data["problems"][problem][0].removeprefix("test-")
        name = ("sums-base", f"sums-lam0-seed{seed}", f"sums-lam0.5-seed{seed}")[arm]
        assert text.endswith(f"{name} {number} {right}")
        assert text.startswith("</script><script>alert(1)</script><!-- \\u202e␀ & {{ 7*7 }}")
        assert right == (reason == "numeric")
        assert (extracted is None) == (reason not in ("numeric", "different"))
    assert [row[0] for row in data["rows"]] == sorted(row[0] for row in data["rows"])


@pytest.mark.parametrize(
    ("most", "rows", "words"),
    [
        (108, 90, "90 completions of all 6 test problems."),
        (53, 45, "45 completions of the first 5 test problems, 1 of 2 seeds. This page holds at most"),
        (1, 9, "9 completions of the first 1 test problem, 1 of 2 seeds."),
    ],
)
def test_a_page_is_bounded_by_whole_seeds_then_whole_problems_and_says_so(
    study_summary, monkeypatch, most, rows, words
):
    for module in (completions, html):
        monkeypatch.setattr(module, "MOST_ON_A_PAGE", most)
    page = completions_page(study_summary)
    assert len(_parts(page)[0]["rows"]) == rows
    assert words in " ".join(page.split())


def test_long_texts_bound_a_page_as_well(study_summary, monkeypatch):
    whole = shown_completions(study_summary)
    most = sum(len(row.text) for row in whole.rows) // 2
    monkeypatch.setattr(completions, "MOST_CHARACTERS", most)
    cut = shown_completions(study_summary)
    assert 0 < cut.problems < whole.problems
    assert sum(len(row.text) for row in cut.rows) <= most


def test_own_right_answers_are_named_in_words_and_tests_or_outputs_stand_for_a_reference(tmp_path):
    made = make_study(tmp_path, control=None, methods=("self", "rft"), problems=2, validation=2, seeds=(0,))
    # As in a study of logs, whose arms are named freely.
    assert _parts(completions_page(summary(made)))[0]["arms"][-2:] == ["self", "rft"]
    own = cell_folder(made.root, made.recipe, made.recipe.own_cells[0])
    counts = {"problems": 2, "with_one": 1, "accepted": 1, "samples": 2, "tokens": 9}
    write_json(own / "result.json", {"scores": {}, "own": counts})
    row = {"task": TASK, "split": "test", "prompt": "Write f."}
    by_outputs = {"problem": "test-0", "tests": [], "outputs": ["9\n", "16\n"]}
    write_rows(
        made.root / "problems.jsonl", [row | by_outputs, row | {"problem": "test-1", "tests": ["a", "b"]}]
    )
    data, _ = _parts(completions_page(summary(read_study(made.root))))
    trained = "trained on own right answers"
    own_answers = [f"self ({trained})", f"rft ({trained} and the demonstrations)"]
    assert data["arms"][-2:] == own_answers
    assert [texts[2] for texts in data["problems"]] == ["9\n\n16\n", "a\nb"]
