"""The control and the temperatures are there for λ = 0 and the λ that validation chose, and for no other."""

from dataclasses import replace

import pytest
from toys.studies import make_study

from erce.recipe import Cell
from erce.reporting import contents
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.study.folder import DIVERGED, Study, cell_folder, planned_cells, ranked, read_study
from erce.study.rounds import asked, rounds
from erce.types import BASE_MODEL, BASELINE, Arm

LAMS, SEEDS = (0.0, 0.5, 1.0), (0, 1)
OWN, CONTROL = "sums", "sums-answer-only"
GRID = {"lams": LAMS, "seeds": SEEDS, "problems": 6, "validation": 6, "objectives": ("dft",)}


def best_at_half(task, arm, decoding):
    return 0.9 if arm == 0.5 else 0.3


def of_control(*lams):
    return {(CONTROL, lam, seed) for lam in lams for seed in SEEDS}


def skipped(*lams, objectives=("dft",)):
    return of_control(*lams) | of_control(*objectives)


def control_lams(study):
    return {cell.lam for cell in study.expected if cell.task == CONTROL}


def test_before_validation_can_choose_the_control_has_cross_entropy_alone(tmp_path):
    study = make_study(tmp_path, skip={(OWN, 1.0, 1)} | skipped(0.5, 1.0), **GRID)
    assert control_lams(study) == {None, 0.0}
    assert study.missing == [Cell(OWN, 1.0, 1)]


def test_then_it_has_the_chosen_lam_and_the_report_needs_no_other(tmp_path):
    study = make_study(tmp_path, right=best_at_half, skip=skipped(0.5, 1.0), **GRID)
    assert study.missing == [Cell(CONTROL, 0.5, seed) for seed in SEEDS]
    whole = make_study(tmp_path / "whole", right=best_at_half, skip=skipped(1.0), **GRID)
    assert whole.missing == []
    assert [row["lam"] for row in contents(summary(whole))["interaction"]] == [0.5, 0.5]


def test_a_folder_with_every_cell_of_the_control_shows_all_of_them(tmp_path):
    study = make_study(tmp_path, right=best_at_half, **GRID)
    assert (control_lams(study), study.missing) == ({None, *LAMS}, [])
    assert set(summary(study).arms(CONTROL)) == {BASE_MODEL, *map(Arm, LAMS), Arm(0.0, "dft")}


def test_without_validation_problems_the_control_has_every_lam(tmp_path):
    study = make_study(tmp_path, skip=skipped(1.0), **GRID | {"validation": 0})
    assert [cell.lam for cell in study.missing] == [1.0, 1.0]


def test_a_lam_that_diverged_holds_nothing_up(tmp_path):
    cell = Cell(OWN, 1.0, 1)
    study = make_study(tmp_path, right=best_at_half, skip={(OWN, 1.0, 1)} | skipped(0.5, 1.0), **GRID)
    folder = cell_folder(study.root, study.recipe, cell)
    folder.mkdir()
    (folder / DIVERGED).write_text("too strong")
    assert read_study(study.root).missing == [cell, *(Cell(CONTROL, 0.5, seed) for seed in SEEDS)]


def test_the_temperatures_are_of_the_base_model_cross_entropy_and_the_chosen_lam(tmp_path):
    study = make_study(tmp_path, right=best_at_half, skip=skipped(1.0), **GRID)
    wide = replace(study.recipe, decoding=replace(study.recipe.decoding, temperatures=(0.4,)))
    lacking = Study(study.root, wide)
    assert {cell.arm for cell in lacking.missing} == {BASE_MODEL, BASELINE, Arm(0.5)}
    assert {cell.task for cell in lacking.missing} == {OWN}
    assert len(lacking.results) == len(study.results)
    assert temperature_sweep(summary(lacking)).contest is None
    drawn = make_study(tmp_path / "wide", right=best_at_half, skip=skipped(1.0), temperatures=(0.4,), **GRID)
    assert drawn.missing == []
    assert temperature_sweep(summary(drawn)).contest is not None


def test_the_chosen_lam_makes_a_round_of_its_own_even_if_only_its_temperatures_are_new(tmp_path):
    made = {"right": best_at_half, "control": None} | GRID
    study = make_study(tmp_path, skip={(OWN, 1.0, 1)}, **made)
    wide = replace(study.recipe, decoding=replace(study.recipe.decoding, temperatures=(0.4,)))
    later = rounds(study.root, wide)
    assert not any(cell.all_temperatures for cell in next(later).cells if cell.lam)
    make_study(study.root, **made)
    assert {cell.lam for cell in next(later).cells if cell.all_temperatures} == {None, 0.0, 0.5}
    assert asked(study.root, wide).as_json() == asked(study.root, wide).as_json()
    assert next(later, None) is None


@pytest.mark.parametrize(("n_validation", "lams"), [(None, {None, 0.0, 0.5}), (0, {None, *LAMS})])
def test_a_plan_counts_one_lam_in_the_place_of_the_chosen(tmp_path, n_validation, lams):
    recipe = replace(make_study(tmp_path, **GRID).recipe, n_validation=n_validation)
    planned = planned_cells(recipe)
    assert {cell.lam for cell in planned if cell.task == CONTROL} == lams
    assert {cell.lam for cell in planned if cell.all_temperatures} == lams


def test_of_equal_scores_the_lam_nearer_to_0_comes_first():
    assert ranked({1.0: 0.5, -0.5: 0.5, 0.5: 0.5, 0.0: 0.4}) == [-0.5, 0.5, 1.0, 0.0]
