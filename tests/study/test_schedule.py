"""Which cells by which results: validation chooses what the control and the temperatures are for."""

from dataclasses import replace

import pytest
from toys.studies import make_study, named

from erce.files import write_json
from erce.recipe import Cell, OwnSamples, Recipe
from erce.reporting import contents
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.temperatures import temperature_sweep
from erce.study.folder import DIVERGED, Study, cell_folder, open_study, read_study
from erce.study.rounds import rounds
from erce.study.schedule import (
    NoChoiceError,
    Results,
    best_lam,
    next_cells,
    own_left,
    planned_cells,
    probe_cells,
)
from erce.types import BASE_MODEL, BASELINE, Arm


def _study(root, validation, *, control=None, test=None):
    """A study on disk: λ or method → validation Pass@1 of each seed (None: that cell is not done)."""
    seeds = tuple(range(len(next(iter(validation.values())))))
    lams = tuple(arm for arm in validation if not isinstance(arm, str))
    others = tuple(arm for arm in validation if isinstance(arm, str))
    recipe = Recipe(task="sums", control=control, lams=lams, seeds=seeds, methods=others)
    open_study(root, recipe)
    for cell in recipe.cells():
        score = 0.0 if cell.lam is None else validation[named(cell.arm)][cell.seed]
        if score is None:
            continue
        if cell.task == control:
            score = 1 - score
        decodings = {"sampled": {"pass@1": score}, "greedy": {"pass@1": 1 - score}}
        scores = {"validation": decodings, "test": test or decodings}
        write_json(cell_folder(root, recipe, cell) / "result.json", {"scores": scores})
    return read_study(root)


def test_the_best_mean_over_seeds_on_validation_wins(tmp_path):
    test = {"sampled": {"pass@1": 0.0}}
    study = _study(tmp_path, {0.0: [0.5, 0.5], 0.5: [0.9, 0.3], 1.0: [0.6, 0.5], 2.0: [0.1, 0.9]}, test=test)
    choice = best_lam(study)
    assert (choice.lam, choice.score) == (0.5, 0.6)
    assert choice.scores == {0.0: 0.5, 0.5: 0.6, 1.0: 0.55, 2.0: 0.5}


@pytest.mark.parametrize(
    ("validation", "lam"),
    [
        ({0.0: [0.5, 0.5], 1.0: [0.6, 0.4]}, 0.0),
        ({2.0: [0.6], 0.0: [0.1], 1.0: [0.6]}, 1.0),
        ({0.0: [0.1], -0.5: [0.6], 0.1: [0.6]}, 0.1),
        # 0.1 + 0.2 + 0.3 and 0.2 + 0.2 + 0.2 have different last bits
        ({0.0: [0.2, 0.2, 0.2], 1.0: [0.1, 0.2, 0.3]}, 0.0),
        ({0.0: [0.1, 0.2, 0.3], 1.0: [0.2, 0.2, 0.2]}, 0.0),
    ],
)
def test_a_tie_goes_to_the_weaker_penalty(tmp_path, validation, lam):
    assert best_lam(_study(tmp_path, validation)).lam == lam


def test_only_a_lam_with_every_seed_done_can_win_and_another_method_holds_nothing_up(tmp_path):
    validation = {0.0: [0.5, 0.5], 1.0: [0.6, 0.6], 2.0: [1.0, None], "dft": [0.9, 0.9], "eaft": [1.0, None]}
    choice = best_lam(_study(tmp_path, validation))
    assert (choice.lam, choice.scores) == (1.0, {0.0: 0.5, 1.0: 0.6})


def test_the_decoding_can_be_named(tmp_path):
    study = _study(tmp_path, {0.0: [0.2], 1.0: [0.8], 2.0: [0.5]}, control="answers")
    assert best_lam(study).lam == 1.0
    assert best_lam(study, decoding="greedy").lam == 0.0


def test_where_nothing_is_chosen_there_is_a_reason_and_a_sentence(tmp_path):
    unfinished = _study(tmp_path / "a", {0.0: [0.5, None], 1.0: [None, 0.5]})
    bare = _study(tmp_path / "b", {0.0: [0.5], "dft": [None]})
    for study, decoding, sentence in (
        (unfinished, "sampled", "no λ of 'sums' has all its 2 seeds yet; run the"),
        (bare, "beam", "import logs of validation problems with --validation"),
    ):
        with pytest.raises(NoChoiceError, match=sentence):
            best_lam(study, decoding=decoding)


LAMS, SEEDS = (0.0, 0.5, 1.0), (0, 1)
OWN, CONTROL = "sums", "sums-answer-only"
STUDY = {"lams": LAMS, "seeds": SEEDS, "problems": 6, "validation": 6, "methods": ("dft",)}


def best_at_half(task, arm, decoding):
    return 0.9 if arm == 0.5 else 0.3


def of_control(*lams):
    return {(CONTROL, lam, seed) for lam in lams for seed in SEEDS}


def skipped(*lams, methods=("dft",)):
    return of_control(*lams) | of_control(*methods)


def control_lams(study):
    return {cell.lam for cell in study.expected if cell.task == CONTROL}


def test_before_validation_can_choose_the_control_has_cross_entropy_alone(tmp_path):
    cell = Cell(OWN, 1.0, 1)
    study = make_study(tmp_path, right=best_at_half, skip={(OWN, 1.0, 1)} | skipped(0.5, 1.0), **STUDY)
    assert control_lams(study) == {None, 0.0}
    assert study.missing == [cell]
    folder = cell_folder(study.root, study.recipe, cell)
    folder.mkdir()
    (folder / DIVERGED).write_text("too strong")  # which holds nothing up
    assert read_study(study.root).missing == [cell, *(Cell(CONTROL, 0.5, seed) for seed in SEEDS)]


def test_then_it_has_the_chosen_lam_and_the_report_needs_no_other(tmp_path):
    study = make_study(tmp_path, right=best_at_half, skip=skipped(0.5, 1.0), **STUDY)
    assert study.missing == [Cell(CONTROL, 0.5, seed) for seed in SEEDS]
    whole = make_study(tmp_path / "whole", right=best_at_half, skip=skipped(1.0), **STUDY)
    assert whole.missing == []
    assert [row["lam"] for row in contents(summary(whole))["interaction"]] == [0.5, 0.5]


def test_a_folder_with_every_cell_of_the_control_shows_all_of_them(tmp_path):
    study = make_study(tmp_path, right=best_at_half, **STUDY)
    assert (control_lams(study), study.missing) == ({None, *LAMS}, [])
    assert set(summary(study).arms(CONTROL)) == {BASE_MODEL, *map(Arm, LAMS), Arm(0.0, "dft")}


def test_the_temperatures_are_of_the_base_model_cross_entropy_and_the_chosen_lam(tmp_path):
    study = make_study(tmp_path, right=best_at_half, skip=skipped(1.0), **STUDY)
    wide = replace(study.recipe, decoding=replace(study.recipe.decoding, temperatures=(0.4,)))
    lacking = Study(study.root, wide)
    assert {cell.arm for cell in lacking.missing} == {BASE_MODEL, BASELINE, Arm(0.5)}
    assert {cell.task for cell in lacking.missing} == {OWN}
    assert len(lacking.results) == len(study.results)
    assert temperature_sweep(summary(lacking)).contests == []
    drawn = make_study(tmp_path / "wide", right=best_at_half, skip=skipped(1.0), temperatures=(0.4,), **STUDY)
    assert drawn.missing == []
    assert len(temperature_sweep(summary(drawn)).contests) == 2


def test_the_chosen_lam_makes_a_round_of_its_own_even_if_only_its_temperatures_are_new(tmp_path):
    made = {"right": best_at_half, "control": None} | STUDY
    study = make_study(tmp_path, skip={(OWN, 1.0, 1)}, **made)
    wide = replace(study.recipe, decoding=replace(study.recipe.decoding, temperatures=(0.4,)))
    later = rounds(study.root, wide)
    assert not any(cell.all_temperatures for cell in next(later).next_cells if cell.lam)
    make_study(study.root, **made)
    assert {cell.lam for cell in next(later).next_cells if cell.all_temperatures} == {None, 0.0, 0.5}
    assert next(later, None) is None


def scored(**by_lam):
    """Results of the main task: λ → validation Pass@1 of each seed, in the order of LAMS; None: not done."""
    results = {Cell(OWN, None, 0): {"scores": {}}}
    for lam, scores in zip(LAMS, by_lam.values(), strict=True):
        for seed, score in zip(SEEDS, scores, strict=True):
            if score is not None:
                validation = {"sampled": {"pass@1": score}}
                results[Cell(OWN, lam, seed)] = {"scores": {"validation": validation}}
    return results


DONE = scored(zero=(0.5, 0.5), half=(0.6, 0.8), one=(0.9, 0.1))
UNDONE = scored(zero=(0.5, 0.5), half=(0.6, 0.8), one=(0.9, None))
FLAT = scored(zero=(0.5, 0.5), half=(0.4, 0.6), one=(0.1, 0.1))
LOST = Cell(OWN, 1.0, 1)


@pytest.mark.parametrize(
    ("results", "diverged", "on_control", "at_all_temperatures"),
    [
        ({}, (), {None, 0.0}, {None, 0.0}),
        (UNDONE, (), {None, 0.0}, {None, 0.0}),
        (UNDONE, (LOST,), {None, 0.0, 0.5}, {None, 0.0, 0.5}),
        (DONE, (), {None, 0.0, 0.5}, {None, 0.0, 0.5}),
        (FLAT, (), {None, 0.0}, {None, 0.0}),
        (DONE | {Cell(CONTROL, 1.0, 0): {"scores": {}}}, (), {None, 0.0, 0.5, 1.0}, {None, 0.0, 0.5}),
        ({}, [cell for cell in DONE if cell.lam is not None], {None, 0.0}, {None, 0.0}),
    ],
    ids=[
        "nothing",
        "a seed missing",
        "a seed diverged",
        "all",
        "a tie",
        "another on the control",
        "every λ diverged",
    ],
)
def test_results_decide_the_cells(results, diverged, on_control, at_all_temperatures):
    recipe = Recipe(task=OWN, control=CONTROL, lams=LAMS, seeds=SEEDS)
    cells = next_cells(recipe, results, diverged)
    assert [cell for cell in cells if cell.task == OWN] == recipe.cells()[:7]
    assert {cell.lam for cell in cells if cell.task == CONTROL} == on_control
    assert {cell.lam for cell in cells if cell.all_temperatures} == at_all_temperatures
    assert not any(cell.all_temperatures for cell in cells if cell.task == CONTROL)


@pytest.mark.parametrize(
    ("dft", "at_all_temperatures"),
    [
        ((0.9, 0.9), [BASE_MODEL, BASELINE, Arm(0.5), Arm(0.0, "dft")]),
        ((0.6, 0.7), [BASE_MODEL, BASELINE, Arm(0.5)]),
        ((0.9, None), [BASE_MODEL, BASELINE, Arm(0.5)]),  # until it is done
    ],
)
def test_the_arm_that_validation_prefers_is_sampled_at_all_temperatures_once_every_arm_is_done(
    dft, at_all_temperatures
):
    recipe = Recipe(task=OWN, control=CONTROL, lams=LAMS, seeds=SEEDS, methods=("dft",))
    of_dft = {
        Cell(OWN, 0.0, seed, "dft"): {"scores": {"validation": {"sampled": {"pass@1": score}}}}
        for seed, score in zip(SEEDS, dft, strict=True)
        if score is not None
    }
    cells = next_cells(recipe, DONE | of_dft)
    swept = [cell.arm for cell in cells if cell.all_temperatures]
    assert list(dict.fromkeys(swept)) == at_all_temperatures
    assert {cell.arm for cell in cells if cell.task == CONTROL} == {BASE_MODEL, BASELINE, Arm(0.5)}


def test_own_samples_come_first_and_alone_and_count_as_planned():
    recipe = Recipe(task=OWN, lams=LAMS, seeds=SEEDS, methods=("self",))
    assert next_cells(recipe, {}) == [recipe.own_cells[0]]
    assert next_cells(recipe, {recipe.own_cells[0]: {"scores": {}}}) == recipe.cells()
    assert planned_cells(recipe) == [recipe.own_cells[0], *recipe.cells()]


def test_a_strength_that_samples_is_trained_first_then_samples_then_all_others_run():
    own = OwnSamples(lam=1.0)
    recipe = Recipe(task=OWN, lams=LAMS, seeds=(3, 5), methods=("self", "rft + 4"), own=own)
    policies = [Cell(OWN, 1.0, seed) for seed in (3, 5)]
    assert next_cells(recipe, {}) == policies
    done = {cell: {"scores": {}} for cell in policies}
    assert next_cells(recipe, {policies[1]: done[policies[1]]}) == [policies[0]]
    assert [cell.name for cell in next_cells(recipe, done)] == [
        f"{OWN}-own-lam1-seed{seed}" for seed in (3, 5)
    ]
    assert next_cells(recipe, done | {cell: {"scores": {}} for cell in recipe.own_cells}) == recipe.cells()
    [learner] = [cell for cell in recipe.cells() if cell.method == "rft" and cell.seed == 5]
    assert recipe.source(learner) == recipe.own_cells[1]


def test_a_model_that_diverged_has_no_samples_and_nobody_learns_from_it_but_all_others_run():
    recipe = Recipe(task=OWN, lams=LAMS, seeds=(3, 5), methods=("rft",), own=OwnSamples(lam=1.0))
    diverged, model = Cell(OWN, 1.0, 3), Cell(OWN, 1.0, 5)
    lost, own = recipe.own_cells
    assert next_cells(recipe, {}, [diverged]) == [model]
    assert next_cells(recipe, {model: {"scores": {}}}, [diverged]) == [own]
    done: Results = {cell: {"scores": {}} for cell in (model, own)}
    assert own_left(recipe, done, [diverged]) == []
    learner = Cell(OWN, 0.0, 3, "rft")
    assert recipe.source(learner) == lost
    rest = next_cells(recipe, done, [diverged])
    assert rest == [cell for cell in recipe.cells() if cell != learner]


def test_the_first_round_is_the_base_model_and_one_seed_of_every_arm():
    recipe = Recipe(task=OWN, control=CONTROL, lams=LAMS, seeds=(7, 8), methods=("dft",))
    assert [(cell.task, cell.arm.name(), cell.seed) for cell in probe_cells(recipe)] == [
        (OWN, "base model", 0),
        *((OWN, label, 7) for label in ("λ = 0", "λ = 0.5", "λ = 1", "dft")),
    ]


def test_what_is_planned_follows_the_choice_once_it_is_made():
    recipe = Recipe(task=OWN, control=CONTROL, lams=LAMS, seeds=SEEDS)
    before, after = planned_cells(recipe), planned_cells(recipe, FLAT)
    assert {cell.lam for cell in before if cell.task == CONTROL} == {None, 0.0, 0.5}
    assert {cell.lam for cell in after if cell.task == CONTROL} == {None, 0.0}


def test_a_plan_counts_one_lam_in_the_place_of_the_chosen(tmp_path):
    planned = planned_cells(make_study(tmp_path, **STUDY).recipe)
    assert {cell.lam for cell in planned if cell.task == CONTROL} == {None, 0.0, 0.5}
    assert {cell.lam for cell in planned if cell.all_temperatures} == {None, 0.0, 0.5}
    assert Arm(0.0, "dft") in {cell.arm for cell in planned if cell.all_temperatures}
