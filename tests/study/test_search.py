"""The search for λ: which cells it asks for, when it stops, and that its results alone decide."""

import itertools
import json
import math
import random

import numpy as np
import pytest

from erce.recipe import GRID, SearchSettings
from erce.study.search import Run, Search, Stop, explain, mean_accuracy, plain


class Cells:
    """Outcomes like those of GSM8K, drawn when a search asks for them, the same for the same (lam, seed)."""

    def __init__(self, accuracies, *, problems=300, samples=4, seed=0):
        self.accuracies, self.samples, self.seed = accuracies, samples, seed
        self.difficulty = np.random.default_rng(seed).normal(0, 2, problems)

    def __call__(self, lam, seed):
        rng = np.random.default_rng([self.seed, round(1000 * lam), seed])
        chance = 1 / (1 + np.exp(-(self.difficulty + self.accuracies(lam))))
        return (rng.random((len(self.difficulty), self.samples)) < chance[:, None]).astype(int)


def make_search(*, lams=GRID, seeds=(0, 1, 2, 3), **settings):
    return Search(SearchSettings(**settings), lams=lams, seeds=seeds)


def searched(search, cell):
    """Play a search: its end, and the steps before it."""
    known, steps = {}, []
    step = search.next(known)
    while isinstance(step, Run):
        steps.append(step)
        known |= {(lam, seed): cell(lam, seed) for lam, seed in step.cells}
        step = search.next(known)
    return step, steps, known


def right(accuracy):
    """Outcomes of 1,000 problems, one sample each, of which the first are right."""
    return np.arange(1000)[:, None] < round(1000 * accuracy)


def by_lam(accuracies):
    return lambda lam, seed: right(accuracies[lam])


PEAK_AT_3 = {0.0: 0.4, 0.3: 0.41, 1.0: 0.45, 3.0: 0.5, 8.0: 0.47}


def asked(steps):
    return [{cell[0] for cell in step.cells} for step in steps]


def test_the_better_half_goes_on_and_cross_entropy_always_does():
    stop, steps, _ = searched(make_search(level=1), by_lam(PEAK_AT_3))
    assert asked(steps) == [{0, 0.3, 1, 3, 8}, {0, 3, 8}, {0, 3}]
    assert [len(step.cells) for step in steps] == [5, 3, 4]
    assert (stop.winner, stop.why, stop.spent, stop.grid, stop.at_edge) == (3, "seeds", 12, 20, False)
    assert stop.spent_by_lam == {0: 4, 0.3: 1, 1: 1, 3: 4, 8: 2}


def test_an_odd_number_is_halved_upwards():
    lams = (0.0, *map(float, range(1, 8)))
    search = make_search(lams=lams, level=1, extensions=0)
    _, steps, _ = searched(search, lambda lam, seed: right(0.3 + lam / 100))
    assert asked(steps) == [set(lams), {0, 4, 5, 6, 7}, {0, 6, 7}]


def test_the_last_seed_of_a_short_search_leaves_all_its_lams_to_the_test():
    stop, steps, _ = searched(make_search(seeds=(7,), level=1), by_lam(PEAK_AT_3))
    assert len(steps) == 1
    assert steps[0].cells == tuple((lam, 7) for lam in GRID)
    assert [each.lam for each in stop.tests] == [0.3, 1, 3, 8]


def test_the_same_results_give_the_same_step_whatever_order_they_came_in():
    cells = Cells(lambda lam: math.log1p(lam) / 2)
    _, steps, known = searched(make_search(), cells)
    for count, step in enumerate(steps):
        results = {cell: known[cell] for earlier in steps[:count] for cell in earlier.cells}
        for shuffle in range(3):
            order = list(results)
            random.Random(shuffle).shuffle(order)
            again = make_search().next({cell: results[cell] for cell in order})
            assert again == step


def test_a_half_finished_round_is_asked_for_the_rest():
    first = Search().next({})
    known = dict.fromkeys(first.cells[1::2], right(0.5))
    assert Search().next(known).cells == first.cells[::2]


def test_cells_that_no_round_asked_for_change_nothing():
    stop, _, known = searched(make_search(level=1), by_lam(PEAK_AT_3))
    others = {(0.3, 3): right(1), (77.0, 0): right(1), (3.0, 99): right(0)}
    assert make_search(level=1).next(known | others) == stop


def test_ties_go_to_the_weaker_penalty_and_last_to_none():
    stop, steps, _ = searched(make_search(level=1), by_lam(dict.fromkeys(GRID, 0.5)))
    assert asked(steps)[1:] == [{0, 0.3, 1}, {0, 0.3}]
    assert (stop.winner, stop.leader) == (0, 0)


def test_equal_means_are_equal_in_whatever_order_they_are_summed():
    up, down = ([np.array(each) for each in order] for order in ((0.1, 0.2, 0.3), (0.3, 0.2, 0.1)))
    assert mean_accuracy(up) == mean_accuracy(down)


@pytest.mark.parametrize(
    ("accuracies", "newcomers", "winner"),
    [
        (PEAK_AT_3, set(), 3),
        ({0.0: 0.4, 0.3: 0.41, 1.0: 0.45, 3.0: 0.5, 8.0: 0.55, 16.0: 0.52}, {16}, 8),
        ({0.0: 0.4, 0.3: 0.41, 1.0: 0.45, 3.0: 0.5, 8.0: 0.55, 16.0: 0.6, 32.0: 0.59}, {16, 32}, 16),
        ({0.0: 0.4, 0.3: 0.5, 1.0: 0.45, 3.0: 0.4, 8.0: 0.4, 0.15: 0.51, 0.075: 0.5}, {0.15, 0.075}, 0.15),
        ({0.0: 0.6, 0.3: 0.5, 1.0: 0.45, 3.0: 0.4, 8.0: 0.4}, set(), 0),
    ],
)
def test_the_grid_is_extended_where_the_leader_sits_at_its_edge(accuracies, newcomers, winner):
    stop, steps, _ = searched(make_search(level=1), by_lam(accuracies))
    assert {lam for step in steps for lam, _ in step.cells} - set(GRID) == newcomers
    assert (stop.winner, stop.at_edge) == (winner, False)


def test_a_newcomer_that_is_not_ahead_costs_one_seed():
    accuracies = {0.0: 0.4, 0.3: 0.41, 1.0: 0.45, 3.0: 0.5, 8.0: 0.55, 16.0: 0.55}
    stop, *_ = searched(make_search(level=1), by_lam(accuracies))
    assert stop.spent_by_lam[16] == 1


def test_a_leader_that_is_still_at_the_edge_is_said_to_be():
    stop, steps, _ = searched(make_search(level=1, extensions=1), lambda lam, seed: right(0.4 + lam / 100))
    assert (stop.winner, stop.at_edge) == (16, True)
    assert "the best may lie beyond" in explain(stop)[-1]
    assert asked(steps)[-1] == {0, 16}


def test_a_newcomer_that_leads_when_the_budget_ends_leaves_the_edge_open():
    stop, *_ = searched(make_search(max_cells=9, level=1), lambda lam, seed: right(0.4 + lam / 100))
    assert stop.spent_by_lam[16] == 1
    assert (stop.winner, stop.why, stop.at_edge) == (8, "cells", True)


@pytest.mark.parametrize("max_cells", range(5, 21))
def test_no_search_costs_more_than_its_budget(max_cells):
    stop, *_ = searched(make_search(max_cells=max_cells, level=1), lambda lam, seed: right(0.4 + lam / 100))
    assert stop.spent <= max_cells
    assert stop.spent == sum(stop.spent_by_lam.values())
    assert (stop.why == "cells") == (max_cells < 16)  # 5 + 3, two extensions of 2 + 2, then 4


@pytest.mark.parametrize(("max_cells", "spent", "leader"), [(6, 5, 8), (9, 9, 8), (10, 10, 16)])
def test_a_newcomer_is_begun_on_a_full_budget_and_leads_when_its_seeds_are_through(max_cells, spent, leader):
    search = make_search(max_cells=max_cells, level=1)
    stop, *_ = searched(search, lambda lam, seed: right(0.4 + lam / 100))
    assert (stop.spent, stop.leader) == (spent, leader)


def test_a_budget_that_is_short_goes_to_the_lams_before_cross_entropy():
    stop, steps, _ = searched(make_search(max_cells=7, level=1, seeds=(0, 1, 2)), by_lam(PEAK_AT_3))
    assert steps[1].cells == ((3.0, 1), (8.0, 1))
    assert (stop.winner, stop.why, stop.spent) == (3, "cells", 7)


def test_cross_entropy_wins_where_no_lam_is_surely_better():
    slight, *_ = searched(make_search(), lambda lam, seed: right(PEAK_AT_3[lam] / 10 + 0.05 * seed))
    assert (slight.winner, slight.leader) == (0, 3)
    assert "by no more than chance explains" in explain(slight)[-1]
    assert "If you must choose a λ without significance, take λ =" in explain(slight)[-1]
    clear, *_ = searched(make_search(), RISING_TO_3)
    assert clear.winner == 3
    assert clear.tests[0].covers == "problems and seeds"


def test_the_test_counts_every_lam_that_the_search_may_try():
    search = make_search(extensions=3)
    stop, *_ = searched(search, Cells(lambda lam: 0.1 * (lam == 3)))
    [test] = stop.tests
    assert test.family == 4 + 3
    assert test.adjusted == pytest.approx(min(1, 7 * test.p))


RISING_TO_3 = Cells(lambda lam: math.log1p(min(lam, 3)) - 0.1 * max(0, lam - 3))


def diverging(cells, *lams):
    """Cells of which those of these λ diverged: no outcomes."""
    return lambda lam, seed: cells(lam, seed)[:0] if lam in lams else cells(lam, seed)


@pytest.mark.parametrize(
    ("lams", "rounds"),
    [
        ((), [{0, 0.3, 1, 3, 8}, {0, 3, 8}, {0, 3}]),
        ((8.0,), [{0, 0.3, 1, 3, 8}, {0, 1, 3}, {0, 3}]),
        ((0.3, 1.0, 8.0), [{0, 0.3, 1, 3, 8}, {0, 3}]),
        ((0.3, 1.0, 3.0, 8.0), [{0, 0.3, 1, 3, 8}]),
    ],
)
def test_a_lam_that_diverged_goes_no_further(lams, rounds):
    stop, steps, _ = searched(make_search(), diverging(RISING_TO_3, *lams))
    assert asked(steps) == rounds
    assert stop.winner == (0 if 3.0 in lams else 3)
    assert {lam for each in stop.rounds for lam in each.diverged} == set(lams)
    assert not stop.rounds[0].scores.keys() & set(lams)
    assert explain(stop)[0].count("diverged") == len(lams)


def test_a_newcomer_and_a_finalist_can_diverge_too():
    stop, *_ = searched(make_search(), diverging(Cells(math.log1p), 16.0))
    assert (stop.winner, stop.spent_by_lam[16]) == (8, 1)
    late = diverging(RISING_TO_3, 3.0)
    stop, *_ = searched(make_search(), lambda lam, seed: (late if seed == 3 else RISING_TO_3)(lam, seed))
    assert (stop.winner, stop.tests, stop.rounds[-1].dropped) == (0, (), (3,))


def test_every_step_is_plain_values_and_sentences():
    stop, steps, _ = searched(make_search(), Cells(math.log1p))
    for step in [*steps, stop]:
        assert json.loads(json.dumps(plain(step))) == plain(step)
    text = explain(stop)
    assert [line.split(",")[0] for line in text[:2]] == ["Halving", "Halving"]
    assert any(line.startswith(f"Spent {stop.spent} cells") for line in text)
    assert any(line.startswith("Stopped because") for line in text)
    assert explain(steps[0]) == [
        "Next: 5 cells: λ = 0 seed 0, λ = 0.3 seed 0, λ = 1 seed 0, λ = 3 seed 0, λ = 8 seed 0."
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"lams": (1.0, 3.0)}, "has no 0"),
        ({"lams": (0.0,)}, "at least one λ over 0"),
        ({"lams": (0.0, -1.0)}, "tries 0, cross-entropy, and at least one λ over 0"),
        ({"seeds": (0, 0)}, "twice"),
        ({"max_cells": 4}, "does not cover one seed of 5"),
    ],
)
def test_settings_that_no_search_could_use_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        make_search(**settings)


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({(0.0, 0): 1, (1.0, 0): [[1]]}, "shapes"),
        ({(0.0, 0): [[1], [0]], (1.0, 0): [[1]]}, "the same problems"),
        ({(0.0, 0): [[math.nan]]}, "0 and 1"),
        ({(0.0, 0): [[0.5]]}, "0 and 1"),
        ({(0.0, 0): [1, 0]}, r"\(problems, samples\)"),
        ({(0.0, 0): np.empty((0, 4))}, r"\(problems, samples\)"),
    ],
)
def test_outcomes_that_are_none_are_refused(state, says):
    with pytest.raises(ValueError, match=says):
        Search().next(state)


@pytest.mark.slow
def test_a_search_among_lams_that_do_nothing_ends_with_cross_entropy():
    trials = 400
    wins = sum(
        searched(make_search(), Cells(lambda lam: 0.0, seed=trial, problems=200))[0].winner != 0
        for trial in range(trials)
    )
    print(f"a λ that does nothing wins {wins} of {trials} searches")
    assert wins / trials <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / trials)


def test_random_studies_end_within_their_rounds():
    for trial, seeds in itertools.product(range(60), range(1, 6)):
        rng = np.random.default_rng([trial, seeds])
        search = make_search(seeds=tuple(range(seeds)), level=1)
        stop, steps, _ = searched(search, lambda lam, seed, rng=rng: right(rng.integers(0, 20) / 20))
        assert isinstance(stop, Stop)
        assert len(steps) <= 12
