"""The paper's tables as data: complete, consistent, found by what was run."""

from statistics import fmean, pstdev

import pytest

from erce.paper import citation, lookup, tables
from erce.paper.tables import SOURCE, stand_ins

ROWS = [(table, row) for table in tables() for row in table.rows]


def name(value):
    return f"{value.label}-{value.decoding}-{value.order:g}" if hasattr(value, "label") else f"{value.lam:g}"


def test_the_tables_say_whose_they_are():
    assert citation().startswith("Mihir Dhanakshirur, Adam Ousherovitch, Ambuj Tewari")
    assert citation().endswith("A Free Correction to Cross-Entropy for Verified Demonstrations")


def test_every_table_has_a_baseline_and_rising_lams():
    for table in tables():
        assert table.lams[0] == 0
        assert list(table.lams) == sorted(set(table.lams))


def test_tables_of_the_same_runs_agree_up_to_the_tie():
    seen = {}
    for table, row in ROWS:
        runs = (table.task, table.decoding, table.order, table.n_test, table.n_seeds, row.lam)
        mean, sd = seen.setdefault(runs, (row.mean, row.sd))
        assert row.mean == pytest.approx(mean, abs=1.0001e-4)
        assert row.sd == sd
    assert len(seen) == 68  # 9 + 8 + 5 greedy, 4 + 8 + 5 sampled, 9 answer-only, 5 orders × 4


@pytest.mark.parametrize(("table", "row"), [(t, r) for t, r in ROWS if r.seeds], ids=name)
def test_printed_seeds_are_shares_of_whole_completions(table, row):
    drawn = table.n_test * table.n_samples
    assert len(row.seeds) == table.n_seeds
    for printed, score in zip(row.seeds, table.scores(row.lam), strict=True):
        assert score * drawn == pytest.approx(round(score * drawn))
        assert abs(score - printed) <= 0.00005 + 1e-12


@pytest.mark.parametrize(("table", "row"), [(t, r) for t, r in ROWS if not r.seeds], ids=name)
def test_values_that_stand_in_for_seeds_have_the_printed_mean_and_spread(table, row):
    scores = table.scores(row.lam)
    assert len(scores) == table.n_seeds
    assert fmean(scores) == pytest.approx(row.mean)
    assert pstdev(scores) == pytest.approx(row.sd)


def test_one_value_that_stands_in_is_the_mean():
    assert stand_ins(0.5, 0.1, 1) == (0.5,)


@pytest.mark.parametrize(
    ("what", "label"),
    [
        ({"task": "gsm8k", "decoding": "greedy"}, "tab:entropy_appendix_results"),
        ({"task": "gsm8k", "decoding": "sampled"}, "tab:gsm8k-greedy-vs-sampled"),
        ({"task": "mbpp", "decoding": "greedy"}, "tab:mbpp_entropy_appendix_results"),
        ({"task": "mbpp", "decoding": "sampled"}, "tab:mbpp-sampled-seeds"),
        ({"task": "math", "decoding": "greedy"}, "tab:math7b"),
        ({"task": "math", "decoding": "sampled"}, "tab:math-sampled-seeds"),
        ({"task": "gsm8k-answer-only", "decoding": "greedy"}, "tab:answeronly"),
        ({"task": "gsm8k", "decoding": "greedy", "penalty": "renyi", "order": 0.25}, "tab:renyi-main"),
        ({"task": "math", "decoding": "greedy", "penalty": "renyi", "order": 1.0}, "tab:math7b"),
    ],
)
def test_lookup_finds_the_table_with_the_most_in_it(what, label):
    table = lookup(what.pop("task"), what.pop("decoding"), **what)
    assert table.label == label


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: lookup("mini-sums", "greedy"), r"no task 'mini-sums'; it has gsm8k, mbpp, math, gsm8k-ans"),
        (
            lambda: lookup("math", "greedy", penalty="renyi", order=0.5),
            r"renyi of order 0\.5; it has greedy \(",
        ),
        (lambda: lookup("math", "greedy", penalty="support-size"), r"support-size of order 1; it has greedy"),
        (lambda: lookup("math", "greedy").row(3), r"tab:math7b has no λ = 3; it has 0, 1, 2, 4, 8"),
    ],
)
def test_what_the_paper_lacks_is_said_with_what_it_has(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_the_file_lies_in_the_package_so_that_it_ships():
    import erce

    assert SOURCE.parent.parent.samefile(erce.__path__[0])
