"""`lams = "auto"`: a search over the results on disk, which can be killed anywhere and has no other state."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise

import pytest
from toys.searched_study import AUTO, CONTROL, TASK, KilledError, drive, peak, write_cell
from toys.selection import others_slow

import erce.study.run
from erce.errors import CellsFailedError, DivergedError
from erce.files import read_json, write_json
from erce.recipe import (
    GRID,
    Cell,
    Decoding,
    SearchSettings,
    Training,
    as_settings,
    folder_name,
    load_recipe,
    parse_recipe,
)
from erce.study.folder import RESULT, SEARCH, STUDY, open_study, read_study
from erce.study.rounds import asked, best_lam, rounds
from erce.study.search import Run, Stop
from erce.types import BASE_MODEL, Arm


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    root = tmp_path_factory.mktemp("auto") / "study"
    drive(root, AUTO)
    return root


def test_auto_is_a_search_over_the_grid(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'task = "{TASK}"\nlams = "auto"\nseeds = [0, 1]\n[search]\nmax_cells = 9\n')
    recipe = load_recipe(path)
    assert (recipe.lams, recipe.search) == (GRID, SearchSettings(max_cells=9))
    assert load_recipe(path, search={"level": 1}).search == SearchSettings(max_cells=9, level=1.0)
    assert parse_recipe({"task": TASK, "lams": "auto", "seeds": [0]}).search == SearchSettings()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"lams": [0, 1]}, r"\[search\] has no effect on a list of lams; leave it out"),
        ({"lams": "atuo"}, "lams = 'atuo' is neither a list of λ nor \"auto\""),
        (
            {"n_validation": 0},
            "chooses λ on validation problems, and n_validation = 0; set n_validation over 0",
        ),
        ({"search": {"cells": 3}}, r"\[search\] no setting 'cells'; did you mean 'max_cells'"),
        ({"search": {"max_cells": 4}}, "max_cells = 4 does not cover one seed of 5 λ"),
        ({"search": {"extensions": -1}}, "extensions = -1 must be 0 or more"),
        ({"search": {"level": 0}}, "level = 0 must lie over 0"),
        ({"search": {"prune": 0.05}}, r"\[search\] no setting 'prune'; there are max_cells, extensions"),
    ],
)
def test_a_search_that_cannot_run_is_refused(change, sentence):
    settings = {"task": TASK, "lams": "auto", "seeds": [0, 1], "search": {"level": 0.1}}
    with pytest.raises(ValueError, match=sentence):
        parse_recipe(settings | change)


def test_a_task_without_validation_problems_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    splits, bare = (
        replace(erce.study.run.cell_splits(AUTO, TASK), validation=[]),
        replace(AUTO, n_validation=None),
    )
    monkeypatch.setattr(erce.study.run, "cell_splits", lambda recipe, task: splits)
    with pytest.raises(ValueError, match="the task has none; set n_validation over 0"):
        erce.study.run.run(replace(bare, control=None), out=tmp_path / "study")
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    "search", [None, SearchSettings(), SearchSettings(max_cells=7, extensions=0, level=0.1)]
)
def test_study_json_makes_the_same_recipe(tmp_path, search):
    recipe = replace(AUTO, search=search)
    open_study(tmp_path / "study", recipe)
    assert read_study(tmp_path / "study").recipe == recipe
    assert parse_recipe(as_settings(recipe)) == recipe
    assert as_settings(recipe)["lams"] == ("auto" if search else list(GRID))


def test_a_study_begun_with_a_retired_setting_goes_on(finished, tmp_path):
    """An older version's study.json has `prune`, which changes nothing of what there is."""
    root = tmp_path / "study"
    shutil.copytree(finished, root)
    settings = read_json(root / STUDY)
    write_json(root / STUDY, settings | {"search": settings["search"] | {"prune": 0.05}})
    assert read_study(root).recipe == AUTO
    assert drive(root, AUTO) == []
    assert read_json(root / STUDY) == settings


def test_a_cells_folder_does_not_depend_on_the_search(finished):
    listed = replace(AUTO, lams=(0.0, 16.0), seeds=(7,), search=None)
    for cell in (Cell(TASK, 16.0, 2), Cell(TASK, None, 0), Cell(CONTROL, 0.0, 1)):
        names = {
            folder_name(recipe, cell)
            for recipe in (AUTO, replace(AUTO, search=SearchSettings(level=1)), listed)
        }
        assert len(names) == 1


def test_a_grid_over_the_same_folder_reuses_the_cells_of_the_search(finished, tmp_path):
    root = tmp_path / "study"
    shutil.copytree(finished, root)
    listed = replace(AUTO, lams=(0.0, 3.0), search=None)
    assert drive(root, listed) == []
    study = read_study(root)
    assert (study.expected, study.search, study.missing) == (listed.cells(), None, [])
    assert drive(root, AUTO) == []
    assert (root / SEARCH).read_bytes() == (finished / SEARCH).read_bytes()


def test_a_search_ends_with_its_winner_and_what_a_report_compares_it_to(finished):
    study, told = read_study(finished), read_json(finished / SEARCH)
    assert (told["step"]["winner"], told["step"]["why"], study.missing) == (3.0, "seeds", [])
    assert told["step"]["spent"] == sum(cell.task == TASK and cell.lam is not None for cell in study.expected)
    on_control = [(cell.lam, cell.seed) for cell in study.expected if cell.task == CONTROL]
    assert on_control == [(None, 0), *((lam, seed) for seed in range(4) for lam in (0.0, 3.0))]
    assert len(study.cells(TASK, Arm(0.3))) == 1
    assert study.cells(TASK, BASE_MODEL) == [Cell(TASK, None, 0)]
    assert told["said"][-1] == "λ = 3 wins."


@pytest.mark.parametrize(("right", "winner"), [(peak, 3.0), (lambda lam: 0.4, 0.0)])
def test_the_report_has_the_choice_of_the_search(tmp_path, right, winner):
    drive(tmp_path / "study", AUTO, right)
    study = read_study(tmp_path / "study")
    assert study.search is not None
    choice, step = best_lam(study), study.search["step"]
    assert (choice.lam, choice.scores) == (winner, dict(step["scores"]))
    finalists = {0.0, *(each["lam"] for each in step["tests"])}
    assert choice.runner_up in finalists - {winner}
    assert step["leader"] in (winner, choice.runner_up)


def test_other_objectives_get_the_seeds_of_cross_entropy(tmp_path):
    recipe = replace(AUTO, objectives=("dft",), control=None)
    drive(tmp_path / "study", recipe)
    assert [cell.seed for cell in read_study(tmp_path / "study").cells(TASK, Arm(0.0, "dft"))] == [0, 1, 2, 3]


def test_a_search_goes_beyond_the_grid(tmp_path):
    drive(tmp_path / "study", AUTO, lambda lam: min(0.2 + 0.03 * lam, 0.68))
    study = read_study(tmp_path / "study")
    assert study.lams[-1] >= 16
    trained = [(cell.seed, cell.lam) for cell in study.expected if cell.task == TASK and cell.lam is not None]
    assert trained == sorted(trained)
    assert {cell.lam for cell in study.results if cell.lam} == set(study.lams) - {0.0}


@pytest.mark.parametrize("cells", others_slow([0, 1, 5, 8, 14, 21], (1, 14).__contains__))
def test_a_killed_search_ends_in_the_same_bytes(finished, tmp_path, cells):
    root = tmp_path / "study"
    with pytest.raises(KilledError):
        drive(root, AUTO, cells=cells, order=-1)
    if cells == 8:
        (root / SEARCH).unlink()
    assert len(list(root.rglob(RESULT))) == cells
    drive(root, AUTO)
    assert (root / SEARCH).read_bytes() == (finished / SEARCH).read_bytes()
    assert {path.parent.name for path in root.rglob(RESULT)} == {
        path.parent.name for path in finished.rglob(RESULT)
    }


def test_a_killed_search_is_reported_as_unfinished(tmp_path):
    with pytest.raises(KilledError):
        drive(tmp_path / "study", AUTO, cells=7)
    study = read_study(tmp_path / "study")
    assert (len(study.expected), len(study.missing), len(study.results)) == (9, 2, 7)
    with pytest.raises(ValueError, match="the search for λ has not ended yet"):
        best_lam(study)


def test_cells_that_nobody_asked_for_change_nothing(finished, tmp_path):
    write_cell(tmp_path / "study", AUTO, Cell(TASK, 8.0, 3), lambda lam: 1.0)
    shutil.copytree(finished, tmp_path / "study", dirs_exist_ok=True)
    drive(tmp_path / "study", AUTO)
    assert (tmp_path / "study" / SEARCH).read_bytes() == (finished / SEARCH).read_bytes()
    assert Cell(TASK, 8.0, 3) not in read_study(tmp_path / "study").results


def test_rounds_ask_for_more_only_when_all_is_there(tmp_path):
    steps = []
    for now in rounds(tmp_path, AUTO):
        steps.append(now)
        for cell in now.cells:
            write_cell(tmp_path, AUTO, cell)
    assert all(set(a.cells) < set(b.cells) for a, b in pairwise(steps))
    assert [type(now.step) for now in steps] == [Run] * (len(steps) - 1) + [Stop]
    assert asked(tmp_path, AUTO) == steps[-1]


def test_where_a_round_brings_nothing_there_is_no_other(tmp_path):
    assert len(list(rounds(tmp_path, AUTO))) == 1
    assert len(read_json(tmp_path / SEARCH)["asked"]) == 6


class Broken:
    """A training that fails for one cell of a seed."""

    def __init__(self, lam: float | None) -> None:
        self.lam, self.begun = lam, []

    def __call__(self, root, recipe, cell, **given):
        self.begun.append(cell)
        if (cell.lam, cell.seed) == (self.lam, 1):
            raise RuntimeError("no luck")
        write_cell(root, recipe, cell)


@pytest.mark.slow
def test_a_failed_cell_stops_the_search_and_is_no_score(tmp_path, monkeypatch):
    root, recipe = tmp_path / "study", replace(AUTO, control=None)
    training = Broken(3.0)
    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(
        CellsFailedError, match=r"1 of 9 cells failed .*\n  mini-sums-lam3-seed1: RuntimeError: no luck"
    ):
        erce.study.run.run(recipe, out=root)
    assert {cell.seed for cell in training.begun} == {0, 1}
    assert "winner" not in json.loads((root / SEARCH).read_text())["step"]
    training.lam = None
    study = erce.study.run.run(recipe, out=root)
    assert (study.missing, best_lam(study).lam) == ([], 3.0)
    assert len(training.begun) == len(set(training.begun)) + 1
    training.begun.clear()
    erce.study.run.run(recipe, out=root)
    assert training.begun == []


@pytest.mark.slow
def test_a_search_does_without_a_strength_whose_training_diverges(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        begun.append(cell)
        if cell.lam == 8.0:
            raise DivergedError("the training diverged at step 3: objective nan")
        write_cell(root, recipe, cell)

    begun, root, recipe = [], tmp_path / "study", replace(AUTO, control=None)
    monkeypatch.setattr(erce.study.run, "run_cell", training)
    study = erce.study.run.run(recipe, out=root)
    assert (study.missing, best_lam(study).lam) == ([], 3.0)
    assert [cell.seed for cell in begun if cell.lam == 8.0] == [0]
    assert 8.0 not in {cell.lam for cell in study.results}
    begun.clear()
    erce.study.run.run(recipe, out=root)
    assert begun == []
    step = read_json(root / SEARCH)["step"]
    assert [each["diverged"] for each in step["rounds"]] == [[8.0], *[[]] * (len(step["rounds"]) - 1)]
    assert 8.0 not in dict(map(tuple, step["scores"]))
    assert "λ = 8 diverged; dropped" in read_json(root / SEARCH)["said"][0]


def diverging(fails):
    """A training that leaves the numbers for some cells, in the words of one; all others end."""

    def training(root, recipe, cell, **given):
        if fails(cell):
            raise DivergedError("the training diverged at step 3: objective nan")
        write_cell(root, recipe, cell)

    return training


def test_a_search_goes_on_where_every_lam_but_cross_entropy_diverges(tmp_path, monkeypatch):
    recipe = replace(AUTO, control=None)
    monkeypatch.setattr(erce.study.run, "run_cell", diverging(lambda cell: bool(cell.lam)))
    study = erce.study.run.run(recipe, out=tmp_path / "study")
    assert (study.missing, best_lam(study).lam) == ([], 0.0)


@pytest.mark.slow
def test_a_control_that_diverges_is_a_failure(tmp_path, monkeypatch):
    diverges = diverging(lambda cell: (cell.task, cell.lam, cell.seed) == (CONTROL, 3.0, 1))
    monkeypatch.setattr(erce.study.run, "run_cell", diverges)
    with pytest.raises(CellsFailedError, match=f"{CONTROL}-lam3-seed1: DivergedError"):
        erce.study.run.run(AUTO, out=tmp_path / "study")


def test_an_error_that_speaks_of_divergence_is_none(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        if cell.lam == 8.0:
            raise ValueError(f"{root}/diverged is no model")
        write_cell(root, recipe, cell)

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(CellsFailedError, match="lam8-seed0"):
        erce.study.run.run(replace(AUTO, control=None), out=tmp_path / "diverged")


def test_what_a_sweep_gave_up_is_counted(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        raise RuntimeError("no luck")

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(
        CellsFailedError, match="3 of 6 cells failed and have no result, and 3 more were not run"
    ):
        erce.study.run.run(replace(AUTO, control=None), out=tmp_path / "study")


def test_a_finished_study_needs_no_model(finished, tmp_path, monkeypatch):
    def loading(model, dtype):
        raise AssertionError("the base model was loaded")

    def training(root, recipe, cell, **given):
        write_cell(root, recipe, cell)

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    erce.study.run.run(AUTO, out=tmp_path / "study")
    monkeypatch.setattr(erce.study.run, "base_policy", loading)
    assert erce.study.run.run(AUTO, out=tmp_path / "study").missing == []


@pytest.mark.slow
def test_auto_from_a_recipe_to_a_report(tmp_path):
    from erce.reporting import report

    tiny = {"n_train": 32, "n_validation": 8, "n_test": 6}
    recipe = replace(AUTO, seeds=(0, 1), **tiny, decoding=Decoding(samples=2))
    recipe = replace(recipe, training=Training(epochs=1.0, learning_rate=1e-3))
    study = erce.study.run.run(recipe, out=tmp_path / "study", jobs=2)
    assert study.missing == []
    page = report(study.root, json=tmp_path / "numbers.json").read_text()
    shown = " ".join(read_json(tmp_path / "numbers.json")["sentences"])
    assert study.search is not None
    assert f"The search for λ spent {study.search['step']['spent']} of 10 cells" in shown
    assert "How λ was chosen" in page
    assert read_json(tmp_path / "numbers.json")["search"] == study.search
