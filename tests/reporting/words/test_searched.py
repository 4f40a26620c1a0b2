"""The report of a study that searched for its λ: what was spent, why it ended, and uneven seeds."""

import re
import shutil
from dataclasses import replace

import pytest
from toys.studies import Fake, _write_cell

from erce.files import read_json, write_json
from erce.recipe import GRID, SearchSettings
from erce.reporting import report
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.verdict import preferences
from erce.reporting.pages.html import document
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.study.folder import SEARCH, STUDY, cell_folder, open_study, read_study
from erce.study.rounds import rounds
from erce.types import Arm


def rises(task, arm, decoding):
    """λ = 3 is best by far where the penalty does something; nothing else is near."""
    return (
        {None: 0.3, 0.0: 0.3, 0.3: 0.32, 1.0: 0.45, 3.0: 0.6, 8.0: 0.36}.get(arm, 0.5)
        if task == "sums"
        else 0.4
    )


def nothing(task, arm, decoding):
    return 0.45


def make_search(root, right, *, until=99, **search):
    """A searched study, without a model; `until`: the rounds that ran."""
    fake = Fake(lams=GRID, seeds=(0, 1, 2, 3), right=right, validation=80, problems=20)
    recipe = replace(fake.recipe(), search=SearchSettings(**search))
    open_study(root, recipe)
    for at, now in enumerate(rounds(root, recipe)):
        for cell in now.cells if at < until else ():
            folder = cell_folder(root, recipe, cell)
            if not folder.exists():
                _write_cell(folder, cell, fake)
    return summary(read_study(root))


@pytest.fixture(scope="module")
def won(tmp_path_factory):
    return make_search(tmp_path_factory.mktemp("won") / "study", rises)


def test_the_sentence_says_what_was_spent_and_why_it_stopped(won):
    lines = sentences(won)
    assert "In samples validation prefers λ = 3, of 3 arms" in lines["sampled"]
    assert lines["search"].startswith(
        "The search for λ spent 12 of 20 cells (λ = 0: 4 seeds, λ = 0.3: 1 seed,"
    )
    assert "Stopped because the rounds are over." in lines["search"]
    assert "λ = 3 against cross-entropy: +" in lines["search"]
    assert lines["search"].endswith("λ = 3 wins.")
    seeds = {row.arm.lam: row.n_seeds for row in won.rows if row.task == "sums"}
    assert seeds == {None: 1, 0.0: 4, 0.3: 1, 1.0: 2, 3.0: 4, 8.0: 1}
    assert won.gain("sums", Arm(8.0), "sampled") is not None


@pytest.mark.slow
def test_the_folder_of_a_search_that_verified_fewer_problems_still_reports(won, tmp_path):
    """Older versions had [search] prune, and asked for no whole cells of the λ that they dropped."""
    root = tmp_path / "study"
    shutil.copytree(won.study.root, root)
    recipe, told = read_json(root / STUDY), read_json(root / SEARCH)
    dropped = {0.3, 1.0, 8.0}
    write_json(root / STUDY, recipe | {"search": recipe["search"] | {"prune": 0.05}})
    write_json(root / SEARCH, told | {"asked": [c for c in told["asked"] if c["lam"] not in dropped]})
    for cell in won.study.expected:
        if cell.lam in dropped:
            (cell_folder(root, won.study.recipe, cell) / "result.json").unlink()
    study_summary = summary(read_study(root))
    assert {row.arm.lam for row in study_summary.rows if row.task == "sums"} == {None, 0.0, 3.0}
    page = document(study_summary)
    assert "5 strengths λ searched" in page
    assert "cells missing" not in page


def test_the_page_has_the_rounds(won):
    page = document(won)
    assert "<summary>How λ was chosen</summary>" in page
    assert "complete, 22 of 22 cells" in page
    assert "5 strengths λ searched × up to 4 seeds" in page
    assert page.count("<small>1 seed</small>") == 2
    rows = page[page.index("<th>round</th>") :].split("<tr>")[1:4]
    cells = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in rows]
    assert [row[:2] for row in cells] == [["halving", "1"], ["halving", "2"], ["final", "4"]]
    assert ["✕" in cell for cell in cells[0][2:]] == [False, True, False, False, True]  # λ = 0.3 and 8


def test_json_and_terminal_have_the_search(won, tmp_path, capsys):
    report(won.study.root, json=tmp_path / "numbers.json", out=tmp_path / "report", verbose=True)
    numbers, shown = read_json(tmp_path / "numbers.json"), " ".join(capsys.readouterr().out.split())
    assert numbers["search"]["step"]["winner"] == numbers["chosen"]["lam"] == 3.0
    assert numbers["search"]["said"][-1] == "λ = 3 wins."
    assert numbers["study"]["lams"] == "auto"
    assert "spent 12 of 20 cells" in shown
    assert "8 (1 seed)" in shown


def test_where_nothing_won_the_leader_is_named(tmp_path):
    study_summary = make_search(tmp_path / "study", nothing)
    assert study_summary.study.search is not None
    step, lines = study_summary.study.search["step"], sentences(study_summary)
    leader = f"λ = {step['leader']:g}"
    assert (study_summary.lam, step["winner"]) == (0.0, 0.0)
    assert step["leader"] != 0
    assert {arm.lam for found in preferences(study_summary).values() for arm in found.scores} == {None, 0.0}
    assert leader in lines["search"]
    assert "Cross-entropy wins" in lines["search"]


@pytest.mark.slow
def test_a_leader_at_the_edge_is_a_caution(tmp_path):
    rising = make_search(
        tmp_path / "study", lambda task, arm, decoding: 0.3 + 0.04 * min(arm or 0, 8), extensions=0
    )
    assert rising.lam == 8
    assert any("λ = 8 leads at the edge of what the search tried" in text for text in cautions(rising))


@pytest.mark.parametrize("until", [0, 2])
def test_an_unfinished_search_says_so(tmp_path, until):
    study_summary = make_search(tmp_path / "study", rises, until=until)
    lines = sentences(study_summary)
    assert "No arm is chosen: the search for λ has not ended yet" in lines["verdict"]
    assert f"has asked for {[6, 9, 13][until]} cells so far, and has not ended." in lines["search"]
    assert "unfinished" in document(study_summary)
    assert any("are missing" in text for text in cautions(study_summary))
