"""A study's rounds: a search over the results on disk, retries, and a study whose verdicts are all alike."""

import shutil
from dataclasses import replace
from itertools import pairwise

import pytest
from toys import FINDS_TOYS
from toys.engines import each_engine
from toys.recipes import tiny_recipe
from toys.searched_study import AUTO, CONTROL, TASK, KilledError, drive, peak, write_cell
from toys.studies import (
    write_right_cell,
    write_wrong_cell,
    write_wrong_cell_of_a_right_base,
    write_wrong_first_round,
)

import erce.study.run
from erce.cli.main import main
from erce.errors import AllAlikeError, CellsFailedError, DivergedError
from erce.files import read_json, write_json
from erce.recipe import (
    GRID,
    Cell,
    Decoding,
    SearchSettings,
    Training,
    load_recipe,
    parse_recipe,
)
from erce.study.choice import best_lam
from erce.study.engines import Done
from erce.study.folder import RESULT, SEARCH, STUDY, read_study
from erce.study.rounds import ENOUGH_PROBLEMS, FAILURES_TO_GIVE_UP, asked, rounds, run_with_retries
from erce.study.run import run
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
        ({"search": {"extensions": -1}}, r"\[search\] extensions = -1 must be 0 or more"),
        ({"search": {"level": 0}}, r"\[search\] level = 0 must be over 0 and up to 1"),
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


def test_a_study_begun_with_a_retired_setting_goes_on(finished, tmp_path):
    """An older version's study.json has `prune`, which changes nothing of what there is."""
    root = tmp_path / "study"
    shutil.copytree(finished, root)
    settings = read_json(root / STUDY)
    write_json(root / STUDY, settings | {"search": settings["search"] | {"prune": 0.05}})
    assert read_study(root).recipe == AUTO
    assert drive(root, AUTO) == []
    assert read_json(root / STUDY) == settings


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


@pytest.mark.parametrize("cells", [1, 8, 14])
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


def test_rounds_ask_for_more_only_when_all_is_there(tmp_path):
    steps = []
    for now in rounds(tmp_path, AUTO):
        steps.append(now)
        for cell in now.cells:
            write_cell(tmp_path, AUTO, cell)
    assert all(set(a.cells) < set(b.cells) for a, b in pairwise(steps))
    assert [type(now.step) for now in steps] == [Run] * (len(steps) - 1) + [Stop]
    assert asked(tmp_path, AUTO) == steps[-1]


def test_a_search_goes_beyond_the_grid(tmp_path):
    drive(tmp_path / "study", AUTO, lambda lam: min(0.2 + 0.03 * lam, 0.68))
    study = read_study(tmp_path / "study")
    assert study.lams[-1] >= 16
    trained = [(cell.seed, cell.lam) for cell in study.expected if cell.task == TASK and cell.lam is not None]
    assert trained == sorted(trained)
    assert {cell.lam for cell in study.results if cell.lam} == set(study.lams) - {0.0}


def test_where_a_round_brings_nothing_there_is_no_other(tmp_path):
    assert len(list(rounds(tmp_path, AUTO))) == 1
    assert len(read_json(tmp_path / SEARCH)["asked"]) == 6


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


@pytest.mark.slow
def test_a_control_that_diverges_is_a_failure(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        if (cell.task, cell.lam, cell.seed) == (CONTROL, 3.0, 1):
            raise DivergedError("the training diverged at step 3: objective nan")
        write_cell(root, recipe, cell)

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(CellsFailedError, match=f"{CONTROL}-lam3-seed1: DivergedError"):
        erce.study.run.run(AUTO, out=tmp_path / "study")


def test_what_a_sweep_gave_up_is_counted(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        raise RuntimeError("no luck")

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(
        CellsFailedError, match="3 of 6 cells failed and have no result, and 3 more were not run"
    ):
        erce.study.run.run(replace(AUTO, control=None), out=tmp_path / "study")


@pytest.mark.slow
def test_auto_from_a_recipe_to_a_report(tmp_path):
    from erce.reporting import report

    tiny = {"n_train": 32, "n_validation": 8, "n_test": 6}
    recipe = replace(AUTO, seeds=(0, 1), **tiny, decoding=Decoding(samples=2))
    recipe = replace(recipe, training=Training(epochs=1.0, learning_rate=1e-3))
    study = run(recipe, out=tmp_path / "study", jobs=2)
    assert study.missing == []
    page = report(study.root, json=tmp_path / "numbers.json").read_text()
    shown = " ".join(read_json(tmp_path / "numbers.json")["sentences"])
    assert study.search is not None
    assert f"The search for λ spent {study.search['step']['spent']} of 10 cells" in shown
    assert "How λ was chosen" in page


CELLS = [Cell("toy", lam, seed) for seed in (0, 1, 2) for lam in (0.0, 1.0)]


class Engine:
    """Ends cells as it is told: the failures of each cell, one a run, then success."""

    def __init__(self, failures: dict[Cell, list[Done]]) -> None:
        self.failures = failures
        self.begun: list[Cell] = []

    def run(self, cells):
        for cell in cells:
            self.begun.append(cell)
            yield self.failures[cell].pop(0) if self.failures.get(cell) else Done(cell)


def failing(cell: Cell, times: int = 1, *, fatal: bool = False) -> dict[Cell, list[Done]]:
    return {cell: [Done(cell, "no luck", fatal)] * times}


@pytest.mark.parametrize(("times", "retries", "fails"), [(1, 1, 1), (2, 1, 2), (2, 3, 2), (1, 0, 1)])
def test_failures_are_tried_again_after_all_others(times, retries, fails):
    engine = Engine(failing(CELLS[1], times))
    ended = list(run_with_retries(engine.run, CELLS, retries=retries))
    assert sum(bool(done.failure) for done in ended) == fails
    assert engine.begun == CELLS + [CELLS[1]] * min(times, retries)


def test_without_one_success_the_rest_is_not_begun():
    engine = Engine({cell: [Done(cell, "no model")] for cell in CELLS})
    assert len(list(run_with_retries(engine.run, CELLS, retries=5))) == FAILURES_TO_GIVE_UP
    assert engine.begun == CELLS[:FAILURES_TO_GIVE_UP]


def test_trainings_that_diverge_are_no_lost_cause_and_are_not_tried_again():
    engine = Engine({cell: [Done(cell, "nan", diverged=True)] for cell in CELLS[:4]})
    assert len(list(run_with_retries(engine.run, CELLS, retries=5))) == len(CELLS)
    assert engine.begun == CELLS


def test_where_others_succeeded_before_the_rest_is_begun_all_the_same():
    engine = Engine({cell: [Done(cell, "diverged")] for cell in CELLS})
    assert len(list(run_with_retries(engine.run, CELLS, succeeded=1))) == len(CELLS)


def test_a_full_disk_stops_at_once():
    engine = Engine(failing(CELLS[3], fatal=True))
    assert [done.cell for done in run_with_retries(engine.run, CELLS, retries=5)] == CELLS[:4]


RECIPE = tiny_recipe(seeds=(0, 1), n_test=ENOUGH_PROBLEMS, objectives=("dft",), control=CONTROL)
SEARCHED = replace(RECIPE, lams=GRID, search=SearchSettings(), objectives=(), control=None)
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
        run(SEARCHED, out=tmp_path / "study")
    assert ran == ["mini-sums-base", *(f"mini-sums-lam{lam:g}-seed0" for lam in GRID)]


@pytest.mark.parametrize(
    ("write", "changes"),
    [(write_wrong_cell, {"n_test": ENOUGH_PROBLEMS - 1}), (write_wrong_cell_of_a_right_base, {})],
    ids=["few problems", "a base model that is right"],
)
def test_a_study_goes_on_with(tmp_path, monkeypatch, write, changes):
    given(monkeypatch, write)
    assert not run(replace(RECIPE, **changes), out=tmp_path / "study").missing


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
    assert "right on the test problems" in " ".join(printed.out.split())
    assert "\x1b[2J" not in printed.err + printed.out
    assert main(["run", "own.toml", "--go-on"]) == 0


@pytest.mark.slow
@each_engine
def test_every_engine_stops(tmp_path, monkeypatch, engine, jobs):
    monkeypatch.setenv("PYTHONPATH", FINDS_TOYS["PYTHONPATH"])
    monkeypatch.setattr(erce.study.run, "run_cell", write_wrong_first_round)
    with pytest.raises(AllAlikeError, match="nothing was right"):
        run(RECIPE, out=tmp_path / "study", engine=engine, jobs=jobs)
    assert len(read_study(tmp_path / "study").results) == len(FIRST)
