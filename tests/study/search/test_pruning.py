"""Evaluation pruned per problem: the best λ is kept as often as promised, and how much is saved."""

import itertools

import numpy as np
import pytest
from toys.search_cells import GSM8K, IDLE, draw_grid

from erce.study.search.pruning import dropped, judging_order, log_capital

BATCH = 50


def judged_in_batches(outcomes, *, seed, level=0.05):
    """What a caller does: judge a batch for every λ that is in, then drop; problems judged, and the drops."""
    problems = len(next(iter(outcomes.values())))
    order = judging_order(problems, seed=seed)
    ordered = {lam: each[order] for lam, each in outcomes.items()}
    judged, found = dict.fromkeys(outcomes, 0), []
    for end in range(BATCH, problems + BATCH, BATCH):
        out = {each.lam for each in found}
        judged |= {lam: min(end, problems) for lam in judged if lam not in out}
        found = dropped(
            {lam: ordered[lam][:count] for lam, count in judged.items()}, problems=problems, level=level
        )
    return judged, [each for each in found if each.after < problems]


def best(outcomes):
    return max(outcomes, key=lambda lam: outcomes[lam].mean())


def constant(value, count, samples=2):
    return np.full((count, samples), value)


def test_a_lam_far_behind_is_dropped_and_the_leader_is_not():
    outcomes = {0.0: constant(0, 100), 1.0: constant(0, 100), 3.0: constant(1, 100)}
    assert [(each.lam, each.rival) for each in dropped(outcomes, problems=1000)] == [(1.0, 3.0)]


def test_cross_entropy_is_protected_but_may_be_the_rival():
    outcomes = {0.0: constant(1, 100), 1.0: constant(0, 100)}
    [found] = dropped(outcomes, problems=1000)
    assert (found.lam, found.rival) == (1.0, 0.0)
    assert dropped({0.0: constant(0, 100), 1.0: constant(1, 100)}, problems=1000) == []


@pytest.mark.parametrize(("behind", "certain"), [(6, True), (5, False)])
def test_the_certain_rule_drops_exactly_where_the_rest_cannot_make_up(behind, certain):
    """10 problems, 5 left: 6 behind cannot be made up; 5 behind can be a tie, which is no loss."""
    judged = 10 - 5 + (behind - 5)
    weak, strong = constant(0, judged), constant(1, judged)
    found = dropped({1.0: weak, 3.0: strong}, problems=10, level=1e-12)
    assert [each.certain for each in found] == [True] * certain
    assert [each.after for each in found] == [6] * certain


def test_certainty_counts_shares_of_samples():
    half = np.array([[1, 0]] * 7)
    behind_by_three = dropped({1.0: half[:6], 3.0: constant(1, 6)}, problems=9, level=1e-12)
    behind_by_more = dropped({1.0: half, 3.0: constant(1, 7)}, problems=10, level=1e-12)
    assert behind_by_three == []  # and three are left
    assert [each.after for each in behind_by_more] == [7]  # 3.5 behind, three are left


def test_more_rivals_ask_for_more_evidence():
    weak, strong = constant(0, 50), constant(1, 50)
    pair = dropped({1.0: weak, 3.0: strong}, problems=1000)
    crowd = dropped({1.0: weak, **dict.fromkeys((3.0, 4.0, 5.0, 6.0, 7.0, 8.0), strong)}, problems=1000)
    assert [each.lam for each in pair + crowd] == [1.0, 1.0]
    assert pair[0].after < crowd[0].after


def test_those_that_go_on_are_never_dropped_and_more_of_them_ask_for_more_evidence():
    ranks = {1.0: 0.1, 2.0: 0.2, 3.0: 0.8, 4.0: 0.9}
    draws = np.random.default_rng(0).random((400, 2))
    outcomes = {lam: (draws < right).astype(int) for lam, right in ranks.items()}
    one, two = (dropped(outcomes, problems=400, protected=(), keep=keep) for keep in (1, 2))
    assert {each.lam for each in one} == {1.0, 2.0, 3.0}
    assert {each.lam for each in two} == {1.0, 2.0}
    alone = {each.lam: each.after for each in one}
    assert all(each.after > alone[each.lam] for each in two)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_level_is_shared_by_all_that_go_on_and_their_rivals(keep):
    """Dropped once the capital is over keep · rivals / level, and not before."""
    weak, strong = constant(0, 60), constant(1, 60)
    judged = {0.5: weak, **dict.fromkeys((1.0, 3.0, 8.0), strong)}
    capital = log_capital(np.ones(60), problems=1000)
    first = 1 + int(np.argmax(capital >= np.log(keep * 3 / 0.01)))
    assert [each.after for each in dropped(judged, problems=1000, level=0.01, keep=keep)] == [first]


def test_equal_lams_are_never_dropped():
    rng = np.random.default_rng(0)
    same = rng.integers(0, 2, (400, 4))
    assert dropped({0.3: same, 1.0: same, 3.0: same}, problems=400) == []


def test_more_outcomes_change_no_earlier_drop():
    outcomes = draw_grid(np.random.default_rng(1), {lam: 4 * shift for lam, shift in GSM8K.items()})
    seen = []
    for count in range(20, 500, 20):
        found = dropped({lam: each[:count] for lam, each in outcomes.items()}, problems=500)
        assert found[: len(seen)] == seen
        seen = found
    assert seen


def test_a_dropped_lam_handed_in_as_far_as_it_was_judged_stays_dropped():
    outcomes = draw_grid(np.random.default_rng(1), {lam: 4 * shift for lam, shift in GSM8K.items()})
    whole = dropped(outcomes, problems=500)
    short = dict(outcomes)
    for each in whole:
        short[each.lam] = outcomes[each.lam][: each.after]
    assert dropped(short, problems=500) == whole


def test_a_lam_is_dropped_by_a_rival_that_is_still_in():
    for trial in range(20):
        outcomes = draw_grid(np.random.default_rng(trial), GSM8K, own=3.0)
        gone = {}
        for each in dropped(outcomes, problems=500, level=0.3):
            assert each.rival not in gone
            gone[each.lam] = each.after
        assert len(gone) < len(outcomes)


def test_the_stake_on_a_problem_does_not_know_it():
    rng = np.random.default_rng(0)
    first, second = rng.uniform(-1, 1, (2, 60))
    second[:40] = first[:40]
    capital = [np.exp(log_capital(each, problems=200)) for each in (first, second)]
    assert capital[0][:40] == pytest.approx(capital[1][:40])
    gained = [each[40] / each[39] - 1 for each in capital]
    most = -first[:40].sum() / 160
    assert gained[0] / (first[40] - most) == pytest.approx(gained[1] / (second[40] - most))


def test_the_capital_is_at_most_1_on_average_where_the_lams_are_equal():
    """Over every order of a small population, so exactly."""
    for values in ([1, 1, -1, -1, 0, 0], [0.5, 0.5, -1, 0, 0.25, -0.25], [-1, -1, 0, 0, 0, 1]):
        orders = np.array(list(itertools.permutations(values)), dtype=float)
        capital = np.exp(log_capital(orders, problems=6))
        assert (capital.mean(axis=0) <= 1 + 1e-9).all()
        assert (capital.max(axis=1) >= 4).mean() <= 1 / 4


def test_the_order_is_the_seeds_alone():
    assert (judging_order(50, seed=3) == judging_order(50, seed=3)).all()
    assert (judging_order(50, seed=3) != judging_order(50, seed=4)).any()
    assert sorted(judging_order(50)) == list(range(50))


@pytest.mark.parametrize(
    ("judged", "settings", "says"),
    [
        ({0.0: [1, 0]}, {"problems": 5}, "shape"),
        ({0.0: [[1]] * 6}, {"problems": 5}, "at most 5"),
        ({0.0: [[2]]}, {"problems": 5}, "outside"),
        ({0.0: [[np.nan]]}, {"problems": 5}, "outside"),
        ({0.0: [[1]]}, {"problems": 5, "level": 1.0}, "level"),
        ({0.0: [[1]]}, {"problems": 5, "keep": 0}, "keep = 0: at least one"),
    ],
)
def test_outcomes_that_cannot_be_judged_are_refused(judged, settings, says):
    with pytest.raises(ValueError, match=says):
        dropped(judged, **settings)


def test_no_problem_has_no_order():
    with pytest.raises(ValueError, match="at least one"):
        judging_order(0)


SCENES = {
    "nothing helps, 500 problems": (IDLE, 500),
    "a GSM8K grid, 500 problems": (GSM8K, 500),
    "a GSM8K grid, 1000 problems": (GSM8K, 1000),
    "two nearly best, 500 problems": (GSM8K | {3.0: 0.80}, 500),
}


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_the_best_lam_is_dropped_in_at_most_5_percent(scene):
    shifts, problems = SCENES[scene]
    rng, trials = np.random.default_rng(0), 500
    lost, saved, naive = 0, [], 0
    for trial in range(trials):
        outcomes = draw_grid(rng, shifts, problems=problems)
        judged, found = judged_in_batches(outcomes, seed=trial)
        lost += best(outcomes) in {each.lam for each in found}
        saved.append(1 - sum(judged.values()) / (problems * len(judged)))
        naive += best(outcomes) in _by_a_test_at_each_look(outcomes, seed=trial)
    print(
        f"{scene}: best λ lost {100 * lost / trials:.1f} %, with a t-test at each look "
        f"{100 * naive / trials:.1f} %; evaluation saved {100 * np.mean(saved):.0f} %"
    )
    assert lost / trials <= 0.05


def _by_a_test_at_each_look(outcomes, *, seed):
    """λ that a one-sided paired t-test at 5 % against the present leader drops at some batch."""
    problems = len(next(iter(outcomes.values())))
    shares = {lam: each[judging_order(problems, seed=seed)].mean(axis=1) for lam, each in outcomes.items()}
    alive = dict(shares)
    for end in range(BATCH, problems, BATCH):
        leader = max(alive, key=lambda lam: alive[lam][:end].mean())
        for lam in set(alive) - {leader, 0.0}:
            difference = shares[leader][:end] - shares[lam][:end]
            if difference.mean() > 1.645 * difference.std(ddof=1) / np.sqrt(end):
                del alive[lam]
    return set(outcomes) - set(alive)
