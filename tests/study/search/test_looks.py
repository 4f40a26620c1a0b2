"""A round judged part by part: who is left where it is, and how seldom that changes what a search does."""

from itertools import pairwise

import numpy as np
import pytest
from toys.search_cells import GSM8K, Cells

from erce.study.search import Run, Search, Settings
from erce.study.search.looks import order_of, wanted
from erce.study.search.steps import Pruning

GRID = {0.0: 0.3, 0.3: 0.3, 1.0: 0.65, 3.0: 0.9, 8.0: 0.8}


def first_round(*, keep=2, level=0.01):
    lams = tuple(lam for lam in GRID if lam)
    return Run(tuple((lam, 0) for lam in GRID), (), Pruning(lams, keep, level))


def rows(count, right):
    """Half of the samples right more or less often, the same for all λ but for that."""
    rng = np.random.default_rng(0)
    return (rng.random((count, 4)) < right).astype(int)


def looked(run, outcomes, *, problems):
    """Every `wanted` of a round, each time with the outcomes that the one before asked for."""
    order, counts, seen = order_of(run, problems), {}, []
    while not seen or counts != seen[-1]:
        seen.append(counts)
        judged = {cell: outcomes[cell][order][:count] for cell, count in counts.items()}
        counts = wanted(run, judged, problems=problems)
    return seen[1:]


def play(search, cells, *, problems):
    """A search by looks: its end, and how many problems all of its cells were judged on."""
    outcomes, spent = {}, 0
    step = search.next(outcomes)
    while isinstance(step, Run):
        order = order_of(step, problems)
        counts, before = {}, None
        while counts != before:
            before = counts
            judged = {cell: each[order] for cell, each in outcomes.items() if len(each) == problems}
            judged |= {cell: cells(*cell)[order][:count] for cell, count in counts.items()}
            counts = wanted(step, judged, problems=problems)
        for cell, count in counts.items():
            outcomes[cell] = cells(*cell) if count == problems else cells(*cell)[order][:count]
        spent += sum(counts.values())
        step = search.next(outcomes)
    return step, spent


def decided(end):
    return end.winner, end.leader, [(each.kind, each.seeds, each.kept) for each in end.rounds]


def test_the_first_look_is_a_part_of_the_problems_and_cross_entropy_has_all():
    assert wanted(first_round(), {}, problems=200) == {(0.0, 0): 200} | {(lam, 0): 40 for lam in GRID if lam}


def test_those_that_surely_do_not_go_on_are_left_and_the_others_judged_to_the_end():
    outcomes = {(lam, 0): rows(200, right) for lam, right in GRID.items()}
    seen = looked(first_round(), outcomes, problems=200)
    assert seen[-1] == {(0.0, 0): 200, (0.3, 0): 40, (1.0, 0): 80, (3.0, 0): 200, (8.0, 0): 200}
    for earlier, later in pairwise(seen):
        assert all(earlier[cell] <= later[cell] for cell in earlier)


def test_equal_lams_are_all_judged_to_the_end():
    outcomes = {(lam, 0): rows(200, 0.5) for lam in GRID}
    assert set(looked(first_round(), outcomes, problems=200)[-1].values()) == {200}


def test_a_round_that_drops_none_is_judged_at_once():
    run = Run(((0.0, 3), (1.0, 3)), (), None)
    assert wanted(run, {}, problems=200) == {(0.0, 3): 200, (1.0, 3): 200}


def test_where_no_more_are_left_than_go_on_there_is_nothing_to_look_for():
    run = Run(((1.0, 0), (3.0, 0)), (), Pruning((1.0, 3.0), 2, 0.01))
    assert set(wanted(run, {}, problems=200).values()) == {200}


def test_a_lam_is_compared_by_all_seeds_that_it_has():
    """Seed 1 alone would give λ = 1 up; with seed 0, where it was ahead, it is not behind."""
    behind, ahead = rows(200, 0.2), rows(200, 0.8)
    run = Run(((1.0, 1), (3.0, 1)), (), Pruning((1.0, 3.0), 1, 0.05))
    fresh = {(1.0, 1): behind, (3.0, 1): ahead}
    assert looked_with(run, fresh, {})[-1][1.0, 1] < 200
    assert looked_with(run, fresh, {(1.0, 0): ahead, (3.0, 0): behind})[-1][1.0, 1] == 200


def looked_with(run, outcomes, earlier):
    counts, seen = {}, []
    while not seen or counts != seen[-1]:
        seen.append(counts)
        judged = earlier | {cell: outcomes[cell][:count] for cell, count in counts.items()}
        counts = wanted(run, judged, problems=200)
    return seen[1:]


def test_more_rows_than_asked_for_change_nothing():
    """A cell that was judged on all problems before counts as far as the round has come."""
    outcomes = {(lam, 0): rows(200, right) for lam, right in GRID.items()}
    order = order_of(first_round(), 200)
    whole = {cell: each[order] for cell, each in outcomes.items()}
    assert wanted(first_round(), whole, problems=200) == looked(first_round(), outcomes, problems=200)[-1]


def test_no_two_rounds_judge_in_one_order():
    cells = Cells(lambda lam: GSM8K.get(lam, 0.9), problems=100)
    search, orders, outcomes = Search(Settings()), [], {}
    step = search.next(outcomes)
    while isinstance(step, Run):
        orders.append(tuple(order_of(step, 100)))
        outcomes |= {cell: cells(*cell) for cell in step.cells}
        step = search.next(outcomes)
    assert len(set(orders)) == len(orders) > 2


@pytest.mark.parametrize(
    ("seeds", "extensions", "shares"), [((0,), 2, 2), ((0, 1), 0, 1), ((0, 1, 2, 3), 2, 8)]
)
def test_the_level_is_split_among_all_rounds_that_can_prune(seeds, extensions, shares):
    settings = Settings(seeds=seeds, extensions=extensions, prune=0.04)
    step = Search(settings).next({})
    if len(seeds) == 1:  # the only round keeps all
        assert step.pruning is None
        return
    assert step.pruning.level == pytest.approx(0.04 / shares)
    assert (step.pruning.lams, step.pruning.keep) == ((0.3, 1.0, 3.0, 8.0), 2)


def test_without_pruning_every_cell_is_judged_on_all():
    cells = Cells(lambda lam: 3 * GSM8K.get(lam, 0.9), problems=300)
    end, spent = play(Search(Settings(prune=0)), cells, problems=300)
    assert spent == 300 * end.spent
    pruned, less = play(Search(Settings()), cells, problems=300)
    assert (decided(pruned), less < spent) == (decided(end), True)


def strong(lam):
    return 3 * GSM8K.get(lam, 0.9)


SCENES = {
    "gains as on GSM8K, 500 problems": (lambda lam: GSM8K.get(lam, 0.9), 500),
    "gains as on GSM8K, 1,000 problems": (lambda lam: GSM8K.get(lam, 0.9), 1000),
    "three times these, 500 problems": (strong, 500),
    "no λ does anything, 500 problems": (lambda lam: 0.0, 500),
}


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_pruning_changes_a_search_in_at_most_5_percent(scene):
    shift, problems = SCENES[scene]
    changed, spent, trials = 0, np.zeros(2), 200
    for trial in range(trials):
        cells = Cells(shift, problems=problems, seed=trial)
        known = {}

        def cell(lam, seed, cells=cells, known=known):
            if (lam, seed) not in known:
                known[lam, seed] = cells(lam, seed)
            return known[lam, seed]

        ends = [play(Search(Settings(prune=prune)), cell, problems=problems) for prune in (0.05, 0.0)]
        changed += decided(ends[0][0]) != decided(ends[1][0])
        spent += [each for _, each in ends]
    saved = 1 - spent[0] / spent[1]
    print(f"{scene}: {changed} of {trials} searches changed, {100 * saved:.0f} % not judged")
    assert changed / trials <= 0.05
    assert saved > 0
