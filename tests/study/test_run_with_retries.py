"""Sweeping a grid: what failed is tried again last, and a lost cause is given up."""

import pytest

from erce.recipe import Cell
from erce.study.engines import Done
from erce.study.run_round import FAILURES_TO_GIVE_UP, run_with_retries

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


def test_a_failure_does_not_stop_the_others():
    engine = Engine(failing(CELLS[1]))
    ended = list(run_with_retries(engine.run, CELLS))
    assert [done.cell for done in ended] == CELLS
    assert [bool(done.failure) for done in ended] == [False, True, False, False, False, False]


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


def test_nothing_missing_is_nothing_begun():
    assert list(run_with_retries(Engine({}).run, [])) == []
