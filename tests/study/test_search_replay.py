"""The search on the paper's own numbers: what it keeps of the best gain, and for how many fine-tunings."""

import pytest

from benchmarks.search_replay import REPLAYED, main, replay
from erce.recipe import GRID


@pytest.mark.parametrize(("task", "decoding"), REPLAYED)
def test_half_of_the_papers_fine_tunings_keep_94_percent_of_its_best_gain(task, decoding):
    replayed = replay(task, decoding, permutations=200)
    assert replayed.kept >= 0.94
    assert replayed.cells <= replayed.paper_cells / 2


@pytest.mark.parametrize(
    ("task", "cells"), [("gsm8k", 45), ("mbpp", 40), ("math", 15)]
)  # as the paper's grids are
def test_it_is_held_against_the_papers_own_number_of_fine_tunings(task, cells):
    assert replay(task, "greedy", permutations=1).paper_cells == cells


def test_no_fixed_lam_serves_every_task():
    fixed = {name: replay(*name, permutations=1).fixed for name in REPLAYED}
    assert fixed["mbpp", "greedy"] == 1
    assert fixed["gsm8k", "greedy"] < 0.5


@pytest.mark.parametrize(("task", "decoding"), REPLAYED)
def test_the_automatic_grid_is_replayed_where_the_table_has_it(task, decoding):
    replayed = replay(task, decoding, grid=GRID, permutations=20)
    assert set(replayed.lams) <= set(GRID)
    assert replayed.cells < 0.5 * replayed.paper_cells


def test_the_same_seed_deals_the_same_permutations():
    assert replay("math", "greedy", permutations=30) == replay("math", "greedy", permutations=30)
    assert replay("math", "greedy", permutations=30) != replay("math", "greedy", permutations=30, seed=1)


def test_the_command_prints_a_row_a_table_and_says_what_it_is_not(capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.search_replay.lines", lambda: [])
    main()
    assert "too high for a new study" in " ".join(capsys.readouterr().out.split())
