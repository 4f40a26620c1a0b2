"""A study in which nothing is right, or everything, stops after its first round and says so."""

from dataclasses import replace

import pytest
from toys import FINDS_TOYS
from toys.ray_nodes import RAYS_OWN_WARNINGS
from toys.recipes import tiny_recipe
from toys.studies import (
    write_right_cell,
    write_wrong_cell,
    write_wrong_cell_of_a_right_base,
    write_wrong_first_round,
)

import erce.study.run
from erce.cli.main import main
from erce.errors import AllAlikeError
from erce.recipe import GRID, SearchSettings
from erce.study.folder import read_study
from erce.study.run import run
from erce.study.run_round import ENOUGH_PROBLEMS

CONTROL = "mini-sums-answer-only"
RECIPE = tiny_recipe(seeds=(0, 1), n_test=ENOUGH_PROBLEMS, objectives=("dft",), control=CONTROL)
SEARCH = replace(RECIPE, lams=GRID, search=SearchSettings(), objectives=(), control=None)
FIRST = ["mini-sums-base", "mini-sums-lam0-seed0", "mini-sums-lam1-seed0", "mini-sums-dft-seed0"]


def given(monkeypatch, write):
    """Let `write` stand in for a cell's work; returns the names of the cells that it is called for."""
    ran = []

    def noted(root, recipe, cell, **work):
        ran.append(cell.name)
        write(root, recipe, cell, **work)

    monkeypatch.setattr(erce.study.run, "run_cell", noted)
    return ran


@pytest.mark.parametrize(
    ("write", "why", "judged"),
    [
        (write_wrong_cell, "nothing was right in any arm: the model cannot do this task, or", "rejected ("),
        (write_right_cell, "everything was right in every arm: the task is too easy", "accepted (numeric"),
    ],
)
def test_a_grid_stops_after_one_seed_of_every_arm_until_it_is_told_to_go_on(
    tmp_path, monkeypatch, write, why, judged
):
    ran = given(monkeypatch, write)
    with pytest.raises(AllAlikeError) as stopped:
        run(RECIPE, out=tmp_path / "study")
    assert ran == FIRST
    sentence, *completions = str(stopped.value).split("\n")
    assert sentence.startswith(why)
    assert "--go-on" in sentence
    assert len(completions) == 3
    for line, arm in zip(completions, ("λ = 0", "λ = 1", "dft"), strict=True):
        assert line.startswith(f"  {arm}, problem 'test-")
        assert judged in line
        assert "\\x1b[2J\\u202e 17\\n" in line  # nothing hidden, on one line
        assert len(line) < 500
    assert len(read_study(tmp_path / "study").results) == 4
    with pytest.raises(AllAlikeError):
        run(RECIPE, out=tmp_path / "study")
    assert ran == FIRST  # the same command runs nothing more
    assert not run(RECIPE, out=tmp_path / "study", go_on=True).missing
    assert sorted(ran) == sorted(cell.name for cell in read_study(tmp_path / "study").expected)
    run(RECIPE, out=tmp_path / "study")  # a finished study is only read


def test_a_search_stops_after_its_first_round(tmp_path, monkeypatch):
    ran = given(monkeypatch, write_wrong_cell)
    with pytest.raises(AllAlikeError, match="nothing was right"):
        run(SEARCH, out=tmp_path / "study")
    assert ran == ["mini-sums-base", *(f"mini-sums-lam{lam:g}-seed0" for lam in GRID)]


@pytest.mark.parametrize(
    ("write", "changes"),
    [(write_wrong_cell, {"n_test": ENOUGH_PROBLEMS - 1}), (write_wrong_cell_of_a_right_base, {})],
    ids=["few problems", "a base model that is right"],
)
def test_a_study_goes_on_with(tmp_path, monkeypatch, write, changes):
    given(monkeypatch, write)
    assert not run(replace(RECIPE, **changes), out=tmp_path / "study").missing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "jobs"), [("processes", 2), pytest.param("ray@local", None, marks=RAYS_OWN_WARNINGS)]
)
def test_every_engine_stops(tmp_path, monkeypatch, engine, jobs):
    if engine.startswith("ray"):
        pytest.importorskip("ray", reason="Ray is an extra: pip install 'erce[ray]'")
    monkeypatch.setenv("PYTHONPATH", FINDS_TOYS["PYTHONPATH"])
    monkeypatch.setattr(erce.study.run, "run_cell", write_wrong_first_round)
    with pytest.raises(AllAlikeError, match="nothing was right"):
        run(RECIPE, out=tmp_path / "study", engine=engine, jobs=jobs)
    assert len(read_study(tmp_path / "study").results) == len(FIRST)


def test_the_command_reports_what_is_there_and_fails(tmp_path, monkeypatch, capsys):
    given(monkeypatch, write_wrong_cell)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(
        "task = 'mini-sums'\nmodel = 'tiny'\nlams = [0, 1]\nseeds = [0, 1]\nn_train = 16\nn_validation = 2\n"
        f"n_test = {ENOUGH_PROBLEMS}\n[decoding]\nsamples = 2\n"
    )
    assert main(["run", "own.toml"]) == 1
    printed = capsys.readouterr()
    assert "erce: nothing was right in any arm" in printed.err
    headline = f"On the {ENOUGH_PROBLEMS} test problems nothing was right in any arm"
    assert headline in " ".join(printed.out.split())
    assert "\x1b[2J" not in printed.err + printed.out
    assert main(["run", "own.toml", "--go-on"]) == 0
