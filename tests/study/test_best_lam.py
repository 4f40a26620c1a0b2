"""λ is chosen on validation, cross-entropy may win, and unfinished λ wait."""

from dataclasses import replace

import pytest
from toys.studies import named

from erce.errors import InputError
from erce.files import write_json
from erce.recipe import GRID, Recipe, SearchSettings
from erce.study.folder import SEARCH, cell_folder, open_study, read_study
from erce.study.rounds import NoChoice, NoChoiceError, best_lam


def _study(root, validation, *, control=None, test=None):
    """A study on disk: λ or objective → validation Pass@1 of each seed (None: that cell is not done)."""
    seeds = tuple(range(len(next(iter(validation.values())))))
    lams = tuple(arm for arm in validation if not isinstance(arm, str))
    others = tuple(arm for arm in validation if isinstance(arm, str))
    recipe = Recipe(task="sums", control=control, lams=lams, seeds=seeds, objectives=others)
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
    assert (choice.lam, choice.score, choice.runner_up, choice.runner_up_score) == (0.5, 0.6, 1.0, 0.55)
    assert choice.scores == {0.0: 0.5, 0.5: 0.6, 1.0: 0.55, 2.0: 0.5}
    assert not choice.at_edge


def test_cross_entropy_may_win(tmp_path):
    choice = best_lam(_study(tmp_path, {0.0: [0.7], 1.0: [0.6]}))
    assert (choice.lam, choice.runner_up, choice.at_edge) == (0.0, 1.0, False)


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


def test_another_objective_is_not_chosen_and_holds_nothing_up(tmp_path):
    choice = best_lam(
        _study(tmp_path, {0.0: [0.5, 0.5], 1.0: [0.6, 0.6], "dft": [0.9, 0.9], "eaft": [1.0, None]})
    )
    assert (choice.lam, choice.runner_up, choice.scores) == (1.0, 0.0, {0.0: 0.5, 1.0: 0.6})


def test_without_validation_a_missing_objective_is_not_the_reason(tmp_path):
    study = _study(tmp_path, {0.0: [0.5], "dft": [None]})
    with pytest.raises(ValueError, match="set n_validation in the recipe"):
        best_lam(study, decoding="beam")


def test_only_a_lam_with_every_seed_done_can_win(tmp_path):
    choice = best_lam(_study(tmp_path, {0.0: [0.5, 0.5], 0.5: [0.6, 0.6], 1.0: [1.0, None]}))
    assert choice.lam == 0.5
    assert 1.0 not in choice.scores


def test_the_task_and_the_decoding_can_be_named(tmp_path):
    study = _study(tmp_path, {0.0: [0.2], 1.0: [0.8], 2.0: [0.5]}, control="answers")
    assert best_lam(study).lam == 1.0
    assert best_lam(study, task="answers").lam == 0.0
    assert best_lam(study, decoding="greedy").lam == 0.0


@pytest.mark.parametrize(
    ("validation", "at_edge"),
    [
        ({0.0: [0.1], 1.0: [0.2], 2.0: [0.3]}, True),
        ({0.0: [0.1], 1.0: [0.3], 2.0: [0.2]}, False),
        ({-0.5: [0.3], 0.0: [0.1], 1.0: [0.2]}, True),
        ({0.0: [0.3], 1.0: [0.2]}, False),
        ({0.0: [0.3]}, False),
    ],
)
def test_a_winner_at_the_edge_of_the_grid_is_called_one(tmp_path, validation, at_edge):
    assert best_lam(_study(tmp_path, validation)).at_edge == at_edge


@pytest.mark.parametrize(("winner", "at_edge"), [(0.15, True), (0.0, True), (8.0, False), (1.0, False)])
def test_of_a_search_the_edge_is_what_the_search_says(tmp_path, winner, at_edge):
    """Also the weakest λ but 0 is an edge of a search, and the strongest is none where it went beyond."""
    scores = {lam: 0.5 + 0.1 * (lam == winner) for lam in (*GRID, 0.15)}
    study = _study(tmp_path, {lam: [0.5] for lam in GRID})
    searched = replace(study, recipe=replace(study.recipe, search=SearchSettings()))
    step = {"winner": winner, "at_edge": at_edge, "scores": list(scores.items()), "tests": [{"lam": 1.0}]}
    write_json(tmp_path / SEARCH, {"asked": [], "step": step, "said": []})
    choice = best_lam(searched)
    assert (choice.lam, choice.at_edge) == (winner, at_edge)


def test_one_lam_alone_has_no_runner_up(tmp_path):
    choice = best_lam(_study(tmp_path, {0.0: [0.3, 0.5]}))
    assert (choice.runner_up, choice.runner_up_score) == (None, None)


def test_where_nothing_is_chosen_there_is_a_reason_and_a_sentence(tmp_path):
    unfinished = _study(tmp_path / "a", {0.0: [0.5, None], 1.0: [None, 0.5]})
    bare = _study(tmp_path / "b", {0.0: [0.5]})
    searching = replace(bare, recipe=replace(bare.recipe, lams=GRID, search=SearchSettings()))
    for study, decoding, reason, sentence in (
        (unfinished, "sampled", NoChoice.UNFINISHED, "no λ of 'sums' has all its 2 seeds yet; run the"),
        (bare, "beam", NoChoice.NO_VALIDATION, "set n_validation in the recipe"),
        (searching, "sampled", NoChoice.SEARCHING, "the search for λ has not ended yet"),
    ):
        with pytest.raises(NoChoiceError, match=sentence) as refused:
            best_lam(study, decoding=decoding)
        assert refused.value.reason is reason


def test_an_unknown_task_is_refused(tmp_path):
    with pytest.raises(InputError, match="the study has no task 'sum'; there are sums"):
        best_lam(_study(tmp_path, {0.0: [0.5]}), task="sum")
